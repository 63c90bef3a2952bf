// A command of the user's as a child process: lines go in, lines or an exit code come out.
// It is the leader of a process group, so that Ctrl-C in a terminal reaches only us, and what we
// send to end it reaches all it has started. It ends with us, also when we are killed.
// Threads: one at a time.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/error.h>

namespace evenkeel::cli {

class CommandChild {
public:
    struct Options {
        std::string command;                // for /bin/sh
        bool answers = false;               // its standard output is ours to read; else it is ours
        std::vector<std::string> pass_env;  // secret variables that it inherits nevertheless
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

    // handler_failed if it does not read any more, or if it has ended before it answered.
    Result<> write(std::string_view text, const GetWish& wish);
    Result<std::string> read_line(const GetWish& wish);
    // Closes its input and waits. Success is exit code 0, whatever it has read. `cancelled` if it
    // ended badly after a SIGTERM of ours, or by a signal that asked it to end while we were to
    // finish. `unavailable` if the shell could not run it.
    Result<> finish(const GetWish& wish);
    // After a failure of write() or read_line(), the last call: why the shell could not run it, if
    // that is so. Waits as the destructor does.
    std::optional<Error> why_not_run();

private:
    CommandChild(int process, int input, int output)
        : process_(process), input_(input), output_(output) {}

    Result<> wait_for(int descriptor, short event, const GetWish& wish);
    Result<> obey(Wish wish);
    bool is_asked_to_end_by(int signal, const GetWish& wish);
    bool has_ended_within(int milliseconds);
    void signal_group(int signal) const;
    void close_input();

    int process_;  // and the id of its group; -1: it was waited for
    int input_;
    int output_;  // -1: none
    bool was_terminated_ = false;
    int status_ = 0;  // as waitpid() says, once it has ended
    std::string read_;
};

// The variables that evenkeel reads credentials from: connection strings of hubs and stores.
const std::vector<std::string>& secret_variables();

}  // namespace evenkeel::cli
