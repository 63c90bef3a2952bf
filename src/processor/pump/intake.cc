#include "processor/pump/intake.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "base/check.h"
#include "processor/pump/retry.h"

namespace evenkeel::processor {

void Intake::set_last_read(std::int64_t sequence) {
    EK_CHECK(state_ == State::detached, "the position of a reader is set before it is there");
    last_read_ = sequence;
}

void Intake::attach(std::unique_ptr<source::Reader> reader) {
    EK_CHECK(state_ == State::detached, "one reader at a time");
    reader_ = std::move(reader);
    state_ = State::idle;
    check_state();
}

void Intake::detach() {
    ++readers_;
    timer_.cancel();
    state_ = State::detached;
    reader_.reset();
    next_ = {};
    check_state();
}

EventBatch Intake::take() {
    return std::exchange(next_, {});
}

void Intake::fill() {
    if (state_ != State::idle || !pump_.may_read()) return;
    const ProcessorOptions& options = place_.options;
    if (next_.size() >= options.batch_events_max) return;  // PUMP-18
    state_ = State::reading;
    check_state();
    const Duration wait =
        options.progress_slow.count() > 0 ? Duration(options.progress_slow) : read_wait;
    reader_->read(options.batch_events_max - next_.size(), wait,
                  while_attached([this](Result<EventBatch> batch) { arrived(std::move(batch)); }));
}

void Intake::arrived(Result<EventBatch> batch) {
    EK_CHECK(state_ == State::reading, "an answer that was not asked for");
    state_ = State::idle;
    if (!batch.ok()) return failed(batch.error());
    pump_.on_read();
    if (!batch->empty()) pump_.on_heard(true);
    last_enqueued_ = std::max(last_enqueued_, reader_->last_enqueued().value);
    if (batch->empty()) return look_for_progress();
    keep(std::move(*batch));
    pump_.on_events();
    fill();
}

void Intake::keep(EventBatch batch) {
    if (awaited_ && !pass_landmark(batch)) return;
    const std::int64_t first = batch[0].sequence_number;
    const std::int64_t last = batch.back().sequence_number;
    if (first <= last_read_) {  // PUMP-16
        return pump_.on_reader_failed(
            {ErrorCode::corrupt, fmt::format("event {} came after event {}", first, last_read_)});
    }
    const std::int64_t expected = last_read_ < 0 || may_skip_ ? first : last_read_ + 1;
    const std::int64_t missing = last - expected + 1 - static_cast<std::int64_t>(batch.size());
    if (missing > 0) {
        pump_.on_notice("read",
                        {ErrorCode::not_found, fmt::format("{} events are missing between {} and "
                                                           "{}; retention may have been faster",
                                                           missing, expected, last)},
                        std::nullopt);
    }
    may_skip_ = false;
    last_read_ = last;
    last_enqueued_ = std::max(last_enqueued_, last);
    if (next_.empty()) since_ = place_.loop.clock().now();
    next_.append(std::move(batch));
}

// PUMP-17. False if nothing is left of the batch.
bool Intake::pass_landmark(EventBatch& batch) {
    const Landmark awaited = *awaited_;
    awaited_.reset();
    if (batch[0].sequence_number != awaited.sequence) return true;
    if (const auto known = check(awaited, batch[0]); !known.ok()) {
        pump_.on_mismatch(known.error());
        return false;
    }
    batch.drop_first();
    return !batch.empty();
}

void Intake::failed(const Error& error) {
    if (error.code == ErrorCode::corrupt) {
        may_skip_ = true;
        pump_.on_notice("read", error, std::nullopt);
        return fill();
    }
    if (!is_retriable(error)) return pump_.on_reader_failed(error);
    const Duration delay = pump_.on_read_failed(error);
    state_ = State::waiting;
    timer_.run_after(delay, [this] {
        state_ = State::idle;
        fill();
    });
    check_state();
    pump_.on_notice("read", error, delay);
}

// Nothing came for a while. Is there nothing, or is the reader dead?
void Intake::look_for_progress() {
    fill();
    if (place_.options.progress_slow.count() == 0) return;
    place_.source.properties(place_.partition,
                             while_attached([this, before = last_read_](
                                                const Result<source::PartitionProperties>& known) {
                                 on_progress(known, before);
                             }));
}

void Intake::on_progress(const Result<source::PartitionProperties>& known, std::int64_t before) {
    if (!known.ok()) {
        return pump_.on_notice("look at the partition", known.error(), std::nullopt);
    }
    pump_.on_heard(has_reader() && state_ != State::waiting);
    last_enqueued_ = std::max(last_enqueued_, known->last.value);
    const bool is_stuck = known->last.value > before && last_read_ == before &&
                          known->last.value >= known->first.value && next_.empty();
    if (!is_stuck || !has_reader()) return;
    pump_.on_reader_failed(
        {ErrorCode::timed_out,
         fmt::format("event {} is there but nothing came for {} ms; the reader is opened again",
                     known->last.value, place_.options.progress_slow.count())});
}

void Intake::check_state() const {
    EK_CHECK((state_ == State::detached) == (reader_ == nullptr), "a state without its reader");
    EK_CHECK(state_ != State::detached || next_.empty(), "events of a reader that is gone");
}

}  // namespace evenkeel::processor
