// A process of the app that lives long: a custom handler, or an interpreter with one of our shims.
// It belongs to this object, whose end it does not outlive; on_end() says how it ended by itself.
//
//     write() ──▶ its standard input      descriptor 3, standard output and error ──▶ on_line()
//
// All of its input and output is done by one thread, worker-io/0 of this object, so that a process
// that does not read, or writes without end, holds nobody else up. It is the leader of a process
// group, which is killed when it ends. It ends with us, also if we are killed: then a guard, a
// small second process in the group, kills what is left of it.
// Threads: any.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "host/app.h"

namespace evenkeel::host {

enum class Stream : std::uint8_t { output, errors, answers };

// How a process ended.
struct WorkerEnd {
    std::string how = {};  // "exit code 3", "signal 9", or why we killed it
    // By SIGTERM, SIGINT or SIGHUP, or with exit code 0 as after one of them: whoever stops a
    // service may signal all of its processes. What it was doing is not to blame.
    bool was_asked = false;
};

class WorkerProcess {
public:
    // A longer line is passed on in pieces, but an answer ends the process.
    static constexpr std::size_t line_bytes_max = std::size_t{64} << 20;

    struct Options {
        // The program, as it is if it has a '/' (relative to `folder`), else found in PATH; then
        // its arguments.
        std::vector<std::string> command;
        std::string folder = {};
        Environment environment = {};
        bool has_answers = false;  // descriptor 3 of the process is ours to read
        // What it, and each process that it starts, may have of memory of its own. Its interpreter
        // tells the function when there is no more, or ends.
        std::optional<std::uint64_t> memory_max = {};
        // Both on the thread of the process, which must not block.
        std::function<void(Stream, std::string_view line)> on_line = [](Stream, std::string_view) {
        };
        std::function<void()> on_tick = [] {};  // about ten times a second
        // Once, when it has ended. The last of all calls.
        std::function<void(const WorkerEnd&)> on_end = [](const WorkerEnd&) {};
    };
    // `not_found` names a program that is not there; `unavailable` if the system refuses.
    static Result<std::unique_ptr<WorkerProcess>> start(Options options);
    // Closes its input, SIGTERM; SIGKILL for its group after `grace`. Waits for its end.
    ~WorkerProcess();
    WorkerProcess(const WorkerProcess&) = delete;
    WorkerProcess& operator=(const WorkerProcess&) = delete;

    // Queues the text; dropped if the process has ended.
    void write(std::string text);
    // SIGKILL for its group.
    void kill_now();
    bool has_ended() const;
    // Only once it has ended.
    const WorkerEnd& end() const;
    int id() const;

private:
    struct State;
    explicit WorkerProcess(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

// What the processes of an app find in their environment: its settings, without the host's own
// connection string and store, which are not the app's.
Environment worker_environment(const Environment& settings);

// Where the program is: itself if it has a '/', relative to the folder, else in PATH; empty if it
// is nowhere.
std::string find_program(const std::string& program, const std::string& folder,
                         const Environment& environment);

}  // namespace evenkeel::host
