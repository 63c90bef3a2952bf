#include "cli/demo_producer.h"

#include <algorithm>

#include <fmt/core.h>

namespace evenkeel::cli {
namespace {

constexpr Duration back_off_max = std::chrono::seconds(1);
constexpr Duration give_up_after = std::chrono::seconds(10);

}  // namespace

DemoProducer::DemoProducer(Hub& hub, Traffic& traffic, const Options& options)
    : hub_(hub),
      traffic_(traffic),
      options_(options),
      loop_(fmt::format("produce/{}", options.id)),
      bytes_(options.batch_events * options.event_bytes),
      next_number_(options.partitions),
      next_partition_(options.id % options.partitions) {
    for (std::size_t i = 0; i < options.batch_events; ++i) {
        bodies_.push_back(
            as_text(ByteView(bytes_).subspan(i * options.event_bytes, options.event_bytes)));
    }
    results_.acknowledged.resize(options.partitions);
    results_.last_sequence.resize(options.partitions, -1);
}

DemoProducer::~DemoProducer() = default;

void DemoProducer::start() {
    loop_.start();
    loop_.post([this] {
        started_ = last_success_ = loop_.clock().now();
        pump();
    });
}

void DemoProducer::stop(Task done) {
    loop_.post([this, done = std::move(done)]() mutable {
        stopping_ = true;
        stopped_ = std::move(done);
        finish_if_idle();
    });
}

void DemoProducer::finish_if_idle() {
    if (!stopping_ || under_way_ > 0 || !stopped_) return;
    Task done = std::move(stopped_);
    done();
}

void DemoProducer::pump() {
    while (!stopping_ && !gave_up_ && under_way_ < options_.under_way_max) {
        const Instant now = loop_.clock().now();
        if (now < resume_) return pump_later(resume_ - now);
        if (options_.rate > 0) {
            const double seconds = std::chrono::duration<double>(now - started_).count();
            const double due = static_cast<double>(paced_) / options_.rate;
            if (due > seconds) {
                return pump_later(Duration(static_cast<std::int64_t>((due - seconds) * 1e9)));
            }
            // Who fell behind by more than a second does not catch up: the rate is a limit.
            if (seconds - due > 1) {
                started_ = now;
                paced_ = 0;
            }
        }
        paced_ += options_.batch_events;
        send_batch();
    }
}

void DemoProducer::pump_later(Duration delay) {
    if (waiting_) return;
    waiting_ = true;
    loop_.run_after(delay, [this] {
        waiting_ = false;
        pump();
    });
}

void DemoProducer::send_batch() {
    const std::uint32_t partition = next_partition_;
    next_partition_ = (next_partition_ + 1) % options_.partitions;
    const std::uint64_t first = next_number_[partition];
    next_number_[partition] += options_.batch_events;
    for (std::size_t i = 0; i < options_.batch_events; ++i) {
        encode({options_.run, options_.id, partition, first + i},
               ByteSpan(bytes_).subspan(i * options_.event_bytes, options_.event_bytes));
    }
    traffic_.partitions[partition].sent.add(options_.batch_events);
    ++under_way_;
    const Instant sent = loop_.clock().now();
    hub_.send_later(
        options_.event_hub, bodies_, {.partition = partition, .partition_key = {}},
        [this, partition, first, sent](Result<Receipt> result) {
            const Instant answered = SystemClock().now();
            loop_.post([this, partition, first, sent, answered, result = std::move(result)] {
                on_done(partition, first, sent, answered, result);
            });
        });
}

void DemoProducer::on_done(std::uint32_t partition, std::uint64_t first, Instant sent,
                           Instant answered, const Result<Receipt>& result) {
    --under_way_;
    if (!result.ok()) {
        on_refused(partition, result.error());
    } else {
        last_success_ = answered;
        back_off_ = back_off_min;
        auto& traffic = traffic_.partitions[partition];
        traffic.durable.add(options_.batch_events);
        traffic.acknowledged_after.observe(answered - sent);
        results_.acknowledged[partition].add(first, options_.batch_events);
        auto& last = results_.last_sequence[partition];
        last = std::max(last, result->last_sequence_number);
    }
    pump();
    finish_if_idle();
}

void DemoProducer::on_refused(std::uint32_t partition, const Error& error) {
    traffic_.partitions[partition].refused.add(options_.batch_events);
    results_.error = error;
    const bool too_long = loop_.clock().now() - last_success_ > give_up_after;
    if (!is_retriable(error) || too_long) {
        gave_up_ = true;
        traffic_.failed = true;
        return;
    }
    const Instant now = loop_.clock().now();
    if (now < resume_) return;  // refused together with others
    resume_ = now + back_off_;
    back_off_ = std::min(back_off_ * 2, back_off_max);
}

}  // namespace evenkeel::cli
