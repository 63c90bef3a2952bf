// A hub's namespace on a simulated disk in virtual time, for the tests beside it: each call runs
// the world until it is answered, so that tests read as a list of steps.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/metrics.h"
#include "eventhubs/names.h"
#include "hub/namespace.h"
#include "io/sim/disk.h"
#include "io/sim/scheduler.h"
#include "support/seed.h"

namespace evenkeel::hub {

inline const std::string test_folder = "data";

struct Seen {
    std::int64_t sequence = -1;
    std::int64_t offset = -1;
    std::int64_t enqueued = 0;
    std::string key;
    std::string body;
};

// What an answer becomes when it comes.
template <typename T>
using Answer = std::shared_ptr<std::optional<T>>;

// Reads on until nothing is there; the reader's own error ends it.
inline Result<std::vector<std::string>> read_on(PartitionReader& reader) {
    std::vector<std::string> bodies;
    while (true) {
        EK_TRY_ASSIGN(auto step, reader.read(256));
        if (std::holds_alternative<std::monostate>(step)) return bodies;
        if (const auto* slice = std::get_if<commitlog::Slice>(&step)) {
            for (const auto& record : *slice) bodies.emplace_back(as_text(record.body));
            continue;
        }
        EK_TRY_ASSIGN(const auto outcome, std::get<commitlog::ColdRead>(step).perform());
        for (const auto& record : outcome.events) bodies.emplace_back(as_text(record.body));
        reader.advance(outcome);
    }
}

class HubFixture {
public:
    explicit HubFixture(HubOptions hub_options = {}) : HubFixture(nullptr, hub_options) {}
    // On a disk that has been used before.
    explicit HubFixture(std::unique_ptr<io::sim::Disk> used, HubOptions hub_options = {})
        : options(std::move(hub_options)),
          disk(used ? std::move(used) : std::make_unique<io::sim::Disk>()) {
        options.directory = test_folder;
    }
    ~HubFixture() { kill(); }
    HubFixture(const HubFixture&) = delete;
    HubFixture& operator=(const HubFixture&) = delete;

    Result<> open() {
        kill();
        node = std::make_unique<Node>(scheduler);
        node->loop.set_wall_skew(skew);
        const NamespaceContext context{*disk,          node->loop, {&node->disk_0, &node->disk_1},
                                       node->metadata, metrics,    boot};
        EK_TRY_ASSIGN(hub, background ? Namespace::open_in_background(context, options)
                                      : Namespace::open(context, options));
        return {};
    }
    void close() {
        bool closed = false;
        hub->close([&] { closed = true; });
        EXPECT_TRUE(scheduler.run_until([&] { return closed; }, std::chrono::hours(1)));
        EXPECT_TRUE(scheduler.run_until_idle());
        hub.reset();
        kill();
    }
    Result<> reopen() {
        close();
        return open();
    }
    // The process ends here and now; what it had written is still in the page cache.
    void kill() {
        if (node) node->discard();
        hub.reset();
        node.reset();
    }
    void run() { EXPECT_TRUE(scheduler.run_until_idle()); }
    void run_for(Duration duration) { scheduler.run_for(duration); }

    template <typename Start>
    Answer<Result<>> start(Start begin) {
        auto answer = std::make_shared<std::optional<Result<>>>();
        begin([answer](Result<> result) {
            EXPECT_FALSE(answer->has_value()) << "answers once";
            answer->emplace(std::move(result));
        });
        return answer;
    }
    template <typename T>
    T wait(const Answer<T>& answer) {
        EXPECT_TRUE(
            scheduler.run_until([&] { return answer->has_value(); }, std::chrono::hours(1)));
        return answer->value();
    }

    Answer<Result<>> start_create(std::string_view name, EventHubOptions wanted = {}) {
        return start([&](auto done) { hub->create(name, wanted, std::move(done)); });
    }
    Answer<Result<>> start_alter(std::string_view name, const EventHubChange& change) {
        return start([&](auto done) { hub->alter(name, change, std::move(done)); });
    }
    Answer<Result<>> start_remove(std::string_view name) {
        return start([&](auto done) { hub->remove(name, std::move(done)); });
    }
    Result<> create(std::string_view name, EventHubOptions wanted = {}) {
        return wait(start_create(name, wanted));
    }
    Result<> alter(std::string_view name, const EventHubChange& change) {
        return wait(start_alter(name, change));
    }
    Result<> remove(std::string_view name) { return wait(start_remove(name)); }
    Result<> create_group(std::string_view name, std::string_view group) {
        return wait(start([&](auto done) { hub->create_group(name, group, std::move(done)); }));
    }
    Result<> remove_group(std::string_view name, std::string_view group) {
        return wait(start([&](auto done) { hub->remove_group(name, group, std::move(done)); }));
    }

    Answer<Result<commitlog::Appended>> start_append(std::string_view name, std::uint32_t partition,
                                                     const std::vector<std::string>& bodies) {
        auto answer = std::make_shared<std::optional<Result<commitlog::Appended>>>();
        const auto found = hub->find(name);
        if (!found.ok()) {
            answer->emplace(found.error());
            return answer;
        }
        std::vector<commitlog::NewEvent> events;
        for (const auto& body : bodies) events.push_back({{}, as_bytes(body)});
        (*found)->append({partition}, events, [answer](Result<commitlog::Appended> result) {
            EXPECT_FALSE(answer->has_value()) << "answers once";
            answer->emplace(std::move(result));
        });
        return answer;
    }
    Result<commitlog::Appended> append(std::string_view name, std::uint32_t partition,
                                       const std::vector<std::string>& bodies) {
        return wait(start_append(name, partition, bodies));
    }

    Result<std::unique_ptr<PartitionReader>> attach(
        std::string_view name, std::uint32_t partition,
        const Position& position = Position::earliest(), const ReaderRequest& request = {},
        Callback<void(const Error&)> ended = {},
        std::string_view group = eventhubs::default_group) {
        EK_TRY_ASSIGN(EventHub* const found, hub->find(name));
        return found->attach(group, {partition}, position, request, std::move(ended));
    }
    // All bodies from the position on.
    Result<std::vector<std::string>> read(std::string_view name, std::uint32_t partition,
                                          const Position& position = Position::earliest()) {
        EK_TRY_ASSIGN(const auto reader, attach(name, partition, position));
        return read_on(*reader);
    }
    std::vector<std::string> names() const {
        std::vector<std::string> all;
        for (const auto* record : hub->list()) all.push_back(record->name);
        return all;
    }
    commitlog::LogProperties properties(std::string_view name, std::uint32_t partition) {
        return (**(*hub->find(name))->partition({partition})).log().value()->properties();
    }

    struct Node {
        explicit Node(io::sim::Scheduler& scheduler)
            : loop(scheduler, "loop/0"),
              disk_0(scheduler, "disk/0"),
              disk_1(scheduler, "disk/1"),
              metadata(scheduler, "meta/0") {}
        void discard() {
            loop.discard();
            disk_0.discard();
            disk_1.discard();
            metadata.discard();
        }
        io::sim::SimLoop loop;
        io::sim::SimExecutor disk_0;
        io::sim::SimExecutor disk_1;
        io::sim::SimExecutor metadata;
    };

    HubOptions options;
    std::string boot = "first";         // of the machine, when a process opens the hub
    std::chrono::milliseconds skew{0};  // of its wall clock
    bool background = false;            // open() does not wait for the partitions
    std::unique_ptr<io::sim::Disk> disk;
    io::sim::Scheduler scheduler{test::test_seed()};
    Metrics registry;
    commitlog::LogMetrics metrics{registry};
    std::unique_ptr<Node> node;
    std::unique_ptr<Namespace> hub;
};

inline HubFixture& opened(HubFixture& world) {
    const auto result = world.open();
    EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().detail);
    return world;
}

using Bodies = std::vector<std::string>;

}  // namespace evenkeel::hub
