// A hub in this process: event hubs with durable partitions, in one folder.
//
//   auto hub = evenkeel::Hub::open({.directory = "data"}).value();
//   hub->create("homes", {.partitions = 16}).value();
//   hub->send("homes", "door opened", {.partition_key = "home-17"}).value();
//   auto reader = hub->open_reader("homes", "$Default", 0, evenkeel::Position::earliest()).value();
//   for (const auto& event : reader->read(100, std::chrono::seconds(1)).value()) use(event.text());
//
// What send() acknowledged is on stable storage, and readers see nothing that is not. The hub keeps
// no reader's progress: whoever reads remembers how far it came. One process at a time may have the
// folder open. Threads: any; calls block until they are done, but for send_later().
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/error.h>
#include <evenkeel/event.h>

namespace evenkeel {

// How long a call may block; each call that waits for a hub, a store or a disk takes it last. It
// returns `timed_out` when the time is over, and `cancelled` once a stop is requested; a result
// that is there already is returned all the same. What was asked for may happen nevertheless, also
// later: events may be stored. If the stop was requested before the call, nothing is begun. The
// object can be used afterwards; what open() would have returned is closed.
struct CallOptions {
    std::chrono::milliseconds timeout = std::chrono::hours{24 * 365};
    std::stop_token stop = {};
};

struct HubOptions {
    std::string directory = {};  // made if it does not exist; its parent must
    bool sync_to_disk = true;    // false: acknowledged events survive the process, not the machine
    std::uint64_t segment_bytes_max = std::uint64_t{64} << 20;
    std::size_t event_bytes_max = std::size_t{1} << 20;  // of one event, key included
    std::uint32_t event_hubs_max = 1000;
    std::uint32_t partitions_max = 2048;  // of one event hub
    std::uint32_t groups_max = 1000;      // of one event hub
    std::uint32_t disk_threads = 2;
    std::chrono::milliseconds retention_interval{10'000};  // between two looks at what has expired
    // The wall clock is right, however far it is ahead of what the folder knows. Otherwise time
    // that passed while the hub was closed and the machine off ages no event.
    bool trust_clock = false;
};

struct EventHubOptions {
    std::uint32_t partitions = 4;
    // An event older than this goes with its segment, once that is full. 0: kept for ever.
    std::chrono::milliseconds retention{std::chrono::hours{7 * 24}};
    std::uint64_t partition_bytes_max =
        0;  // oldest segments go when a partition has more; 0: no limit
};

// What is to change; what is not set stays.
struct EventHubChange {
    std::optional<std::uint32_t> partitions = {};  // only upwards
    std::optional<std::chrono::milliseconds> retention = {};
    std::optional<std::uint64_t> partition_bytes_max = {};
};

struct EventHubInfo {
    std::string name;
    EventHubOptions options;
    Timestamp created_time = {};
    std::vector<std::string> groups;  // sorted; "$Default" is always there
};

struct PartitionInfo {
    std::uint32_t partition = 0;
    std::int64_t begin_sequence_number = -1;
    std::int64_t last_enqueued_sequence_number = -1;
    std::int64_t last_enqueued_offset = -1;
    Timestamp last_enqueued_time = {};  // 1970: never
    bool is_empty = true;
    std::uint64_t bytes = 0;
    std::uint32_t readers = 0;
    std::vector<std::string> problems;  // damage and files that do not belong there, as texts
};

// Where an event goes: to a partition, to the one its key belongs to, or to each in turn.
struct Route {
    std::optional<std::uint32_t> partition = {};
    std::string_view partition_key = {};  // at most 128 characters; not together with a partition
};

struct Receipt {
    std::uint32_t partition = 0;
    std::int64_t first_sequence_number = -1;
    std::int64_t last_sequence_number = -1;
    std::int64_t last_offset = -1;
    Timestamp enqueued_time = {};
};

// One reader of one partition. After its Hub or Client is gone it answers `cancelled`.
// Threads: one at a time; close() any.
class Reader {
public:
    virtual ~Reader() = default;

    // The next events, as soon as there is one; none if there is none within `wait`. At most
    // `events_max`. Errors: `fenced` once a reader with a higher epoch has taken the partition;
    // `corrupt` where stored events are damaged, naming them: the next call goes on behind them;
    // `cancelled` after close(), `not_found` once the event hub is gone. Also `cancelled` once
    // `stop` is requested: no event is lost by it, the next call returns what comes next.
    virtual Result<EventBatch> read(std::size_t events_max, std::chrono::milliseconds wait,
                                    const std::stop_token& stop = {}) = 0;
    virtual void close() = 0;
};

struct ReaderOptions {
    // An exclusive reader: displaces those with a lower or equal epoch and those without one.
    std::optional<std::int64_t> epoch = {};
    std::string name = {};  // for operators, in errors and lists
};

class Hub {
public:
    // Opens the folder, or makes a new hub in it. `conflict` if another process has it open,
    // `corrupt` if it is damaged or holds something else.
    static Result<std::unique_ptr<Hub>> open(const HubOptions& options,
                                             const CallOptions& call = {});
    // Flushes, and ends all readers.
    virtual ~Hub() = default;

    virtual Result<> create(std::string_view event_hub, EventHubOptions options,
                            const CallOptions& call = {}) = 0;
    virtual Result<> alter(std::string_view event_hub, EventHubChange change,
                           const CallOptions& call = {}) = 0;
    virtual Result<> remove(std::string_view event_hub, const CallOptions& call = {}) = 0;
    // Removes the events of a partition that come before the sequence number.
    virtual Result<> purge(std::string_view event_hub, std::uint32_t partition,
                           std::int64_t before_sequence_number, const CallOptions& call = {}) = 0;
    virtual Result<> create_group(std::string_view event_hub, std::string_view group,
                                  const CallOptions& call = {}) = 0;
    virtual Result<> remove_group(std::string_view event_hub, std::string_view group,
                                  const CallOptions& call = {}) = 0;

    // These and open_reader() wait for nothing but the hub's own thread.
    virtual std::vector<EventHubInfo> list() = 0;
    virtual Result<EventHubInfo> describe(std::string_view event_hub) = 0;
    virtual Result<PartitionInfo> describe(std::string_view event_hub, std::uint32_t partition) = 0;

    // The bytes become the body of one event each. A batch goes to one partition, in order, with
    // neighbouring sequence numbers, all or nothing; an empty one is `invalid_argument`. Events
    // with properties go through a Producer.
    virtual Result<Receipt> send(std::string_view event_hub,
                                 std::span<const std::string_view> bodies, Route route,
                                 const CallOptions& call = {}) = 0;
    Result<Receipt> send(std::string_view event_hub, std::string_view body, Route route = {},
                         const CallOptions& call = {}) {
        return send(event_hub, std::span(&body, 1), route, call);
    }
    // The same without waiting: the bytes are copied. `done` is called once, on a thread of the
    // hub, and must not block, throw, or call the hub, whose thread would wait for itself, but for
    // send_later().
    virtual void send_later(std::string_view event_hub, std::span<const std::string_view> bodies,
                            Route route, std::function<void(Result<Receipt>)> done) = 0;

    virtual Result<std::unique_ptr<Reader>> open_reader(std::string_view event_hub,
                                                        std::string_view group,
                                                        std::uint32_t partition, Position position,
                                                        ReaderOptions options = {}) = 0;

    // Prometheus text.
    virtual std::string metrics() const = 0;
};

}  // namespace evenkeel
