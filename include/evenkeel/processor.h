// The event processor: reads an event hub together with any number of other instances. They find
// each other through a checkpoint store, share the partitions evenly, take over from the dead and
// hand over to the new. The handler is called in order for each partition, by one owner at a time,
// and for many partitions at once.
//
//   auto processor = evenkeel::Processor::open({
//       .hub = "amqp://app:key@localhost/homes",
//       .group = "aggregator",
//       .store = "sqlite:progress.db",
//   });
//   return evenkeel::run(processor, [](evenkeel::Partition&, const evenkeel::Event& event) {
//       handle(event.body());
//   });
//
// Exceptions: whatever a handler or a factory throws, of any type, is the failure `handler_failed`
// of that call, as if it had returned an Error; one of on_closed() is reported. What on_error and
// is_retriable throw is ignored (is_retriable then counts as true). Destructors must not throw.
// docs/processor.md tells the guarantees, and every option with its default and why.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <evenkeel/client.h>
#include <evenkeel/error.h>
#include <evenkeel/event.h>

struct sqlite3;  // SQLite's
struct pg_conn;  // libpq's PGconn

namespace evenkeel {

class CheckpointStore;

using Events = std::span<const Event>;

enum class Delivery : std::uint8_t {
    at_least_once,  // handled, then the checkpoint: a crash repeats what came after the last one
    at_most_once,   // the checkpoint, then handled: a crash loses the batch that was being handled
    exactly_once,   // results and position commit as one: Partition::sqlite() or postgres()
};

// Automatic: what the handler has finished is stored once either rule is met. Manual: only what
// Partition::checkpoint() was called for, for handlers that keep events after they have returned
// (windows, joins); with at_least_once only. In both modes progress is stored when a partition is
// handed over and when the processor stops.
struct CheckpointPolicy {
    bool manual = false;
    std::uint64_t every_events = 1000;
    std::chrono::milliseconds every{1000};  // 0: not by time
};

// What to do with a batch whose handler failed.
struct RetryPolicy {
    std::uint32_t attempts_max = 5;  // in all; counted in the store, so that they survive a move
    std::chrono::milliseconds delay{200};
    std::chrono::milliseconds delay_max{30'000};
    bool exponential = true;  // doubles, give or take a fifth
    // Errors that are not worth another attempt; all are, if empty.
    std::function<bool(const Error&)> is_retriable = {};
};

// What to do with an event that failed as often as it may. The events of a failed batch are tried
// one by one first, so that only the poisonous one is concerned.
enum class Poison : std::uint8_t {
    dead_letter,  // put it aside, with cause, attempts and position; go on behind it
    skip,         // tell the error handler; go on behind it
    park,         // leave this partition standing; all others go on
    stop,         // end the processor
};

enum class Profile : std::uint8_t {
    standard,  // a dead instance is replaced within about 8 s; on Blob storage within 110 s
    fast,      // within about 4 s, with twice the requests to the store; on Blob storage 30 times
};

// As users of the SDKs know them. Both end in the same balance; they differ in how a newcomer takes
// partitions that are free.
enum class Strategy : std::uint8_t {
    balanced,  // gradually, within a second, so that others who start now get theirs
    greedy,    // all that it is due, at once
};

enum class ErrorScope : std::uint8_t { store, source, handler, checkpoint, processor };

// A failure, as the error handler gets it.
struct Failure {
    ErrorScope scope;
    std::optional<std::uint32_t> partition;
    std::string operation;  // "claim", "read", "handle", "checkpoint", ...
    Error error;
    bool is_retried = false;
    std::chrono::milliseconds retried_in{0};
};

enum class Closed : std::uint8_t { shutdown, handed_over, lost };

class Partition;

// Made for each time that a partition is gained; destroyed after its on_closed().
class PartitionHandler {
public:
    virtual ~PartitionHandler() = default;
    virtual Result<> on_opened(Partition&) { return {}; }
    // An empty batch is an idle tick: nothing came for `max_wait`.
    // `unavailable` and `overloaded` say that something around the handler failed (a database is
    // away, a disk is full), not an event: it is called again with the same events, after a growing
    // pause, and no attempt is counted. Any other error counts, and so does an exception.
    virtual Result<> on_events(Partition& partition, Events events) = 0;
    virtual void on_closed(Partition&, Closed) {}
};

struct ProcessorOptions {
    std::string hub = {};        // as ClientOptions::connection, or "embedded:FOLDER/EVENT-HUB"
    std::string event_hub = {};  // if `hub` names none
    // In place of `hub`: one of this process. Once it is gone, the processor answers `cancelled`.
    Hub* hub_here = nullptr;
    Credential credential = {};      // in place of a key in `hub` (<evenkeel/client.h>)
    std::string group = "$Default";  // must exist: open() does not create it
    // "sqlite:FILE", "postgresql://HOST/DATABASE", "redis://HOST", "azblob:...", "memory:"
    std::string store = {};
    // In place of it: one of your own (<evenkeel/checkpoint_store.h>).
    std::shared_ptr<CheckpointStore> own_store = {};
    // Names this instance. Give a stable one (host or pod name) to keep partitions over a quick
    // restart; two at once with one name are refused. Empty: made up.
    std::string id = {};
    Profile profile = Profile::standard;
    Strategy strategy = Strategy::balanced;
    // Shares by events a second instead of by number of partitions; a move must be worth it. The
    // same for all instances of a group.
    bool by_load = false;
    Delivery delivery = Delivery::at_least_once;
    CheckpointPolicy checkpoints = {};
    RetryPolicy retry = {};
    Poison poison = Poison::dead_letter;
    // So many events in a row that are dead-lettered or skipped, and one more, park the partition:
    // the handler is broken rather than all of them. 0: no limit.
    std::uint32_t poison_in_row_max = 20;
    // Where dead letters go: an event hub in the same namespace, or a connection string that names
    // one; empty: the store.
    std::string dead_letter_hub = {};

    // Where a partition without a checkpoint begins.
    Position start = Position::earliest();
    std::map<std::uint32_t, Position> start_of = {};

    std::size_t batch_events_max = 256;
    std::size_t batch_events_min = 1;       // wait for that many, for at most max_wait
    std::chrono::milliseconds max_wait{0};  // 0: no idle ticks
    std::uint32_t prefetch_events = 2048;   // of one partition
    std::size_t prefetch_bytes = std::size_t{4} << 20;
    // Each event tells how far its partition has come, so that the lag is known to the event. Costs
    // a few bytes of each; without it the end is asked for now and then.
    bool track_end = false;
    std::uint32_t workers = 0;  // threads for handlers; 0: two for each core, at least 4
    // The store was emptied or set back, members have noticed and stopped: begin all the same, from
    // the positions that it has now.
    bool accept_store_loss = false;
    std::chrono::milliseconds drain_max{30'000};      // for a handler, at hand-over and stop
    std::chrono::milliseconds handler_slow{60'000};   // one that runs longer is reported; 0: never
    std::chrono::milliseconds progress_slow{60'000};  // events wait but none came: reopen; 0: never

    // Gets every failure; empty: they are printed to stderr. Called on the processor's own thread,
    // which does nothing else meanwhile, so it must not block. It may call status(), metrics(),
    // explain() and stop(), which only asks there; start(), wait() and Partition::flush() would
    // wait for the thread that they are called on.
    std::function<void(const Failure&)> on_error = {};
    std::string tls_ca_pem = {};
    bool tls_verify = true;
};

struct PartitionStatus {
    std::uint32_t partition = 0;
    std::int64_t epoch = 0;
    // "opening", "reading", "handling", "retrying", "waiting" (its handler says `unavailable` or
    // `overloaded`), "parked", "paused", "closing"
    std::string state = {};
    std::string reason = {};  // why it is retrying, waiting or parked
    std::int64_t handled_sequence = -1;
    std::int64_t checkpoint_sequence = -1;
    std::int64_t last_enqueued_sequence = -1;  // -1: not known
    std::uint64_t events_handled = 0;
    std::uint64_t failures = 0;
    std::uint64_t dead_letters = 0;
};

struct ProcessorStatus {
    std::string id = {};
    std::vector<PartitionStatus> partitions = {};  // those that this instance owns
    std::uint32_t members = 0;
    bool is_balanced = false;
    std::uint64_t events_handled = 0;
    std::uint64_t dead_letters = 0;  // events that this instance dead-lettered
    std::uint64_t claims = 0, handed_over = 0, received = 0, lost = 0;
};

// A partition, while this instance owns it. Handed to the handler, and gone once on_closed() has
// returned: other threads that use it have to be done by then. Threads: any.
class Partition {
public:
    virtual ~Partition() = default;
    virtual std::uint32_t id() const = 0;
    virtual std::int64_t epoch() const = 0;
    // Everything up to this event is done, although this call may still fail: then it is tried
    // again behind this event. Not with exactly_once, where a failed call is undone as a whole.
    virtual void done(const Event& event) = 0;
    // Manual checkpoints: everything up to this event is done and may be stored, which happens
    // soon after the running call has ended. Only the event's position counts: a copy will do,
    // whose batch is gone. An event that this handler was not given, such as one of another
    // partition, does not count, and is reported once. With automatic checkpoints the call does
    // what done() does, and is reported once.
    virtual void checkpoint(const Event& event) = 0;
    // Stores progress now, and waits for that: what was handled, and within a handler also what it
    // called done(); with manual checkpoints what checkpoint() was called for. `fenced`: another
    // owns it. After `timed_out` it may still be stored.
    virtual Result<> flush(const CallOptions& call = {}) = 0;
    // True once the partition is being given up or the handler took too long: end soon. A handler
    // that ends early for it returns `cancelled`: no attempt is counted, and what it has not asked
    // a checkpoint for goes to the next owner.
    virtual bool is_ending() const = 0;
    // Why the partition is being given up, once it is. In peace the handler has `drain_max` to
    // finish, and nothing repeats; `lost`: another may own it already, end at once.
    virtual std::optional<Closed> closing() const = 0;
    // How often this batch was tried before; 0 the first time.
    virtual std::uint32_t attempt() const = 0;
    // Stops reading but keeps the partition; from another position on, with seek().
    virtual void pause() = 0;
    virtual void resume() = 0;
    virtual void seek(const Position& position) = 0;
    // With Delivery::exactly_once, within the handler: the store's database in the transaction that
    // commits with the position. The handler writes its results with it, and neither ends the
    // transaction nor leaves statements open. Null if the store is another.
    virtual sqlite3* sqlite() { return nullptr; }
    virtual pg_conn* postgres() { return nullptr; }
};

using BatchHandler = std::function<Result<>(Partition&, Events)>;
// Called each time that a partition is gained, on a thread for handlers, for several partitions at
// once, and each time on a copy of the function: what copies share must be safe for many threads.
using HandlerFactory = std::function<std::unique_ptr<PartitionHandler>(std::uint32_t partition)>;

// What start() and run() take for each event or batch: (Partition&, Events) or
// (Partition&, const Event&), returning Result<> or nothing.
template <typename Handler>
concept EventHandler = std::is_invocable_v<Handler&, Partition&, Events> ||
    std::is_invocable_v<Handler&, Partition&, const Event&>;

struct StopReport {
    bool is_clean = false;  // all handed over or released, all progress stored
    std::vector<std::uint32_t> not_drained = {};  // their handlers did not end in time
};

// Threads: any. Calls wait for the processor's own thread; what on_error may call there is said at
// that option.
class Processor {
public:
    // Checks the options, opens the store and looks at the hub. `invalid_argument` names the
    // option; `not_found`: there is no such event hub or consumer group. One that is removed later,
    // while the processor runs, is reported to on_error and tried again until it is back. A store
    // that does not answer has 3 seconds of its own, whatever `call` says.
    static Result<std::unique_ptr<Processor>> open(ProcessorOptions options,
                                                   const CallOptions& call = {});
    // Stops, if it runs.
    virtual ~Processor() = default;

    // `conflict` if another instance with this id is alive. After `timed_out` and `cancelled` it
    // may still start: stop() ends it.
    virtual Result<> start(HandlerFactory handlers, const CallOptions& call = {}) = 0;
    Result<> start(BatchHandler handler, const CallOptions& call = {});
    template <EventHandler Handler>
    Result<> start(Handler handler, const CallOptions& call = {});
    // Drains, stores progress, hands over, leaves; handlers have `drain_max` for it. Once; safe
    // from any thread but a handler's. In on_error it only asks, and the report says nothing:
    // wait() returns once the processor has stopped.
    virtual StopReport stop() = 0;
    // Waits until the processor has ended by itself: `conflict` (its id was taken), the error that
    // a poisonous event ended it with; or until stop() was called.
    // `timed_out`, `cancelled`: it still runs.
    virtual Result<> wait(const CallOptions& call = {}) = 0;
    // True once wait() would not wait. Threads: any.
    virtual bool has_ended() = 0;

    virtual ProcessorStatus status() = 0;
    // The same as Prometheus text; docs/processor.md lists the metrics.
    virtual std::string metrics() = 0;
    // Inputs and reasons of the last balancing decision, as a text.
    virtual std::string explain() = 0;
    virtual const ProcessorOptions& options() const = 0;
};

// Runs until SIGINT or SIGTERM, until a stop is requested, or until the processor ends by itself;
// then drains, stores progress, releases; returns an exit code for main(). One that was not opened
// is reported on stderr, as everything is that ends it early. Several may run at once, on threads
// of their own: one signal stops them all. After the last of them SIGINT and SIGTERM have the
// handlers again that they had before.
int run(Processor& processor, HandlerFactory handlers, const std::stop_token& stop = {});
int run(const Result<std::unique_ptr<Processor>>& processor, HandlerFactory handlers,
        const std::stop_token& stop = {});
template <typename Owned>
requires std::is_same_v<Owned, Processor>
int run(const std::unique_ptr<Owned>& processor, HandlerFactory handlers,
        const std::stop_token& stop = {}) {
    if (processor) return run(*processor, std::move(handlers), stop);
    const Result<std::unique_ptr<Owned>> none =
        Error{ErrorCode::invalid_argument, "there is no processor"};
    return run(none, std::move(handlers), stop);
}

// A handler may return Result<> or nothing, and may take one event instead of a batch (idle ticks
// do not reach it then). This makes a BatchHandler of any of them.
template <typename Handler>
BatchHandler batch_handler(Handler handler) {
    return [handler = std::move(handler)](Partition& partition, Events events) mutable -> Result<> {
        if constexpr (std::is_invocable_v<Handler&, Partition&, Events>) {
            if constexpr (std::is_void_v<std::invoke_result_t<Handler&, Partition&, Events>>) {
                handler(partition, events);
                return {};
            } else {
                return handler(partition, events);
            }
        } else {
            // Those before one that fails are done, also if it throws.
            struct Progress {
                Partition& partition;
                const Event* last = nullptr;
                ~Progress() {
                    if (last) partition.done(*last);
                }
            } progress{partition};
            for (const Event& event : events) {
                using Returned = std::invoke_result_t<Handler&, Partition&, const Event&>;
                if constexpr (std::is_void_v<Returned>) {
                    handler(partition, event);
                } else if (Result<> result = handler(partition, event); !result.ok()) {
                    return result;
                }
                progress.last = &event;
            }
            return {};
        }
    };
}

// One handler for all partitions; called for several at once.
HandlerFactory shared_handler(BatchHandler handler);

template <EventHandler Handler>
Result<> Processor::start(Handler handler, const CallOptions& call) {
    return start(shared_handler(batch_handler(std::move(handler))), call);
}

template <typename Running, EventHandler Handler>
int run(Running&& processor, Handler handler, const std::stop_token& stop = {}) {
    return run(processor, shared_handler(batch_handler(std::move(handler))), stop);
}

}  // namespace evenkeel
