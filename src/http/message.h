// Requests and responses, and what goes onto the wire for a response.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "io/socket.h"

namespace evenkeel::http {

class BodyStream;

struct Field {
    std::string name;
    std::string value;
};

struct Request {
    std::string method;  // as sent; GET for HEAD too, whose answer only loses its body
    std::string path;    // as sent, so '/' and "%2F" differ: split first, then decode it
    std::string query;   // as sent, without '?'
    std::vector<Field> fields;
    std::string body;
    io::Endpoint peer;

    // Without regard to case; empty if it is not there, joined by ", " if it is there twice.
    std::string field(std::string_view name) const;
};

struct Response {
    int status = 200;
    std::string body = {};
    std::string content_type = "application/json";
    // May also replace the security fields that every response has.
    std::vector<Field> fields = {};
    // Comes behind `body`, in chunks, until it says that it is over; then the connection closes.
    std::shared_ptr<BodyStream> stream = {};
};

// {"error":{"code":"not_found","message":"..."}}
Response error_response(int status, std::string_view code, std::string_view message);

enum class Body : unsigned char { sent, left_out };
enum class Afterwards : unsigned char { keep_alive, close };

// Head and body. Every response tells browsers not to guess, frame, cache or refer to it.
std::string to_wire(const Response& response, WallTime now, Body body, Afterwards afterwards);

// A piece of a chunked body; an empty one is its end.
std::string chunk(std::string_view bytes);

// True if the comma-separated list has the word, without regard to case.
bool has_word(std::string_view list, std::string_view word);

}  // namespace evenkeel::http
