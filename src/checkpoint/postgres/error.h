// What PostgreSQL's errors mean to us: by SQLSTATE, with the remedy where there is one.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "checkpoint/postgres/address.h"

namespace evenkeel::checkpoint {

// A statement was refused.
Error postgres_error(const PostgresAddress& address, std::string_view state,
                     std::string_view message);
// libpq could not connect: `message` in its verbose form, with the SQLSTATE in it if the server
// gave one.
Error postgres_connect_error(const PostgresAddress& address, const std::string& message);
// The server goes away, or is not the one to write to: connect again.
bool postgres_ends_connection(std::string_view state);

std::string postgres_first_line(std::string text);
// "28P01" of "FATAL:  28P01: password authentication failed", else "".
std::string_view postgres_state_in(std::string_view message);

}  // namespace evenkeel::checkpoint
