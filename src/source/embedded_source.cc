#include "source/embedded_source.h"

#include <utility>

#include "hub/events.h"
#include "hub/stream_reader.h"

namespace evenkeel::source {

// The hub loop's half of a reader. Made, used and destroyed there.
struct EmbeddedSource::Half {
    explicit Half(const EmbeddedPlace& place)
        : reads(place.hub_loop, place.reads), reader(place.hub_loop, reads) {}

    hub::ExecutorReads reads;
    hub::StreamReader reader;
};

class EmbeddedSource::LocalReader final : public Reader {
public:
    LocalReader(const EmbeddedPlace& place, std::unique_ptr<Half> half)
        : loop_(place.loop), hub_loop_(place.hub_loop), half_(std::move(half)) {}
    // Tasks that were posted before with a pointer to the half run before this one.
    ~LocalReader() override {
        hub_loop_.post([half = std::move(half_)]() mutable { half.reset(); });
    }

    void read(std::size_t events_max, Duration wait,
              Callback<void(Result<EventBatch>)> answer) override {
        answer_ = std::move(answer);
        events_max_ = events_max;
        if (half_->reader.has_ended()) left_ = {};
        if (!left_.empty()) {
            loop_.post(lifetime_.guard([this] { arrive(std::move(left_)); }));
            return;
        }
        // On the hub's loop we may be gone already; only the guard, on ours, can tell.
        auto arrived =
            lifetime_.guard([this](Result<commitlog::Slice> slice) { arrive(std::move(slice)); });
        hub_loop_.post(
            [&loop = loop_, half = half_.get(), wait, arrived = std::move(arrived)]() mutable {
                half->reader.read(wait, [&loop, arrived = std::move(arrived)](
                                            Result<commitlog::Slice> slice) mutable {
                    loop.post([arrived = std::move(arrived), slice = std::move(slice)]() mutable {
                        arrived(std::move(slice));
                    });
                });
            });
    }

    SequenceNumber last_enqueued() const override { return half_->reader.last(); }
    bool is_attached() const override { return !half_->reader.has_ended(); }

private:
    void arrive(Result<commitlog::Slice> slice) {
        auto answer = std::move(answer_);
        answer_ = nullptr;
        if (!slice.ok()) return answer(slice.error());
        left_ = std::move(*slice);
        answer(hub::take_events(left_, events_max_));
    }

    io::Loop& loop_;
    io::Loop& hub_loop_;
    std::unique_ptr<Half> half_;
    commitlog::Slice left_;
    std::size_t events_max_ = 0;
    Callback<void(Result<EventBatch>)> answer_;
    Lifetime lifetime_;
};

EmbeddedSource::EmbeddedSource(const EmbeddedPlace& place, Name name, std::string group)
    : place_(place), name_(std::move(name)), group_(std::move(group)) {}

void EmbeddedSource::properties(Callback<void(Result<HubProperties>)> answer) {
    place_.hub_loop.post([place = place_, event_hub = name_.event_hub,
                          answer = lifetime_.guard(std::move(answer))]() mutable {
        Result<HubProperties> properties = HubProperties();
        const auto found = place.hubs.find(event_hub);
        if (found.ok()) {
            const hub::EventHubRecord& record = (*found)->record();
            properties->partitions = record.partitions;
            properties->created_ms = record.created.milliseconds;
            properties->identity = place.hubs.identity();
        } else {
            properties = found.error();
        }
        place.loop.post([properties = std::move(properties), answer = std::move(answer)]() mutable {
            answer(std::move(properties));
        });
    });
}

namespace {

Result<PartitionProperties> look(hub::Namespace& hubs, const std::string& event_hub,
                                 PartitionId partition) {
    EK_TRY_ASSIGN(hub::EventHub* const found, hubs.find(event_hub));
    EK_TRY_ASSIGN(hub::Partition* const part, found->partition(partition));
    EK_TRY_ASSIGN(commitlog::Log* const log, part->log());
    const commitlog::LogProperties known = log->properties();
    return PartitionProperties{known.begin_sequence, known.last_sequence, known.last_offset,
                               known.last_enqueued.milliseconds};
}

Result<> attach(hub::StreamReader& reader, hub::Namespace& hubs, const std::string& event_hub,
                const std::string& group, PartitionId partition, const Position& position,
                const ReadOptions& options) {
    EK_TRY_ASSIGN(hub::EventHub* const found, hubs.find(event_hub));
    return reader.attach(*found, group, partition, position, {options.name, options.epoch});
}

}  // namespace

void EmbeddedSource::properties(PartitionId partition,
                                Callback<void(Result<PartitionProperties>)> answer) {
    place_.hub_loop.post([place = place_, event_hub = name_.event_hub, partition,
                          answer = lifetime_.guard(std::move(answer))]() mutable {
        place.loop.post([properties = look(place.hubs, event_hub, partition),
                         answer = std::move(answer)]() mutable { answer(std::move(properties)); });
    });
}

void EmbeddedSource::open(PartitionId partition, const Position& position,
                          const ReadOptions& options,
                          Callback<void(Result<std::unique_ptr<Reader>>)> answer) {
    place_.hub_loop.post([place = place_, event_hub = name_.event_hub, group = group_, partition,
                          position, options,
                          answer = lifetime_.guard(std::move(answer))]() mutable {
        auto half = std::make_unique<Half>(place);
        auto attached =
            attach(half->reader, place.hubs, event_hub, group, partition, position, options);
        if (!attached.ok()) half.reset();
        auto reader = half ? std::make_unique<LocalReader>(place, std::move(half)) : nullptr;
        place.loop.post([attached = std::move(attached), reader = std::move(reader),
                         answer = std::move(answer)]() mutable {
            if (!attached.ok()) return answer(attached.error());
            answer(std::unique_ptr<Reader>(std::move(reader)));
        });
    });
}

void EmbeddedSource::close(Task done) {
    place_.loop.post(std::move(done));
}

}  // namespace evenkeel::source
