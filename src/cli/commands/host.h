// `evenkeel host`: runs an Azure Functions app folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "cli/exit_code.h"
#include "host/app.h"

namespace evenkeel::cli {

// --instances and its kin: what the scale controller may do.
struct HostScaleOptions {
    std::uint32_t min = 1;
    std::uint32_t max = 0;  // 0: one for each partition, see ScaleController::default_max
    std::uint32_t standby = 0;
    std::int64_t target = 0;  // 0: as the app says
    bool from_start = false;
    Duration every = std::chrono::seconds(2);
    Duration in_after = std::chrono::seconds(60);
    Duration idle_after = std::chrono::seconds(120);
};

struct HostCommandOptions {
    std::string folder;
    std::string instance;  // --instance: this name, one instance in this process
    // This process is an instance of a scale controller: it says "ready" on standard output, and
    // stops when its standard input ends, so also when the controller is killed.
    bool is_supervised = false;
    std::string store;  // empty: the app's own
    std::string profile = "standard";
    std::string status_file;  // empty: as status_file_of() says
    HostScaleOptions scale;
    Duration drain_max = std::chrono::seconds(30);
    std::uint64_t memory_max = 0;  // of each process that runs functions; 0: no limit
    bool accept_store_loss = false;
};

ExitCode host_app(const HostCommandOptions& options);

// What was found, before anything runs.
void print_app(const host::App& app, const std::string& title);

}  // namespace evenkeel::cli
