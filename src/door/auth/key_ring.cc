#include "door/auth/key_ring.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/log.h"
#include "base/text.h"
#include "eventhubs/names.h"

namespace evenkeel::door {
namespace {

Error fixed_here(std::string_view name) {
    return {ErrorCode::unsupported,
            fmt::format("the rule '{}' is of the server's configuration; change it there, and let "
                        "the server load it again (SIGHUP)",
                        shown(name))};
}

// Whoever runs it sees who may come in from now on; never a key.
void tell(std::string_view what, std::string_view name, std::string_view hub) {
    trace(TraceLevel::info, what,
          {{"rule", shown(name)}, {"hub", hub.empty() ? "all" : shown(hub)}});
}

}  // namespace

KeyRing::KeyRing(io::Loop& loop, io::Executor& metadata, AccessRules& access, Keys keys,
                 std::vector<Rule> fixed)
    : loop_(loop),
      metadata_(metadata),
      access_(access),
      keys_(std::make_shared<Keys>(std::move(keys))),
      fixed_(std::move(fixed)),
      stored_(keys_->rules()) {
    show();
}

bool KeyRing::is_fixed(std::string_view name, std::string_view hub) const {
    const std::string folded = eventhubs::folded(hub);
    return std::any_of(fixed_.begin(), fixed_.end(),
                       [&](const Rule& rule) { return rule.name == name && rule.hub == folded; });
}

std::vector<KeyRing::Entry> KeyRing::list() const {
    std::vector<Entry> entries;
    for (const auto& rule : fixed_) entries.push_back({&rule, true});
    for (const auto& rule : stored_) {
        if (!is_fixed(rule.name, rule.hub)) entries.push_back({&rule, false});
    }
    return entries;
}

Result<KeyRing::Entry> KeyRing::find(std::string_view name, std::string_view hub) const {
    const std::string folded = eventhubs::folded(hub);
    for (const auto& entry : list()) {
        if (entry.rule->name == name && entry.rule->hub == folded) return entry;
    }
    return Error{ErrorCode::not_found,
                 fmt::format("there is no rule '{}'{}", shown(name),
                             hub.empty() ? std::string() : " of event hub " + shown(hub))};
}

void KeyRing::show() {
    std::vector<Rule> all;
    for (const auto& entry : list()) all.push_back(*entry.rule);
    access_.replace(std::move(all));
}

template <typename T>
void KeyRing::perform(Callback<Result<T>(Keys&)> change, Callback<void(Result<T>)> done) {
    loop_.check_here();
    // Results wait in the task for the loop, so that what is pinned is touched only there.
    metadata_.post([&loop = loop_, keys = keys_, handle = lifetime_.handle(this),
                    change = std::move(change), done = std::move(done)]() mutable {
        auto result = change(*keys);
        loop.post([handle = std::move(handle), rules = keys->rules(), result = std::move(result),
                   done = std::move(done)]() mutable {
            KeyRing* const ring = handle.get();
            if (!ring) return;
            ring->stored_ = std::move(rules);
            ring->show();
            done(std::move(result));
        });
    });
}

void KeyRing::create(RuleWish wish, Made done) {
    if (is_fixed(wish.name, wish.hub)) {
        return done(Error{ErrorCode::already_exists,
                          fmt::format("there is a rule '{}' in the server's configuration already",
                                      shown(wish.name))});
    }
    perform<Rule>(
        [wish = std::move(wish)](Keys& keys) {
            auto made = keys.create(wish);
            if (made.ok()) tell("a rule was created", wish.name, wish.hub);
            return made;
        },
        std::move(done));
}

void KeyRing::rotate(std::string name, std::string hub, KeyKind kind, Made done) {
    if (is_fixed(name, hub)) return done(fixed_here(name));
    perform<Rule>(
        [name = std::move(name), hub = std::move(hub), kind](Keys& keys) {
            auto rotated = keys.rotate(name, hub, kind);
            if (rotated.ok()) tell("a key was rotated", name, hub);
            return rotated;
        },
        std::move(done));
}

void KeyRing::remove(std::string name, std::string hub, Done done) {
    if (is_fixed(name, hub)) return done(fixed_here(name));
    perform<void>(
        [name = std::move(name), hub = std::move(hub)](Keys& keys) {
            auto removed = keys.remove(name, hub);
            if (removed.ok()) tell("a rule was removed", name, hub);
            return removed;
        },
        std::move(done));
}

void KeyRing::remove_hub(std::string hub, Done done) {
    perform<void>([hub = std::move(hub)](Keys& keys) { return keys.remove_hub(hub); },
                  std::move(done));
}

void KeyRing::set_fixed(std::vector<Rule> fixed) {
    loop_.check_here();
    fixed_ = std::move(fixed);
    show();
}

}  // namespace evenkeel::door
