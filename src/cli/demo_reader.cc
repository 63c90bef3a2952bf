#include "cli/demo_reader.h"

#include <fmt/core.h>

#include "cli/stream_body.h"

namespace evenkeel::cli {
namespace {

constexpr std::size_t events_max = 2000;
constexpr auto wait = std::chrono::milliseconds(100);
// Without an event for this long, what is still missing at the end is lost.
constexpr Duration patience = std::chrono::seconds(5);

}  // namespace

Result<std::unique_ptr<DemoReader>> DemoReader::open(Hub& hub, PartitionTraffic& traffic,
                                                     const Options& options) {
    const auto position = options.after_sequence < 0
                              ? Position::earliest()
                              : Position::after_sequence(options.after_sequence);
    EK_TRY_ASSIGN(auto reader, hub.open_reader(options.event_hub, "$Default", options.partition,
                                               position, {.epoch = {}, .name = "demo"}));
    return std::unique_ptr<DemoReader>(new DemoReader(std::move(reader), traffic, options));
}

DemoReader::DemoReader(std::unique_ptr<Reader> reader, PartitionTraffic& traffic,
                       const Options& options)
    : reader_(std::move(reader)),
      traffic_(traffic),
      options_(options),
      next_sequence_(options.after_sequence + 1),
      next_number_(options.producers),
      worker_(fmt::format("read/{}", options.partition)) {
    results_.read.resize(options.producers);
    traffic_.read_up_to = options.after_sequence;
}

void DemoReader::start() {
    worker_.post([this] { run(); });
}

void DemoReader::finish_at(std::int64_t last_sequence) {
    last_ = last_sequence;
}

void DemoReader::run() {
    Instant last_event = clock_.now();
    while (true) {
        const std::int64_t last = last_;
        if (last != unknown && next_sequence_ > last) return;
        const auto batch = reader_->read(events_max, wait);
        if (!batch.ok()) {
            results_.error = batch.error();
            // The next call goes on behind the damage; what was in it shows as lost.
            if (batch.error().code == ErrorCode::corrupt) continue;
            return;
        }
        const Instant now = clock_.now();
        if (!batch->empty()) {
            last_event = now;
            for (const auto& event : *batch) check(event);
            traffic_.read.add(batch->size());
            traffic_.read_up_to = next_sequence_ - 1;
        } else if (last != unknown && now - last_event > patience) {
            results_.error =
                Error{ErrorCode::timed_out, fmt::format("partition {}: event {} did not come",
                                                        options_.partition, next_sequence_)};
            return;
        }
    }
}

void DemoReader::check(const Event& event) {
    bool in_order = event.sequence_number == next_sequence_;
    next_sequence_ = event.sequence_number + 1;
    const auto body = decode_stream_body(event.body());
    if (!body || body->run != options_.run || body->partition != options_.partition ||
        body->producer >= options_.producers) {
        ++results_.wrong_content;
        return;
    }
    auto& next = next_number_[body->producer];
    in_order = in_order && body->number >= next;
    next = body->number + 1;
    if (!in_order) ++results_.out_of_order;
    if (results_.read[body->producer].add(body->number, 1) == 0) ++results_.repeated;
}

}  // namespace evenkeel::cli
