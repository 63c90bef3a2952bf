#include "support/azurite_server.h"

#include <cstdlib>
#include <span>

#include <signal.h>

#include <fmt/format.h>

#include "base/random.h"

namespace evenkeel::test {

std::string new_container() {
    std::uint64_t name = 0;
    secure_bytes(std::as_writable_bytes(std::span(&name, 1)));
    return fmt::format("t{:016x}", name);
}

bool AzuriteServer::is_installed() {
    return std::getenv("AZURITE") != nullptr;
}

std::unique_ptr<AzuriteServer> AzuriteServer::start(std::string& why) {
    if (!is_installed()) {
        why = "$AZURITE does not name Azurite's main.js";
        return nullptr;
    }
    std::unique_ptr<AzuriteServer> server(new AzuriteServer());
    for (int attempt = 0; attempt < 3; ++attempt) {  // the port may be taken meanwhile
        server->port_ = free_port();
        if (server->launch(why)) return server;
    }
    return nullptr;
}

std::string AzuriteServer::address(const std::string& container, std::uint16_t port) const {
    return fmt::format(
        "UseDevelopmentStorage=true;BlobEndpoint=http://127.0.0.1:{}/devstoreaccount1;"
        "Container={};Create=true",
        port == 0 ? port_ : port, container);
}

void AzuriteServer::end() {
    process_->signal(SIGTERM);
    // It says so when all is written, and may wait for connections after that.
    (void)process_->wait_for_output("successfully closed");
    kill();
}

void AzuriteServer::kill() {
    if (process_->is_running()) process_->signal(SIGKILL);
    process_->wait();
    process_.reset();
}

bool AzuriteServer::start_again() {
    std::string ignored;
    return launch(ignored);
}

bool AzuriteServer::launch(std::string& why) {
    const std::string log = directory_.path() + "/server.log";
    process_ = std::make_unique<ServerProcess>(
        std::vector<std::string>{"/usr/bin/env", "node", std::getenv("AZURITE"), "--blobHost",
                                 "127.0.0.1", "--blobPort", std::to_string(port_), "--location",
                                 directory_.path(), "--disableTelemetry", "--silent"},
        log, std::nullopt, SIGKILL);
    if (process_->wait_for_output("successfully listens")) return true;
    why = "Azurite does not start: " + read_whole_file(log);
    process_.reset();
    return false;
}

}  // namespace evenkeel::test
