#include "io/socket.h"

namespace evenkeel::io {

std::string to_string(const Endpoint& endpoint) {
    const bool is_v6 = endpoint.host.find(':') != std::string::npos;
    const std::string host = is_v6 ? "[" + endpoint.host + "]" : endpoint.host;
    return host + ":" + std::to_string(endpoint.port);
}

}  // namespace evenkeel::io
