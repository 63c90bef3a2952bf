// What Redis' errors mean to us, by their first word, with the remedy where there is one.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "io/socket.h"

namespace evenkeel::checkpoint {

// `shown` is the address as it may be shown. Redis does not repeat passwords.
Error redis_error(std::string_view shown, std::string_view text);
// Whether this server is not the one to ask any more: connect again.
bool redis_ends_connection(std::string_view text);
// Where a Redis Cluster keeps the key: "MOVED 3999 127.0.0.1:6381". An empty host is the same one.
std::optional<io::Endpoint> redis_moved_to(std::string_view text, const std::string& host);

}  // namespace evenkeel::checkpoint
