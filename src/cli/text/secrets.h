// Keys, tokens and passwords in text for users: connection strings, addresses of stores.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/redacted.h"

namespace evenkeel::cli {

// Hides secrets in texts that leave this machine: what without_secrets() finds there, and every
// secret that was learnt before, wherever it stands and however it is encoded.
class Redaction {
public:
    // All secrets in a connection string, an address of a store or any other text.
    void learn(std::string_view text);
    // One secret. Shorter ones than four characters are not searched for: they are everywhere.
    void learn_secret(std::string_view secret);

    std::string apply(std::string_view text) const;
    // The same for a configuration file: values of keys that are named like a secret as well.
    std::string apply_to_configuration(std::string_view text);

private:
    std::vector<std::string> secrets_;  // in all their encodings, longer ones first
};

}  // namespace evenkeel::cli
