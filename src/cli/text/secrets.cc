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

void Redaction::learn(std::string_view text) {
    for (const SecretSpan& span : secret_spans(text)) {
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
