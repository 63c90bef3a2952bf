// A child process of a test: started, listened to, killed and waited for by its own id only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace evenkeel::fault {

struct Ended {
    bool exited = false;  // false: by a signal
    int code = -1;        // exit code, or the signal's number
};

class Process {
public:
    // stdin is a pipe that stays open until close_input(); stdout and stderr are pipes too.
    explicit Process(const std::vector<std::string>& command);
    // Kills it if it still runs.
    ~Process();
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    // Blocks until all bytes are there; false if the stream ended before.
    bool read_output(void* to, std::size_t bytes);
    bool read_errors(void* to, std::size_t bytes);
    // The next line without its end; empty at the end of the stream.
    std::string read_error_line();
    // All that is still to come, to the end of the stream.
    std::string rest_of_output();
    std::string rest_of_errors();

    pid_t id() const { return process_; }
    // False if nobody reads any more.
    bool write_input(std::string_view text);
    void close_input();
    // Nobody reads its output and its errors any more.
    void close_outputs();
    void signal(int number);
    Ended wait();

private:
    pid_t process_ = -1;
    int input_ = -1;
    int output_ = -1;
    int errors_ = -1;
};

struct Outcome {
    int exit_code = -1;  // -1: ended by a signal
    std::string output;
    std::string errors;
};
// Runs it to its end. For programs that write less than a pipe holds.
Outcome run_to_end(const std::vector<std::string>& command);

}  // namespace evenkeel::fault
