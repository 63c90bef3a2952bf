// "postgresql://user:password@host:port/database?options", taken apart by libpq, and what may be
// shown of it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace evenkeel::checkpoint {

class PostgresAddress {
public:
    // `invalid_argument` never repeats any of the text: part of it may be a password.
    static Result<PostgresAddress> parse(const std::string& url);

    // "postgresql://host:port/database", without user, password and options.
    const std::string& shown() const { return shown_; }
    const std::vector<std::pair<std::string, std::string>>& options() const { return options_; }
    // "" if the address has none.
    std::string_view option(std::string_view name) const;
    // `message` without the password, should it be in there.
    std::string without_secrets(std::string message) const;

private:
    std::string shown_;
    std::vector<std::pair<std::string, std::string>> options_;
};

}  // namespace evenkeel::checkpoint
