// Lets a callback find out that the object it was made for is gone.
//
//     class Reader {
//         void ask() {
//             loop_.post(lifetime_.guard([this] { answer(); }));  // skipped once *this is gone
//         }
//         Lifetime lifetime_;  // the last member: it ends before the others are destroyed
//     };
//
// Ownership: a Lifetime owns nothing but a token; it does not keep its object alive.
// Threads: watches may be copied and destroyed on any thread. over() and get() are asked on the
// thread that destroys the object; elsewhere the answer may be out of date at once.
#pragma once

#include <memory>
#include <utility>

namespace evenkeel {

class Lifetime {
public:
    Lifetime() : token_(std::make_shared<const char>()) {}
    Lifetime(const Lifetime&) = delete;
    Lifetime& operator=(const Lifetime&) = delete;

    class Watch {
    public:
        Watch() = default;  // of an object that is gone
        bool over() const { return token_.expired(); }

    private:
        friend class Lifetime;
        explicit Watch(const std::shared_ptr<const char>& token) : token_(token) {}
        std::weak_ptr<const char> token_;
    };
    Watch watch() const { return Watch(token_); }

    // A pointer that becomes null when the lifetime is over.
    template <typename Object>
    class Handle {
    public:
        Handle() = default;
        Object* get() const { return watch_.over() ? nullptr : object_; }

    private:
        friend class Lifetime;
        Handle(Object* object, Watch watch) : object_(object), watch_(std::move(watch)) {}
        Object* object_ = nullptr;
        Watch watch_;
    };
    template <typename Object>
    Handle<Object> handle(Object* object) const {
        return Handle<Object>(object, watch());
    }

    // The callback, skipped once the lifetime is over.
    template <typename Callback>
    auto guard(Callback callback) const {
        return [watch = watch(), callback = std::move(callback)](auto&&... arguments) mutable {
            if (!watch.over()) callback(std::forward<decltype(arguments)>(arguments)...);
        };
    }

    // Ends it before its object: what was guarded until now is skipped from here on.
    void end() { token_.reset(); }

private:
    std::shared_ptr<const char> token_;
};

}  // namespace evenkeel
