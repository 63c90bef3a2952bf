#include "cli/text/event_input.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/core.h>
#include <poll.h>

namespace evenkeel::cli {
namespace {

constexpr std::size_t read_bytes = std::size_t{64} << 10;
constexpr auto wait_step = std::chrono::hours(1);

bool has_input(int descriptor) {
    pollfd poll{descriptor, POLLIN, 0};
    return ::poll(&poll, 1, 0) > 0;
}

}  // namespace

EventInput::EventInput(EventInputOptions options) : options_(std::move(options)) {}

EventInput::~EventInput() {
    close_file();
}

void EventInput::close_file() {
    if (descriptor_ > STDIN_FILENO) ::close(descriptor_);
    descriptor_ = -1;
}

Result<> EventInput::check() const {
    if (!options_.bodies.empty()) return {};
    for (const auto& file : options_.files) {
        struct stat status {};
        if (file != "-" && stat(file.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) {
            return Error{ErrorCode::invalid_argument, fmt::format("'{}' is a folder", file)};
        }
        if (file == "-" || access(file.c_str(), R_OK) == 0) continue;
        return Error{ErrorCode::not_found,
                     fmt::format("'{}' cannot be read: {}", file, std::strerror(errno))};
    }
    return {};
}

EventInput::State EventInput::give(std::string_view body) {
    ++given_;
    body_ = body;
    return State::body;
}

EventInput::State EventInput::fail(std::string what) {
    error_ = {ErrorCode::unavailable, std::move(what)};
    return State::failed;
}

EventInput::State EventInput::next() {
    if (options_.count > 0 && given_ == options_.count) return State::ended;
    const auto& bodies = options_.bodies;
    if (!bodies.empty()) {
        if (options_.count == 0 && given_ == bodies.size()) return State::ended;
        return give(bodies[given_ % bodies.size()]);
    }
    while (true) {
        if (descriptor_ < 0) {
            if (next_file_ == options_.files.size()) return State::ended;
            if (!open_next()) {
                return fail(fmt::format("'{}' cannot be read: {}", options_.files[next_file_ - 1],
                                        std::strerror(errno)));
            }
        }
        const State state = next_of_file();
        if (state != State::ended) return state;
        close_file();
    }
}

bool EventInput::open_next() {
    const std::string& file = options_.files[next_file_++];
    // Only read, piece by piece: the seam for durable files is not needed here.
    descriptor_ = file == "-" ? STDIN_FILENO
                              : ::open(file.c_str(),  // tidy: allow file: only read
                                       O_RDONLY | O_CLOEXEC);
    file_ended_ = file_given_ = false;
    buffer_.clear();
    begin_ = searched_ = 0;
    return descriptor_ >= 0;
}

// The next line of the open file, or all of it.
EventInput::State EventInput::next_of_file() {
    while (true) {
        const std::size_t end =
            options_.whole_files ? std::string::npos : buffer_.find('\n', searched_);
        if (end != std::string::npos) {
            std::string_view line = std::string_view(buffer_).substr(begin_, end - begin_);
            begin_ = searched_ = end + 1;
            if (line.ends_with('\r')) line.remove_suffix(1);
            return give(line);
        }
        searched_ = buffer_.size();
        if (file_ended_) {
            // A last line without an end is one too; so is a whole file, even an empty one.
            const bool is_over = options_.whole_files ? file_given_ : begin_ == buffer_.size();
            if (is_over) return State::ended;
            std::string_view rest = std::string_view(buffer_).substr(begin_);
            if (!options_.whole_files && rest.ends_with('\r')) rest.remove_suffix(1);
            begin_ = searched_ = buffer_.size();
            file_given_ = true;
            return give(rest);
        }
        if (buffer_.size() - begin_ > line_bytes_max) {
            return fail(
                fmt::format("event {} is larger than {} MiB", given_ + 1, line_bytes_max >> 20));
        }
        if (!has_input(descriptor_)) return State::later;
        buffer_.erase(0, begin_);
        begin_ = 0;
        searched_ = buffer_.size();
        buffer_.resize(searched_ + read_bytes);
        const ssize_t got = ::read(descriptor_, buffer_.data() + searched_, read_bytes);
        buffer_.resize(searched_ + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
        if (got < 0 && errno != EINTR && errno != EAGAIN) {
            return fail(fmt::format("cannot read more input: {}", std::strerror(errno)));
        }
        file_ended_ = got == 0;
    }
}

void EventInput::wait(Interrupt& interrupt) {
    interrupt.wait_for_input(descriptor_, wait_step);
}

}  // namespace evenkeel::cli
