// A command of the user's as a child process: lines go in, lines or an exit code come out.
// It ends with us, also when we are killed. Threads: one at a time.
#pragma once

#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <evenkeel/error.h>

namespace evenkeel::cli {

class CommandChild {
public:
    // Through /bin/sh. With `answers` its standard output is ours to read; else it is our own.
    static Result<std::unique_ptr<CommandChild>> start(const std::string& command, bool answers);
    // Closes its input, waits a second, then ends it.
    ~CommandChild();
    CommandChild(const CommandChild&) = delete;
    CommandChild& operator=(const CommandChild&) = delete;

    // handler_failed if it does not read any more; `cancelled` once `is_cancelled` says so.
    using IsCancelled = std::function<bool()>;
    Result<> write(std::string_view text, const IsCancelled& is_cancelled);
    Result<std::string> read_line(const IsCancelled& is_cancelled);
    // Closes its input and waits: success is exit code 0.
    Result<> finish(const IsCancelled& is_cancelled);

private:
    CommandChild(int process, int input, int output)
        : process_(process), input_(input), output_(output) {}

    Result<> wait_for(int descriptor, short event, const IsCancelled& is_cancelled) const;
    void close_input();

    int process_;
    int input_;
    int output_;  // -1: none
    std::string read_;
};

}  // namespace evenkeel::cli
