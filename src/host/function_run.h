// The executions of one function for one partition: what the processor calls with events.
//
//     on_events() ──▶ invoke ──▶ outputs ──▶ done
//                       ▲  │ failed  └ away: sent again, without another execution
//                       │  ├──▶ pause of the retry policy
//                       └──┘
//                          └──▶ on_success: the failure goes to the processor, which tries event by
//                               event and then dead-letters; functions: the checkpoint advances
//
// With cardinality one each event is an execution of its own, and is done before the next begins.
// Ownership: all of FunctionPlace outlives it. Threads: as PartitionHandler.
// Failure: `unavailable` if what runs the function or takes its outputs is away: the processor
// waits, and counts no attempt.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>

#include "base/clock.h"
#include "base/guarded.h"
#include "base/random.h"
#include "base/result.h"
#include "host/app.h"
#include "host/handler/handler.h"
#include <evenkeel/processor.h>

namespace evenkeel::host {

// Where outputs go. What was sent is removed, so that the rest can be sent again.
using SendOutputs = std::function<Result<>(const Function&, Outcome&)>;

struct Counts {
    std::atomic<std::uint64_t> executions{0};  // that began
    std::atomic<std::uint64_t> failures{0};
    std::atomic<std::uint64_t> events{0};    // of executions that succeeded
    std::atomic<std::uint64_t> not_json{0};  // bodies that were passed on as text, also again
    Guarded<std::map<std::string, Instant>> not_json_told = {};  // by function: the last time
};

struct FunctionPlace {
    const Function& function;
    CheckpointRule rule = CheckpointRule::on_success;
    std::string host_name;
    Handler& handler;
    const SendOutputs& outputs;
    Counts& counts;
};

class FunctionRun final : public PartitionHandler {
public:
    explicit FunctionRun(const FunctionPlace& place) : place_(place), random_(secure_number()) {}

    Result<> on_events(Partition& partition, Events events) override;
    void on_closed(Partition& partition, Closed reason) override;

private:
    Result<> execute(Partition& partition, Events events);
    Result<> once(Partition& partition, Events& events, std::uint32_t attempt,
                  const std::string& last_error);
    void note_not_json(const Invocation& invocation, std::uint64_t events) const;
    // Until all of it has arrived, or the partition is given up.
    Result<> send(const Partition& partition, const Invocation& invocation, Outcome& outcome);
    // False if the partition is given up meanwhile.
    static bool rest(const Partition& partition, Duration pause);

    // Failures of the events from `first` on, by the retry policy. Kept while nothing can run them.
    struct Tried {
        std::int64_t first = -1;
        std::uint32_t failures = 0;
        std::string error = {};
    };

    const FunctionPlace place_;
    Random random_;
    Tried tried_;
};

}  // namespace evenkeel::host
