// Shared access signatures: what a client proves with that it knows a key, for a path and
// everything below it, until a time.
//
//   SharedAccessSignature sr=<url>&sig=<base64 of HMAC-SHA256>&se=<unix seconds>&skn=<key name>
//
// The key's text is used as it is written, not decoded. All values are percent-encoded.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace evenkeel {

// A key or token: cannot be printed (AUTH-2).
class Secret {
public:
    Secret() = default;
    explicit Secret(std::string text) : text_(std::move(text)) {}
    const std::string& reveal() const { return text_; }
    bool empty() const { return text_.empty(); }

private:
    std::string text_;
};

inline constexpr std::string_view sas_word = "SharedAccessSignature ";

// A token for the path, as a client makes it.
std::string make_sas(std::string_view path_url, const std::string& key_name, const Secret& key,
                     WallTime expires);

// The base64 text of the HMAC-SHA256 of `text`.
std::string sas_signature(std::string_view text, const Secret& key);

// When a token ends; none if it does not say so in a way that we understand.
std::optional<WallTime> sas_expiry(std::string_view token);

// Everything but letters, digits and -_.~ as %XX, and back. What is no %XX is left as it is.
std::string percent_encoded(std::string_view text);
std::string percent_decoded(std::string_view text);

}  // namespace evenkeel
