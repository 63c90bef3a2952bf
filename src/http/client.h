// One request to an HTTP server, for programs that ask now and then: a connection for each.
//
//     url_of("https://hub:8443") ─▶ connected socket ─▶ Exchange ─▶ ClientResponse
//
// It speaks HTTP/1.0, so that no proxy answers in chunks, and follows no redirects.
// Bounds: 16 KiB of head, 64 MiB of body or less.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/task.h"
#include "http/message.h"
#include "io/loop.h"
#include "io/socket.h"
#include "io/timer.h"

namespace evenkeel::http {

struct Url {
    io::Endpoint endpoint;
    bool tls = false;
    std::string path = {};  // without the last '/'; mostly empty
};

// http://host[:port][/path] or https://...; `invalid_argument` says what is wrong.
Result<Url> url_of(std::string_view text);
std::string to_string(const Url& url);

struct ClientRequest {
    std::string method = "GET";
    std::string path = "/";  // as sent, with its query
    std::vector<Field> fields = {};
    std::string body = {};
};

struct ClientResponse {
    int status = 0;
    std::vector<Field> fields = {};
    std::string body = {};

    // Without regard to case; empty if it is not there.
    std::string field(std::string_view name) const;
};

// `invalid_argument` for a line end in a field, a path or a method.
Result<std::string> to_wire(const ClientRequest& request, const Url& url);
// The response, if all of it is among what was received; `ended` if no more will come. `corrupt` if
// it is no HTTP or its body too long, `unavailable` if it ended in the middle.
inline constexpr std::size_t response_body_bytes_max = std::size_t{64} << 20;
Result<std::optional<ClientResponse>> response_of(
    std::string_view received, bool ended, std::size_t answer_bytes_max = response_body_bytes_max);

// Threads: pinned to the loop. No callback runs after its end.
class Exchange {
public:
    // `done` is called once, not from inside: with the response, or `timed_out` and the errors of
    // the socket and of response_of(). The exchange ends after it, not in it.
    Exchange(io::Loop& loop, std::unique_ptr<io::Socket> socket, std::string wire, Duration timeout,
             Callback<void(Result<ClientResponse>)> done,
             std::size_t answer_bytes_max = response_body_bytes_max);
    ~Exchange();
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;

private:
    void read();
    void received(Result<std::size_t> size);
    void end(Result<ClientResponse> response);

    io::Loop& loop_;
    std::unique_ptr<io::Socket> socket_;
    const std::string wire_;
    const std::size_t answer_bytes_max_;
    Callback<void(Result<ClientResponse>)> done_;
    io::Timer timer_{loop_};
    std::string received_;
    std::array<std::byte, 8192> buffer_;
};

// What a Date field says; none if it is no date.
std::optional<WallTime> parse_date(std::string_view text);

}  // namespace evenkeel::http
