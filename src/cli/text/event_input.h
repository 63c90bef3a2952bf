// Where `send` takes its events from: arguments, lines of files, whole files, standard input.
//
// A line is given out as soon as it is there, and whoever asks learns that the next one is still to
// come, so that what was collected can be sent meanwhile.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/interrupt.h"

namespace evenkeel::cli {

struct EventInputOptions {
    std::vector<std::string> bodies;  // given out as they are; without any, the files
    std::vector<std::string> files;   // -: standard input
    bool whole_files = false;         // a file is one event
    std::uint64_t count = 0;          // stop after so many; 0: no limit. Bodies are repeated.
};

class EventInput {
public:
    static constexpr std::size_t line_bytes_max = std::size_t{64} << 20;

    enum class State : std::uint8_t {
        body,    // there is one
        later,   // not yet: wait()
        ended,   // there is no more
        failed,  // see error()
    };

    explicit EventInput(EventInputOptions options);
    ~EventInput();
    EventInput(const EventInput&) = delete;
    EventInput& operator=(const EventInput&) = delete;

    // The files can all be read; `not_found` names one that cannot.
    Result<> check() const;

    // What there is now; never waits.
    State next();
    // After `body`, until the next call.
    std::string_view body() const { return body_; }
    // After `later`: until there may be more, or the process is asked to stop.
    void wait(Interrupt& interrupt);
    const Error& error() const { return error_; }
    std::uint64_t number() const { return given_; }

private:
    State give(std::string_view body);
    State next_of_file();
    State fail(std::string what);
    bool open_next();
    void close_file();

    const EventInputOptions options_;
    std::size_t next_file_ = 0;
    int descriptor_ = -1;
    bool file_ended_ = false;
    bool file_given_ = false;  // as a whole
    std::string buffer_;       // read and not yet given out
    std::size_t begin_ = 0;    // of what is not yet given out
    std::size_t searched_ = 0;
    std::string_view body_;
    std::uint64_t given_ = 0;
    Error error_{ErrorCode::cancelled, ""};
};

}  // namespace evenkeel::cli
