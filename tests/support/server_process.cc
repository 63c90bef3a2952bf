#include "support/server_process.h"

#include <chrono>
#include <fstream>  // tidy: allow file: a test reads a server's output
#include <sstream>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <grp.h>
#include <poll.h>
#include <pwd.h>

#include "base/check.h"
#include "base/clock.h"

namespace evenkeel::test {

std::optional<User> unprivileged_user() {
    if (::geteuid() != 0) return std::nullopt;
    for (const char* name : {"postgres", "nobody"}) {
        if (const passwd* found = ::getpwnam(name)) return User{found->pw_uid, found->pw_gid};
    }
    return std::nullopt;
}

ServerProcess::ServerProcess(const std::vector<std::string>& command,
                             const std::string& output_file, const std::optional<User>& user,
                             int end_signal)
    : output_file_(output_file), end_signal_(end_signal) {
    std::vector<char*> arguments;
    arguments.reserve(command.size() + 1);
    for (const auto& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    const int output = ::open(output_file.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
    EK_CHECK(output >= 0, "a server's output can be kept");
    const pid_t parent = ::getpid();
    process_ = ::fork();
    EK_CHECK(process_ >= 0, "a server can be started");
    if (process_ == 0) {
        // Only calls that are safe between fork and exec in a program with threads.
        ::dup2(output, STDOUT_FILENO);
        ::dup2(output, STDERR_FILENO);
        if (user) {
            if (::setgroups(0, nullptr) != 0 || ::setgid(user->group) != 0 ||
                ::setuid(user->user) != 0) {
                ::_exit(126);
            }
        }
        ::prctl(PR_SET_PDEATHSIG, end_signal);  // after the user, whose change forgets it
        if (::getppid() != parent) ::_exit(125);
        if (::chdir("/") != 0) ::_exit(124);
        ::execv(arguments[0], arguments.data());
        ::_exit(127);
    }
    ::close(output);
}

ServerProcess::~ServerProcess() {
    if (process_ <= 0) return;
    signal(SIGCONT);
    signal(end_signal_);
    wait();
}

bool ServerProcess::is_running() {
    if (process_ <= 0) return false;
    if (::waitpid(process_, &status_, WNOHANG) != process_) return true;
    process_ = -1;
    return false;
}

void ServerProcess::signal(int number) const {
    EK_CHECK(process_ > 0, "the server was not waited for yet, so its id is still ours");
    ::kill(process_, number);
}

int ServerProcess::wait() {
    if (process_ > 0) {
        EK_CHECK(::waitpid(process_, &status_, 0) == process_, "a child can be waited for once");
        process_ = -1;
    }
    return status_;
}

bool ServerProcess::wait_for_output(const std::string& text) {
    const SystemClock clock;
    const Instant deadline = clock.now() + std::chrono::minutes(1);
    for (;;) {
        const bool runs = is_running();
        if (read_whole_file(output_file_).find(text) != std::string::npos) return true;
        if (!runs || clock.now() > deadline) return false;
        ::poll(nullptr, 0, 10);  // tidy: allow sleep: between two looks
    }
}

std::string read_whole_file(const std::string& path) {
    std::ifstream file(path);  // tidy: allow file: a test reads a server's output
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

std::uint16_t free_port() {
    const int probe = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EK_CHECK(probe >= 0 && ::bind(probe, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                 ::getsockname(probe, reinterpret_cast<sockaddr*>(&address), &size) == 0,
             "there is a free port");
    ::close(probe);
    return ntohs(address.sin_port);
}

}  // namespace evenkeel::test
