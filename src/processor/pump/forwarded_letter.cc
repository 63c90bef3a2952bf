#include "processor/pump/forwarded_letter.h"

#include <array>
#include <limits>
#include <string_view>

#include "base/utf8.h"
#include "eventhubs/encoding.h"
#include "eventhubs/forward.h"

namespace evenkeel::processor {
namespace {

using checkpoint::DeadLetter;

// So that a long cause leaves room for the event.
constexpr std::size_t cause_bytes_max = 1024;
constexpr std::int64_t time_ms_max = 253'402'300'799'999;  // the end of the year 9999

constexpr std::string_view cause_name = "evenkeel-cause";
constexpr std::string_view attempts_name = "evenkeel-attempts";
constexpr std::string_view hub_name = "evenkeel-hub";
constexpr std::string_view group_name = "evenkeel-group";
constexpr std::string_view partition_name = "evenkeel-partition";
constexpr std::string_view sequence_name = "evenkeel-sequence";
constexpr std::string_view offset_name = "evenkeel-offset";
constexpr std::string_view enqueued_name = "evenkeel-enqueued-ms";
constexpr std::string_view at_name = "evenkeel-at-ms";
constexpr std::string_view removed_name = "evenkeel-removed-at-ms";
constexpr std::array letter_names = {cause_name,  attempts_name,  hub_name,
                                     group_name,  partition_name, sequence_name,
                                     offset_name, enqueued_name,  at_name};

// Whole characters only, if it is text: a hub refuses half of one.
std::string_view cut(std::string_view cause) {
    if (cause.size() <= cause_bytes_max) return cause;
    std::size_t end = 0;
    while (end < cause_bytes_max) {
        const std::size_t bytes = utf8_character_bytes(cause.substr(end));
        if (bytes == 0) return cause.substr(0, cause_bytes_max);
        if (end + bytes > cause_bytes_max) break;
        end += bytes;
    }
    return cause.substr(0, end);
}

// 0 if it is none: then it is not known.
std::int64_t time_in(const Value& value) {
    const std::int64_t time = value.integer().value_or(0);
    return time < 0 || time > time_ms_max ? 0 : time;
}

}  // namespace

std::vector<std::byte> forwarded(const DeadLetter& letter, const LetterOrigin& origin) {
    const Property properties[] = {
        {cause_name, cut(letter.cause)},
        {attempts_name, std::int64_t{letter.attempts}},
        {hub_name, std::string_view(origin.event_hub)},
        {group_name, std::string_view(origin.group)},
        {partition_name, std::int64_t{letter.partition.value}},
        {sequence_name, letter.sequence.value},
        {offset_name, std::string_view(letter.offset)},
        {enqueued_name, letter.enqueued_ms},
        {at_name, letter.at_ms},
    };
    return eventhubs::with_properties(letter.sections, properties);
}

std::vector<std::byte> removal_of(const DeadLetter& letter, const LetterOrigin& origin,
                                  std::int64_t now_ms) {
    const Property properties[] = {
        {hub_name, std::string_view(origin.event_hub)},
        {group_name, std::string_view(origin.group)},
        {partition_name, std::int64_t{letter.partition.value}},
        {sequence_name, letter.sequence.value},
        {enqueued_name, letter.enqueued_ms},
        {removed_name, now_ms},
    };
    std::vector<std::byte> sections;
    eventhubs::append_message({.properties = properties}, sections);
    return sections;
}

std::optional<ForwardedLetter> read_forwarded(const Event& event) {
    const Properties given = event.properties();
    const auto partition = given[partition_name].integer();
    const auto sequence = given[sequence_name].integer();
    const bool is_letter = !given[cause_name].is_null();
    const bool is_removal = !is_letter && !given[removed_name].is_null();
    if ((!is_letter && !is_removal) || !partition || !sequence || *partition < 0 ||
        *partition > std::numeric_limits<std::uint32_t>::max() || *sequence < 0) {
        return std::nullopt;
    }
    ForwardedLetter found;
    found.is_removal = is_removal;
    found.origin = {std::string(given[hub_name].text()), std::string(given[group_name].text())};
    DeadLetter& letter = found.letter;
    letter.partition = {static_cast<std::uint32_t>(*partition)};
    letter.sequence = {*sequence};
    letter.offset = given[offset_name].text();
    letter.enqueued_ms = time_in(given[enqueued_name]);
    letter.partition_key = event.partition_key;
    letter.cause = given[cause_name].text();
    const std::int64_t attempts = given[attempts_name].integer().value_or(0);
    if (attempts > 0 && attempts <= std::numeric_limits<std::uint32_t>::max()) {
        letter.attempts = static_cast<std::uint32_t>(attempts);
    }
    letter.at_ms = time_in(given[at_name]);
    letter.sections = eventhubs::without_properties(event.sections, letter_names);
    return found;
}

}  // namespace evenkeel::processor
