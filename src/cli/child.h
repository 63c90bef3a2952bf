// A child process, usually of this same program. The parent writes lines to its stdin and reads
// lines from its stdout; stderr is shared.
//
// It ends with its parent, even if that is killed: a child calls live_with_parent() first, and
// its stdin ends then. Ctrl-C in a terminal reaches only the parent, which stops the child.
// Threads: one at a time, but for say() and close_input(), which may come from another one.
#pragma once

#include <chrono>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "base/result.h"

namespace evenkeel::cli {

class Child {
public:
    static Result<Child> start(const std::vector<std::string>& arguments,
                               const std::string& program = "/proc/self/exe");
    Child(Child&& other) noexcept;
    Child& operator=(Child&&) = delete;
    // Kills it if it still runs, and waits for it.
    ~Child();

    pid_t id() const { return process_; }
    // A line to its stdin; false if it has ended.
    bool say(std::string_view line);
    void close_input();

    // The next line; none once its stdout has ended. Blocks.
    std::optional<std::string> next_line();
    // The same in two steps, for callers that poll output(): one read(), false at the end, from
    // when on output() is -1; then the lines that are whole by now, each valid until the next call.
    // A line that is not whole at `bytes_max` comes in pieces, so that the buffer is bounded.
    int output() const { return output_; }
    bool fill();
    std::optional<std::string_view> line(
        std::size_t bytes_max = std::numeric_limits<std::size_t>::max());
    // What came behind the last of these lines.
    std::string_view rest() const { return std::string_view(buffer_).substr(taken_); }

    // How it has ended, once: "exit code 1", "signal 9". None while it runs. Does not wait.
    std::optional<std::string> take_end();

    void kill_hard();
    // Kills it, but reads on: its last lines may still be in the pipe. Threads: any.
    void end() const;

private:
    Child(pid_t process, int input, int output)
        : process_(process), input_(input), output_(output) {}
    pid_t process_;
    int input_;
    int output_;
    std::string buffer_;
    std::size_t taken_ = 0;     // of the buffer
    std::size_t searched_ = 0;  // no newline from taken_ to here
};

// Called by a child before it does anything else.
void live_with_parent();
// The parent's next line on stdin; none if stdin is closed or the parent has exited. Blocks.
std::optional<std::string> next_word();
// True once there is a line on our stdin, or it has ended; false after `wait`.
bool has_word(std::chrono::milliseconds wait);

}  // namespace evenkeel::cli
