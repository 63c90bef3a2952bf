// A server that a test runs for itself: it ends with the test, even if that crashes. Start it on a
// thread that lives as long as it shall.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace evenkeel::test {

// Whom to run it as, for servers that refuse to run as root.
struct User {
    uid_t user = 0;
    gid_t group = 0;
};
// Somebody without rights if we are root, else none: ourselves.
std::optional<User> unprivileged_user();

class ServerProcess {
public:
    // Output goes to the file. `end_signal` is what ends it.
    ServerProcess(const std::vector<std::string>& command, const std::string& output_file,
                  const std::optional<User>& user, int end_signal);
    // Ends it, and waits.
    ~ServerProcess();
    ServerProcess(const ServerProcess&) = delete;
    ServerProcess& operator=(const ServerProcess&) = delete;

    pid_t id() const { return process_; }
    // True while it runs.
    bool is_running();
    void signal(int number) const;
    // Its exit status, as waitpid() says.
    int wait();
    // True once the text is in its output; false if it ended, or after a minute.
    bool wait_for_output(const std::string& text);

private:
    const std::string output_file_;
    const int end_signal_;
    pid_t process_ = -1;
    int status_ = 0;
};

std::string read_whole_file(const std::string& path);
// Free at this moment, on 127.0.0.1.
std::uint16_t free_port();

}  // namespace evenkeel::test
