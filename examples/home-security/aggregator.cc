// Consolidates the readings of each home by windows of time, and writes them as objects. Any number
// of aggregators share the partitions; one that dies is replaced, and nothing is lost or counted
// twice.
//
// How that works, for a handler that keeps events after it has returned:
//
//   1  A window is a stretch of one partition: the hub's time of events never falls, so the events
//      of a window are neighbours.
//   2  It is written when an event of a later window has come, as one object, whole or not at all.
//      Name and content depend on its events only, so no object is ever overwritten by another.
//   3  Only then checkpoint() is called, for the last event of the window. So a checkpoint never
//      passes an event whose window is not written, and always lies between two windows.
//   4  Whoever continues after a crash or a hand-over begins at the start of a window, gets all of
//      its events again, and writes the same object again.
//   5  A window that no later event has ended is written when the clock says that it is over. If
//      events of it come all the same, they are an object of their own. So its checkpoint is
//      stored before anything else is handled. Whoever crashes in between leaves an object that
//      its successor may not write again: the successor's has more events, and another name.
//      Readers take those that follow each other (chain_of() in aggregate.h).
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>

#include "aggregate.h"
#include "arguments.h"
#include "memory.h"
#include "objects.h"
#include <evenkeel/processor.h>

namespace {

using namespace std::chrono_literals;
using evenkeel::Events;
using evenkeel::Partition;
using evenkeel::Result;

// A partition without events: its last window is written when it has been over for this long. It
// must be longer than the clocks of hub and aggregator may differ, and than reader or process may
// stall. (If it is not, late events of that window become an object of their own: names have the
// numbers of first and last event.)
constexpr auto quiet_after = 3s;

struct Options {
    std::string hub = {}, event_hub = {}, group = "aggregator", store = {}, id = {};
    std::string aggregates = "aggregates", profile = "standard";
    std::uint32_t window_s = 60;
};

// The windows of one partition, while this process owns it.
class Windows final : public evenkeel::PartitionHandler {
public:
    Windows(homes::Objects& objects, std::chrono::seconds length)
        : objects_(objects), length_ms_(std::chrono::milliseconds(length).count()) {}

    Result<> on_events(Partition& partition, Events events) override {
        if (auto stored = store_end_by_clock(partition); !stored) return stored;
        for (const evenkeel::Event& event : events) {
            // After a failed write the batch comes again: what is in the window stays in it.
            if (last_ && event.sequence_number <= last_->sequence_number) continue;
            const std::int64_t at = event.enqueued_time.time_since_epoch().count();
            if (is_open() && at >= head_.to_ms) {
                if (auto written = write(partition); !written) return written;
            }
            if (!is_open()) open(partition, event.sequence_number, at - at % length_ms_);
            add(event);
        }
        // An empty batch: no event came for a while.
        if (events.empty() && is_open() && is_over()) {
            if (auto written = write(partition); !written) return written;
            is_end_unstored_ = true;
            return store_end_by_clock(partition);
        }
        return {};
    }

    // The next owner gets the events of the open window again: there is nothing to do.
    void on_closed(Partition&, evenkeel::Closed) override {}

private:
    bool is_open() const { return head_.events > 0; }

    bool is_over() const {
        const auto now = std::chrono::system_clock::now().time_since_epoch() - quiet_after;
        return std::chrono::duration_cast<std::chrono::milliseconds>(now).count() >= head_.to_ms;
    }

    // Rule 5. `unavailable` while the store cannot be written: no event is handled until it can.
    Result<> store_end_by_clock(Partition& partition) {
        if (!is_end_unstored_) return {};
        if (const auto stored = partition.flush(); !stored) {
            return evenkeel::Error{evenkeel::ErrorCode::unavailable, stored.error().detail};
        }
        is_end_unstored_ = false;
        return {};
    }

    void open(const Partition& partition, std::int64_t first_sequence, std::int64_t from_ms) {
        head_ = {.partition = partition.id(),
                 .from_ms = from_ms,
                 .to_ms = from_ms + length_ms_,
                 .first_sequence = first_sequence};
        readings_.clear();
    }

    void add(const evenkeel::Event& event) {
        // What cannot be read is counted, not refused: the alarms' group dead-letters it.
        if (const auto reading = homes::parse_reading(event.text())) {
            readings_.push_back(*reading);
        } else {
            ++head_.unreadable;
        }
        ++head_.events;
        head_.last_sequence = event.sequence_number;
        last_ = event;  // checkpoint() needs only its position, which outlives its bytes
    }

    // `unavailable` while the aggregates cannot be written: then the processor calls again with the
    // same events, for as long as it takes, and takes no new ones meanwhile.
    Result<> write(Partition& partition) {
        const auto written = objects_.put(object_name(head_), encode(head_, readings_));
        if (!written) {
            return evenkeel::Error{evenkeel::ErrorCode::unavailable, written.error().detail};
        }
        partition.checkpoint(*last_);
        std::printf("wrote partition %u epoch %lld sequences %lld %lld window %lld memory %zu\n",
                    head_.partition, static_cast<long long>(partition.epoch()),
                    static_cast<long long>(head_.first_sequence),
                    static_cast<long long>(head_.last_sequence),
                    static_cast<long long>(head_.from_ms), homes::memory_mb());
        std::fflush(stdout);
        head_ = {};
        return {};
    }

    homes::Objects& objects_;
    const std::int64_t length_ms_;
    homes::WindowHead head_;  // without events: no window is open
    std::vector<homes::Reading> readings_;
    std::optional<evenkeel::Event> last_;
    bool is_end_unstored_ = false;  // the checkpoint of a window that the clock has ended
};

}  // namespace

int main(int count, char** arguments) {
    Options options;
    homes::Arguments known("aggregator", "Consolidates readings by home and window of time.");
    known.add("hub", options.hub, "connection string", "EVENKEEL_HUB");
    known.add("event-hub", options.event_hub, "its name, if the connection string has none");
    known.add("group", options.group, "consumer group");
    known.add("store", options.store, "checkpoint store, such as sqlite:FILE", "EVENKEEL_STORE");
    known.add("id", options.id, "name of this instance; made up if there is none");
    known.add("profile", options.profile, "fast: a dead instance is replaced within 4 s");
    known.add("aggregates", options.aggregates, "folder, or azblob:...", "HOME_AGGREGATES");
    known.add("window", options.window_s, "seconds; 3600 is a multiple of it");
    known.require("hub");
    known.require("store");
    if (!known.parse(count, arguments)) return 2;
    if (options.window_s == 0 || 3600 % options.window_s != 0) {
        std::fprintf(stderr, "aggregator: --window is a number of seconds that divides an hour\n");
        return 2;
    }
    if (options.aggregates.empty()) options.aggregates = "aggregates";
    const auto objects = homes::Objects::open_patiently(options.aggregates, "aggregator");
    if (!objects) {
        std::fprintf(stderr, "aggregator: %s\n", to_string(objects.error()).c_str());
        return 1;
    }
    auto processor = evenkeel::Processor::open({
        .hub = options.hub,
        .event_hub = options.event_hub,
        .group = options.group,
        .store = options.store,
        .id = options.id,
        .profile =
            options.profile == "fast" ? evenkeel::Profile::fast : evenkeel::Profile::standard,
        .checkpoints = {.manual = true},
        .max_wait = 500ms,  // idle ticks
    });
    if (processor) {
        std::printf("ready\n");
        std::fflush(stdout);
    }
    return evenkeel::run(processor, [&](std::uint32_t) {
        return std::make_unique<Windows>(**objects, std::chrono::seconds(options.window_s));
    });
}
