// Reading a partition of an event hub elsewhere, with the same Reader as that of a hub in this
// process (<evenkeel/hub.h>).
//
//   auto client = evenkeel::Client::open("amqp://app:key@localhost/homes").value();
//   auto reader =
//       evenkeel::RemoteReader::open(*client, "$Default", 0, evenkeel::Position::earliest());
//   for (const auto& event : reader.value()->read(100, std::chrono::seconds(1)).value()) {
//       use(event.text());
//   }
//
// After a lost connection the reader goes on right behind the last event that it got: each event is
// handed out once, in order. Errors besides those of Reader: `unavailable` or `timed_out` when the
// hub has not been reached for all retries; the next read() tries again. Once `fenced`, `not_found`
// or `invalid_argument` was returned, every further read() returns it too. A stop
// token, or close() on another thread, ends a read() that waits.
// An event's `sections` are what the hub delivered: the stored sections, with message annotations
// (and delivery annotations, if the end of the partition is tracked) that hold the hub's own.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <evenkeel/client.h>
#include <evenkeel/error.h>
#include <evenkeel/event.h>
#include <evenkeel/hub.h>

namespace evenkeel {

struct RemoteReaderOptions {
    // An exclusive reader: displaces those with a lower or equal epoch and those without one.
    std::optional<std::int64_t> epoch = {};
    std::string name = {};  // for operators, in errors and lists
    // What may wait here to be read. Credit is given for as many events as are expected to fit;
    // once more bytes wait it is taken back, and what was already on its way comes on top.
    std::uint32_t prefetch_events = 300;
    std::size_t prefetch_bytes = std::size_t{8} << 20;
    // Each event then tells how far the partition had come when it was sent.
    bool track_last_enqueued = false;
};

// The end of a partition, as the hub told it with the last event that was received.
struct LastEnqueued {
    std::int64_t sequence_number = -1;
    std::int64_t offset = -1;
    Timestamp enqueued_time = {};
    Timestamp retrieved_time = {};  // when the hub looked
};

class RemoteReader : public Reader {
public:
    // Returns once the hub has accepted the reader.
    static Result<std::unique_ptr<RemoteReader>> open(Client& client, std::string_view group,
                                                      std::uint32_t partition, Position position,
                                                      RemoteReaderOptions options = {},
                                                      const CallOptions& call = {});

    // None before the first event, or without track_last_enqueued.
    virtual std::optional<LastEnqueued> last_enqueued() = 0;
};

}  // namespace evenkeel
