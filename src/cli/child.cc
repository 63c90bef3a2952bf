#include "cli/child.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/core.h>
#include <poll.h>

namespace evenkeel::cli {
namespace {

constexpr std::size_t read_bytes = std::size_t{64} << 10;

}  // namespace

Result<Child> Child::start(const std::vector<std::string>& arguments, const std::string& program) {
    // A pair of sockets for its stdin: saying something to a child that has ended is an error
    // then, not a signal.
    int in[2];
    int out[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in) != 0) {
        return Error{ErrorCode::unavailable, "cannot create a socket pair for a child process"};
    }
    if (pipe2(out, O_CLOEXEC) != 0) {
        close(in[0]);
        close(in[1]);
        return Error{ErrorCode::unavailable, "cannot create a pipe for a child process"};
    }
    std::vector<char*> raw;
    std::string self = "evenkeel";
    raw.push_back(self.data());
    for (const auto& argument : arguments) raw.push_back(const_cast<char*>(argument.c_str()));
    raw.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[1], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    pid_t process = -1;
    const int failed =
        posix_spawn(&process, program.c_str(), &actions, &attributes, raw.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    close(in[1]);
    close(out[1]);
    if (failed != 0) {
        close(in[0]);
        close(out[0]);
        return Error{ErrorCode::unavailable, "cannot start a child process"};
    }
    return Child(process, in[0], out[0]);
}

Child::Child(Child&& other) noexcept
    : process_(std::exchange(other.process_, -1)),
      input_(std::exchange(other.input_, -1)),
      output_(std::exchange(other.output_, -1)),
      buffer_(std::move(other.buffer_)),
      taken_(other.taken_),
      searched_(other.searched_) {}

Child::~Child() {
    kill_hard();
    close_input();
    if (output_ >= 0) close(output_);
}

bool Child::say(std::string_view line) {
    const std::string text = std::string(line) + "\n";
    return send(input_, text.data(), text.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(text.size());
}

void Child::close_input() {
    if (input_ >= 0) close(std::exchange(input_, -1));
}

bool Child::fill() {
    if (output_ < 0) return false;
    buffer_.erase(0, taken_);
    searched_ -= taken_;
    taken_ = 0;
    const std::size_t before = buffer_.size();
    buffer_.resize(before + read_bytes);
    ssize_t got = 0;
    do {
        got = read(output_, buffer_.data() + before, read_bytes);
    } while (got < 0 && errno == EINTR);
    buffer_.resize(before + static_cast<std::size_t>(std::max<ssize_t>(0, got)));
    if (got <= 0) close(std::exchange(output_, -1));
    return got > 0;
}

std::optional<std::string_view> Child::line(std::size_t bytes_max) {
    const std::size_t end = buffer_.find('\n', searched_);
    const bool is_whole = end != std::string::npos;
    searched_ = is_whole ? end + 1 : buffer_.size();
    const std::string_view found =
        std::string_view(buffer_).substr(taken_, (is_whole ? end : searched_) - taken_);
    if (!is_whole && found.size() < bytes_max) return std::nullopt;
    taken_ = searched_;
    return found;
}

std::optional<std::string> Child::next_line() {
    while (true) {
        if (const auto found = line()) return std::string(*found);
        if (!fill()) return std::nullopt;
    }
}

std::optional<std::string> Child::take_end() {
    int status = 0;
    if (process_ <= 0 || waitpid(process_, &status, WNOHANG) != process_) return std::nullopt;
    process_ = -1;
    return WIFEXITED(status) ? fmt::format("exit code {}", WEXITSTATUS(status))
                             : fmt::format("signal {}", WTERMSIG(status));
}

void Child::kill_hard() {
    if (process_ <= 0) return;
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
    process_ = -1;
}

void Child::end() const {
    if (process_ > 0) kill(process_, SIGKILL);
}

void live_with_parent() {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    // It may have gone before we asked for the signal.
    pollfd parent{STDIN_FILENO, POLLRDHUP, 0};
    if (poll(&parent, 1, 0) > 0) std::_Exit(1);
    std::signal(SIGINT, SIG_IGN);
    std::signal(SIGHUP, SIG_IGN);
}

std::optional<std::string> next_word() {
    std::string word;
    while (true) {
        // Not by stdio: has_word() would not see what lies in its buffer.
        char letter = 0;
        const ssize_t got = read(STDIN_FILENO, &letter, 1);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return std::nullopt;
        if (letter == '\n') return word;
        word += letter;
    }
}

bool has_word(std::chrono::milliseconds wait) {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    return poll(&input, 1, static_cast<int>(wait.count())) > 0;
}

}  // namespace evenkeel::cli
