// What a processor does once its checkpoint store was emptied or set back (store_guard.h).
//
//     none ──begin()──▶ seeding ──▶ announcing ──▶ draining ──▶ seeding_again ──▶ closing ──▶ ended
//            └── an operator has accepted it already ──▶ draining ───────────────────▶ │
//
// What members know is stored again (a seed): a checkpoint only rises (STORE-4), so that is right
// whatever the store has by now. Then the others and newcomers are informed, the calls that run end
// and are stored too, and we are gone without asking the store for anything more.
// Ownership: all of Place and the owner outlive it. Threads: part of Core. Failure: it ends
// all the same; seeds are tried a few times, and calls get drain_max.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "base/lifetime.h"
#include "base/random.h"
#include "checkpoint/store.h"
#include "io/loop.h"
#include <evenkeel/processor.h>

namespace evenkeel::processor {

class StoreLoss {
public:
    // What it asks and tells the processor.
    class Owner {
    public:
        virtual ~Owner() = default;
        // How far the open pumps are.
        virtual std::vector<checkpoint::Checkpoint> progress() const = 0;
        virtual bool has_pumps() const = 0;
        // A call of a handler is under way.
        virtual bool is_handling() const = 0;
        // Closes the pumps, and asks the store for nothing.
        virtual void abandon() = 0;
        // The pumps are closed, or took too long.
        virtual void on_loss_ended() = 0;
    };
    struct Place {
        io::Loop& loop;
        checkpoint::Store& store;
        Random& random;
        const ProcessorOptions& options;
    };

    StoreLoss(const Place& place, Owner& owner) : place_(place), owner_(owner) {}

    // Of a pump that is gone. The furthest counts.
    void remember(const checkpoint::Checkpoint& progress);
    // Once: the store of that incarnation is lost. Accepted: there is nothing to store again.
    void begin(const std::string& incarnation, bool is_accepted);

private:
    enum class State : std::uint8_t {
        none,
        seeding,
        announcing,
        draining,
        seeding_again,
        closing,
        ended
    };

    void seed();
    void write_seeds(const std::vector<checkpoint::Checkpoint>& stored);
    void on_written(const Result<>& written);
    void seed_later();
    void seeded();
    void announce();
    void close();
    void wait_in(State state);
    void look();
    void set_state(State state);
    void check_state() const;

    const Place place_;
    Owner& owner_;
    State state_ = State::none;
    std::string incarnation_;
    bool is_accepted_ = false;
    std::map<PartitionId, checkpoint::Checkpoint> progress_;
    std::uint32_t attempts_left_ = 0;  // at storing the seeds
    std::size_t unanswered_ = 0;       // seeds of this attempt
    bool must_repeat_ = false;
    Instant until_;  // it waits no longer
    Lifetime lifetime_;
};

}  // namespace evenkeel::processor
