// Whether the checkpoint store is the one that this processor began with (store_mark.h).
//
//     outside ──join()──▶ joining ──▶ young ──settled──▶ joined
//                            └──────────────────────────▶ │
//                                     lost ◀── another store, or an older copy
//
// A store without a mark may have been emptied a moment ago, so whoever makes the mark is young: no
// event is handled until members that know better had time to say so.
// Ownership: all of Place and the owner outlive it. Threads: part of Core.
// Failure: join() answers with it, or tries again; a store that does not answer is not lost.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/lifetime.h"
#include "base/random.h"
#include "base/result.h"
#include "base/task.h"
#include "checkpoint/store.h"
#include "io/loop.h"
#include "processor/ownership/store_mark.h"
#include <evenkeel/processor.h>

namespace evenkeel::processor {

class StoreGuard {
public:
    // What it asks and tells the processor.
    class Owner {
    public:
        virtual ~Owner() = default;
        virtual bool is_stopping() const = 0;
        virtual void on_failure(const Failure& failure) = 0;
        // Events may be handled now.
        virtual void on_store_settled() = 0;
        // Once, and not while the processor stops anyway.
        virtual void on_store_lost(const StoreVerdict& verdict) = 0;
    };
    struct Place {
        io::Loop& loop;
        checkpoint::Store& store;
        Random& random;
        Duration mark_period;
        bool accepts_loss;  // an operator knows that it was lost
    };
    using Answer = Callback<void(Result<>)>;

    StoreGuard(const Place& place, Owner& owner)
        : place_(place), owner_(owner), memory_(place.mark_period) {}
    ~StoreGuard();

    // Once. Finds the store's mark, or makes it. `corrupt` if the store was lost and nobody has
    // accepted that.
    void join(Answer joined);
    // Is it still the same? One listing for all that ask meanwhile. No answer if not.
    void confirm(Answer answer);
    // A pump is open: lets a young store settle.
    void settle();
    // False if it looks like another one. The signs may be old, of a question from before the
    // process stood still: the store is asked once more before it counts as lost.
    bool is_same(const StoreSigns& signs);
    void lose(const StoreVerdict& verdict);

    // Events may be handled.
    bool is_trusted() const { return state_ == State::joined; }
    // Of the store that was joined.
    const std::string& incarnation() const { return memory_.incarnation(); }

private:
    enum class State : std::uint8_t { outside, joining, young, joined, lost };
    enum class Sameness : std::uint8_t { same, doubtful, other };

    static constexpr Duration answer_age_max = std::chrono::seconds(1);
    static constexpr int doubts_max = 3;  // of a store that always answers late

    void look();
    void decide(const StoreSigns& signs);
    void look_again(const Error& error);
    void write_sign(const checkpoint::Record& record);
    void raise_epochs(Answer done);
    void raise_epochs(const std::vector<checkpoint::Checkpoint>& checkpoints, Answer done);
    void join_ended(State state, Result<> result);
    void confirm_all();
    Sameness compare(const StoreSigns& signs, bool is_fresh);
    void set_state(State state);
    void check_state() const;

    const Place place_;
    Owner& owner_;
    StoreMemory memory_;
    State state_ = State::outside;
    Answer joined_;  // while joining
    std::uint32_t join_failures_ = 0;
    std::vector<Answer> unconfirmed_;  // to be answered after the next look
    bool is_confirming_ = false;
    int doubts_ = 0;                           // in a row
    std::optional<io::TimerId> settle_timer_;  // until a young store is confirmed
    Lifetime lifetime_;
};

}  // namespace evenkeel::processor
