// What is around a pump: what it works with, and who has it.
//
// Ownership: all of it outlives the pump. Threads: pinned to the processor's loop.
#pragma once

#include <string>

#include "base/ids.h"
#include "base/lifetime.h"
#include "base/result.h"
#include "base/task.h"
#include "checkpoint/store.h"
#include "io/loop.h"
#include "processor/host.h"
#include "processor/pump/dead_letters.h"
#include "source/source.h"
#include <evenkeel/processor.h>

namespace evenkeel::processor {

struct PumpPlace {
    io::Loop& loop;
    io::Executor& workers;  // may run several tasks at once
    checkpoint::Store& store;
    source::Source& source;
    Permit& permit;
    DeadLetters& dead_letters;
    const ProcessorOptions& options;
    const HandlerFactory& handlers;
};

// Who has a pump.
class PumpOwner {
public:
    virtual ~PumpOwner() = default;
    virtual void on_failure(const Failure& failure) = 0;
    // A handler called checkpoint() although checkpoints are automatic.
    virtual void on_needless_checkpoint(PartitionId) {}
    // A poisonous event is to end the processor.
    virtual void on_stop_wanted(PartitionId partition, const Error& error) = 0;
    // The pump handles nothing more of it until hold(false); on_unparked() if its handler resumed
    // it.
    virtual void on_parked(PartitionId, bool /*is_storm*/, const std::string& /*reason*/) {}
    virtual void on_unparked(PartitionId) {}
    // As the hub describes itself now. False if it is another one, whose events are not to be read:
    // the processor is stopped.
    virtual bool on_hub(const source::HubProperties&) { return true; }
    // After a seal: is the store still the one that this processor began with? No answer if not:
    // the processor is stopped.
    virtual void confirm_store(Callback<void(Result<>)> answer) { answer({}); }
    // A handler goes on although its partition was given up; `is_running` false once it has ended.
    virtual void on_undrained(PartitionId partition, bool is_running) = 0;
    // The source answered.
    virtual void on_heard() {}
    // A reader was opened: each time, also after a failure.
    virtual void on_reading(PartitionId, Epoch) {}
    // Expires with the owner, whom such a handler may outlive.
    virtual Lifetime::Watch lifetime() const = 0;
};

}  // namespace evenkeel::processor
