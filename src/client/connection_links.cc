// The links and questions of a client's connection.
// tidy: no test: tests/client tests it against a door
#include <utility>
#include <vector>

#include "client/connection.h"
#include "client/entry.h"
#include "eventhubs/wire_names.h"

namespace evenkeel::client {

void Connection::Entry::on_detached(const std::optional<amqp::Condition>& why) {
    link = nullptr;
    const bool is_over = state != State::attaching && state != State::attached;
    if (!owner_ || is_over) return;
    Failure failure = failure_of(why);
    // What was allowed a moment ago: the token has ended, and a new one will do.
    if (state == State::attached && why && why->name == amqp::condition::unauthorized) {
        failure = {{ErrorCode::unavailable, why->description}, true, {}};
        if (connection_.is_ready()) connection_.authorize();
    }
    connection_.lose(*this, failure);
}

void Connection::want(WantedLink& link) {
    loop_.check_here();
    auto& entry = entries_[&link];
    if (!entry) entry = std::make_unique<Entry>(*this, link);
    if (entry->state != Entry::State::parked) return;
    entry->state = Entry::State::waiting;
    advance();
}

void Connection::drop(WantedLink& link) {
    loop_.check_here();
    auto found = entries_.extract(&link);
    if (found.empty()) return;
    Entry& entry = *found.mapped();
    entry.disown();
    entry.timer.cancel();
    if (entry.link && live_ && live_->transport->is_open()) live_->transport->detach(*entry.link);
    // We may be inside one of its callbacks.
    loop_.post([dead = std::move(found.mapped())] {});
}

void Connection::progressed(WantedLink& link) {
    const auto found = entries_.find(&link);
    if (found != entries_.end()) found->second->failures = 0;
}

void Connection::attach(Entry& entry) {
    if (!entry.owner() || entry.state != Entry::State::waiting || !is_ready()) return;
    entry.state = Entry::State::attaching;
    entry.link = &live_->transport->attach(entry.owner()->attach(), entry);
    entry.timer.run_after(options_.retry.try_timeout, [this, &entry] {
        if (entry.link && live_) live_->transport->detach(*entry.link);
        lose(entry,
             {{ErrorCode::timed_out, "the hub did not answer the attach of a link"}, true, {}});
    });
}

void Connection::lose(Entry& entry, const Failure& failure) {
    entry.timer.cancel();
    // What held for a while was no failed attempt.
    const bool held = entry.state == Entry::State::attached &&
                      loop_.clock().now() - entry.attached_at >= options_.retry.delay_max;
    entry.link = nullptr;
    entry.failures = held ? 1 : entry.failures + 1;
    if (!tell(entry, failure)) return;
    entry.state = Entry::State::resting;
    const Duration pause = std::max(retry_pause(entry.failures), failure.delay_min);
    entry.timer.run_after(pause, [this, &entry] {
        entry.state = Entry::State::waiting;
        advance();
    });
}

// True if the owner wants the link again, and that may help.
bool Connection::tell(Entry& entry, const Failure& failure) {
    entry.state = Entry::State::parked;
    const bool again = entry.owner()->on_lost(failure, entry.failures) && failure.retry;
    if (!entry.owner()) return false;  // it has dropped the link
    if (!again) entry.failures = 0;
    return again && entry.state == Entry::State::parked;
}

// The connection could not be made: those that wait for it hear of it, and wait on if they like.
void Connection::lose_unattached(const Failure& failure) {
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
    std::vector<std::uint64_t> unanswered;
    for (auto& [id, question] : questions_) {
        if (stopping_ || question.state != Question::State::resting) unanswered.push_back(id);
    }
    for (const auto id : unanswered) question_failed(id, failure);
}

void Connection::lose_attached(const Failure& failure) {
    std::vector<WantedLink*> attached;
    for (auto& [link, entry] : entries_) {
        const bool is =
            entry->state == Entry::State::attached || entry->state == Entry::State::attaching;
        if (is) attached.push_back(link);
    }
    for (WantedLink* const link : attached) {
        const auto found = entries_.find(link);
        if (found != entries_.end()) lose(*found->second, failure);
    }
}

bool Connection::is_needed() const {
    for (const auto& [link, entry] : entries_) {
        if (entry->state == Entry::State::waiting) return true;
    }
    for (const auto& [id, question] : questions_) {
        if (question.state == Question::State::waiting) return true;
    }
    return false;
}

void Connection::read_event_hub(Answered done) {
    ask(
        [this](const Secret& token) {
            return client::read_event_hub(options_.target.event_hub, token);
        },
        std::move(done));
}

void Connection::read_partition(std::uint32_t partition, Answered done) {
    ask(
        [this, partition](const Secret& token) {
            return client::read_partition(options_.target.event_hub, partition, token);
        },
        std::move(done));
}

void Connection::ask(Callback<NodeRequest(const Secret&)> make, Answered done) {
    loop_.check_here();
    if (stopping_) return done(Error{ErrorCode::cancelled, "the client was closed"});
    if (questions_.size() >= Requester::waiting_max) {
        return done(Error{ErrorCode::overloaded, "too many requests wait for the hub"});
    }
    questions_.emplace(++last_question_, Question{std::move(make), std::move(done)});
    advance();
}

void Connection::ask_now(std::uint64_t id, Question& question) {
    question.state = Question::State::asked;
    auto& management = live_->management;
    if (management && !management->is_usable()) {
        loop_.post([dead = std::exchange(management, nullptr)] {});
    }
    if (!management) {
        management = std::make_unique<Requester>(
            loop_, *live_->transport,
            options_.target.event_hub + "/" + std::string(eventhubs::node::management),
            options_.retry.try_timeout);
    }
    management->ask(question.make(token_),
                    [this, id](const Failure* failure, const NodeReply& reply) {
                        if (failure) return question_failed(id, *failure);
                        auto found = questions_.extract(id);
                        if (!found.empty()) found.mapped().done(reply);
                    });
}

void Connection::question_failed(std::uint64_t id, const Failure& failure) {
    const auto found = questions_.find(id);
    if (found == questions_.end()) return;
    Question& question = found->second;
    if (stopping_ || !failure.retry || ++question.retries > options_.retry.retries_max) {
        auto ended = questions_.extract(found);
        return ended.mapped().done(failure.error);
    }
    question.state = Question::State::resting;
    const Duration pause = std::max(retry_pause(question.retries), failure.delay_min);
    loop_.run_after(pause, lifetime_.guard([this, id] {
        const auto again = questions_.find(id);
        if (again == questions_.end()) return;
        again->second.state = Question::State::waiting;
        advance();
    }));
}

}  // namespace evenkeel::client
