#include "http/client.h"

#include <algorithm>
#include <ctime>

#include <fmt/core.h>

#include "base/number.h"
#include "base/text.h"
#include "http/parser.h"

namespace evenkeel::http {
namespace {

Error malformed_url(std::string_view why) {
    return {ErrorCode::invalid_argument, fmt::format("address: {}", why)};
}

Error no_http(std::string_view why) {
    return {ErrorCode::corrupt, fmt::format("the answer is not HTTP: {}", why)};
}

// The field's value; none if it is not there.
const std::string* find_field(const std::vector<Field>& fields, std::string_view name) {
    const auto found = std::find_if(fields.begin(), fields.end(), [&](const Field& field) {
        return equal_without_case(field.name, name);
    });
    return found == fields.end() ? nullptr : &found->value;
}

// "HTTP/1.1 200 OK"
std::optional<int> status_of_line(std::string_view line) {
    if (!line.starts_with("HTTP/1.") || line.size() < 12 || line[8] != ' ') return std::nullopt;
    const auto status = parse_number<int>(line.substr(9, 3));
    if (!status || *status < 100 || *status > 599) return std::nullopt;
    return status;
}

}  // namespace

Result<Url> url_of(std::string_view text) {
    Url url;
    if (text.starts_with("https://")) {
        url.tls = true;
    } else if (!text.starts_with("http://")) {
        return malformed_url("it begins with http:// or https://");
    }
    text.remove_prefix(text.find("//") + 2);
    const auto slash = text.find('/');
    if (slash != std::string_view::npos) url.path = text.substr(slash);
    while (url.path.ends_with('/')) url.path.pop_back();
    text = text.substr(0, slash);
    std::string_view port;
    if (text.starts_with('[')) {
        const auto end = text.find(']');
        if (end == std::string_view::npos) return malformed_url("an IPv6 address ends with ]");
        url.endpoint.host = text.substr(1, end - 1);
        port = text.substr(end + 1);
    } else {
        url.endpoint.host = text.substr(0, text.find(':'));
        port = text.substr(url.endpoint.host.size());
    }
    const auto is_odd = [](char c) {
        return c <= ' ' || c > '~' || std::string_view("@?#\\\"'<>").find(c) != std::string::npos;
    };
    if (url.endpoint.host.empty() || std::any_of(text.begin(), text.end(), is_odd) ||
        std::any_of(url.path.begin(), url.path.end(), is_odd)) {
        return malformed_url("http://host:port is what it looks like, without user or query");
    }
    url.endpoint.port = url.tls ? 443 : 80;
    if (port.empty()) return url;
    const auto number = parse_number<std::uint16_t>(port.substr(1));
    if (!port.starts_with(':') || !number || *number == 0) {
        return malformed_url("the port is a number from 1 to 65535");
    }
    url.endpoint.port = *number;
    return url;
}

std::string to_string(const Url& url) {
    return fmt::format("{}://{}{}", url.tls ? "https" : "http", io::to_string(url.endpoint),
                       url.path);
}

std::string ClientResponse::field(std::string_view name) const {
    const std::string* const value = find_field(fields, name);
    return value ? *value : std::string();
}

Result<std::string> to_wire(const ClientRequest& request, const Url& url) {
    std::string wire = fmt::format("{} {}{} HTTP/1.0\r\nHost: {}\r\n", request.method, url.path,
                                   request.path, io::to_string(url.endpoint));
    std::size_t lines = 2;
    for (const auto& field : request.fields) {
        wire += fmt::format("{}: {}\r\n", field.name, field.value);
        ++lines;
    }
    const auto line_ends = static_cast<std::size_t>(
        std::count_if(wire.begin(), wire.end(), [](char c) { return c == '\r' || c == '\n'; }));
    if (line_ends != 2 * lines) {
        return Error{ErrorCode::invalid_argument, "a request cannot hold a line end"};
    }
    if (!request.body.empty() || request.method != "GET") {
        wire += fmt::format("Content-Length: {}\r\n", request.body.size());
    }
    return wire + "\r\n" + request.body;
}

Result<std::optional<ClientResponse>> response_of(std::string_view received, bool ended,
                                                  std::size_t answer_bytes_max) {
    const auto cut = [] {
        return Error{ErrorCode::unavailable, "the connection ended in the middle of the answer"};
    };
    if (!received.starts_with(std::string_view("HTTP/1.").substr(0, received.size()))) {
        return no_http("it does not begin with HTTP/1");
    }
    const std::size_t end = received.find(head_end);
    if (end == std::string_view::npos) {
        if (received.size() > head_bytes_max) return no_http("its head is too long");
        if (ended) return cut();
        return std::optional<ClientResponse>();
    }
    ClientResponse response;
    const std::string_view head = received.substr(0, end + 2);
    const std::size_t line = head.find("\r\n");
    const auto status = status_of_line(head.substr(0, line));
    auto fields = parse_fields(head.substr(line + 2));
    if (!status || !fields) return no_http("its head is malformed");
    response.status = *status;
    response.fields = std::move(*fields);
    std::string_view body = received.substr(end + head_end.size());
    if (*status < 200) {  // 100 Continue and its like come before the answer
        return response_of(body, ended, answer_bytes_max);
    }
    if (const auto* const length = find_field(response.fields, "Content-Length")) {
        const auto size = parse_number<std::size_t>(*length);
        if (!size) return no_http("its length is malformed");
        if (*size > answer_bytes_max) return no_http("its body is too long");
        if (body.size() < *size && ended) return cut();
        if (body.size() < *size) return std::optional<ClientResponse>();
        body = body.substr(0, *size);
    } else if (body.size() > answer_bytes_max) {
        return no_http("its body is too long");
    } else if (!ended && *status != 204 && *status != 304) {
        return std::optional<ClientResponse>();
    }
    response.body = body;
    return std::optional(std::move(response));
}

Exchange::Exchange(io::Loop& loop, std::unique_ptr<io::Socket> socket, std::string wire,
                   Duration timeout, Callback<void(Result<ClientResponse>)> done,
                   std::size_t answer_bytes_max)
    : loop_(loop),
      socket_(std::move(socket)),
      wire_(std::move(wire)),
      answer_bytes_max_(answer_bytes_max),
      done_(std::move(done)) {
    loop_.check_here();
    timer_.run_after(timeout, [this] {
        end(Error{ErrorCode::timed_out, "the answer did not come in time"});
    });
    socket_->write(as_bytes(wire_), [this](const Result<>& written) {
        if (written.ok()) return read();
        end(written.error());
    });
}

Exchange::~Exchange() = default;

void Exchange::read() {
    socket_->read(buffer_, [this](Result<std::size_t> size) { received(std::move(size)); });
}

void Exchange::received(Result<std::size_t> size) {
    if (!done_) return;
    const bool ended = !size.ok() || *size == 0;
    if (!ended) received_.append(as_text(ByteView(buffer_).first(*size)));
    // A server that refuses what we still send may reset the connection behind its answer.
    auto response = response_of(received_, ended, answer_bytes_max_);
    if (!response.ok()) return end(size.ok() ? response.error() : size.error());
    if (*response) return end(std::move(**response));
    read();
}

void Exchange::end(Result<ClientResponse> response) {
    if (!done_) return;
    timer_.cancel();
    auto done = std::move(done_);
    done_ = nullptr;
    done(std::move(response));
}

std::optional<WallTime> parse_date(std::string_view text) {
    std::tm parts{};
    const std::string owned(text);
    const char* const end = strptime(owned.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
    if (!end || *end != '\0') return std::nullopt;
    return WallTime{std::int64_t{timegm(&parts)} * 1000};
}

}  // namespace evenkeel::http
