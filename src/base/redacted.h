// Keys, tokens and passwords in text for users: connection strings, addresses of stores.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace evenkeel {

// Where a secret stands in a text.
struct SecretSpan {
    std::size_t begin;
    std::size_t end;
};

// Wherever something looks like a connection string or an address with a password, in any order;
// a token has its signature in it, so that spans may overlap.
std::vector<SecretSpan> secret_spans(std::string_view text);

// Keys, tokens and passwords in `text` as ***: users paste them into the wrong place, and errors
// end up in logs.
std::string without_secrets(std::string_view text);

}  // namespace evenkeel
