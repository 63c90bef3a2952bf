// tidy: no test: command_runner_test.cc and the tests of `evenkeel process --exec` run commands
#include "host/handler/command_child.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/core.h>
#include <poll.h>

#include "base/result.h"

namespace evenkeel::host {
namespace {

constexpr int poll_ms = 50;     // between two looks at what is wished
constexpr int end_poll_ms = 2;  // between two looks at whether it has ended, without a descriptor
constexpr int end_ms = 1000;    // for a command whose input has ended, then again after SIGTERM
constexpr int stop_ms = 2000;   // a signal to all processes of a service reaches us as well
constexpr std::size_t answer_bytes_max = std::size_t{16} << 20;
// Exit codes of /bin/sh.
constexpr int not_executable = 126;
constexpr int not_found = 127;
// Somebody else has waited for it: exit code 255, so that nothing counts as done.
constexpr int unknown_status = 255 << 8;

Error command_failed(std::string detail) {
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

// The environment without secrets; pointers into it, as exec() wants them.
std::vector<char*> environment_for(const CommandChild::Options& options) {
    std::vector<char*> kept;
    const auto keep = [&](const char* variable) {
        const std::string_view text(variable);
        const std::string_view name = text.substr(0, text.find('='));
        const auto& secret = secret_variables();
        const bool is_secret = std::find(secret.begin(), secret.end(), name) != secret.end();
        const auto& passed = options.pass_env;
        if (is_secret && std::find(passed.begin(), passed.end(), name) == passed.end()) return;
        kept.push_back(const_cast<char*>(variable));
    };
    for (const auto& variable : options.environment) keep(variable.c_str());
    if (options.environment.empty()) {
        for (char** variable = environ; *variable != nullptr; ++variable) keep(*variable);
    }
    kept.push_back(nullptr);
    return kept;
}

// A handler of ours would run in our memory.
void forget_signal_handlers() {
    for (int signal = 1; signal < NSIG; ++signal) {
        struct sigaction action {};
        if (sigaction(signal, nullptr, &action) != 0) continue;
        if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN) continue;
        action = {};
        action.sa_handler = SIG_DFL;
        sigaction(signal, &action, nullptr);
    }
    std::signal(SIGPIPE, SIG_DFL);
}

// In the child, which has our memory until exec(): only calls that are safe there.
[[noreturn]] void become_command(const CommandChild::Options& options, char* const* environment,
                                 int input, int output, pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(not_found);
    setpgid(0, 0);
    forget_signal_handlers();
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    if (dup2(input, STDIN_FILENO) < 0) _exit(not_found);
    if (output >= 0 && dup2(output, STDOUT_FILENO) < 0) _exit(not_found);
    if (!options.folder.empty() && chdir(options.folder.c_str()) != 0) _exit(not_found);
    execle("/bin/sh", "sh", "-c", options.command.c_str(), static_cast<char*>(nullptr),
           environment);
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
    const std::vector<char*> environment = environment_for(options);
    const pid_t parent = getpid();
    // fork() copies our page tables, and each page that we write next: more than a command costs.
    // No signal reaches us while the child has our memory.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const pid_t process = vfork();  // NOLINT(clang-analyzer-security.insecureAPI.vfork): see above
    if (process == 0) {
        // NOLINTNEXTLINE(clang-analyzer-unix.Vfork): it never returns, and changes nothing of ours
        become_command(options, environment.data(), input[0], output[1], parent);
    }
    const int error = errno;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    close(input[0]);
    if (output[1] >= 0) close(output[1]);
    if (process < 0) {
        close(input[1]);
        if (output[0] >= 0) close(output[0]);
        return cannot(error);
    }
    setpgid(process, process);  // here too: we may want to signal the group before it runs
    fcntl(input[1], F_SETFL, O_NONBLOCK);
    if (output[0] >= 0) fcntl(output[0], F_SETFL, O_NONBLOCK);
    return std::unique_ptr<CommandChild>(new CommandChild(process, input[1], output[0]));
}

CommandChild::CommandChild(int process, int input, int output)
    : process_(process),
      // By number: the C library's header is not meant for C++.
      end_(static_cast<int>(syscall(SYS_pidfd_open, process, 0))),
      input_(input),
      output_(output) {}

CommandChild::~CommandChild() {
    close_input();
    if (output_ >= 0) close(output_);
    if (!has_ended_within(end_ms)) {
        signal_group(SIGTERM);
        if (!has_ended_within(end_ms)) {
            signal_group(SIGKILL);
            waitpid(process_, nullptr, 0);
        }
    }
    if (end_ >= 0) close(end_);
}

bool CommandChild::has_ended_within(int milliseconds) {
    while (process_ >= 0) {
        int status = 0;
        const pid_t ended = waitpid(process_, &status, WNOHANG);
        if (ended == process_ || (ended < 0 && errno != EINTR)) {
            status_ = ended < 0 ? unknown_status : status;
            process_ = -1;
        } else if (milliseconds <= 0) {
            break;
        } else {
            const int step = end_ >= 0 ? milliseconds : std::min(milliseconds, end_poll_ms);
            pollfd awaited{end_, POLLIN, 0};
            poll(&awaited, 1, step);
            milliseconds -= step;
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

// Until it has answered something, or takes more if we are writing.
Result<> CommandChild::wait_for(bool is_writing, const GetWish& wish) {
    while (true) {
        pollfd wanted[2] = {{output_, POLLIN, 0},
                            {is_writing ? input_ : -1, POLLOUT, 0}};  // poll() skips -1
        const int ready = poll(wanted, 2, poll_ms);
        EK_TRY(obey(wish()));
        if (ready > 0) return {};
        if (ready < 0 && errno != EINTR) return command_failed(std::strerror(errno));
    }
}

Result<> CommandChild::write(std::string_view text, const GetWish& wish) {
    while (!text.empty()) {
        const ssize_t written = ::write(input_, text.data(), text.size());
        if (written > 0) {
            text.remove_prefix(static_cast<std::size_t>(written));
        } else if (errno == EAGAIN) {
            EK_TRY(wait_for(true, wish));
            if (output_ >= 0) EK_TRY(read_some());
        } else if (errno != EINTR) {
            return command_failed(
                fmt::format("cannot write events to the command: {}", std::strerror(errno)));
        }
    }
    return {};
}

Result<bool> CommandChild::read_some() {
    constexpr std::size_t step = 65536;
    const std::size_t before = read_.size();
    if (before - taken_ > answer_bytes_max) {
        return command_failed("the command's answer is too long");
    }
    read_.resize(before + step);
    const ssize_t got = ::read(output_, read_.data() + before, step);
    const int error = errno;
    read_.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got >= 0) return got > 0;
    if (error == EAGAIN || error == EINTR) return true;
    return command_failed(
        fmt::format("cannot read the command's answer: {}", std::strerror(error)));
}

Result<std::vector<std::string_view>> CommandChild::read_lines(const GetWish& wish) {
    read_.erase(0, taken_);
    taken_ = 0;
    std::size_t searched = 0;
    while (read_.find('\n', searched) == std::string::npos) {
        searched = read_.size();
        EK_TRY(wait_for(false, wish));
        EK_TRY_ASSIGN(const bool has_more, read_some());
        if (!has_more) return command_failed("the command ended before it had answered");
    }
    std::vector<std::string_view> lines;
    const std::string_view all(read_);
    for (auto end = all.find('\n'); end != std::string_view::npos; end = all.find('\n', taken_)) {
        lines.push_back(all.substr(taken_, end - taken_));
        taken_ = end + 1;
    }
    return lines;
}

bool CommandChild::has_written() {
    pollfd readable{output_, POLLIN, 0};
    // A failure to read is one of the next read_lines().
    if (poll(&readable, 1, 0) > 0) static_cast<void>(read_some());
    return read_.size() > taken_;
}

// Whoever stops a service may signal its commands first, and us a moment later.
bool CommandChild::is_asked_to_end_by(int signal, const GetWish& wish) {
    if (signal != SIGTERM && signal != SIGINT && signal != SIGHUP) return false;
    for (int waited = 0; waited < stop_ms; waited += poll_ms) {
        if (wish() != Wish::go_on) return true;
        poll(nullptr, 0, poll_ms);
    }
    return false;
}

// Why it did not end well, if that was not its own failure.
std::optional<Error> CommandChild::excuse(const GetWish& wish) const {
    if (was_terminated_) return given_up();
    // A shell says with its exit code which signal has ended what it ran.
    const int signal = WIFEXITED(status_) ? WEXITSTATUS(status_) - 128 : WTERMSIG(status_);
    if (is_asked_to_end_by(signal, wish)) return given_up();
    return not_run(status_);
}

Result<> CommandChild::finish(const GetWish& wish) {
    close_input();
    while (!has_ended_within(poll_ms)) EK_TRY(obey(wish()));
    if (WIFEXITED(status_) && WEXITSTATUS(status_) == 0) return {};
    if (const auto error = excuse(wish)) return *error;
    if (WIFEXITED(status_)) {
        return command_failed(
            fmt::format("the command ended with exit code {}", WEXITSTATUS(status_)));
    }
    return command_failed(fmt::format("the command was ended by signal {}", WTERMSIG(status_)));
}

std::optional<Error> CommandChild::why_not_failed(const GetWish& wish) {
    close_input();
    if (!has_ended_within(end_ms)) return std::nullopt;
    return excuse(wish);
}

}  // namespace evenkeel::host
