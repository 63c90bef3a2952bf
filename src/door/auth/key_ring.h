// All rules that hold, and their changes while the hub runs.
//
//   fixed    from the configuration, or the emulator's own: changed there, by set_fixed()
//   stored   in the data folder (door/auth/keys.h): created, rotated and removed here
//
// A change is made durable on the metadata executor, where blocking is allowed, one at a time, and
// then shown to AccessRules: links whose key has gone are closed at the door's next tick.
//
// Invariants
//   AUTH-6  AccessRules has the fixed rules, then the stored ones. A fixed rule hides a stored one
//           of the same name and event hub.
//   AUTH-7  What is reported to a caller as done is durable and holds.
// Threads: pinned to the loop.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/lifetime.h"
#include "base/result.h"
#include "base/task.h"
#include "door/auth/access.h"
#include "door/auth/keys.h"
#include "io/loop.h"

namespace evenkeel::door {

class KeyRing {
public:
    struct Entry {
        const Rule* rule;  // until the next change
        bool is_fixed;
    };
    using Made = Callback<void(Result<Rule>)>;
    using Done = Callback<void(Result<>)>;

    // All outlive it, and so does what was posted to `metadata`. `access` gets the rules at once.
    KeyRing(io::Loop& loop, io::Executor& metadata, AccessRules& access, Keys keys,
            std::vector<Rule> fixed);

    const AccessRules& access() const { return access_; }
    std::vector<Entry> list() const;
    // not_found
    Result<Entry> find(std::string_view name, std::string_view hub) const;

    // Errors are those of Keys; `unsupported` for a fixed rule, `already_exists` beside one.
    void create(RuleWish wish, Made done);
    void rotate(std::string name, std::string hub, KeyKind kind, Made done);
    void remove(std::string name, std::string hub, Done done);
    // All stored rules of an event hub that was removed.
    void remove_hub(std::string hub, Done done);
    // Other fixed rules hold from now on.
    void set_fixed(std::vector<Rule> fixed);

private:
    // `change` runs where blocking is allowed, `done` afterwards on the loop with the new rules in
    // force.
    template <typename T>
    void perform(Callback<Result<T>(Keys&)> change, Callback<void(Result<T>)> done);
    bool is_fixed(std::string_view name, std::string_view hub) const;
    void show();

    io::Loop& loop_;
    io::Executor& metadata_;
    AccessRules& access_;
    const std::shared_ptr<Keys> keys_;  // used on the metadata executor only
    std::vector<Rule> fixed_;
    std::vector<Rule> stored_;
    Lifetime lifetime_;
};

}  // namespace evenkeel::door
