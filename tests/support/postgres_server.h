// A PostgreSQL server of a test's own, on a free port of 127.0.0.1, in a folder that goes with it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "support/server_process.h"
#include "support/temporary_directory.h"

namespace evenkeel::test {

class PostgresServer {
public:
    // None if PostgreSQL is not installed or does not start; then `why` says so.
    static std::unique_ptr<PostgresServer> start(std::string& why);

    // As its superuser, who needs no password, as nobody does but a role "guarded"; "test" is an
    // empty database.
    std::string url(const std::string& database = "test") const;
    std::uint16_t port() const { return port_; }
    // Runs a script with psql; false if it fails.
    bool run(const std::string& script, const std::string& database = "test") const;

    // Ends it at once, as a crash does.
    void kill();
    // Again, on the same port, with what it had.
    bool start_again();

private:
    PostgresServer() = default;
    bool launch(std::string& why);

    TemporaryDirectory directory_;
    std::string programs_;
    std::uint16_t port_ = 0;
    std::unique_ptr<ServerProcess> process_;
};

}  // namespace evenkeel::test
