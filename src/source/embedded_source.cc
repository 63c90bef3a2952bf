#include "source/embedded_source.h"

#include <atomic>
#include <optional>

#include "hub/events.h"

namespace evenkeel::source {

// The hub loop's half of a reader. Made and used there.
class EmbeddedSource::Half : public std::enable_shared_from_this<Half> {
public:
    using Answer = Callback<void(Result<commitlog::Slice>)>;

    Half(io::Loop& hub_loop, io::Executor& reads) : loop_(hub_loop), reads_(reads) {}

    Result<> attach(hub::EventHub& event_hub, std::string_view group, PartitionId partition,
                    const Position& position, const ReadOptions& options) {
        EK_TRY_ASSIGN(reader_,
                      event_hub.attach(group, partition, position, {options.name, options.epoch},
                                       [this](const Error& why) { end(why); }));
        const auto found = event_hub.partition(partition);
        if (found.ok()) partition_ = *found;
        return {};
    }

    void read(Duration wait, Answer answer) {
        answer_ = std::move(answer);
        deadline_ = loop_.clock().now() + wait;
        try_read();
    }

    void detach() {
        answer_ = nullptr;
        end({ErrorCode::cancelled, "the reader was closed"});
        reader_.reset();
    }

    // Threads: any.
    bool has_ended() const { return has_ended_; }
    SequenceNumber last() const { return {last_}; }

private:
    void try_read() {
        if (reason_) return reply(*reason_);
        look_at_end();
        if (damage_) {
            const std::string what = commitlog::to_string(*damage_);
            damage_.reset();
            return reply(Error{ErrorCode::corrupt, what + "; the next read goes on behind them"});
        }
        auto step = reader_->read(read_bytes);
        if (!step.ok()) return reply(step.error());
        if (auto* slice = std::get_if<commitlog::Slice>(&*step)) return reply(std::move(*slice));
        if (auto* cold = std::get_if<commitlog::ColdRead>(&*step)) return perform(std::move(*cold));
        if (loop_.clock().now() >= deadline_) return reply(commitlog::Slice());
        if (!timer_) {
            timer_ = loop_.run_at(deadline_, [self = weak_from_this()] {
                const auto half = self.lock();
                if (!half) return;
                half->timer_.reset();
                if (half->reader_) half->reader_->cancel_wait();
                if (half->answer_) half->reply(commitlog::Slice());
            });
        }
        reader_->wait([this] { try_read(); });
    }

    void perform(commitlog::ColdRead cold) {
        auto job = std::make_shared<commitlog::ColdRead>(std::move(cold));
        reads_.post([self = shared_from_this(), job] {
            auto outcome = std::make_shared<Result<commitlog::ReadOutcome>>(job->perform());
            io::Loop& loop = self->loop_;
            loop.post([self, job, outcome] { self->performed(*job, std::move(*outcome)); });
        });
    }

    void performed(const commitlog::ColdRead& cold, Result<commitlog::ReadOutcome> outcome) {
        if (!answer_) return;
        if (reason_) return reply(*reason_);
        if (!outcome.ok()) {
            if (outcome.error().code != ErrorCode::not_found) return reply(outcome.error());
            reader_->missed(cold.from);
            return try_read();
        }
        reader_->advance(*outcome);
        damage_ = outcome->damage;
        if (!outcome->events.empty()) return reply(std::move(outcome->events));
        try_read();
    }

    void look_at_end() {
        if (!partition_) return;
        const auto log = partition_->log();
        if (log.ok()) last_ = (*log)->properties().last_sequence.value;
    }

    void end(const Error& why) {
        if (reader_) reader_->cancel_wait();
        if (!reason_) reason_ = why;
        partition_ = nullptr;
        has_ended_ = true;
        if (answer_) reply(*reason_);
        cancel_timer();
    }

    void reply(Result<commitlog::Slice> slice) {
        cancel_timer();
        Answer answer = std::move(answer_);
        answer_ = nullptr;
        answer(std::move(slice));
    }

    void cancel_timer() {
        if (timer_) loop_.cancel(*timer_);
        timer_.reset();
    }

    io::Loop& loop_;
    io::Executor& reads_;
    std::unique_ptr<hub::PartitionReader> reader_;
    hub::Partition* partition_ = nullptr;  // none once the reader has ended
    Answer answer_;
    Instant deadline_;
    std::optional<io::TimerId> timer_;
    std::optional<Error> reason_;
    std::optional<commitlog::Damage> damage_;
    std::atomic<bool> has_ended_ = false;
    std::atomic<std::int64_t> last_ = -1;
};

class EmbeddedSource::LocalReader final : public Reader {
public:
    LocalReader(const EmbeddedPlace& place, std::shared_ptr<Half> half)
        : loop_(place.loop), hub_loop_(place.hub_loop), half_(std::move(half)) {}
    ~LocalReader() override {
        hub_loop_.post([half = std::move(half_)] { half->detach(); });
    }

    void read(std::size_t events_max, Duration wait,
              Callback<void(Result<EventBatch>)> answer) override {
        answer_ = std::move(answer);
        events_max_ = events_max;
        if (half_->has_ended()) left_ = {};
        if (!left_.empty()) {
            loop_.post([this, alive = std::weak_ptr<bool>(alive_)] {
                if (!alive.expired()) arrive(std::move(left_));
            });
            return;
        }
        // On the hub's loop we may be gone already; only `alive`, on ours, can tell.
        hub_loop_.post([this, &loop = loop_, half = half_, wait,
                        alive = std::weak_ptr<bool>(alive_)]() mutable {
            half->read(wait, [this, &loop,
                              alive = std::move(alive)](Result<commitlog::Slice> slice) mutable {
                loop.post([this, alive = std::move(alive), slice = std::move(slice)]() mutable {
                    if (!alive.expired()) arrive(std::move(slice));
                });
            });
        });
    }

    SequenceNumber last_enqueued() const override { return half_->last(); }
    bool is_attached() const override { return !half_->has_ended(); }

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
    std::shared_ptr<Half> half_;
    commitlog::Slice left_;
    std::size_t events_max_ = 0;
    Callback<void(Result<EventBatch>)> answer_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

EmbeddedSource::EmbeddedSource(const EmbeddedPlace& place, Name name, std::string group)
    : place_(place), name_(std::move(name)), group_(std::move(group)) {}

void EmbeddedSource::properties(Callback<void(Result<HubProperties>)> answer) {
    place_.hub_loop.post([place = place_, event_hub = name_.event_hub,
                          alive = std::weak_ptr<bool>(alive_),
                          answer = std::move(answer)]() mutable {
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
        place.loop.post([alive = std::move(alive), properties = std::move(properties),
                         answer = std::move(answer)]() mutable {
            if (!alive.expired()) answer(std::move(properties));
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

}  // namespace

void EmbeddedSource::properties(PartitionId partition,
                                Callback<void(Result<PartitionProperties>)> answer) {
    place_.hub_loop.post([place = place_, event_hub = name_.event_hub, partition,
                          alive = std::weak_ptr<bool>(alive_),
                          answer = std::move(answer)]() mutable {
        place.loop.post([alive = std::move(alive),
                         properties = look(place.hubs, event_hub, partition),
                         answer = std::move(answer)]() mutable {
            if (!alive.expired()) answer(std::move(properties));
        });
    });
}

void EmbeddedSource::open(PartitionId partition, const Position& position,
                          const ReadOptions& options,
                          Callback<void(Result<std::unique_ptr<Reader>>)> answer) {
    place_.hub_loop.post([place = place_, event_hub = name_.event_hub, group = group_, partition,
                          position, options, alive = std::weak_ptr<bool>(alive_),
                          answer = std::move(answer)]() mutable {
        auto half = std::make_shared<Half>(place.hub_loop, place.reads);
        Result<> attached;
        const auto found = place.hubs.find(event_hub);
        if (found.ok()) {
            attached = half->attach(**found, group, partition, position, options);
        } else {
            attached = found.error();
        }
        auto reader = std::make_unique<LocalReader>(place, std::move(half));
        place.loop.post([alive = std::move(alive), attached = std::move(attached),
                         reader = std::move(reader), answer = std::move(answer)]() mutable {
            if (alive.expired()) return;
            if (!attached.ok()) {
                reader.reset();
                return answer(attached.error());
            }
            answer(std::unique_ptr<Reader>(std::move(reader)));
        });
    });
}

void EmbeddedSource::close(Task done) {
    place_.loop.post(std::move(done));
}

}  // namespace evenkeel::source
