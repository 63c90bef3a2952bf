#include "bench/load.h"

#include <algorithm>
#include <cstring>

#include "base/bytes.h"

namespace evenkeel::bench {

Result<> BatchLoad::run(std::uint64_t events_max, Duration duration) {
    const SystemClock clock;
    const Instant start = clock.now();
    for (std::uint32_t i = 0; i < partitions_ * under_way; ++i) give_back(i % partitions_);
    std::uint64_t sent = 0;
    while (sent < events_max && clock.now() - start < duration) {
        const std::uint32_t partition = take_turn();
        EK_TRY(send(partition));
        sent += size_.batch_events;
    }
    for (std::size_t out = partitions_ * under_way; out > 0; --out) take_turn();
    seconds_ = seconds_of(clock.now() - start);
    const Lock lock(mutex_);
    if (error_) return *error_;
    return {};
}

double BatchLoad::events_per_second() {
    const Lock lock(mutex_);
    return static_cast<double>(acknowledged_) / seconds_;
}

Result<> BatchLoad::send(std::uint32_t partition) {
    EK_TRY_ASSIGN(auto batch, producer_.make_batch({.partition = partition}));
    for (std::size_t i = 0; i < size_.batch_events; ++i) {
        if (!batch.try_add(body_)) return Error{ErrorCode::unsupported, "a batch has no room"};
    }
    producer_.send_later(batch, [this, partition](const Result<>& result) {
        {
            const Lock lock(mutex_);
            if (!result.ok()) error_ = result.error();
            if (result.ok()) acknowledged_ += size_.batch_events;
        }
        give_back(partition);
    });
    return {};
}

void BatchLoad::give_back(std::uint32_t partition) {
    const Lock lock(mutex_);
    turns_.push_back(partition);
    condition_.notify_one();
}

std::uint32_t BatchLoad::take_turn() {
    const Lock lock(mutex_);
    while (turns_.empty()) condition_.wait(mutex_);
    const std::uint32_t partition = turns_.front();
    turns_.pop_front();
    return partition;
}

PacedLoad::PacedLoad(std::vector<Producer*> producers, const Options& options)
    : producers_(std::move(producers)), options_(options), body_(options.event_bytes, 'e') {
    EK_CHECK(!producers_.empty(), "a load without a producer");
}

PacedLoad::~PacedLoad() {
    (void)stop();
}

void PacedLoad::start() {
    is_started_ = true;
    loop_.start();
    loop_.post([this] {
        due_ = loop_.clock().now();
        pump();
    });
}

// Late events are sent immediately.
void PacedLoad::pump() {
    const auto pause = Duration(static_cast<std::int64_t>(
        1e9 * static_cast<double>(options_.due_together) / options_.events_per_second));
    while (!is_stopping_ && due_ <= loop_.clock().now()) {
        send_due();
        due_ = due_ + pause;
    }
    if (!is_stopping_) loop_.run_at(due_, [this] { pump(); });
}

void PacedLoad::send_due() {
    const auto batches = std::min<std::size_t>(options_.partitions, options_.due_together);
    for (std::size_t i = 0; i < batches; ++i) {
        send(options_.due_together / batches + (i < options_.due_together % batches ? 1 : 0));
    }
}

void PacedLoad::send(std::size_t events) {
    const std::uint32_t partition = next_partition_;
    next_partition_ = (next_partition_ + 1) % options_.partitions;
    Producer& producer = *producers_[next_producer_];
    next_producer_ = (next_producer_ + 1) % producers_.size();
    auto batch = producer.make_batch({.partition = partition, .partition_key = {}});
    EK_CHECK(batch.ok(), "a route by partition only is right");
    std::memcpy(body_.data(), &due_.nanoseconds, sizeof due_.nanoseconds);
    while (batch->size() < events && batch->try_add(body_)) {
    }
    ++under_way_;
    sent_ += batch->size();
    producer.send_later(*batch, [this](const Result<>& result) {
        loop_.post([this, result] {
            --under_way_;
            if (!result.ok() && !error_) error_ = result.error();
            finish_if_idle();
        });
    });
}

void PacedLoad::finish_if_idle() {
    if (under_way_ == 0 && is_stopping_) idle_.set(true);
}

Result<> PacedLoad::stop() {
    if (is_started_) {
        loop_.post([this] {
            is_stopping_ = true;
            finish_if_idle();
        });
        idle_.wait();
        is_started_ = false;
    }
    loop_.stop();
    if (error_) return *error_;
    return {};
}

Instant sent_at(std::span<const std::byte> body) {
    Instant instant;
    if (body.size() >= sizeof instant.nanoseconds) {
        std::memcpy(&instant.nanoseconds, body.data(), sizeof instant.nanoseconds);
    }
    return instant;
}

}  // namespace evenkeel::bench
