// Azurite, the emulator of Blob storage, of a test's own: on a free port of 127.0.0.1, in a folder
// that goes with it. A script installs it and names it: $AZURITE is its main.js.
//
// What it has it writes to its folder every five seconds, and when it is asked to end: killed, it
// forgets what it has answered. So it goes away in two ways.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "support/server_process.h"
#include "support/temporary_directory.h"

namespace evenkeel::test {

// A name that no container has.
std::string new_container();

class AzuriteServer {
public:
    static bool is_installed();
    // None if it is not installed or does not start; then `why` says so.
    static std::unique_ptr<AzuriteServer> start(std::string& why);

    std::uint16_t port() const { return port_; }
    // Of a container that is created when it is first opened; by way of another port if one is
    // given.
    std::string address(const std::string& container, std::uint16_t port = 0) const;

    // Ends it with all it has answered written, as the service keeps what it has answered; its
    // connections end, in whatever state they are.
    void end();
    // Ends it at once, and with it what it has not written: as the service does that fails over to
    // another region.
    void kill();
    // Again, on the same port, with what it had.
    bool start_again();

private:
    AzuriteServer() = default;
    bool launch(std::string& why);

    TemporaryDirectory directory_;
    std::uint16_t port_ = 0;
    std::unique_ptr<ServerProcess> process_;
};

}  // namespace evenkeel::test
