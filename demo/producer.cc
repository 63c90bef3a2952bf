#include "demo/producer.h"

#include <algorithm>
#include <latch>

#include <fmt/core.h>

#include "cli/child.h"
#include "demo/report.h"

namespace evenkeel::demo {
namespace {

using Kind = Report::Kind;

constexpr std::size_t under_way_max = 8;  // batches of a producer
constexpr Duration back_off_max = std::chrono::seconds(1);
constexpr Duration give_up_after = std::chrono::seconds(10);

}  // namespace

StreamProducer::StreamProducer(std::unique_ptr<Producer> producer, std::uint32_t id,
                               const StreamProducerOptions& options)
    : id_(id),
      options_(options),
      rate_(options.rate / options.producers),
      loop_(fmt::format("produce/{}", id)),
      body_(options.event_bytes),
      next_number_(options.partitions),
      next_partition_(id % options.partitions),
      producer_(std::move(producer)) {}

StreamProducer::~StreamProducer() = default;

void StreamProducer::start() {
    loop_.start();
    loop_.post([this] {
        started_ = last_success_ = loop_.clock().now();
        pump();
    });
}

void StreamProducer::stop(Task done) {
    loop_.post([this, done = std::move(done)]() mutable {
        stopping_ = true;
        stopped_ = std::move(done);
        finish_if_idle();
    });
}

void StreamProducer::finish_if_idle() {
    if (!stopping_ || under_way_ > 0 || !stopped_) return;
    Task done = std::move(stopped_);
    done();
}

void StreamProducer::pump() {
    while (!stopping_ && !gave_up_ && under_way_ < under_way_max) {
        const Instant now = loop_.clock().now();
        if (now < resume_) return pump_later(resume_ - now);
        if (rate_ > 0) {
            const double seconds = std::chrono::duration<double>(now - started_).count();
            const double due = static_cast<double>(paced_) / rate_;
            if (due > seconds) {
                return pump_later(Duration(static_cast<std::int64_t>((due - seconds) * 1e9)));
            }
            // Who fell behind by more than a second does not catch up: the rate is a limit.
            if (seconds - due > 1) {
                started_ = now;
                paced_ = 0;
            }
        }
        send_batch();
    }
}

void StreamProducer::pump_later(Duration delay) {
    if (waiting_) return;
    waiting_ = true;
    loop_.run_after(delay, [this] {
        waiting_ = false;
        pump();
    });
}

void StreamProducer::send_batch() {
    const std::uint32_t partition = next_partition_;
    next_partition_ = (next_partition_ + 1) % options_.partitions;
    const std::uint64_t first = next_number_[partition];
    auto batch = producer_->make_batch({.partition = partition, .partition_key = {}});
    EK_CHECK(batch.ok(), "a route by partition only is right");
    // Fewer where so many do not fit into a message.
    while (batch->size() < options_.batch_events) {
        encode({options_.run, id_, partition, first + batch->size()}, body_);
        if (!batch->try_add(as_text(body_))) break;
    }
    const std::uint64_t count = batch->size();
    if (count == 0) {
        return on_refused(partition, 0,
                          {ErrorCode::invalid_argument, "an event is larger than the hub accepts"});
    }
    next_number_[partition] += count;
    paced_ += count;
    tell({.kind = Kind::sent, .partition = partition, .count = count});
    ++under_way_;
    const Instant sent = loop_.clock().now();
    producer_->send_later(*batch, [this, partition, first, count, sent](const Result<>& result) {
        const Duration took = SystemClock().now() - sent;
        loop_.post([this, partition, first, count, took, result] {
            on_done(partition, first, count, took, result);
        });
    });
}

void StreamProducer::on_done(std::uint32_t partition, std::uint64_t first, std::uint64_t count,
                             Duration took, const Result<>& result) {
    --under_way_;
    if (!result.ok()) {
        on_refused(partition, count, result.error());
    } else {
        last_success_ = loop_.clock().now();
        back_off_ = back_off_min;
        tell({.kind = Kind::acknowledged,
              .partition = partition,
              .producer = id_,
              .number = first,
              .count = count,
              .took = took});
    }
    pump();
    finish_if_idle();
}

void StreamProducer::on_refused(std::uint32_t partition, std::uint64_t count, const Error& error) {
    tell({.kind = Kind::refused, .partition = partition, .count = count});
    const Instant now = loop_.clock().now();
    if (!is_retriable(error) || now - last_success_ > give_up_after) {
        if (!gave_up_) tell({.kind = Kind::failed, .error = error});
        gave_up_ = true;
        return;
    }
    if (now < resume_) return;  // refused together with others
    resume_ = now + back_off_;
    back_off_ = std::min(back_off_ * 2, back_off_max);
}

cli::ExitCode run_producer(const StreamProducerOptions& options) {
    cli::live_with_parent();
    const auto connection = cli::next_word();
    if (!connection) return cli::ExitCode::failed;
    std::vector<std::unique_ptr<StreamProducer>> producers;
    for (std::uint32_t id = 0; id < options.producers; ++id) {
        ClientOptions client;
        client.connection = *connection;
        client.event_hub = options.event_hub;
        client.name = fmt::format("demo producer {}", id);
        client.retry.retries_max = 0;  // a refused batch is reported, not retried
        auto opened = Producer::open(client);
        if (!opened.ok()) {
            tell({.kind = Kind::failed, .error = opened.error()});
            return cli::ExitCode::failed;
        }
        producers.push_back(std::make_unique<StreamProducer>(std::move(*opened), id, options));
    }
    tell({.kind = Kind::ready});
    for (auto& producer : producers) producer->start();
    while (cli::next_word()) {
    }
    std::latch stopped(static_cast<std::ptrdiff_t>(producers.size()));
    for (auto& producer : producers) producer->stop([&stopped] { stopped.count_down(); });
    stopped.wait();
    tell({.kind = Kind::done});
    return cli::ExitCode::done;
}

}  // namespace evenkeel::demo
