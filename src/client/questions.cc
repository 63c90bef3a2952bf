// tidy: no test: tests/client tests it against a door
#include "client/questions.h"

#include <algorithm>
#include <utility>

namespace evenkeel::client {

Questions::Questions(io::Loop& loop, const RetryOptions& retry, Random& random, Task waiting)
    : loop_(loop), retry_(retry), random_(random), waiting_(std::move(waiting)) {}

void Questions::add(Make make, Answered done) {
    if (questions_.size() >= Requester::waiting_max) {
        return done(Error{ErrorCode::overloaded, "too many requests wait for the hub"});
    }
    questions_.emplace(Id{++last_}, Question{std::move(make), std::move(done)});
    waiting_();
}

bool Questions::has_waiting() const {
    return std::any_of(questions_.begin(), questions_.end(), [](const auto& entry) {
        return entry.second.state == Question::State::waiting;
    });
}

std::vector<Questions::Id> Questions::waiting() const {
    std::vector<Id> ids;
    for (const auto& [id, question] : questions_) {
        if (question.state == Question::State::waiting) ids.push_back(id);
    }
    return ids;
}

void Questions::ask(Id id, Requester& management, const Secret& token) {
    const auto found = questions_.find(id);
    if (found == questions_.end()) return;
    found->second.state = Question::State::asked;
    management.ask(found->second.make(token),
                   [this, id](const Failure* failure, const NodeReply& reply) {
                       if (failure) return failed(id, *failure);
                       auto answered = questions_.extract(id);
                       if (!answered.empty()) answered.mapped().done(reply);
                   });
}

void Questions::failed(Id id, const Failure& failure) {
    const auto found = questions_.find(id);
    if (found == questions_.end()) return;
    Question& question = found->second;
    if (!failure.retry || ++question.retries > retry_.retries_max) {
        auto ended = questions_.extract(found);
        return ended.mapped().done(failure.error);
    }
    question.state = Question::State::resting;
    const Duration pause =
        std::max(retry_delay(retry_, question.retries, random_), failure.delay_min);
    loop_.run_after(pause, lifetime_.guard([this, id] {
        const auto again = questions_.find(id);
        if (again == questions_.end()) return;
        again->second.state = Question::State::waiting;
        waiting_();
    }));
}

void Questions::lose(const Failure& failure) {
    std::vector<Id> unanswered;
    for (const auto& [id, question] : questions_) {
        if (question.state != Question::State::resting) unanswered.push_back(id);
    }
    for (const Id id : unanswered) failed(id, failure);
}

void Questions::end(const Error& error) {
    while (!questions_.empty()) {
        auto ended = questions_.extract(questions_.begin());
        ended.mapped().done(error);
    }
}

}  // namespace evenkeel::client
