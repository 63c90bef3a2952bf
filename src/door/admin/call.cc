// tidy: no test: tested by admin_test.cc
#include "door/admin/call.h"

#include <boost/json.hpp>

#include "base/text.h"

namespace evenkeel::door {

namespace json = boost::json;

struct Members::State {
    std::optional<json::value> take(std::string_view key) {
        const auto found = object.find(json::string_view(key.data(), key.size()));
        if (found == object.end()) return std::nullopt;
        json::value value = found->value();
        object.erase(found);
        return value;
    }

    json::object object;
};

namespace {

Error wrong(std::string_view key, const std::string& wanted) {
    return {ErrorCode::invalid_argument, std::string(key) + " must be " + wanted};
}

}  // namespace

Members::Members(std::unique_ptr<State> state) : state_(std::move(state)) {}
Members::~Members() = default;
Members::Members(Members&&) noexcept = default;
Members& Members::operator=(Members&&) noexcept = default;

Result<Members> Members::parse(const std::string& body) {
    auto state = std::make_unique<State>();
    if (body.empty()) return Members(std::move(state));
    boost::system::error_code error;
    json::value value = json::parse(json::string_view(body.data(), body.size()), error);
    if (error || !value.is_object()) {
        return Error{ErrorCode::invalid_argument, "the body is not a JSON object"};
    }
    state->object = std::move(value.get_object());
    return Members(std::move(state));
}

Result<std::optional<std::string>> Members::take_text(std::string_view key) {
    const auto value = state_->take(key);
    if (!value) return std::optional<std::string>();
    if (!value->is_string()) return wrong(key, "a text");
    return std::optional(std::string(value->get_string()));
}

Result<std::optional<std::int64_t>> Members::take_number(std::string_view key, std::int64_t max) {
    const auto value = state_->take(key);
    if (!value) return std::optional<std::int64_t>();
    if (!value->is_int64() || value->get_int64() < 0 || value->get_int64() > max) {
        return wrong(key, "a whole number from 0 to " + std::to_string(max));
    }
    return std::optional(value->get_int64());
}

Result<std::optional<std::vector<std::string>>> Members::take_texts(std::string_view key) {
    const auto value = state_->take(key);
    if (!value) return std::optional<std::vector<std::string>>();
    if (!value->is_array()) return wrong(key, "a list of texts");
    std::vector<std::string> texts;
    for (const auto& entry : value->get_array()) {
        if (!entry.is_string()) return wrong(key, "a list of texts");
        texts.emplace_back(entry.get_string());
    }
    return std::optional(std::move(texts));
}

Result<std::optional<std::vector<std::int64_t>>> Members::take_numbers(std::string_view key,
                                                                       std::int64_t max) {
    const auto value = state_->take(key);
    if (!value) return std::optional<std::vector<std::int64_t>>();
    const std::string wanted = "a list of whole numbers from 0 to " + std::to_string(max);
    if (!value->is_array()) return wrong(key, wanted);
    std::vector<std::int64_t> numbers;
    for (const auto& entry : value->get_array()) {
        if (!entry.is_int64() || entry.get_int64() < 0 || entry.get_int64() > max) {
            return wrong(key, wanted);
        }
        numbers.push_back(entry.get_int64());
    }
    return std::optional(std::move(numbers));
}

Result<std::optional<bool>> Members::take_flag(std::string_view key) {
    const auto value = state_->take(key);
    if (!value) return std::optional<bool>();
    if (!value->is_bool()) return wrong(key, "true or false");
    return std::optional(value->get_bool());
}

Result<> Members::check_empty() const {
    if (state_->object.empty()) return {};
    return Error{ErrorCode::invalid_argument,
                 "nothing is known of '" + shown(state_->object.begin()->key()) + "'"};
}

http::Response json_response(const boost::json::value& value, int status) {
    return {.status = status, .body = boost::json::serialize(value) + "\n"};
}

http::Response error_of(const Error& error) {
    return http::error_response(status_of(error.code), to_string(error.code), error.detail);
}

http::Response bad_request(std::string_view why) {
    return http::error_response(400, "invalid_argument", why);
}

http::Response no_content() {
    return {.status = 204};
}

int status_of(ErrorCode code) {
    switch (code) {
        case ErrorCode::invalid_argument: return 400;
        case ErrorCode::not_allowed: return 403;
        case ErrorCode::not_found: return 404;
        case ErrorCode::already_exists:
        case ErrorCode::conflict:
        case ErrorCode::fenced: return 409;
        case ErrorCode::unsupported: return 501;
        case ErrorCode::overloaded:
        case ErrorCode::unavailable:
        case ErrorCode::cancelled: return 503;
        case ErrorCode::timed_out: return 504;
        case ErrorCode::handler_failed:
        case ErrorCode::corrupt: break;
    }
    return 500;
}

Callback<void(Result<>)> then(const Lifetime& lifetime, AdminAnswer answer,
                              Callback<http::Response()> success) {
    return lifetime.guard(
        [answer = std::move(answer), success = std::move(success)](const Result<>& result) mutable {
            answer(result.ok() ? success() : error_of(result.error()));
        });
}

}  // namespace evenkeel::door
