#include "process/serve/serve_process.h"

#include <netinet/in.h>

#include <boost/json.hpp>

namespace evenkeel::serve {

std::string member(std::string_view json, std::string_view name) {
    boost::system::error_code error;
    const auto value = boost::json::parse({json.data(), json.size()}, error);
    if (error || !value.is_object()) return {};
    const auto* const found = value.get_object().if_contains({name.data(), name.size()});
    if (!found) return {};
    return found->is_string() ? std::string(found->get_string()) : boost::json::serialize(*found);
}

int connect_to(int port) {
    const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const timeval limit{20, 0};
    ::setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    return descriptor;
}

Answer http(int port, const std::string& method, const std::string& path, const std::string& token,
            const std::string& body) {
    return raw_http(port, method + " " + path +
                              " HTTP/1.1\r\nHost: localhost:" + std::to_string(port) +
                              "\r\nConnection: close\r\nContent-Type: application/json\r\n" +
                              (token.empty() ? "" : "Authorization: " + token + "\r\n") +
                              "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
}

Answer raw_http(int port, const std::string& request) {
    const int descriptor = connect_to(port);
    EXPECT_EQ(::send(descriptor, request.data(), request.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(request.size()));
    std::string text;
    char buffer[4096];
    ssize_t got = 0;
    while ((got = ::recv(descriptor, buffer, sizeof buffer, 0)) > 0) {
        text.append(buffer, static_cast<std::size_t>(got));
    }
    ::close(descriptor);
    Answer answer;
    if (text.size() > 12) answer.status = std::atoi(text.c_str() + 9);
    if (const auto end = text.find("\r\n\r\n"); end != std::string::npos) {
        answer.body = text.substr(end + 4);
    }
    return answer;
}

}  // namespace evenkeel::serve
