// Events to a shell command of the user's: what `evenkeel process --exec` and functions with a
// command speak. Each event is a line of JSON on its standard input.
//
//   by exit code   a process for each batch; its input ends, and exit code 0 says that it is done
//   by lines       one process until close() or a failure; it answers each event with a line,
//                  "error ..." if that one failed. A line more than that is a failure, since the
//                  answers behind it would count for the wrong events
//   by batches     the same, but a batch ends with an empty line, in both directions: the command
//                  answers with one when the batch is done, or with a line "error ...". Its other
//                  lines are its output.
//
// By lines, several events are under way at once. Those that were answered well behind one that
// failed are not given again when that one is tried again.
// Ownership: owns its process; what Calls refer to outlives the call. Threads: one at a time.
// Failure: see run(). A process that failed is ended, and the next run() starts another.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "base/result.h"
#include "host/handler/command_child.h"
#include "host/handler/command_pace.h"
#include <evenkeel/processor.h>

namespace evenkeel::host {

enum class CommandAck : unsigned char { exit_code, line, batch };

struct CommandOptions {
    CommandChild::Options child;  // `answers` is set by the runner
    CommandAck ack = CommandAck::exit_code;
    // By exit code and by batches: the first batches have at most batch_events, and while they take
    // little time the next ones have more. 0: all events of run() are one batch.
    std::size_t batch_events = 0;
    std::size_t batch_events_max = 0;
};

class CommandRunner {
public:
    // Appends one line, with its end.
    using AddLine = std::function<void(const Event&, std::string& to)>;
    // This event and the `events - 1` before it.
    using Done = std::function<void(const Event& last, std::size_t events)>;
    using Output = std::function<Result<>(const std::string& lines)>;
    struct Calls {
        AddLine add_line;
        CommandChild::GetWish wish;
        Done done;
        Output output = [](const std::string&) { return Result<>(); };  // by batches
    };

    explicit CommandRunner(CommandOptions options);

    // `done` is called for events that are done, whatever becomes of the next ones.
    // `handler_failed` for the command's failure, `unavailable` if the shell cannot run it,
    // `cancelled` if the wish is not to go on.
    Result<> run(Events events, const Calls& calls);
    // Lets a process that answers end.
    void close(const CommandChild::GetWish& wish);

private:
    Result<> run_batches(Events events, const Calls& calls);
    Result<> pass_all(Events events, const Calls& calls);
    Result<> ask_for_batch(Events events, const Calls& calls);
    Result<> ask_for_each(Events events, const Calls& calls);
    Result<> give(Events events, const Calls& calls);
    void forget_answered(const Event& first);

    const CommandOptions options_;
    std::unique_ptr<CommandChild> child_;
    CommandPace batch_pace_;
    CommandPace line_pace_;
    // By lines: answered well, behind the event that failed.
    std::int64_t failed_ = -1;
    std::set<std::int64_t> answered_ahead_;
};

}  // namespace evenkeel::host
