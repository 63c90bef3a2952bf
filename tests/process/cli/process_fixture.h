// `evenkeel process` against a running hub: an event hub and a store for each test, and what
// `evenkeel status` says of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "process/cli/dev_hub.h"

namespace evenkeel::cli_tests {

struct PartitionStatus {
    std::int64_t partition = 0;
    std::string owner;           // "": none
    std::int64_t position = -1;  // the last event that was handled; -1: none
    std::optional<std::int64_t> lag_events;
    std::int64_t failed_attempts = 0;
};

class ProcessTest : public CliTest {
protected:
    void SetUp() override;
    // Of the event hub, and of the store's file.
    void set_name(const std::string& name);
    void create(int partition_count) const;
    void send(std::vector<std::string> more) const;
    // The command, with a store and the fast profile.
    std::vector<std::string> process(const std::vector<std::string>& more) const;
    Outcome status() const;
    // None if the status cannot be told yet.
    std::vector<PartitionStatus> partitions() const;
    std::ptrdiff_t owned_by(const std::string& id) const;
    // All partitions have events, and all of these are handled.
    bool is_done() const;
    // Asks again and again; false if it takes too long.
    static bool eventually(const std::function<bool()>& condition);

    std::string name_, store_;
};

}  // namespace evenkeel::cli_tests
