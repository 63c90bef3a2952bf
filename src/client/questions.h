// Questions to the hub's management node that wait for an answer, retried with growing pauses.
//
//     waiting ──▶ asked ──answered──▶ gone
//        ▲          └─ failed ──▶ resting ──pause──┐
//        └─────────────────────────────────────────┘
//
// Ownership: the requester is the connection's; a question is answered once, or dropped with us.
// Threads: pinned to the loop.
// Failure: what cannot succeed, and what failed too often, is answered with its error (CLIENT-6).
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/lifetime.h"
#include "base/random.h"
#include "base/result.h"
#include "base/secret.h"
#include "base/task.h"
#include "client/failure.h"
#include "client/requester.h"
#include "client/requests.h"
#include "io/loop.h"

namespace evenkeel::client {

class Questions {
public:
    using Make = Callback<NodeRequest(const Secret& token)>;
    using Answered = Callback<void(Result<NodeReply>)>;
    enum class Id : std::uint64_t {};

    // All outlive it. `waiting` runs when a question waits for the connection, perhaps again.
    Questions(io::Loop& loop, const RetryOptions& retry, Random& random, Task waiting);

    // `overloaded` if too many wait already.
    void add(Make make, Answered done);

    bool has_waiting() const;
    std::vector<Id> waiting() const;
    bool contains(Id id) const { return questions_.count(id) > 0; }
    // Asks one that waits.
    void ask(Id id, Requester& management, const Secret& token);
    // The connection could not be made: all but those that rest have failed once more.
    void lose(const Failure& failure);
    // Answers all of them with this, for good.
    void end(const Error& error);

private:
    struct Question {
        Make make;
        Answered done;
        std::uint32_t retries = 0;
        enum class State : std::uint8_t { waiting, asked, resting } state = State::waiting;
    };

    void failed(Id id, const Failure& failure);

    io::Loop& loop_;
    const RetryOptions& retry_;
    Random& random_;
    Task waiting_;
    std::map<Id, Question> questions_;
    std::uint64_t last_ = 0;
    Lifetime lifetime_;  // the last member
};

}  // namespace evenkeel::client
