// The public Hub (include/evenkeel/hub.h): threads around a Namespace, and calls that wait.
#include <utility>
#include <variant>

#include <fmt/core.h>

#include "base/awaited.h"
#include "base/log.h"
#include "base/promise.h"
#include "base/time_point.h"
#include "eventhubs/sections.h"
#include "hub/events.h"
#include "hub/inside.h"
#include "hub/namespace.h"
#include "hub/stream_reader.h"
#include "io/system/files.h"
#include "io/system/loop.h"
#include <evenkeel/hub.h>

namespace evenkeel {
namespace {

using hub::Namespace;
using io::system::LoopThread;
using io::system::run_and_wait;
using io::system::WorkerThread;

// The loop's half of a reader: hands cold reads to the caller's thread. Pinned to the loop; made
// and destroyed there.
class ReaderCore final : public hub::ColdReads {
public:
    // What the caller does next: takes the answer, or performs a cold read.
    using Turn = std::variant<Result<commitlog::Slice>, commitlog::ColdRead>;

    explicit ReaderCore(io::Loop& loop) : reader_(loop, *this) {}
    hub::StreamReader& reader() { return reader_; }

    // `performed` is the cold read of the turn before. `turn` is set once.
    void read(std::optional<Performed> performed, Duration wait, Awaited<Turn>& turn) {
        if (performed && done_) std::exchange(done_, nullptr)(std::move(*performed));
        asked_ = &turn;
        reader_.read(wait, [this](Result<commitlog::Slice> slice) { tell(std::move(slice)); });
    }
    // Answers a read that waits with `cancelled`; the next one goes on where it was.
    void cancel_read() {
        if (!asked_) return;
        reader_.cancel();
        tell(Result<commitlog::Slice>(Error{ErrorCode::cancelled, "a stop was requested"}));
    }

private:
    void perform(commitlog::ColdRead read, Done done) override {
        done_ = std::move(done);
        reader_.cancel();  // the caller asks again when it has performed this
        tell(std::move(read));
    }
    void tell(Turn turn) { std::exchange(asked_, nullptr)->set(std::move(turn)); }

    hub::StreamReader reader_;
    Awaited<Turn>* asked_ = nullptr;  // while the caller waits
    Done done_ = nullptr;             // of the cold read that the caller performs
};

// The caller's half: performs cold reads on the caller's thread, hands events out in portions.
class LocalReader final : public Reader {
public:
    LocalReader(std::shared_ptr<void> owner, LoopThread& loop, std::unique_ptr<ReaderCore> core)
        : owner_(std::move(owner)), loop_(loop), core_(std::move(core)) {}
    ~LocalReader() override {
        run_and_wait(loop_, [this] { core_.reset(); });
    }

    Result<EventBatch> read(std::size_t events_max, std::chrono::milliseconds wait,
                            const std::stop_token& stop) override {
        if (events_max == 0) {
            return Error{ErrorCode::invalid_argument, "events_max is 0; ask for 1 or more"};
        }
        EK_TRY(go_ahead(stop));
        const SystemClock clock;
        const Instant deadline = clock.now() + std::min(wait, forever);
        while (left_.empty() || core_->reader().has_ended()) {
            left_ = {};
            EK_TRY_ASSIGN(auto turn,
                          next_turn(std::max(Duration(0), deadline - clock.now()), stop));
            if (const auto* const cold = std::get_if<commitlog::ColdRead>(&turn)) {
                perform(*cold);
                continue;
            }
            EK_TRY_ASSIGN(left_, std::move(std::get<Result<commitlog::Slice>>(turn)));
            if (left_.empty()) return EventBatch();
        }
        return hub::take_events(left_, events_max);
    }

    void close() override {
        run_and_wait(loop_, [this] { core_->reader().close(); });
    }

private:
    Result<ReaderCore::Turn> next_turn(Duration wait, const std::stop_token& stop) {
        Awaited<ReaderCore::Turn> turn;
        loop_.post([this, wait, &turn] {
            core_->read(std::exchange(performed_, std::nullopt), wait, turn);
        });
        if (!turn.wait(forever, stop)) run_and_wait(loop_, [this] { core_->cancel_read(); });
        return turn.take();
    }

    // The events are handed out from here; the loop hears of it with the next question.
    void perform(const commitlog::ColdRead& cold) {
        performed_ = {cold.perform(), true};
        if (performed_->outcome.ok()) left_ = performed_->outcome->events;
    }

    const std::shared_ptr<void> owner_;  // of the loop, which goes on after the hub is closed
    LoopThread& loop_;
    std::unique_ptr<ReaderCore> core_;
    commitlog::Slice left_;
    std::optional<hub::ColdReads::Performed> performed_;
};

// What a hub consists of. Readers and processors share it: after close() they find an empty
// namespace, which answers `cancelled`, and the loop that it is pinned to.
struct HubParts {
    HubParts() : log_metrics(metrics), loop("loop/0"), metadata("meta/0") {}
    ~HubParts() { loop.stop(); }

    // The partitions are opened on the disk threads.
    Result<> start(const HubOptions& options, const CallOptions& call) {
        const std::uint32_t threads = std::max<std::uint32_t>(1, options.disk_threads);
        std::vector<io::Executor*> executors;
        for (std::uint32_t i = 0; i < threads; ++i) {
            disks.push_back(std::make_unique<WorkerThread>(fmt::format("disk/{}", i)));
            executors.push_back(disks.back().get());
        }
        EK_TRY_ASSIGN(hubs, Namespace::open_in_background({files, loop, executors, metadata,
                                                           log_metrics, io::system::boot_id()},
                                                          options));
        hubs->start();
        loop.start();
        return asked<void>(call, [this](auto done) {
            loop.post([this, done]() mutable { hubs->when_recovered(std::move(done)); });
        });
    }

    void close() {
        if (hubs) {
            Promise<bool> closed;
            loop.post([&] { hubs->close([&] { closed.set(true); }); });
            closed.wait();
        }
        metadata.finish();
        for (auto& disk : disks) disk->finish();
        if (hubs) hubs->release_folder();
    }

    io::system::SystemFiles files;
    Metrics metrics;
    commitlog::LogMetrics log_metrics;
    LoopThread loop;
    WorkerThread metadata;
    std::vector<std::unique_ptr<WorkerThread>> disks;
    std::unique_ptr<Namespace> hubs;
};

class LocalHub final : public Hub {
public:
    LocalHub() = default;
    ~LocalHub() override { parts_->close(); }

    Result<> start(const HubOptions& options, const CallOptions& call) {
        EK_TRY(parts_->start(options, call));
        namespace_ = parts_->hubs.get();
        return {};
    }

    Result<> create(std::string_view event_hub, EventHubOptions options,
                    const CallOptions& call) override {
        return change(call, [this, name = std::string(event_hub), options](Namespace::Done done) {
            namespace_->create(name, options, std::move(done));
        });
    }
    Result<> alter(std::string_view event_hub, EventHubChange wanted,
                   const CallOptions& call) override {
        return change(call, [this, name = std::string(event_hub), wanted](Namespace::Done done) {
            namespace_->alter(name, wanted, std::move(done));
        });
    }
    Result<> remove(std::string_view event_hub, const CallOptions& call) override {
        return change(call, [this, name = std::string(event_hub)](Namespace::Done done) {
            namespace_->remove(name, std::move(done));
        });
    }
    Result<> create_group(std::string_view event_hub, std::string_view group,
                          const CallOptions& call) override {
        return change(call, [this, name = std::string(event_hub),
                             group = std::string(group)](Namespace::Done done) {
            namespace_->create_group(name, group, std::move(done));
        });
    }
    Result<> remove_group(std::string_view event_hub, std::string_view group,
                          const CallOptions& call) override {
        return change(call, [this, name = std::string(event_hub),
                             group = std::string(group)](Namespace::Done done) {
            namespace_->remove_group(name, group, std::move(done));
        });
    }
    Result<> purge(std::string_view event_hub, std::uint32_t partition,
                   std::int64_t before_sequence_number, const CallOptions& call) override {
        return change(call, [this, name = std::string(event_hub), partition,
                             before_sequence_number](Namespace::Done done) {
            const auto log = log_of(name, partition);
            if (!log.ok()) return done(log.error());
            (*log)->purge({before_sequence_number}, std::move(done));
        });
    }

    std::vector<EventHubInfo> list() override {
        std::vector<EventHubInfo> all;
        run_and_wait(loop_, [&] {
            for (const auto* record : namespace_->list()) all.push_back(info(*record));
        });
        return all;
    }
    Result<EventHubInfo> describe(std::string_view event_hub) override {
        return on_loop<EventHubInfo>([&]() -> Result<EventHubInfo> {
            EK_TRY_ASSIGN(const hub::EventHub* const found, namespace_->find(event_hub));
            return info(found->record());
        });
    }
    Result<PartitionInfo> describe(std::string_view event_hub, std::uint32_t partition) override {
        return on_loop<PartitionInfo>([&]() -> Result<PartitionInfo> {
            EK_TRY_ASSIGN(hub::EventHub* const found, namespace_->find(event_hub));
            EK_TRY_ASSIGN(hub::Partition* const part, found->partition({partition}));
            return info(*part);
        });
    }

    Result<Receipt> send(std::string_view event_hub, std::span<const std::string_view> bodies,
                         Route route, const CallOptions& call) override {
        return asked<Receipt>(
            call, [&](auto done) { send_later(event_hub, bodies, route, std::move(done)); });
    }

    void send_later(std::string_view event_hub, std::span<const std::string_view> bodies,
                    Route route, std::function<void(Result<Receipt>)> done) override {
        auto request = std::make_unique<SendRequest>(event_hub, bodies, route, std::move(done));
        loop_.post([this, request = std::move(request)]() mutable { append(std::move(request)); });
    }

    Result<std::unique_ptr<Reader>> open_reader(std::string_view event_hub, std::string_view group,
                                                std::uint32_t partition, Position position,
                                                ReaderOptions options) override {
        return on_loop<std::unique_ptr<Reader>>([&]() -> Result<std::unique_ptr<Reader>> {
            EK_TRY_ASSIGN(hub::EventHub* const found, namespace_->find(event_hub));
            auto core = std::make_unique<ReaderCore>(loop_);
            hub::ReaderRequest request{options.name, std::nullopt};
            if (options.epoch) request.epoch = Epoch{*options.epoch};
            EK_TRY(core->reader().attach(*found, group, {partition}, position, request));
            return std::unique_ptr<Reader>(new LocalReader(parts_, loop_, std::move(core)));
        });
    }

    std::string metrics() const override { return parts_->metrics.to_text(); }

    hub::Inside inside() { return {*namespace_, loop_, parts_}; }

private:
    // Copies what was sent, already encoded, so that the caller's bytes need not outlive the call.
    struct SendRequest {
        SendRequest(std::string_view hub_name, std::span<const std::string_view> bodies,
                    const Route& route, std::function<void(Result<Receipt>)> callback)
            : event_hub(hub_name), key(route.partition_key), done(std::move(callback)) {
            if (route.partition) partition = PartitionId{*route.partition};
            std::size_t bytes = 0;
            for (const auto body : bodies) bytes += eventhubs::data_section_bytes(body.size());
            sections.reserve(bytes);
            events.reserve(bodies.size());
            for (const auto body : bodies) {
                const std::size_t from = sections.size();
                eventhubs::append_data_section(body, sections);
                events.push_back(
                    {as_bytes(key), as_bytes(std::string_view(sections).substr(from))});
            }
        }
        const std::string event_hub;
        const std::string key;
        std::optional<PartitionId> partition;
        std::string sections;
        std::vector<commitlog::NewEvent> events;
        std::function<void(Result<Receipt>)> done;
    };

    void append(std::unique_ptr<SendRequest> request) {
        const auto found = namespace_->find(request->event_hub);
        if (!found.ok()) return request->done(found.error());
        const auto partition = (*found)->route(request->partition, request->key);
        if (!partition.ok()) return request->done(partition.error());
        const std::span<const commitlog::NewEvent> events(request->events);
        (*found)->append(
            *partition, events,
            [done = std::move(request->done),
             id = partition->value](Result<commitlog::Appended> appended) {
                if (!appended.ok()) return done(appended.error());
                done(Receipt{id, appended->first.value, appended->last.value,
                             appended->last_offset.value, time_point(appended->enqueued)});
            });
    }

    // `start` runs on the loop, perhaps when the caller waits no more.
    template <typename Start>
    Result<> change(const CallOptions& call, Start start) {
        return asked<void>(call, [&](auto done) {
            loop_.post([start = std::move(start), done]() mutable { start(std::move(done)); });
        });
    }

    template <typename T, typename Function>
    Result<T> on_loop(Function function) {
        std::optional<Result<T>> result;
        run_and_wait(loop_, [&] { result.emplace(function()); });
        return std::move(*result);
    }

    Result<commitlog::Log*> log_of(std::string_view event_hub, std::uint32_t partition) {
        EK_TRY_ASSIGN(hub::EventHub* const found, namespace_->find(event_hub));
        EK_TRY_ASSIGN(hub::Partition* const part, found->partition({partition}));
        return part->log();
    }

    static EventHubInfo info(const hub::EventHubRecord& record) {
        EventHubInfo result;
        result.name = record.name;
        result.options = {record.partitions, record.retention, record.partition_bytes_max};
        result.created_time = time_point(record.created);
        result.groups = record.groups;
        result.groups.insert(result.groups.begin(), "$Default");
        return result;
    }

    static Result<PartitionInfo> info(hub::Partition& partition) {
        EK_TRY_ASSIGN(commitlog::Log* const log, partition.log());
        const commitlog::LogProperties properties = log->properties();
        PartitionInfo result;
        result.partition = partition.id().value;
        result.begin_sequence_number = properties.begin_sequence.value;
        result.last_enqueued_sequence_number = properties.last_sequence.value;
        result.last_enqueued_offset = properties.last_offset.value;
        result.last_enqueued_time = time_point(properties.last_enqueued);
        result.is_empty = properties.is_empty;
        result.bytes = properties.bytes;
        result.readers = static_cast<std::uint32_t>(partition.reader_count());
        for (const auto& damage : log->damages()) {
            result.problems.push_back(commitlog::to_string(damage));
        }
        for (const auto& file : log->odd_files()) {
            result.problems.push_back(file + " does not belong to the partition; move it away");
        }
        return result;
    }

    const std::shared_ptr<HubParts> parts_ = std::make_shared<HubParts>();
    LoopThread& loop_ = parts_->loop;
    Namespace* namespace_ = nullptr;
};

}  // namespace

Result<std::unique_ptr<Hub>> Hub::open(const HubOptions& options, const CallOptions& call) {
    EK_TRY(go_ahead(call.stop));
    auto hub = std::make_unique<LocalHub>();
    EK_TRY(hub->start(options, call));
    return std::unique_ptr<Hub>(std::move(hub));
}

Result<hub::Inside> hub::inside(Hub& hub) {
    auto* const local = dynamic_cast<LocalHub*>(&hub);
    if (!local) {
        return Error{ErrorCode::invalid_argument,
                     "the hub was not made by Hub::open(): it cannot be read from within"};
    }
    return local->inside();
}

}  // namespace evenkeel
