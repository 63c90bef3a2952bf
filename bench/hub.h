// A hub in a process of its own, with its AMQP listener on loopback, for benchmarks that look at it
// from outside.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "cli/child.h"

namespace evenkeel::bench {

struct HubProcessOptions {
    std::string data;
    std::string event_hub = "bench";
    std::uint32_t partitions = 1;
    std::uint32_t groups = 0;  // besides $Default: "g0", "g1", ...
};

class HubProcess {
public:
    static Result<std::unique_ptr<HubProcess>> start(const HubProcessOptions& options);

    std::uint16_t port() const { return port_; }
    // Of the rule "bench", which has all rights. Random for each start.
    const std::string& key() const { return key_; }
    const std::string& event_hub() const { return event_hub_; }
    std::string connection_string() const;
    double resident_mib() const;
    // What the kernel keeps for clients that do not read, or have not yet.
    double unsent_mib() const;
    double cpu_seconds() const;

private:
    HubProcess(cli::Child child, std::string key, std::string event_hub)
        : child_(std::move(child)), key_(std::move(key)), event_hub_(std::move(event_hub)) {}
    cli::Child child_;
    const std::string key_;
    const std::string event_hub_;
    std::uint16_t port_ = 0;
};

}  // namespace evenkeel::bench
