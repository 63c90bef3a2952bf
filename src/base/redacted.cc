#include "base/redacted.h"

#include <algorithm>

#include "base/text.h"

namespace evenkeel {
namespace {

constexpr std::string_view stars = "***";

// Where the values after a mark such as "password=" stand. One in single quotes ends with them.
void find_values(const std::string& lower, std::string_view mark, std::string_view ends,
                 std::vector<SecretSpan>& spans) {
    for (std::size_t at = lower.find(mark); at != std::string::npos;
         at = lower.find(mark, at + mark.size())) {
        const std::size_t begin = at + mark.size();
        const bool is_quoted = begin < lower.size() && lower[begin] == '\'';
        const std::size_t end =
            is_quoted ? lower.find('\'', begin + 1) : lower.find_first_of(ends, begin);
        spans.push_back({begin + (is_quoted ? 1 : 0), std::min(end, lower.size())});
    }
}

// amqps://name:key@host; a key that should have been encoded may hold a slash.
void find_passwords(const std::string& lower, std::vector<SecretSpan>& spans) {
    for (std::size_t at = lower.find("://"); at != std::string::npos;
         at = lower.find("://", at + 3)) {
        const std::size_t end = std::min(lower.find_first_of(" \n\t\"", at), lower.size());
        const std::size_t user_end = lower.rfind('@', end);
        const std::size_t colon = lower.find(':', at + 3);
        if (user_end == std::string::npos || user_end < at || colon > user_end) continue;
        spans.push_back({colon + 1, user_end});
    }
}

// In order, without overlaps.
std::vector<SecretSpan> merged(std::vector<SecretSpan> spans) {
    std::ranges::sort(spans, {}, &SecretSpan::begin);
    std::vector<SecretSpan> result;
    for (const SecretSpan& span : spans) {
        if (!result.empty() && span.begin < result.back().end) {
            result.back().end = std::max(result.back().end, span.end);
        } else {
            result.push_back(span);
        }
    }
    return result;
}

}  // namespace

std::vector<SecretSpan> secret_spans(std::string_view text) {
    const std::string lower = lower_case(text);
    std::vector<SecretSpan> spans;
    find_values(lower, "sharedaccesskey=", "; \n", spans);
    find_values(lower, "sharedaccesssignature=", ";\n", spans);
    find_values(lower, "accountkey=", "; \n", spans);
    find_values(lower, "sig=", "&; \n", spans);
    find_values(lower, "password=", "& \n", spans);  // an option in the address of a store
    find_passwords(lower, spans);
    return spans;
}

std::string without_secrets(std::string_view text) {
    std::string result;
    std::size_t at = 0;
    for (const SecretSpan& span : merged(secret_spans(text))) {
        result += text.substr(at, span.begin - at);
        result += stars;
        at = span.end;
    }
    return result + std::string(text.substr(at));
}

}  // namespace evenkeel
