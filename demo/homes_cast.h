// Starts the programs of examples/home-security as members of the demo's cast, and knows at the end
// what became of their aggregates.
//
// Threads: one, the cast's.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/temporary_folder.h"
#include "demo/cast.h"
#include "demo/homes.h"
#include "demo/verdict.h"

namespace evenkeel::demo {

struct HomesOptions {
    std::string programs;  // their folder
    std::uint32_t homes = 0;
    std::string aggregates = {};  // where they go, with a folder for this run; empty: temporary
    std::string store = {};       // of checkpoints
    bool is_fast = false;         // the profile of the processors
    std::string connection = {};  // to the hub
    std::string event_hub = {};
};

class HomesCast {
public:
    // The cast outlives this until all its processes have ended.
    HomesCast(Cast& cast, HomesOptions options);

    // Makes room for aggregates and starts alarms and page, which are known by the numbers from
    // `process` on.
    Result<> open(std::uint32_t process);
    const std::vector<std::size_t>& alarms_and_page() const { return others_; }
    Result<std::size_t> start_aggregator(const std::string& id, std::uint32_t process);
    Result<std::size_t> start_devices(std::uint32_t process);
    // The address of the residents' page, once it is ready.
    std::string page();

    // Asks all aggregators to take no events, or to go on, by a request in their store.
    Result<> pause(bool on);

    // Compares the aggregates with what the devices sent. These have ended.
    Result<> verify();
    // Fills in what this knows. `orphans`: partitions of a killed aggregator, of so many.
    void judge(Verdict& verdict, std::size_t orphans, std::uint32_t partitions);

private:
    Cast::Translate translation();

    Cast& cast_;
    const HomesOptions options_;
    HomesNews news_;
    std::unique_ptr<cli::TemporaryFolder> folder_;
    std::string ledger_;
    std::vector<std::size_t> others_;
    std::optional<Aggregates> aggregates_;
};

}  // namespace evenkeel::demo
