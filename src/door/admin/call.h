// A request in work, the JSON object in its body, and the JSON of its answer. Internal to the admin
// interface and its parts.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/lifetime.h"
#include "base/result.h"
#include "base/task.h"
#include "door/auth/access.h"
#include "http/message.h"

namespace boost::json {
class value;
}

namespace evenkeel::door {

// A request, and what was found out about it.
struct AdminCall {
    const http::Request& request;
    std::string hub;
    std::string group;
    std::string key;
    std::string partition;
    std::string sequence;
    std::optional<Claim> claim;
};

using AdminAnswer = Callback<void(http::Response)>;

// The members of a JSON object, each asked for once; what is left over is a mistake of the caller.
class Members {
public:
    // An empty body is an empty object.
    static Result<Members> parse(const std::string& body);
    ~Members();
    Members(Members&&) noexcept;
    Members& operator=(Members&&) noexcept;

    Result<std::optional<std::string>> take_text(std::string_view key);
    Result<std::optional<std::int64_t>> take_number(std::string_view key, std::int64_t max);
    Result<std::optional<std::vector<std::string>>> take_texts(std::string_view key);
    Result<std::optional<std::vector<std::int64_t>>> take_numbers(std::string_view key,
                                                                  std::int64_t max);
    Result<std::optional<bool>> take_flag(std::string_view key);
    // invalid_argument names one that nobody asked for.
    Result<> check_empty() const;

private:
    struct State;
    explicit Members(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

http::Response json_response(const boost::json::value& value, int status = 200);
http::Response error_of(const Error& error);
http::Response bad_request(std::string_view why);
http::Response no_content();
// The status of an error of the hub.
int status_of(ErrorCode code);
// Answers with what a change made, or why it did not; nothing once the lifetime is over.
Callback<void(Result<>)> then(const Lifetime& lifetime, AdminAnswer answer,
                              Callback<http::Response()> success);

}  // namespace evenkeel::door
