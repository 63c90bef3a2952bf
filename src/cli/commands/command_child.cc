#include "cli/commands/command_child.h"

#include <algorithm>
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
constexpr int end_ms = 1000;   // for a command whose input has ended, then again after SIGTERM
constexpr int stop_ms = 2000;  // a signal to all processes of a service reaches us as well
constexpr std::size_t line_bytes_max = std::size_t{16} << 20;
// Exit codes of /bin/sh.
constexpr int not_executable = 126;
constexpr int not_found = 127;

Error failed(std::string detail) {
    return {ErrorCode::handler_failed, std::move(detail)};
}

// The shell has said why on standard error, which is ours.
std::optional<Error> not_run(int status) {
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    if (code != not_executable && code != not_found) return std::nullopt;
    return Error{ErrorCode::unavailable,
                 fmt::format("the command cannot be run: exit code {}, {}", code,
                             code == not_found ? "not found" : "not executable")};
}

Error given_up() {
    return {ErrorCode::cancelled, "the partition is given up"};
}

void close_both(const int (&pipe)[2]) {
    for (const int end : pipe) {
        if (end >= 0) close(end);
    }
}

// Our own environment without secrets; pointers into it, as exec() wants them.
std::vector<char*> environment_for(const std::vector<std::string>& pass_env) {
    std::vector<char*> kept;
    for (char** variable = environ; *variable != nullptr; ++variable) {
        const std::string_view text(*variable);
        const std::string_view name = text.substr(0, text.find('='));
        const auto& secret = secret_variables();
        const bool is_secret = std::find(secret.begin(), secret.end(), name) != secret.end();
        if (is_secret && std::find(pass_env.begin(), pass_env.end(), name) == pass_env.end()) {
            continue;
        }
        kept.push_back(*variable);
    }
    kept.push_back(nullptr);
    return kept;
}

// In the child: only calls that are safe between fork() and exec().
[[noreturn]] void become(const char* command, char* const* environment, int input, int output,
                         pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(not_found);
    setpgid(0, 0);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    std::signal(SIGPIPE, SIG_DFL);
    if (dup2(input, STDIN_FILENO) < 0) _exit(not_found);
    if (output >= 0 && dup2(output, STDOUT_FILENO) < 0) _exit(not_found);
    execle("/bin/sh", "sh", "-c", command, static_cast<char*>(nullptr), environment);
    _exit(not_found);
}

}  // namespace

const std::vector<std::string>& secret_variables() {
    static const std::vector<std::string> names = {"EVENKEEL_HUB", "EVENTHUB_CONNECTION_STRING",
                                                   "EVENKEEL_STORE"};
    return names;
}

Result<std::unique_ptr<CommandChild>> CommandChild::start(const Options& options) {
    static const auto ignored = std::signal(SIGPIPE, SIG_IGN);
    static_cast<void>(ignored);
    int input[2] = {-1, -1};
    int output[2] = {-1, -1};
    const auto cannot = [&](int error) {
        return Error{ErrorCode::unavailable, fmt::format("cannot start the command '{}': {}",
                                                         options.command, std::strerror(error))};
    };
    if (pipe2(input, O_CLOEXEC) != 0 || (options.answers && pipe2(output, O_CLOEXEC) != 0)) {
        const int error = errno;
        close_both(input);
        return cannot(error);
    }
    const std::vector<char*> environment = environment_for(options.pass_env);
    const pid_t parent = getpid();
    const pid_t process = fork();
    if (process == 0) {
        become(options.command.c_str(), environment.data(), input[0], output[1], parent);
    }
    const int error = errno;
    close(input[0]);
    if (output[1] >= 0) close(output[1]);
    if (process < 0) {
        close(input[1]);
        if (output[0] >= 0) close(output[0]);
        return cannot(error);
    }
    setpgid(process, process);  // here too: we may want to signal the group before it runs
    fcntl(input[1], F_SETFL, O_NONBLOCK);
    return std::unique_ptr<CommandChild>(new CommandChild(process, input[1], output[0]));
}

CommandChild::~CommandChild() {
    close_input();
    if (output_ >= 0) close(output_);
    if (has_ended_within(end_ms)) return;
    signal_group(SIGTERM);
    if (has_ended_within(end_ms)) return;
    signal_group(SIGKILL);
    waitpid(process_, nullptr, 0);
}

bool CommandChild::has_ended_within(int milliseconds) {
    for (int waited = 0; process_ >= 0 && waited < milliseconds; waited += look_ms) {
        if (waitpid(process_, &status_, WNOHANG) != 0) {
            process_ = -1;
        } else {
            poll(nullptr, 0, look_ms);
        }
    }
    return process_ < 0;
}

void CommandChild::signal_group(int signal) const {
    if (process_ >= 0) kill(-process_, signal);
}

void CommandChild::close_input() {
    if (input_ >= 0) close(input_);
    input_ = -1;
}

Result<> CommandChild::obey(Wish wish) {
    switch (wish) {
        case Wish::go_on:
        case Wish::finish: return {};
        case Wish::terminate:
            if (!was_terminated_) signal_group(SIGTERM);
            was_terminated_ = true;
            return {};
        case Wish::kill:
            signal_group(SIGKILL);
            was_terminated_ = true;
            return given_up();
    }
    return {};
}

Result<> CommandChild::wait_for(int descriptor, short event, const GetWish& wish) {
    while (true) {
        pollfd wanted{descriptor, event, 0};
        const int ready = poll(&wanted, 1, look_ms);
        if (ready > 0) return {};
        if (ready < 0 && errno != EINTR) return failed(std::strerror(errno));
        EK_TRY(obey(wish()));
    }
}

Result<> CommandChild::write(std::string_view text, const GetWish& wish) {
    while (!text.empty()) {
        EK_TRY(wait_for(input_, POLLOUT, wish));
        const ssize_t written = ::write(input_, text.data(), text.size());
        if (written > 0) {
            text.remove_prefix(static_cast<std::size_t>(written));
        } else if (errno != EAGAIN && errno != EINTR) {
            return failed(
                fmt::format("cannot write events to the command: {}", std::strerror(errno)));
        }
    }
    return {};
}

Result<std::string> CommandChild::read_line(const GetWish& wish) {
    while (true) {
        if (const auto end = read_.find('\n'); end != std::string::npos) {
            std::string line = read_.substr(0, end);
            read_.erase(0, end + 1);
            return line;
        }
        if (read_.size() > line_bytes_max) return failed("the command's answer is too long");
        EK_TRY(wait_for(output_, POLLIN, wish));
        char buffer[4096];
        const ssize_t got = ::read(output_, buffer, sizeof buffer);
        if (got > 0) {
            read_.append(buffer, static_cast<std::size_t>(got));
        } else if (got == 0) {
            return failed("the command ended before it had answered");
        } else if (errno != EINTR) {
            return failed(
                fmt::format("cannot read the command's answer: {}", std::strerror(errno)));
        }
    }
}

// Whoever stops a service may signal its commands first, and us a moment later.
bool CommandChild::is_asked_to_end_by(int signal, const GetWish& wish) {
    if (signal != SIGTERM && signal != SIGINT && signal != SIGHUP) return false;
    for (int waited = 0; waited < stop_ms; waited += look_ms) {
        if (wish() != Wish::go_on) return true;
        poll(nullptr, 0, look_ms);
    }
    return false;
}

Result<> CommandChild::finish(const GetWish& wish) {
    close_input();
    int status = 0;
    while (true) {
        const pid_t ended = waitpid(process_, &status, WNOHANG);
        if (ended == process_) break;
        if (ended < 0 && errno != EINTR) return failed(std::strerror(errno));
        EK_TRY(obey(wish()));
        poll(nullptr, 0, 2);
    }
    process_ = -1;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
    if (was_terminated_) return given_up();
    // A shell says with its exit code which signal has ended what it ran.
    const int signal = WIFEXITED(status) ? WEXITSTATUS(status) - 128 : WTERMSIG(status);
    if (is_asked_to_end_by(signal, wish)) return given_up();
    if (const auto error = not_run(status)) return *error;
    if (WIFEXITED(status)) {
        return failed(fmt::format("the command ended with exit code {}", WEXITSTATUS(status)));
    }
    return failed(fmt::format("the command was ended by signal {}", signal));
}

std::optional<Error> CommandChild::why_not_run() {
    close_input();
    if (!has_ended_within(end_ms)) return std::nullopt;
    return not_run(status_);
}

}  // namespace evenkeel::cli
