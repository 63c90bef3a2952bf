// Pumps without events, as long as real ones take: seal 1 round trip, open 50 ms, drain 20 to 200
// ms, then a checkpoint. What a subclass is told is what the world's checkers count.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/lifetime.h"
#include "base/random.h"
#include "checkpoint/store.h"
#include "io/loop.h"
#include "processor/host.h"

namespace evenkeel::sim {

class ModelHost : public processor::PartitionHost {
public:
    ModelHost(io::Loop& loop, checkpoint::Store& store, Random random)
        : loop_(loop), store_(store), random_(random) {}

    void set_permit(processor::Permit* permit) { permit_ = permit; }

    void open(PartitionId partition, Epoch epoch) override;
    void close(PartitionId partition, processor::CloseReason reason, Task done) override;

    // The broker has cut the reader of that epoch for another.
    void cut(PartitionId partition, Epoch epoch);
    bool is_attached(PartitionId partition) const;
    bool any_attached() const;
    std::vector<PartitionId> attached() const;
    Epoch epoch_of(PartitionId partition) const;
    // The process dies.
    void detach_all();

protected:
    // False if the broker has a reader with a higher epoch.
    virtual bool attach(PartitionId partition, Epoch epoch) = 0;
    virtual void detach(PartitionId partition) = 0;

private:
    enum class State : std::uint8_t { opening, reading, draining };
    struct Pump {
        State state = State::opening;
        Epoch epoch;
        std::uint64_t turn = 0;
        bool is_attached = false;
        std::vector<Task> closed;
    };

    void seal(PartitionId partition);
    void read(PartitionId partition);
    void drained(PartitionId partition);
    void closed(PartitionId partition);
    void stop_reading(PartitionId partition);
    // Runs it unless the pump is another one by then.
    template <typename F>
    auto of_turn(PartitionId partition, F function);

    io::Loop& loop_;
    checkpoint::Store& store_;
    Random random_;
    processor::Permit* permit_ = nullptr;
    std::map<PartitionId, Pump> pumps_;
    std::uint64_t last_turn_ = 0;
    Lifetime lifetime_;  // the last member
};

}  // namespace evenkeel::sim
