// The hub of the demo: a server in this process, with the event hub that the stream goes through.
//
// Threads: one, as server::Server.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "dashboard/demo_controls.h"
#include "demo/demo.h"
#include "server/server.h"

namespace evenkeel::demo {

class DemoHub {
public:
    // `store` is what the dashboard looks into; the controls are its buttons. Only the homes have a
    // dashboard.
    Result<> open(const Options& options, const std::string& directory, const std::string& store,
                  dashboard::DemoControls controls);
    // Creates the event hub, or widens it; with the consumer groups of the homes.
    Result<> open_event_hub(const Options& options);
    void close() { server_.reset(); }

    std::uint32_t partitions() const { return partitions_; }
    // For the demo's own processes: it holds a key.
    const std::string& connection() const { return connection_; }
    server::Server::Ports ports() const { return server_->ports(); }
    // Of each partition; -1: it has no event yet.
    Result<std::vector<std::int64_t>> last_sequences();
    // Removes events that come before these sequence numbers.
    void purge(const std::vector<std::int64_t>& before);

private:
    std::string event_hub_;
    std::uint32_t partitions_ = 0;
    std::string connection_;
    std::unique_ptr<server::Server> server_;
};

}  // namespace evenkeel::demo
