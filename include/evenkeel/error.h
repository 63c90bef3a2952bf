// Errors as values: Error says what went wrong, Result<T> holds a T or an Error.
//
// A failure is ordinary here: a disk is full, a peer leaves, a lease is lost. It stands in the
// signature and cannot be ignored. The operators are those of std::expected.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace evenkeel {

// Named by what the caller should do.
enum class ErrorCode : std::uint8_t {
    // Never succeeds as asked: change the request.
    invalid_argument,
    not_found,
    already_exists,
    not_allowed,  // with these credentials
    unsupported,
    // Lost a compare-and-set: read again, decide again.
    conflict,
    // A newer epoch owns this: stop at once.
    fenced,
    // Back off, then retry.
    overloaded,
    unavailable,
    timed_out,
    // Ended on request, or by the user's handler.
    cancelled,
    handler_failed,
    // Stored bytes are damaged: never retry, never hide.
    corrupt,
};

std::string_view to_string(ErrorCode code);

// `code` for programs, `detail` for users: what was being done to what, and what to do about it.
struct Error {
    ErrorCode code;
    std::string detail;
};

inline bool is_retriable(const Error& error) {
    return error.code == ErrorCode::overloaded || error.code == ErrorCode::unavailable ||
           error.code == ErrorCode::timed_out;
}

// "not_found: event hub 'homes' does not exist"
std::string to_string(const Error& error);

namespace detail {
// Ends the process: a value was taken from a Result that holds an error, or the other way round.
[[noreturn]] void bad_result_access(const Error* error);
}  // namespace detail

template <typename T = void>
class [[nodiscard]] Result {
public:
    using value_type = T;

    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

    bool ok() const { return state_.index() == 0; }
    explicit operator bool() const { return ok(); }

    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T operator*() && { return std::move(value()); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }

    T& value() & {
        if (!ok()) detail::bad_result_access(&std::get<1>(state_));
        return std::get<0>(state_);
    }
    const T& value() const& {
        if (!ok()) detail::bad_result_access(&std::get<1>(state_));
        return std::get<0>(state_);
    }
    // A value, no reference into a temporary: it lives as long as a loop over it.
    T value() && { return std::move(value()); }

    Error& error() {
        if (ok()) detail::bad_result_access(nullptr);
        return std::get<1>(state_);
    }
    const Error& error() const {
        if (ok()) detail::bad_result_access(nullptr);
        return std::get<1>(state_);
    }

private:
    std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
public:
    using value_type = void;

    Result() = default;
    Result(Error error) : error_(std::move(error)) {}

    bool ok() const { return !error_.has_value(); }
    explicit operator bool() const { return ok(); }
    void operator*() const { value(); }
    void value() const {
        if (error_) detail::bad_result_access(&*error_);
    }
    const Error& error() const {
        if (!error_) detail::bad_result_access(nullptr);
        return *error_;
    }

private:
    std::optional<Error> error_;
};

}  // namespace evenkeel
