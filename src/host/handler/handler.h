// What runs a function: a process of the user's, or a C++ function in tests. One call is one
// execution, with one event or a batch.
//
//     events of a partition ──▶ invoke() ──▶ outputs, or why it failed
//
// Ownership: owned by the instance; the app outlives it, an Invocation only the call.
// Threads and failure: see invoke().
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "host/app.h"
#include <evenkeel/processor.h>

namespace evenkeel::host {

struct Invocation {
    const Function& function;
    std::string id;         // a GUID, in every log line of this execution
    std::string host_name;  // of the namespace, for the function's metadata
    std::uint32_t partition = 0;
    Events events = {};         // one, if the cardinality is one
    std::uint32_t attempt = 0;  // 0 the first time
    std::string last_error = {};
    // Why the partition is being given up, once it is. Asked again and again.
    std::function<std::optional<Closed>()> closing = [] { return std::optional<Closed>(); };
    // Events up to this one are done, whatever becomes of the rest. For handlers that know.
    std::function<void(const Event&)> done = [](const Event&) {};
    // So many bodies are not JSON, and are passed on as text; also 0.
    std::function<void(std::uint64_t)> not_json = [](std::uint64_t) {};
};

// What a function wrote to one output binding, one text or byte string for each event.
struct BoundOutput {
    std::string binding;
    std::vector<std::string> bodies;
    bool operator==(const BoundOutput&) const = default;
};
struct Outcome {
    std::vector<BoundOutput> outputs = {};
    std::vector<std::string> logs = {};
    bool has_decoded_base64 = false;  // an output that may have been meant as text
};

class Handler {
public:
    virtual ~Handler() = default;
    // Starts what runs the functions, unless it runs, and returns once it is ready. An error says
    // why it does not run; the next call tries again, after a pause. Threads: any, several at once;
    // blocks. Only then, invoke().
    virtual Result<> begin() { return {}; }
    // Threads: any; several at once, one for each partition. Blocks until the function has ended.
    // `handler_failed` and `timed_out` are failures of this execution. `unavailable`: it did not
    // begin, because what runs it is away or starting, or ended with others that may be to blame
    // (suspects.h); it is called again. `cancelled`: the partition is given up.
    virtual Result<Outcome> invoke(const Invocation& invocation) = 0;
    // Ends at once what runs the functions: executions that did not end in time are `unavailable`
    // from now on. Receivers of CloudEvents are not ours to end: their answers are not waited for
    // any more. Does nothing for commands, which end with their partition. Threads: any.
    virtual void end() {}
    // The partition has gone: what was kept for it can go as well.
    virtual void release(const Function&, std::uint32_t /*partition*/) {}
};

}  // namespace evenkeel::host
