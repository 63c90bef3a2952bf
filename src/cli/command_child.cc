#include "cli/command_child.h"

#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/core.h>
#include <poll.h>

#include "base/result.h"

namespace evenkeel::cli {
namespace {

constexpr int look_ms = 50;
constexpr std::size_t line_bytes_max = std::size_t{16} << 20;

Error failed(std::string detail) {
    return {ErrorCode::handler_failed, std::move(detail)};
}

void close_both(const int (&pipe)[2]) {
    for (const int end : pipe) {
        if (end >= 0) close(end);
    }
}

// In the child: only calls that are safe between fork() and exec().
[[noreturn]] void become(const char* command, int input, int output, pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    std::signal(SIGPIPE, SIG_DFL);
    if (dup2(input, STDIN_FILENO) < 0) _exit(127);
    if (output >= 0 && dup2(output, STDOUT_FILENO) < 0) _exit(127);
    execl("/bin/sh", "sh", "-c", command, static_cast<char*>(nullptr));
    _exit(127);
}

}  // namespace

Result<std::unique_ptr<CommandChild>> CommandChild::start(const std::string& command,
                                                          bool answers) {
    int input[2] = {-1, -1};
    int output[2] = {-1, -1};
    if (pipe2(input, O_CLOEXEC) != 0 || (answers && pipe2(output, O_CLOEXEC) != 0)) {
        const int error = errno;
        close_both(input);
        return failed(fmt::format("start '{}': {}", command, std::strerror(error)));
    }
    const pid_t parent = getpid();
    const pid_t process = fork();
    if (process == 0) become(command.c_str(), input[0], output[1], parent);
    const int error = errno;
    close(input[0]);
    if (output[1] >= 0) close(output[1]);
    if (process < 0) {
        close(input[1]);
        if (output[0] >= 0) close(output[0]);
        return failed(fmt::format("start '{}': {}", command, std::strerror(error)));
    }
    fcntl(input[1], F_SETFL, O_NONBLOCK);
    return std::unique_ptr<CommandChild>(new CommandChild(process, input[1], output[0]));
}

CommandChild::~CommandChild() {
    close_input();
    if (output_ >= 0) close(output_);
    if (process_ < 0) return;
    for (int waited = 0; waited < 1000; waited += look_ms) {
        if (waitpid(process_, nullptr, WNOHANG) != 0) return;
        poll(nullptr, 0, look_ms);
    }
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
}

void CommandChild::close_input() {
    if (input_ >= 0) close(input_);
    input_ = -1;
}

Result<> CommandChild::wait_for(int descriptor, short event,
                                const IsCancelled& is_cancelled) const {
    while (true) {
        pollfd wanted{descriptor, event, 0};
        const int ready = poll(&wanted, 1, look_ms);
        if (ready > 0) return {};
        if (ready < 0 && errno != EINTR) return failed(std::strerror(errno));
        if (is_cancelled()) return Error{ErrorCode::cancelled, "the partition is given up"};
    }
}

Result<> CommandChild::write(std::string_view text, const IsCancelled& is_cancelled) {
    while (!text.empty()) {
        EK_TRY(wait_for(input_, POLLOUT, is_cancelled));
        const ssize_t written = ::write(input_, text.data(), text.size());
        if (written > 0) {
            text.remove_prefix(static_cast<std::size_t>(written));
        } else if (errno != EAGAIN && errno != EINTR) {
            return failed(
                fmt::format("the command does not take events: {}", std::strerror(errno)));
        }
    }
    return {};
}

Result<std::string> CommandChild::read_line(const IsCancelled& is_cancelled) {
    while (true) {
        if (const auto end = read_.find('\n'); end != std::string::npos) {
            std::string line = read_.substr(0, end);
            read_.erase(0, end + 1);
            return line;
        }
        if (read_.size() > line_bytes_max) return failed("the command answers without end");
        EK_TRY(wait_for(output_, POLLIN, is_cancelled));
        char buffer[4096];
        const ssize_t got = ::read(output_, buffer, sizeof buffer);
        if (got > 0) {
            read_.append(buffer, static_cast<std::size_t>(got));
        } else if (got == 0) {
            return failed("the command ended before it had answered");
        } else if (errno != EINTR) {
            return failed(fmt::format("read its answer: {}", std::strerror(errno)));
        }
    }
}

Result<> CommandChild::finish(const IsCancelled& is_cancelled) {
    close_input();
    int status = 0;
    while (true) {
        const pid_t ended = waitpid(process_, &status, WNOHANG);
        if (ended == process_) break;
        if (ended < 0 && errno != EINTR) return failed(std::strerror(errno));
        if (is_cancelled()) return Error{ErrorCode::cancelled, "the partition is given up"};
        poll(nullptr, 0, 2);
    }
    process_ = -1;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
    if (WIFEXITED(status)) {
        return failed(fmt::format("the command ended with exit code {}", WEXITSTATUS(status)));
    }
    return failed(fmt::format("the command was ended by signal {}", WTERMSIG(status)));
}

}  // namespace evenkeel::cli
