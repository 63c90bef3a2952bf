#include "cli/text/hub_reply.h"

#include <cctype>
#include <optional>

#include <fmt/core.h>

namespace evenkeel::cli {
namespace {

constexpr std::string_view bad_signature = "InvalidSignature: ";

// Between `before` and `after`, the first time that both are there.
struct Quoted {
    std::size_t begin;  // of `before`
    std::size_t end;    // behind `after`
    std::string_view value;
};
std::optional<Quoted> find_quoted(std::string_view text, std::string_view before,
                                  std::string_view after) {
    const auto begin = text.find(before);
    if (begin == std::string_view::npos) return std::nullopt;
    const auto value = begin + before.size();
    const auto end = text.find(after, value);
    if (end == std::string_view::npos) return std::nullopt;
    return Quoted{begin, end + after.size(), text.substr(value, end - value)};
}

std::string replaced(std::string_view text, const Quoted& at, std::string_view by) {
    return fmt::format("{}{}{}", text.substr(0, at.begin), by, text.substr(at.end));
}

// Numbers for whoever searches the log of a service; what comes behind them stays.
std::string without_tracking(std::string text) {
    while (true) {
        const auto begin = text.find(" TrackingId:");
        if (begin == std::string::npos) return text;
        constexpr std::string_view last = ", Timestamp:";
        const auto time = text.find(last, begin);
        const auto end = time == std::string::npos
                             ? time
                             : text.find_first_not_of("0123456789-:.TZ", time + last.size());
        text.erase(begin, end == std::string::npos ? end : end - begin);
    }
}

// "sb://localhost/eh1" is eh1; a longer path is all of it behind the host.
std::string_view entity_of(std::string_view address) {
    const auto host = address.find("://");
    if (host == std::string_view::npos) return address;
    const auto path = address.find('/', host + 3);
    return path == std::string_view::npos ? address : address.substr(path + 1);
}

std::string name_entity(std::string text) {
    const auto found = find_quoted(text, "The messaging entity '", "' could not be found.");
    if (!found) return text;
    const std::string_view name = entity_of(found->value);
    const bool is_hub = name.find('/') == std::string_view::npos;
    return replaced(text, *found,
                    fmt::format("{}'{}' does not exist", is_hub ? "event hub " : "", name));
}

std::string name_right(std::string text) {
    const auto right = find_quoted(text, "Unauthorized access. '",
                                   "' claim(s) are required to perform this operation.");
    if (!right) return text;
    std::string words(right->value);
    for (char& c : words) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const auto resource = find_quoted(text, " Resource: '", "'.");
    std::string plain = fmt::format("the key lacks the right '{}'", words);
    if (!resource) return replaced(text, *right, plain);
    plain += fmt::format(" for '{}'", entity_of(resource->value));
    return replaced(text, {right->begin, resource->end, {}}, plain);
}

std::string name_partition(std::string text) {
    const auto hub = find_quoted(text,
                                 "The specified partition is invalid for an EventHub partition "
                                 "sender or receiver. It should be between 0 and one less than the "
                                 "number of partitions of '",
                                 "'; it is '");
    if (!hub) return text;
    const auto number = find_quoted(text, "'; it is '", "'.");
    if (!number) return text;
    return replaced(text, {hub->begin, number->end, {}},
                    fmt::format("event hub '{}' has no partition {}", hub->value, number->value));
}

std::string name_signature(std::string text) {
    const auto begin = text.find(bad_signature);
    if (begin == std::string::npos) return text;
    for (const std::string_view sentence :
         {"The token has an invalid signature.", "The key name or key is wrong."}) {
        const auto at = begin + bad_signature.size();
        if (std::string_view(text).substr(at).starts_with(sentence)) {
            return text.substr(0, begin) + "the key, or the name of the key, is wrong" +
                   text.substr(at + sentence.size());
        }
    }
    return text.erase(begin, bad_signature.size());
}

// The commands call a rule of the admin interface a key.
std::string name_key(std::string text) {
    constexpr std::string_view rule = "there is no rule '";
    if (const auto at = text.find(rule); at != std::string::npos) {
        text.replace(at, rule.size(), "there is no key '");
    }
    return text;
}

}  // namespace

std::string plain_reply(std::string_view text) {
    return name_key(name_signature(
        name_partition(name_right(name_entity(without_tracking(std::string(text)))))));
}

bool is_wrong_key(std::string_view text) {
    return text.find(bad_signature) != std::string_view::npos;
}

}  // namespace evenkeel::cli
