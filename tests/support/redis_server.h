// A Redis server of a test's own, on a free port of 127.0.0.1, in a folder that goes with it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "support/server_process.h"
#include "support/temporary_directory.h"

namespace evenkeel::test {

class RedisServer {
public:
    // None if Redis is not installed or does not start; then `why` says so. `options` are lines of
    // redis.conf without blanks: {"--requirepass", "secret"}.
    static std::unique_ptr<RedisServer> start(std::string& why,
                                              const std::vector<std::string>& options = {});

    std::uint16_t port() const { return port_; }
    std::string url(int database = 0) const;
    // As redis-cli does; false if it fails, or says an error.
    bool run(const std::vector<std::string>& command) const;
    std::string answer(const std::vector<std::string>& command) const;
    pid_t id() const { return process_->id(); }
    void signal(int number) const { process_->signal(number); }

    // Ends it at once, as a crash does.
    void kill();
    // Again, on the same port, with what it had.
    bool start_again();

private:
    RedisServer() = default;
    bool launch(std::string& why);

    TemporaryDirectory directory_;
    std::vector<std::string> options_;
    std::uint16_t port_ = 0;
    std::unique_ptr<ServerProcess> process_;
};

}  // namespace evenkeel::test
