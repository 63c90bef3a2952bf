#include "support/process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"

namespace evenkeel::fault {
namespace {

bool read_all(int descriptor, void* to, std::size_t bytes) {
    std::size_t done = 0;
    while (done < bytes) {
        const ssize_t got = ::read(descriptor, static_cast<char*>(to) + done, bytes - done);
        if (got <= 0) return false;
        done += static_cast<std::size_t>(got);
    }
    return true;
}

std::string read_to_end(int descriptor) {
    std::string text;
    char buffer[4096];
    ssize_t got = 0;
    while ((got = ::read(descriptor, buffer, sizeof buffer)) > 0) {
        text.append(buffer, static_cast<std::size_t>(got));
    }
    return text;
}

}  // namespace

Process::Process(const std::vector<std::string>& command) {
    int in[2];
    int out[2];
    int err[2];
    EK_CHECK(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0 && pipe2(err, O_CLOEXEC) == 0,
             "pipes can be made");
    std::vector<char*> arguments;
    arguments.reserve(command.size() + 1);
    for (const auto& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, err[1], STDERR_FILENO);
    // Whoever runs us may have signals blocked or ignored, as a shell has for what is in the
    // background; the program is to get them.
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes, &signals);
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) sigaddset(&signals, number);
    posix_spawnattr_setsigdefault(&attributes, &signals);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    const int failed =
        posix_spawn(&process_, arguments[0], &actions, &attributes, arguments.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    EK_CHECK(failed == 0, "the program under test can be started");
    ::close(in[0]);
    ::close(out[1]);
    ::close(err[1]);
    input_ = in[1];
    output_ = out[0];
    errors_ = err[0];
}

Process::~Process() {
    if (process_ > 0) {
        signal(SIGKILL);
        wait();
    }
    close_input();
    close_outputs();
}

bool Process::read_output(void* to, std::size_t bytes) {
    return read_all(output_, to, bytes);
}

bool Process::read_errors(void* to, std::size_t bytes) {
    return read_all(errors_, to, bytes);
}

std::string Process::read_error_line() {
    std::string line;
    char next = 0;
    while (read_errors(&next, 1) && next != '\n') line += next;
    return line;
}

std::string Process::rest_of_output() {
    return read_to_end(output_);
}

std::string Process::rest_of_errors() {
    return read_to_end(errors_);
}

bool Process::write_input(std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(input_, text.data(), text.size());
        if (written <= 0) return false;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

void Process::close_input() {
    if (input_ >= 0) ::close(input_);
    input_ = -1;
}

void Process::close_outputs() {
    for (int* const each : {&output_, &errors_}) {
        if (*each >= 0) ::close(*each);
        *each = -1;
    }
}

void Process::signal(int number) {
    EK_CHECK(process_ > 0, "the process was not waited for yet, so its id is still ours");
    ::kill(process_, number);
}

Ended Process::wait() {
    int status = 0;
    EK_CHECK(::waitpid(process_, &status, 0) == process_, "a child can be waited for once");
    process_ = -1;
    if (WIFEXITED(status)) return {true, WEXITSTATUS(status)};
    return {false, WTERMSIG(status)};
}

Outcome run_to_end(const std::vector<std::string>& command) {
    Process process(command);
    process.close_input();
    Outcome outcome;
    outcome.output = process.rest_of_output();
    outcome.errors = process.rest_of_errors();
    const Ended ended = process.wait();
    if (ended.exited) outcome.exit_code = ended.code;
    return outcome;
}

}  // namespace evenkeel::fault
