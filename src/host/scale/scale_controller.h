// Which instances of an app run: the scale controller, without processes and without a clock. It
// gets what was read and what became of each instance, and answers what to do.
//
//     readings ──▶ decide_scale() of each function ──▶ the greatest ──▶ start, drain
//
//     waiting ──▶ starting ──▶ running ──▶ draining ──▶ gone
//        ▲____________│____________│      ended by itself: once more, after a pause
//
// Invariants
//   SCALE-7  While the app is not being stopped, it has as many instances as the last decision
//            wanted, those that wait to be started again included.
//   SCALE-8  An instance that is running is killed only after it was asked to drain, and had its
//            time for that.
// Threads: a value. Time is the caller's and does not go back.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "host/scale/decide.h"
#include "host/scale/load_history.h"

namespace evenkeel::host {

struct ScaledFunction {
    std::string name;
    ScalePolicy policy;  // checked; min, max and standby are those of the app
    NeverRead never_read = NeverRead::one_event;
};

struct ControllerOptions {
    std::vector<ScaledFunction> functions;  // at least one
    std::string name;                       // instances are NAME-1, NAME-2 and so on
    Duration drain_max = std::chrono::seconds(30);
    Duration start_max = std::chrono::minutes(2);  // then it is taken to hang
    std::uint64_t seed = 0;                        // of the pauses
};

enum class InstanceState : std::uint8_t { waiting, starting, running, draining };
std::string_view to_string(InstanceState state);

struct InstanceSlot {
    std::string name;  // of its process: no two starts share one
    InstanceState state = InstanceState::starting;
    Instant since = {};         // in that state
    Instant until = {};         // waiting: the next start; starting and draining: the kill
    std::uint32_t ends = 0;     // by itself, in a row
    std::string last_end = {};  // "exit code 1"
    std::uint32_t owned = 0;    // partitions, of all functions
    bool has_run = false;       // it was ready; else there is nothing that an end can cut off
    bool is_killed = false;
};

struct ControllerAction {
    enum class Kind : std::uint8_t { start, drain, kill };
    Kind kind;
    std::string name;
    bool operator==(const ControllerAction&) const = default;
};
using ControllerActions = std::vector<ControllerAction>;

class ScaleController {
public:
    // Unless the user says so, one machine does not get more processes, however many partitions
    // there are.
    static constexpr std::uint32_t default_max = 16;
    // Beyond drain_max, for what an instance does after its last execution.
    static constexpr Duration drain_margin = std::chrono::seconds(15);

    explicit ScaleController(ControllerOptions options);

    // What was read of a function's group, by the number of the function.
    void note(std::size_t function, const GroupLoad& load, Instant now);
    void note_unknown(std::size_t function, std::string why);
    // Partitions by instance. Those that own the fewest go first.
    void note_owned(const std::map<std::string, std::uint32_t>& owned);

    // What became of an instance. Names that are not known any more are ignored.
    void is_ready(const std::string& name, Instant now);
    void has_ended(const std::string& name, const std::string& how, Instant now);

    // After a round of readings: how many there should be, and what to do about it.
    ControllerActions decide(Instant now);
    // At any time: starts those whose pause is over, kills those whose time is over.
    ControllerActions tick(Instant now);
    // Drains all. Nothing is started any more.
    ControllerActions stop(Instant now);
    bool is_stopped() const { return is_stopping_ && slots_.empty(); }
    bool is_stopping() const { return is_stopping_; }

    // Those that are not about to leave.
    std::uint32_t instances() const;
    std::uint32_t wanted() const { return wanted_; }
    const std::vector<InstanceSlot>& slots() const { return slots_; }
    const std::vector<ScaledFunction>& functions() const { return options_.functions; }
    // The last of each function, and the function that wanted the most. After decide().
    const std::vector<ScaleDecision>& decisions() const { return decisions_; }
    std::size_t leader() const { return leader_; }
    // The next look tells more soon: a step was not the last one, or partitions that are read now
    // have no checkpoint yet.
    bool is_settling() const;
    // Not one instance runs, and all have ended by themselves: more of them would not help.
    bool is_failing() const;

private:
    void begin(InstanceSlot& slot, Instant now, ControllerActions& actions);
    void shrink(Instant now, ControllerActions& actions);
    void drain(InstanceSlot& slot, Instant now, ControllerActions& actions) const;

    ControllerOptions options_;
    std::vector<LoadHistory> histories_;
    std::vector<ScaleDecision> decisions_;
    std::size_t leader_ = 0;
    std::uint32_t wanted_ = 0;
    std::vector<InstanceSlot> slots_;
    std::uint64_t starts_ = 0;
    bool is_stopping_ = false;
    Random random_;
};

}  // namespace evenkeel::host
