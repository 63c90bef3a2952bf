// What the parts of a coordinator are tested with: a store, a heartbeat and its guard, in virtual
// time.
#pragma once

#include <memory>

#include "checkpoint/faulty_store.h"
#include "checkpoint/memory/store.h"
#include "io/sim/scheduler.h"
#include "processor/ownership/heartbeat.h"
#include "processor/ownership/step_guard.h"
#include "processor/ownership/timing.h"
#include "support/seed.h"

namespace evenkeel::processor {

struct StepRig {
    checkpoint::Table table() const { return server.snapshot(group); }
    bool run_until(Callback<bool()> condition) {
        return scheduler.run_until(std::move(condition), std::chrono::minutes(1));
    }
    void run_for(Duration duration) { scheduler.run_for(duration); }
    Instant now() const { return scheduler.now(); }

    const checkpoint::GroupName group{"n", "hub", "group"};
    const Timing timing = standard_timing();
    io::sim::Scheduler scheduler{test::test_seed()};
    checkpoint::MemoryServer server{scheduler.clock()};
    io::sim::SimLoop server_loop{scheduler, "store"};
    io::sim::SimLoop loop{scheduler, "a"};
    checkpoint::Faults faults;
    checkpoint::FaultyStore store{
        loop, server_loop, std::make_shared<checkpoint::MemoryStore>(server_loop, server, group),
        faults, scheduler.fork_random()};
    std::function<void()> on_lapsed = [] {};
    Heartbeat heartbeat{loop,
                        store,
                        timing,
                        scheduler.fork_random(),
                        {.on_lapsed = [this] { on_lapsed(); },
                         .on_gained = [] {},
                         .on_taken = [](const Error&) {},
                         .on_failure = [](const Error&, Duration) {},
                         .on_doubt = [] {},
                         .on_answer = [](Duration) {}}};
    StepGuard steps{heartbeat};
};

}  // namespace evenkeel::processor
