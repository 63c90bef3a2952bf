#include "cli/text/letter_view.h"

#include <algorithm>

#include <boost/json.hpp>
#include <fmt/core.h>

#include "base/text.h"
#include "cli/text/amqp_value.h"
#include "cli/text/event_json.h"
#include "cli/text/json_text.h"

namespace evenkeel::cli {
namespace {

using checkpoint::DeadLetter;
using Align = Listing::Align;

constexpr std::size_t cause_shown_bytes_max = 60;

std::string cut(const std::string& cause) {
    if (cause.size() <= cause_shown_bytes_max) return cause;
    return printable(cause, cause_shown_bytes_max) + "...";
}

std::string plain(const boost::json::value& value) {
    if (const auto* text = value.if_string()) return {text->data(), text->size()};
    return boost::json::serialize(value);
}

void add_fields(Listing& listing, const std::string& prefix, const boost::json::object& members) {
    for (const auto& member : members) {
        const std::string name(member.key().data(), member.key().size());
        const bool is_body = prefix.empty() && (name == "body" || name == "body_base64");
        if (is_body || member.value().is_null()) continue;
        if (const auto* inner = member.value().if_object(); inner && prefix.empty()) {
            add_fields(listing, name + ".", *inner);
        } else {
            listing.add({prefix + name, plain(member.value())});
        }
    }
}

}  // namespace

bool matches(const LetterChoice& choice, const DeadLetter& letter) {
    const auto is_any_of = [](const auto& list, const auto& one) {
        return list.empty() || std::ranges::find(list, one) != list.end();
    };
    return is_any_of(choice.ids, id_of(letter)) &&
           is_any_of(choice.partitions, letter.partition.value) &&
           letter.cause.find(choice.cause) != std::string::npos;
}

std::string letter_json(const LetterPlace& place, const DeadLetter& letter) {
    std::string text = as_json({place.event_hub, letter.partition.value}, event_of(letter));
    text.pop_back();  // the brace
    text += fmt::format(",\"group\":{},\"cause\":{},\"attempts\":{},\"dead_lettered_at\":{}}}",
                        json_quoted(place.group), json_quoted(letter.cause), letter.attempts,
                        boost::json::serialize(time_json(letter.at_ms)));
    return text;
}

Listing letter_fields(const LetterPlace& place, const DeadLetter& letter) {
    Listing listing({{"FIELD"}, {"VALUE"}});
    boost::system::error_code error;
    const auto parsed = boost::json::parse(letter_json(place, letter), error);
    if (const auto* members = parsed.if_object(); members && !error) {
        add_fields(listing, "", *members);
    }
    listing.add({std::string("body_bytes"), std::to_string(event_of(letter).body().size())});
    return listing;
}

Listing letter_listing(const std::vector<LetterRow>& rows, std::int64_t now_ms) {
    Listing listing({{"PARTITION", Align::right},
                     {"SEQUENCE", Align::right},
                     {"WHEN"},
                     {"ATTEMPTS", Align::right},
                     {"KEY"},
                     {"SIZE", Align::right},
                     {"CAUSE"}});
    for (const LetterRow& row : rows) {
        const DeadLetter& letter = row.letter;
        listing.add(
            {std::to_string(letter.partition.value), std::to_string(letter.sequence.value),
             time_cell(letter.at_ms, now_ms), std::to_string(letter.attempts),
             Cell(letter.partition_key.empty() ? "-" : letter.partition_key, letter.partition_key),
             bytes_cell(row.body_bytes), Cell(cut(letter.cause), letter.cause)});
    }
    return listing;
}

boost::json::value letters_json(const std::vector<LetterRow>& rows) {
    boost::json::array array;
    for (const LetterRow& row : rows) {
        const DeadLetter& letter = row.letter;
        const auto key = letter.partition_key.empty()
                             ? boost::json::value()
                             : boost::json::value(json_text(letter.partition_key));
        array.push_back({{"id", to_string(id_of(letter))},
                         {"partition", letter.partition.value},
                         {"sequence_number", letter.sequence.value},
                         {"offset", event_of(letter).offset},
                         {"enqueued_at", time_json(letter.enqueued_ms)},
                         {"partition_key", key},
                         {"dead_lettered_at", time_json(letter.at_ms)},
                         {"attempts", letter.attempts},
                         {"cause", json_text(letter.cause)},
                         {"body_bytes", row.body_bytes}});
    }
    return array;
}

}  // namespace evenkeel::cli
