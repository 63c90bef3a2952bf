#include "source/sim_source.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/lifetime.h"
#include "base/time_point.h"
#include "eventhubs/sections.h"
#include "io/timer.h"

namespace evenkeel::source {

class SimReader final : public Reader {
public:
    SimReader(SimHub& hub, io::Loop& loop,
              std::shared_ptr<const bool> is_path_open,  // tidy: allow lifetime: a switch, no guard
              PartitionId partition, const Position& position, const ReadOptions& options)
        : hub_(hub),
          loop_(loop),
          is_path_open_(std::move(is_path_open)),
          partition_(partition),
          position_(position),
          options_(options) {}
    ~SimReader() override { leave(); }

    Result<> attach() {
        EK_TRY_ASSIGN(next_, place(position_));
        return hub_.admit(*this);
    }
    void leave() { hub_.part(partition_).readers.erase(this); }

    void read(std::size_t events_max, Duration wait,
              Callback<void(Result<EventBatch>)> answer) override {
        loop_.check_here();
        EK_CHECK(!answer_, "one read at a time");
        answer_ = std::move(answer);
        events_max_ = events_max;
        deadline_ = loop_.clock().now() + wait;
        later(hub_.latency());
    }

    SequenceNumber last_enqueued() const override { return seen_end_; }
    bool is_attached() const override { return !is_cut_ && !is_link_lost_ && hub_.is_up_; }

    // Something may have changed. Threads: the world's, not only the loop's.
    void wake() {
        loop_.post(lifetime_.guard([this] {
            if (!answer_ || timer_at_ <= loop_.clock().now()) return;
            try_read();
        }));
    }
    void lose_link() {
        is_link_lost_ = true;
        wake();
    }
    // Before anything more is read.
    void end(const Error& why) {
        displaced_ = why;
        is_cut_ = true;
        leave();
        wake();
    }
    void displace(Duration after, const Error& why) {
        if (displaced_) return;
        displaced_ = why;
        loop_.post(lifetime_.guard([this, after] {
            loop_.run_after(after, lifetime_.guard([this] {
                leave();
                hear_of_cut();
            }));
        }));
    }
    // Not while the way to the hub is closed.
    void hear_of_cut() {
        if (*is_path_open_) {
            is_cut_ = true;
            if (answer_) try_read();
            return;
        }
        loop_.run_after(path_poll, lifetime_.guard([this] { hear_of_cut(); }));
    }

    const ReadOptions& options() const { return options_; }
    bool is_displaced() const { return displaced_.has_value(); }
    PartitionId partition() const { return partition_; }
    std::uint64_t id = 0;

private:
    static constexpr Duration path_poll = std::chrono::milliseconds(100);

    Result<std::int64_t> place(const Position& position) const {
        const SimHub::Part& part = hub_.part(partition_);
        const std::int64_t first = part.first;
        const std::int64_t end = first + static_cast<std::int64_t>(part.events.size());
        const auto find = [&](auto is_before) {
            std::int64_t at = first;
            while (at < end && is_before(part.events[static_cast<std::size_t>(at - first)])) ++at;
            return at;
        };
        switch (position.kind) {
            case Position::Kind::earliest: return first;
            case Position::Kind::latest: return end;
            case Position::Kind::sequence_number: {
                const std::int64_t wanted = position.value + (position.inclusive ? 0 : 1);
                if (wanted > end) {
                    return Error{ErrorCode::invalid_argument,
                                 fmt::format("sequence number {} is beyond the last one, {}",
                                             position.value, end - 1)};
                }
                return std::max(first, wanted);
            }
            case Position::Kind::offset:
                return find([&](const SimHub::Stored& event) {
                    return position.inclusive ? event.offset < position.value
                                              : event.offset <= position.value;
                });
            case Position::Kind::enqueued_time:
                return find([&](const SimHub::Stored& event) {
                    return position.inclusive ? event.enqueued_ms < position.value
                                              : event.enqueued_ms <= position.value;
                });
        }
        return first;
    }

    void later(Duration after) {
        timer_at_ = loop_.clock().now() + after;
        timer_.run_at(timer_at_, [this] { try_read(); });
    }

    void try_read() {
        if (is_cut_) return reply(*displaced_);
        if (!*is_path_open_) {
            const Duration left = deadline_ - loop_.clock().now();
            if (left <= Duration(0)) return reply(EventBatch());
            return later(std::min(left, path_poll));
        }
        if (!hub_.is_up_) {
            is_link_lost_ = true;
            return reply(Error{ErrorCode::unavailable, "the simulated hub is down"});
        }
        if (is_link_lost_) {
            is_link_lost_ = false;
            return reply(Error{ErrorCode::unavailable, "the simulated link was lost"});
        }
        const SimHub::Part& part = hub_.part(partition_);
        next_ = std::max(next_, part.first);
        const std::int64_t end = part.first + static_cast<std::int64_t>(part.events.size());
        if (next_ < end && !part.is_stalled) return reply(take(part, end));
        if (loop_.clock().now() >= deadline_) return reply(EventBatch());
        later(deadline_ - loop_.clock().now());
    }

    Result<EventBatch> take(const SimHub::Part& part, std::int64_t end) {
        std::vector<Event> events;
        std::vector<std::shared_ptr<const void>> owners;
        seen_end_ = {end - 1};
        for (; next_ < end && events.size() < events_max_; ++next_) {
            const auto& stored = part.events[static_cast<std::size_t>(next_ - part.first)];
            if (stored.is_damaged) {
                if (!events.empty()) break;
                ++next_;
                return Error{ErrorCode::corrupt, fmt::format("event {} is damaged", next_ - 1)};
            }
            const std::string_view bytes(*stored.bytes);
            Event& event = events.emplace_back();
            event.sequence_number = next_;
            event.offset = stored.offset;
            event.enqueued_time = time_point({stored.enqueued_ms});
            event.partition_key = bytes.substr(0, stored.key_bytes);
            event.sections = as_bytes(bytes.substr(stored.key_bytes));
            owners.push_back(stored.bytes);
        }
        return EventBatch(std::move(events), std::move(owners));
    }

    void reply(Result<EventBatch> batch) {
        timer_.cancel();
        auto answer = std::move(answer_);
        answer_ = nullptr;
        answer(std::move(batch));
    }

    SimHub& hub_;
    io::Loop& loop_;
    const std::shared_ptr<const bool> is_path_open_;  // tidy: allow lifetime: a switch, no guard
    const PartitionId partition_;
    const Position position_;
    const ReadOptions options_;
    std::int64_t next_ = 0;
    SequenceNumber seen_end_;
    bool is_link_lost_ = false;
    bool is_cut_ = false;
    std::optional<Error> displaced_;
    Callback<void(Result<EventBatch>)> answer_;
    std::size_t events_max_ = 0;
    Instant deadline_;
    Instant timer_at_;
    io::Timer timer_{loop_};
    Lifetime lifetime_;  // the last member
};

SimHub::SimHub(const SimHubOptions& options)
    : options_(options), random_(options.seed), created_ms_(options.created_ms) {
    partitions_.resize(options.partitions);
}

SimHub::Part& SimHub::part(PartitionId partition) {
    EK_CHECK(partition.value < partitions_.size(), "the partition is there");
    return partitions_[partition.value];
}

const SimHub::Part& SimHub::part(PartitionId partition) const {
    EK_CHECK(partition.value < partitions_.size(), "the partition is there");
    return partitions_[partition.value];
}

SequenceNumber SimHub::append(PartitionId partition, std::string_view body, WallTime now,
                              std::string_view key) {
    Part& to = part(partition);
    std::string bytes(key);
    eventhubs::append_data_section(body, bytes);
    Stored stored;
    stored.key_bytes = key.size();
    stored.offset = to.next_offset;
    stored.enqueued_ms = now.milliseconds;
    to.next_offset += static_cast<std::int64_t>(bytes.size());
    stored.bytes = std::make_shared<const std::string>(std::move(bytes));
    to.events.push_back(std::move(stored));
    for (SimReader* const reader : in_order(to)) reader->wake();
    return last(partition);
}

void SimHub::append_many(PartitionId partition, std::size_t count, WallTime now) {
    for (std::size_t i = 0; i < count; ++i) {
        append(partition, std::to_string(last(partition).value + 1), now);
    }
}

SequenceNumber SimHub::last(PartitionId partition) const {
    const Part& of = part(partition);
    return {of.first + static_cast<std::int64_t>(of.events.size()) - 1};
}

void SimHub::add_partitions(std::uint32_t count) {
    partitions_.resize(partitions_.size() + count);
}

void SimHub::remove_before(PartitionId partition, SequenceNumber first) {
    Part& from = part(partition);
    while (!from.events.empty() && from.first < first.value) {
        from.events.pop_front();
        ++from.first;
    }
}

void SimHub::recreate(std::int64_t created_ms) {
    created_ms_ = created_ms;
    for (Part& part : partitions_) {
        for (SimReader* const reader : in_order(part)) {
            reader->displace(Duration(0), {ErrorCode::not_found, "the simulated hub was removed"});
        }
        part.events.clear();
        part.first = part.next_offset = 0;
    }
}

void SimHub::restore(PartitionId partition, SequenceNumber last) {
    Part& in = part(partition);
    for (SimReader* const reader : in_order(in)) {
        reader->end({ErrorCode::invalid_argument, "the simulated hub was restored"});
    }
    while (!in.events.empty() && this->last(partition) > last) {
        in.next_offset = in.events.back().offset;
        in.events.pop_back();
    }
}

void SimHub::cut(PartitionId partition) {
    part(partition).is_stalled = false;
    for (SimReader* const reader : in_order(part(partition))) reader->lose_link();
}

void SimHub::stop() {
    is_up_ = false;
    for (const Part& part : partitions_) {
        for (SimReader* const reader : in_order(part)) reader->wake();
    }
}

void SimHub::start() {
    is_up_ = true;
    for (Part& part : partitions_) part.is_stalled = false;
}

void SimHub::stall(PartitionId partition) {
    part(partition).is_stalled = true;
}

void SimHub::damage(PartitionId partition, SequenceNumber sequence) {
    Part& in = part(partition);
    in.events[static_cast<std::size_t>(sequence.value - in.first)].is_damaged = true;
}

std::size_t SimHub::readers(PartitionId partition) const {
    return part(partition).readers.size();
}

Duration SimHub::latency() {
    return Duration(random_.between(options_.latency_min.count(), options_.latency_max.count()));
}

std::vector<SimReader*> SimHub::in_order(const Part& part) const {
    std::vector<SimReader*> readers(part.readers.begin(), part.readers.end());
    std::sort(readers.begin(), readers.end(),
              [](const SimReader* a, const SimReader* b) { return a->id < b->id; });
    return readers;
}

Result<> SimHub::admit(SimReader& reader) {
    Part& to = part(reader.partition());
    const auto epoch = reader.options().epoch;
    for (SimReader* const other : in_order(to)) {
        if (other->is_displaced() || !other->options().epoch) continue;
        if (!epoch || *other->options().epoch > *epoch) {
            return Error{ErrorCode::fenced, "a reader with a higher epoch has the partition"};
        }
    }
    if (epoch) {
        for (SimReader* const other : in_order(to)) {
            other->displace(options_.cut_after,
                            {ErrorCode::fenced, "displaced by a reader with a higher epoch"});
        }
    }
    to.is_stalled = false;
    reader.id = ++last_reader_;
    to.readers.insert(&reader);
    return {};
}

// `then` with whether the way to the hub is open; at the latest at the deadline.
void SimSource::when_open(Instant deadline, Callback<void(bool)> then) {
    if (*is_path_open_ || loop_.clock().now() >= deadline) return then(*is_path_open_);
    loop_.run_after(path_poll, lifetime_.guard([this, deadline, then = std::move(then)]() mutable {
        when_open(deadline, std::move(then));
    }));
}

template <typename T>
void SimSource::later(Callback<void(Result<T>)> answer, std::function<Result<T>()> question) {
    const Instant deadline = loop_.clock().now() + question_max;
    loop_.run_after(hub_.latency(), lifetime_.guard([this, deadline, answer = std::move(answer),
                                                     question = std::move(question)]() mutable {
        when_open(deadline, [this, answer = std::move(answer),
                             question = std::move(question)](bool is_open) mutable {
            if (!is_open) return answer(Error{ErrorCode::timed_out, "the hub did not answer"});
            if (!hub_.is_up_) {
                return answer(Error{ErrorCode::unavailable, "the simulated hub is down"});
            }
            answer(question());
        });
    }));
}

void SimSource::properties(Callback<void(Result<HubProperties>)> answer) {
    later<HubProperties>(std::move(answer), [this]() -> Result<HubProperties> {
        return HubProperties{hub_.partitions(), hub_.created_ms_, hub_.identity_};
    });
}

void SimSource::properties(PartitionId partition,
                           Callback<void(Result<PartitionProperties>)> answer) {
    later<PartitionProperties>(
        std::move(answer), [this, partition]() -> Result<PartitionProperties> {
            if (partition.value >= hub_.partitions()) {
                return Error{ErrorCode::not_found, "there is no such partition"};
            }
            const auto& part = hub_.part(partition);
            PartitionProperties properties;
            properties.last = hub_.last(partition);
            if (properties.last.value >= 0) properties.first = {part.first};
            if (!part.events.empty()) {
                properties.last_offset = {part.events.back().offset};
                properties.last_enqueued_ms = part.events.back().enqueued_ms;
            }
            return properties;
        });
}

void SimSource::open(PartitionId partition, const Position& position, const ReadOptions& options,
                     Callback<void(Result<std::unique_ptr<Reader>>)> answer) {
    using Opened = std::unique_ptr<Reader>;
    later<Opened>(std::move(answer), [this, partition, position, options]() -> Result<Opened> {
        if (partition.value >= hub_.partitions()) {
            return Error{ErrorCode::not_found, "there is no such partition"};
        }
        auto reader =
            std::make_unique<SimReader>(hub_, loop_, is_path_open_, partition, position, options);
        const Result<> attached = reader->attach();
        if (!attached.ok()) return attached.error();
        return Opened(std::move(reader));
    });
}

}  // namespace evenkeel::source
