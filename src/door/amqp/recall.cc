#include "door/amqp/recall.h"

#include <algorithm>
#include <utility>

#include "base/lifetime.h"
#include "base/log.h"
#include "hub/partition_stream.h"

namespace evenkeel::door {
namespace {

constexpr std::size_t step_bytes = std::size_t{1} << 20;

}  // namespace

void LastNumbers::take(const commitlog::Slice& events) {
    for (const commitlog::Record& record : events) {
        const auto stamp = stamp_of(record.body);
        const auto state = stamp ? state_at(*stamp) : std::nullopt;
        if (!state) continue;
        Last& last = by_id_.try_emplace(state->id, Last{*state}).first->second;
        if (state->epoch < last.state.epoch) continue;
        last.state = *state;
        const bool begins = record.batch_index == 0;
        if (begins) last.batch = {};
        // Of a batch that was met from its middle on, or that others are in, too little is known.
        const bool goes_on = last.next_index > 0 && record.batch_index == last.next_index;
        if (begins || goes_on) {
            last.batch.add(record.key, record.body);
            last.next_index = record.batch_index + 1;
        } else {
            last.batch = {};
            last.next_index = 0;
        }
    }
}

// Reads from the loop, counts on the reads executor: to look into the events takes longer.
//
//     reading ── events ──▶ counting ── counted ──▶ reading ── the end ──▶ finish()
class Recall::Reading final : private hub::PartitionStream::Owner {
public:
    Reading(Recall& recall, std::string hub, const ProducerPlace& place)
        : recall_(recall),
          hub_(std::move(hub)),
          place_(place),
          cold_reads_(recall.loop_, recall.reads_),
          stream_(*this, cold_reads_,
                  {.read_bytes_min = step_bytes, .read_bytes_max = step_bytes}) {}

    void wait(Task ready) { waiting_.push_back(std::move(ready)); }
    // May finish at once.
    void begin(hub::EventHub& event_hub) {
        if (const auto opened = open(event_hub); !opened.ok()) {
            fault_ = opened.error().detail;
            return recall_.finish(*this);
        }
        go_on();
    }

    const ProducerPlace& place() const { return place_; }
    const LastNumbers& numbers() const { return numbers_; }
    std::vector<Task> take_waiting() { return std::move(waiting_); }
    void report_fault() const {
        if (fault_.empty()) return;
        trace(
            TraceLevel::warning,
            "the end of a partition could not be read: what idempotent producers have sent before "
            "the start, and send again, may be stored twice",
            {{"event_hub", hub_},
             {"partition", std::to_string(place_.second.value)},
             {"cause", fault_}});
    }

private:
    enum class State { reading, counting };

    Result<> open(hub::EventHub& event_hub) {
        EK_TRY_ASSIGN(hub::Partition* const partition, event_hub.partition(place_.second));
        EK_TRY_ASSIGN(commitlog::Log* const log, partition->log());
        end_ = log->end();
        const auto now = log->properties();
        const std::int64_t from = std::min(end_.value - log_bytes_max, now.last_offset.value);
        const bool all = from <= 0 || now.is_empty;
        EK_TRY_ASSIGN(auto cursor,
                      partition->peek(all ? Position::earliest() : Position::at_offset(from),
                                      stream_.ended()));
        stream_.start(std::move(cursor));
        return {};
    }

    void on_ready() override { go_on(); }
    // The event hub was removed, or is closing. Those who wait find out themselves.
    void on_ended(const Error&) override {
        if (state_ == State::reading) recall_.finish(*this);
    }

    void go_on() {
        check_state();
        while (!stream_.has_ended() && stream_.given() < end_) {
            auto step = stream_.next();
            if (!step.ok()) {
                fault_ = step.error().detail;
                break;
            }
            if (auto* const events = std::get_if<commitlog::Slice>(&*step)) {
                return count(std::move(*events));
            }
            if (const auto* const damage = std::get_if<commitlog::Damage>(&*step)) {
                if (fault_.empty()) fault_ = commitlog::to_string(*damage);
                continue;
            }
            if (stream_.state() == hub::PartitionStream::State::reading) return;
            break;  // the end came sooner: retention removed what was left
        }
        recall_.finish(*this);
    }

    // The executor has the numbers to itself meanwhile.
    void count(commitlog::Slice events) {
        state_ = State::counting;
        auto counted = lifetime_.guard([this](LastNumbers numbers) {
            numbers_ = std::move(numbers);
            state_ = State::reading;
            go_on();
        });
        recall_.reads_.post([&loop = recall_.loop_, events = std::move(events),
                             numbers = std::exchange(numbers_, {}),
                             counted = std::move(counted)]() mutable {
            numbers.take(events);
            events = {};
            loop.post([numbers = std::move(numbers), counted = std::move(counted)]() mutable {
                counted(std::move(numbers));
            });
        });
    }

    void check_state() const {
        EK_CHECK(state_ == State::reading, "the numbers are here while it reads");
        EK_CHECK(!waiting_.empty(), "somebody waits for it");
    }

    Recall& recall_;
    const std::string hub_;
    const ProducerPlace place_;
    State state_ = State::reading;
    Offset end_;  // later events are not of the past
    LastNumbers numbers_;
    std::string fault_;  // the first thing that could not be read; empty: none
    std::vector<Task> waiting_;
    hub::ExecutorReads cold_reads_;
    hub::PartitionStream stream_;
    Lifetime lifetime_;
};

Recall::Recall(io::Loop& loop, io::Executor& reads, Producers& producers)
    : loop_(loop), reads_(reads), producers_(producers) {}

Recall::~Recall() = default;

void Recall::prepare(hub::EventHub& event_hub, PartitionId partition, Task ready) {
    loop_.check_here();
    const ProducerPlace place{event_hub.record().incarnation, partition};
    if (known_.contains(place)) return ready();
    const auto [at, is_first] = readings_.try_emplace(place);
    if (is_first) {
        at->second = std::make_unique<Reading>(*this, event_hub.record().name, place);
    }
    Reading& reading = *at->second;
    reading.wait(std::move(ready));
    if (is_first) reading.begin(event_hub);
}

void Recall::finish(Reading& reading) {
    const auto finished = std::move(readings_.extract(reading.place()).mapped());
    finished->report_fault();
    for (const auto& [id, last] : finished->numbers().by_id()) {
        producers_.restore(finished->place(), last.state, last.batch);
    }
    if (known_.size() >= places_max) known_.clear();  // of event hubs long removed, most of them
    known_.insert(finished->place());
    for (auto& ready : finished->take_waiting()) ready();
}

}  // namespace evenkeel::door
