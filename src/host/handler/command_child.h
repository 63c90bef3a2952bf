// A command of the user's as a child process: lines go in, lines or an exit code come out.
// It is the leader of a process group, so that Ctrl-C in a terminal reaches only us, and what we
// send to end it reaches all it has started. It ends with us, also when we are killed.
// Ownership: owns the process, which ends with it. Threads: one at a time. Failure: see each call.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/error.h>

namespace evenkeel::host {

class CommandChild {
public:
    struct Options {
        std::string command;   // for /bin/sh
        bool answers = false;  // its standard output is ours to read; else it is ours
        std::vector<std::string> pass_env = {};  // secret variables that it inherits nevertheless
        std::string folder = {};                 // where it runs; empty: where we are
        // Its environment in place of ours, "NAME=value" each; without secret variables, too.
        std::vector<std::string> environment = {};
    };
    // Its environment is ours without the variables that carry our credentials (see
    // secret_variables()). From the first start on this process ignores SIGPIPE: a command may end
    // before it has read all. `unavailable` if the system has no room for another process.
    static Result<std::unique_ptr<CommandChild>> start(const Options& options);
    // Closes its input. If it has not ended a second later it gets SIGTERM, then SIGKILL.
    ~CommandChild();
    CommandChild(const CommandChild&) = delete;
    CommandChild& operator=(const CommandChild&) = delete;

    // Asked again and again while something is waited for.
    enum class Wish : unsigned char {
        go_on,
        finish,     // it has time, but what ends it from outside is not its failure
        terminate,  // SIGTERM, once; it may still end well
        kill,       // SIGKILL; `cancelled`
    };
    using GetWish = std::function<Wish()>;

    // In as few writes as the pipe takes. What it answers meanwhile is kept for read_lines(), so
    // that neither waits for the other. handler_failed if it does not read any more.
    Result<> write(std::string_view text, const GetWish& wish);
    // Waits for a line, and gives all that have come, until the next call. handler_failed if it has
    // ended before.
    Result<std::vector<std::string_view>> read_lines(const GetWish& wish);
    // Whether it has written something since the last read_lines(), without waiting for it.
    bool has_written();
    // Closes its input and waits. Success is exit code 0, whatever it has read. `cancelled` if it
    // ended badly after a SIGTERM of ours, or by a signal that asked it to end while we were to
    // finish. `unavailable` if the shell could not run it.
    Result<> finish(const GetWish& wish);
    // After a failure of write() or read_lines(), the last call: an error that is not the events'
    // fault, if that is why. The shell could not run it, or it was asked to end as we were. Waits
    // as the destructor does.
    std::optional<Error> why_not_failed(const GetWish& wish);

private:
    CommandChild(int process, int input, int output);

    Result<> wait_for(bool is_writing, const GetWish& wish);
    // False at the end of its output.
    Result<bool> read_some();
    Result<> obey(Wish wish);
    std::optional<Error> excuse(const GetWish& wish) const;
    static bool is_asked_to_end_by(int signal, const GetWish& wish);
    bool has_ended_within(int milliseconds);
    void signal_group(int signal) const;
    void close_input();

    int process_;  // and the id of its group; -1: it was waited for
    int end_;      // readable once it has ended; -1: the system has none for us
    int input_;
    int output_;  // -1: none
    bool was_terminated_ = false;
    int status_ = 0;         // as waitpid() says, once it has ended
    std::string read_;       // of its output
    std::size_t taken_ = 0;  // of that, by the last read_lines()
};

// The variables that evenkeel reads credentials from: connection strings of hubs and stores.
const std::vector<std::string>& secret_variables();

}  // namespace evenkeel::host
