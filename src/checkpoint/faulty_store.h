// A store as it is in the world: answers take time, get lost, and at times there is no store at
// all. For the simulation: everything on one thread, drawn from one seed.
//
//     client's loop        server's loop                  client's loop
//     call ─── request ──▶ inner store applies it ─── answer ──▶ done
//              half                                   half
//              (refused here: not applied)            (lost here: applied, `timed_out`)
//
// A request that is on its way is applied whatever happens to its client meanwhile, as it would be
// by a server elsewhere: the client may be paused, or gone. Requests of one client may overtake
// each other.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/lifetime.h"
#include "base/random.h"
#include "checkpoint/store.h"
#include "io/loop.h"

namespace evenkeel::checkpoint {

// What goes wrong, from now on; one for all clients or one for each. May change at any time.
struct Faults {
    // Each half of a round trip, give or take `spread_percent`.
    Duration write_half = std::chrono::microseconds(5000);
    Duration list_half = std::chrono::microseconds(7500);
    Duration list_entry = std::chrono::microseconds(4);  // on top, for each entry listed
    std::uint32_t spread_percent = 40;
    std::uint32_t slow_per_thousand = 10;  // halves that take ten times as long

    std::uint32_t refused_per_thousand = 0;  // `unavailable`, not applied
    std::uint32_t lost_per_thousand = 0;     // `timed_out`, though it was applied
    std::uint32_t conflict_per_thousand =
        0;                   // member, ownership and record writes: `conflict`, not applied
    Duration lost_delay{0};  // how much later than its answer a loss is noticed
    std::uint32_t silent_per_thousand = 0;  // applied, and never answered
    bool outage = false;                    // everything fails at once

    bool push = false;  // watch() works, and tells after that long
    Duration push_min = std::chrono::milliseconds(3);
    Duration push_max = std::chrono::milliseconds(15);

    // A store next door that does nothing wrong, and answers at once.
    static Faults none() {
        return {.write_half = Duration(0), .list_half = Duration(0), .list_entry = Duration(0)};
    }
};

class FaultyStore final : public Store {
public:
    // `inner` is pinned to the server's loop, and no other client uses it. Loops and faults outlive
    // the store; the server's loop and the faults also all requests on their way.
    FaultyStore(io::Loop& client, io::Loop& server, std::shared_ptr<Store> inner,
                const Faults& faults, Random random);

    // How many requests there were, as a store counts them that takes one ownership at a time.
    std::uint64_t requests() const { return requests_; }

    void list_members(Answer<std::vector<Member>> done) override;
    void write_member(const Member& member, Answer<std::string> done) override;
    void remove_member(std::string_view id, std::string_view version, Answer<> done) override;
    void list_ownerships(Answer<std::vector<Ownership>> done) override;
    // The whole exchange may fail, and each write for itself.
    void write_ownerships(std::vector<Ownership> wanted,
                          Answer<std::vector<Result<std::string>>> done) override;
    void list_checkpoints(Answer<std::vector<Checkpoint>> done) override;
    void seal(PartitionId partition, Epoch epoch, Answer<Checkpoint> done) override;
    void write_checkpoint(const Checkpoint& checkpoint, Answer<> done) override;
    void reset_checkpoint(const Checkpoint& checkpoint, Answer<> done) override;
    void add_dead_letter(const DeadLetter& letter, Answer<> done) override;
    void list_dead_letters(const DeadLetterPage& page,
                           Answer<std::vector<DeadLetter>> done) override;
    void count_dead_letters(Answer<std::map<PartitionId, std::uint64_t>> done) override;
    void remove_dead_letter(const DeadLetterId& id, Answer<> done) override;
    void list_records(std::string_view prefix, Answer<std::vector<Record>> done) override;
    void write_record(const Record& record, Answer<std::string> done) override;
    bool watch(std::function<void()> changed) override;
    Pace pace() const override { return inner_->pace(); }

private:
    // `call` runs on the server's loop with the inner store and its answer.
    template <typename T, typename Call>
    void exchange(Duration half, Answer<T> done, Call call);
    Duration draw(Duration half);
    bool draw(std::uint32_t per_thousand);

    io::Loop& client_;
    io::Loop& server_;
    const std::shared_ptr<Store> inner_;
    const Faults& faults_;
    Random random_;
    std::uint64_t requests_ = 0;
    std::function<void()> changed_;
    Lifetime lifetime_;
};

}  // namespace evenkeel::checkpoint
