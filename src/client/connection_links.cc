// tidy: no test: tests/client tests it against a door
#include "client/connection_links.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/check.h"
#include "io/timer.h"

namespace evenkeel::client {

class ConnectionLinks::Entry final : public LinkEvents {
public:
    enum class State : std::uint8_t {
        parked,     // until it is wanted again
        resting,    // until its pause is over
        waiting,    // for the connection
        attaching,  // the hub has not answered yet
        attached,
    };

    Entry(ConnectionLinks& links, WantedLink& owner)
        : timer(links.loop_), links_(links), owner_(&owner) {}

    void on_attached(amqp::Link& attached) override {
        if (!owner_) return;
        timer.cancel();
        state = State::attached;
        attached_at = links_.loop_.clock().now();
        check_state();
        owner_->on_attached(attached);
    }
    void on_delivery(amqp::Link&, const amqp::Delivery& delivery) override {
        if (owner_) owner_->on_delivery(delivery);
    }
    void on_credit(amqp::Link&) override {
        if (owner_) owner_->on_credit();
    }
    void on_disposition(amqp::Link&, const amqp::Disposition& disposition) override {
        if (owner_) owner_->on_disposition(disposition);
    }
    void on_detached(const std::optional<amqp::Condition>& why) override;

    bool is_on_transport() const { return state == State::attaching || state == State::attached; }
    WantedLink* owner() const { return owner_; }
    // Nothing reaches the owner any more.
    void disown() { owner_ = nullptr; }
    void check_state() const;

    State state = State::parked;
    amqp::Link* link = nullptr;  // while attaching and attached
    std::uint32_t failures = 0;  // in a row
    Instant attached_at;
    io::Timer timer;

private:
    ConnectionLinks& links_;
    WantedLink* owner_;
};

void ConnectionLinks::Entry::on_detached(const std::optional<amqp::Condition>& why) {
    link = nullptr;
    if (!owner_ || !is_on_transport()) return;
    Failure failure = failure_of(why);
    // What was allowed a moment ago: the token has ended, and a new one will do.
    if (state == State::attached && why && why->name == amqp::condition::unauthorized) {
        failure = {{ErrorCode::unavailable, why->description}, true, {}};
        links_.events_.unauthorized();
    }
    links_.lose(*this, failure);
}

void ConnectionLinks::Entry::check_state() const {
    EK_CHECK(is_on_transport() || !link, "a link that is not attached is none of the transport's");
    EK_CHECK(state != State::resting || timer.is_pending(), "a link that rests will be woken");
}

ConnectionLinks::ConnectionLinks(io::Loop& loop, const RetryOptions& retry, Random& random,
                                 Events events)
    : loop_(loop), retry_(retry), random_(random), events_(std::move(events)) {}

ConnectionLinks::~ConnectionLinks() = default;

void ConnectionLinks::want(WantedLink& link) {
    loop_.check_here();
    if (ended_) {
        link.on_lost(*ended_, 1);
        return;
    }
    auto& entry = entries_[&link];
    if (!entry) entry = std::make_unique<Entry>(*this, link);
    if (entry->state != Entry::State::parked) return;
    entry->state = Entry::State::waiting;
    events_.waiting();
}

void ConnectionLinks::drop(WantedLink& link) {
    loop_.check_here();
    auto found = entries_.extract(&link);
    if (found.empty()) return;
    Entry& entry = *found.mapped();
    entry.disown();
    entry.timer.cancel();
    if (entry.link && transport_ && transport_->is_open()) transport_->detach(*entry.link);
    // We may be inside one of its callbacks.
    loop_.post([dead = std::move(found.mapped())] {});
}

void ConnectionLinks::progressed(WantedLink& link) {
    const auto found = entries_.find(&link);
    if (found != entries_.end()) found->second->failures = 0;
}

bool ConnectionLinks::has_waiting() const {
    return std::any_of(entries_.begin(), entries_.end(), [](const auto& entry) {
        return entry.second->state == Entry::State::waiting;
    });
}

void ConnectionLinks::attach_waiting() {
    std::vector<Entry*> waiting;
    for (auto& [link, entry] : entries_) {
        if (entry->state == Entry::State::waiting) waiting.push_back(entry.get());
    }
    for (Entry* const entry : waiting) attach(*entry);
}

void ConnectionLinks::attach(Entry& entry) {
    if (!entry.owner() || entry.state != Entry::State::waiting) return;
    if (!transport_ || !transport_->is_open()) return;
    entry.state = Entry::State::attaching;
    entry.link = &transport_->attach(entry.owner()->attach(), entry);
    entry.timer.run_after(retry_.try_timeout, [this, &entry] {
        if (entry.link && transport_) transport_->detach(*entry.link);
        lose(entry,
             {{ErrorCode::timed_out, "the hub did not answer the attach of a link"}, true, {}});
    });
}

void ConnectionLinks::lose(Entry& entry, const Failure& failure) {
    entry.timer.cancel();
    // What held for a while was no failed attempt.
    const bool held = entry.state == Entry::State::attached &&
                      loop_.clock().now() - entry.attached_at >= retry_.delay_max;
    entry.link = nullptr;
    entry.failures = held ? 1 : entry.failures + 1;
    if (!tell(entry, failure)) return;
    entry.state = Entry::State::resting;
    const Duration pause =
        std::max(retry_delay(retry_, entry.failures, random_), failure.delay_min);
    entry.timer.run_after(pause, [this, &entry] {
        entry.state = Entry::State::waiting;
        events_.waiting();
    });
    entry.check_state();
}

// True if the owner wants the link again, and that may help.
bool ConnectionLinks::tell(Entry& entry, const Failure& failure) {
    entry.state = Entry::State::parked;
    const bool again = entry.owner()->on_lost(failure, entry.failures) && failure.retry;
    if (!entry.owner()) return false;  // it has dropped the link
    if (!again) entry.failures = 0;
    return again && entry.state == Entry::State::parked;
}

void ConnectionLinks::lose_waiting(const Failure& failure) {
    std::vector<WantedLink*> waiting;
    for (auto& [link, entry] : entries_) {
        if (entry->state == Entry::State::waiting) waiting.push_back(link);
    }
    for (WantedLink* const link : waiting) {
        const auto found = entries_.find(link);
        if (found == entries_.end() || found->second->state != Entry::State::waiting) continue;
        ++found->second->failures;
        if (tell(*found->second, failure)) found->second->state = Entry::State::waiting;
    }
}

void ConnectionLinks::lose_attached(const Failure& failure) {
    std::vector<WantedLink*> attached;
    for (auto& [link, entry] : entries_) {
        if (entry->is_on_transport()) attached.push_back(link);
    }
    for (WantedLink* const link : attached) {
        const auto found = entries_.find(link);
        if (found != entries_.end()) lose(*found->second, failure);
    }
}

void ConnectionLinks::end(const Failure& failure) {
    ended_ = failure;
    std::vector<WantedLink*> wanted;
    for (auto& [link, entry] : entries_) {
        if (entry->state != Entry::State::parked) wanted.push_back(link);
    }
    for (WantedLink* const link : wanted) {
        const auto found = entries_.find(link);
        if (found != entries_.end()) lose(*found->second, failure);
    }
}

}  // namespace evenkeel::client
