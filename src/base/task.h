// A move-only callable, Callback<void(Result<>)> say, that keeps small captures inline: what loops
// and executors run. Unlike std::function it takes captures that cannot be copied, and does not
// allocate for captures of up to 64 bytes.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

#include "base/check.h"

namespace evenkeel {

template <typename Signature>
class Callback;

template <typename R, typename... Arguments>
class Callback<R(Arguments...)> {
public:
    Callback() = default;
    Callback(std::nullptr_t) {}

    template <typename F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, Callback> &&
             std::is_invocable_r_v<R, std::remove_cvref_t<F>&, Arguments...>)
        Callback(F&& function) {
        using Function = std::remove_cvref_t<F>;
        if constexpr (fits<Function>) {
            new (storage_) Function(std::forward<F>(function));
        } else {
            *reinterpret_cast<Function**>(storage_) = new Function(std::forward<F>(function));
        }
        actions_ = &actions_of<Function>;
    }

    Callback(Callback&& other) noexcept { take(other); }
    Callback& operator=(Callback&& other) noexcept {
        if (this != &other) {
            reset();
            take(other);
        }
        return *this;
    }
    ~Callback() { reset(); }

    explicit operator bool() const { return actions_ != nullptr; }
    R operator()(Arguments... arguments) {
        EK_CHECK(actions_ != nullptr, "called an empty callback");
        return actions_->call(storage_, std::forward<Arguments>(arguments)...);
    }

private:
    static constexpr std::size_t inline_bytes = 64;

    struct Actions {
        R (*call)(std::byte* storage, Arguments&&... arguments);
        void (*move)(std::byte* to, std::byte* from);
        void (*destroy)(std::byte* storage);
    };

    template <typename Function>
    static constexpr bool fits = sizeof(Function) <= inline_bytes &&
                                 alignof(Function) <= alignof(std::max_align_t) &&
                                 std::is_nothrow_move_constructible_v<Function>;

    template <typename Function>
    static Function& held(std::byte* storage) {
        if constexpr (fits<Function>) {
            return *std::launder(reinterpret_cast<Function*>(storage));
        } else {
            return **reinterpret_cast<Function**>(storage);
        }
    }

    template <typename Function>
    static constexpr Actions actions_of = {
        [](std::byte* storage, Arguments&&... arguments) -> R {
            return held<Function>(storage)(std::forward<Arguments>(arguments)...);
        },
        [](std::byte* to, std::byte* from) {
            if constexpr (fits<Function>) {
                new (to) Function(std::move(held<Function>(from)));
                held<Function>(from).~Function();
            } else {
                *reinterpret_cast<Function**>(to) = *reinterpret_cast<Function**>(from);
            }
        },
        [](std::byte* storage) {
            if constexpr (fits<Function>) {
                held<Function>(storage).~Function();
            } else {
                delete *reinterpret_cast<Function**>(storage);
            }
        },
    };

    void take(Callback& other) {
        if (other.actions_) other.actions_->move(storage_, other.storage_);
        actions_ = std::exchange(other.actions_, nullptr);
    }
    void reset() {
        if (actions_) std::exchange(actions_, nullptr)->destroy(storage_);
    }

    alignas(std::max_align_t) std::byte storage_[inline_bytes];
    const Actions* actions_ = nullptr;
};

using Task = Callback<void()>;

}  // namespace evenkeel
