// tidy: no test: run as a process by the tests of the demo
#include "demo/demo_hub.h"

#include <fmt/core.h>

#include "base/random.h"
#include "hub/namespace.h"

namespace evenkeel::demo {

Result<> DemoHub::open(const Options& options, const std::string& directory,
                       const std::string& store, dashboard::DemoControls controls) {
    const std::string key = secure_hex(24);  // for this run, known only to the demo's processes
    server::ServerOptions wanted;
    wanted.hub.directory = directory;
    wanted.amqp = {{"127.0.0.1", 0}};
    wanted.rules = {{"demo", "", door::Secret(key), {}, {true, true, true}}};
    if (options.has_homes()) {  // with the dashboard, for this machine as `evenkeel dev` has it
        wanted.http = {{"127.0.0.1", 0}};
        wanted.trust_this_host = true;
        wanted.groups.stores = {store};
        wanted.demo = std::move(controls);
    }
    EK_TRY_ASSIGN(server_, server::Server::open(wanted));
    event_hub_ = options.event_hub;
    connection_ = fmt::format(
        "Endpoint=sb://127.0.0.1:{};SharedAccessKeyName=demo;SharedAccessKey={};"
        "UseDevelopmentEmulator=true",
        server_->ports().amqp, key);
    if (options.has_homes()) connection_ += ";EntityPath=" + event_hub_;
    return {};
}

Result<> DemoHub::open_event_hub(const Options& options) {
    EventHubOptions fresh;
    fresh.partitions = options.partitions;
    auto made = server_->call(
        [&](hub::Namespace& hubs, auto done) { hubs.create(event_hub_, fresh, std::move(done)); });
    if (!made.ok() && made.error().code != ErrorCode::already_exists) return made;
    EK_TRY(server_->call([&](hub::Namespace& hubs, auto done) {
        const auto found = hubs.find(event_hub_);
        if (!found.ok()) return done(found.error());
        partitions_ = (*found)->partition_count();
        if (partitions_ >= options.partitions) return done({});
        EventHubChange change;
        change.partitions = partitions_ = options.partitions;
        hubs.alter(event_hub_, change, std::move(done));
    }));
    if (partitions_ > options.partitions) {
        fmt::print(stderr, "event hub '{}' has {} partitions already; all of them are used\n",
                   event_hub_, partitions_);
    }
    for (const char* group : {"aggregator", "alarms"}) {
        if (!options.has_homes()) break;
        const auto created = server_->call([&](hub::Namespace& hubs, auto done) {
            hubs.create_group(event_hub_, group, std::move(done));
        });
        if (!created.ok() && created.error().code != ErrorCode::already_exists) return created;
    }
    return {};
}

Result<std::vector<std::int64_t>> DemoHub::last_sequences() {
    std::vector<std::int64_t> last;
    EK_TRY(server_->call([&](hub::Namespace& hubs, auto done) {
        const auto found = hubs.find(event_hub_);
        if (!found.ok()) return done(found.error());
        for (std::uint32_t i = 0; i < partitions_; ++i) {
            const auto partition = (*found)->partition({i});
            if (!partition.ok()) return done(partition.error());
            const auto log = (*partition)->log();
            if (!log.ok()) return done(log.error());
            last.push_back((*log)->properties().last_sequence.value);
        }
        done({});
    }));
    return last;
}

void DemoHub::purge(const std::vector<std::int64_t>& before) {
    // If it fails there is only more on disk than there need be.
    (void)server_->call([&](hub::Namespace& hubs, auto done) {
        const auto found = hubs.find(event_hub_);
        for (std::uint32_t i = 0; found.ok() && i < partitions_; ++i) {
            const auto partition = (*found)->partition({i});
            if (before[i] <= 0 || !partition.ok() || !(*partition)->log().ok()) continue;
            (*(*partition)->log())->purge({before[i]}, [](const Result<>&) {});
        }
        done({});
    });
}

}  // namespace evenkeel::demo
