// Shared access signatures: a client proves that it knows a key, for a path and everything below
// it, until a time.
//
//   SharedAccessSignature sr=<url>&sig=<base64 of HMAC-SHA256>&se=<unix seconds>&skn=<key name>
//
// The key's text is used as it is written, not decoded. All values are percent-encoded. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/secret.h"

namespace evenkeel::eventhubs {

inline constexpr std::string_view sas_word = "SharedAccessSignature ";

// A token for the path, as a client makes it.
std::string make_sas(std::string_view path_url, const std::string& key_name, const Secret& key,
                     WallTime expires);

// The base64 text of the HMAC-SHA256 of `text`.
std::string sas_signature(std::string_view text, const Secret& key);

// When a token expires; nothing if it has no expiry, or one that is not a valid time.
std::optional<WallTime> sas_expiry(std::string_view token);

}  // namespace evenkeel::eventhubs
