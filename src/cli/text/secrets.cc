#include "cli/text/secrets.h"

#include <algorithm>
#include <utility>

#include <boost/json.hpp>

#include "base/percent.h"
#include "base/text.h"

namespace evenkeel::cli {
namespace {

constexpr std::string_view stars = "***";
constexpr std::size_t secret_bytes_min = 4;

struct Span {
    std::size_t begin;
    std::size_t end;
};

// Where the values after a mark such as "password=" stand. One in single quotes ends with them.
void find_values(const std::string& lower, std::string_view mark, std::string_view ends,
                 std::vector<Span>& spans) {
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
void find_passwords(const std::string& lower, std::vector<Span>& spans) {
    for (std::size_t at = lower.find("://"); at != std::string::npos;
         at = lower.find("://", at + 3)) {
        const std::size_t end = std::min(lower.find_first_of(" \n\t\"", at), lower.size());
        const std::size_t user_end = lower.rfind('@', end);
        const std::size_t colon = lower.find(':', at + 3);
        if (user_end == std::string::npos || user_end < at || colon > user_end) continue;
        spans.push_back({colon + 1, user_end});
    }
}

// In any order; a token has its signature in it.
std::vector<Span> all_spans(std::string_view text) {
    const std::string lower = lower_case(text);
    std::vector<Span> spans;
    find_values(lower, "sharedaccesskey=", "; \n", spans);
    find_values(lower, "sharedaccesssignature=", ";\n", spans);
    find_values(lower, "accountkey=", "; \n", spans);
    find_values(lower, "sig=", "&; \n", spans);
    find_values(lower, "password=", "& \n", spans);  // an option in the address of a store
    find_passwords(lower, spans);
    return spans;
}

// In order, without overlaps.
std::vector<Span> secret_spans(std::string_view text) {
    std::vector<Span> spans = all_spans(text);
    std::ranges::sort(spans, {}, &Span::begin);
    std::vector<Span> merged;
    for (const Span& span : spans) {
        if (!merged.empty() && span.begin < merged.back().end) {
            merged.back().end = std::max(merged.back().end, span.end);
        } else {
            merged.push_back(span);
        }
    }
    return merged;
}

// "primary_key", "password", "sas_token"; not "primary_key_file".
bool is_named_like_a_secret(std::string_view key) {
    const std::string name = lower_case(trimmed(key, " \t\"'"));
    if (name.ends_with("key")) return true;
    for (const auto* const word : {"secret", "password", "token", "signature", "credential"}) {
        if (name.find(word) != std::string::npos && !name.ends_with("_file")) return true;
    }
    return false;
}

}  // namespace

std::string without_secrets(std::string_view text) {
    std::string result;
    std::size_t at = 0;
    for (const Span& span : secret_spans(text)) {
        result += text.substr(at, span.begin - at);
        result += stars;
        at = span.end;
    }
    return result + std::string(text.substr(at));
}

void Redaction::learn(std::string_view text) {
    for (const Span& span : all_spans(text)) {
        learn_secret(text.substr(span.begin, span.end - span.begin));
    }
}

void Redaction::learn_secret(std::string_view secret) {
    if (secret.size() < secret_bytes_min || secret == stars) return;
    std::string quoted =
        boost::json::serialize(boost::json::string_view(secret.data(), secret.size()));
    quoted = quoted.substr(1, quoted.size() - 2);
    const std::string_view unpadded = trimmed(secret, "=");  // of base64
    std::vector<std::string> forms = {std::string(unpadded), std::string(secret),
                                      percent_encoded(secret), quoted};
    forms.push_back(percent_decoded(secret));
    for (auto& form : forms) {
        if (form.size() < secret_bytes_min) continue;
        if (std::ranges::find(secrets_, form) == secrets_.end())
            secrets_.push_back(std::move(form));
    }
    std::ranges::stable_sort(
        secrets_, [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
}

std::string Redaction::apply(std::string_view text) const {
    std::string result(text);
    for (const auto& secret : secrets_) {
        for (std::size_t at = result.find(secret); at != std::string::npos;
             at = result.find(secret, at + stars.size())) {
            result.replace(at, secret.size(), stars);
        }
    }
    return without_secrets(result);
}

std::string Redaction::apply_to_configuration(std::string_view text) {
    std::string masked;
    std::string_view until;  // the end of a value of several lines that is left out
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const std::string_view line = text.substr(at, end - at);
        at = end + 1;
        if (!until.empty()) {
            learn_secret(trimmed(line, " \t\"',[]"));
            if (line.find(until) != std::string_view::npos) until = {};
            continue;
        }
        const std::size_t equals = line.find('=');
        const bool is_secret =
            equals != std::string_view::npos && is_named_like_a_secret(line.substr(0, equals));
        if (!is_secret) {
            learn(line);
            masked += std::string(line) + "\n";
            continue;
        }
        const std::string_view value = trimmed(line.substr(equals + 1));
        for (const std::string_view mark : {"\"\"\"", "'''", "["}) {
            const std::string_view close = mark == "[" ? "]" : mark;
            if (!value.starts_with(mark)) continue;
            if (value.find(close, mark.size()) == std::string_view::npos) until = close;
        }
        const char quote = value.empty() ? '\0' : value.front();
        if (quote == '"' || quote == '\'') {
            learn_secret(value.substr(1, std::min(value.find(quote, 1), value.size()) - 1));
        }
        masked += std::string(line.substr(0, equals)) + "= \"***\"\n";
    }
    return apply(masked);
}

}  // namespace evenkeel::cli
