#include "commitlog/log.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/log.h"

namespace evenkeel::commitlog {
Result<std::unique_ptr<Log>> Log::open(const LogContext& context, std::string directory,
                                       const LogIdentity& identity, const LogOptions& options) {
    EK_TRY_ASSIGN(auto recovered,
                  recover(context.files, directory, identity, options.index_distance));
    auto writer = std::make_shared<Writer>(context.files, context.loop.clock(), directory,
                                           identity.seed(), options.durability, context.metrics);
    EK_TRY(writer->open(recovered.segments.back().name, recovered.index.size()));
    for (const auto& damage : recovered.damages) {
        context.metrics.damages.add();
        trace(TraceLevel::error, to_string(damage));
    }
    for (const auto& file : recovered.odd_files) {
        trace(TraceLevel::warning, "not a file of this partition, left alone: move it away",
              {{"file", file}});
    }
    std::unique_ptr<Log> log(
        new Log(context, std::move(directory), identity, options, std::move(recovered)));
    log->writer_ = std::move(writer);
    return log;
}

Log::Log(const LogContext& context, std::string directory, const LogIdentity& identity,
         const LogOptions& options, Recovered recovered)
    : context_(context),
      directory_(std::move(directory)),
      identity_(identity),
      seed_(identity.seed()),
      options_(options),
      tail_(recovered.mark.end),
      start_(recovered.mark.start),
      start_sequence_(recovered.mark.start_sequence),
      durable_start_(recovered.mark.start_sequence),
      visible_(recovered.mark.end),
      visible_sequence_(recovered.mark.end_sequence),
      next_sequence_(recovered.mark.end_sequence),
      last_time_(recovered.mark.last_time),
      visible_time_(recovered.mark.last_time),
      last_record_bytes_(recovered.mark.last_record_bytes),
      visible_record_bytes_(recovered.mark.last_record_bytes),
      mark_counter_(recovered.mark.counter),
      index_(std::move(recovered.index)),
      damages_(std::move(recovered.damages)),
      odd_files_(std::move(recovered.odd_files)) {
    for (const auto& segment : recovered.segments) {
        const SegmentHeader header{segment.name, identity.incarnation, identity.partition,
                                   segment.last_record_bytes, segment.floor_time};
        segments_.push_back({header, segment.floor_known, segment.lost, true, {}});
    }
    set_next_index();
}

Log::~Log() = default;

Result<> Log::admit(std::span<const NewEvent> events, std::uint64_t& bytes) const {
    if (closing_) return Error{ErrorCode::cancelled, "the log is closed"};
    if (events.empty()) return Error{ErrorCode::invalid_argument, "an empty batch"};
    bytes = 0;
    for (const auto& event : events) {
        if (event.key.size() > key_bytes_max || event.body.size() > body_bytes_max) {
            return Error{ErrorCode::invalid_argument,
                         fmt::format("an event of {} bytes with a key of {} bytes is too large",
                                     event.body.size(), event.key.size())};
        }
        bytes += stored_bytes(event.key.size(), event.body.size());
    }
    const auto pending = static_cast<std::uint64_t>(tail_.end().value - visible_.value);
    if (pending > 0 && pending + bytes > options_.pending_bytes_max) {
        return Error{ErrorCode::overloaded,
                     fmt::format("{} bytes wait for the disk already; try again soon", pending)};
    }
    return {};
}

void Log::append(std::span<const NewEvent> events, Callback<void(Result<Appended>)> done) {
    context_.loop.check_here();
    std::uint64_t bytes = 0;
    if (const auto admitted = admit(events, bytes); !admitted.ok()) {
        done(admitted.error());
        return;
    }
    const Offset base = segments_.back().header.name.base;
    const auto used = static_cast<std::uint64_t>(tail_.end().value - base.value);
    // An abandoned file has its successor once; further batches join it while it is being created.
    const bool leave = abandoned_ && segments_.back().exists;
    if (used > 0 && (used + bytes > options_.segment_bytes_max || leave)) start_segment();

    last_time_ = std::max(last_time_, context_.loop.clock().wall());
    const SequenceNumber first = next_sequence_;
    const Offset synced = visible_;
    std::uint32_t index = 0;
    for (const auto& event : events) {
        const std::size_t size = stored_bytes(event.key.size(), event.body.size());
        const Offset offset = tail_.end();
        const Record record{next_sequence_,
                            offset,
                            last_time_,
                            index,
                            static_cast<std::uint32_t>(events.size()) - 1 - index,
                            synced,
                            event.key,
                            event.body};
        if (offset >= next_index_) {
            pending_index_.push_back({offset, next_sequence_, last_time_});
            next_index_ = offset + static_cast<std::int64_t>(options_.index_distance);
        }
        encode(record, seed_, tail_.append(size));
        last_record_bytes_ = static_cast<std::uint32_t>(size);
        next_sequence_ = next_sequence_ + 1;
        ++index;
    }
    const Appended appended{first, next_sequence_ + -1,
                            tail_.end() + -std::int64_t{last_record_bytes_}, last_time_};
    waiting_.push_back({tail_.end(), next_sequence_, last_record_bytes_, appended,
                        context_.loop.clock().now(), std::move(done)});
    flush_if_idle();
}

// Everything from tail_.end() on goes to a new segment. It exists once a flush has created it.
void Log::start_segment() {
    Segment segment;
    segment.header = {{next_sequence_, tail_.end()},
                      identity_.incarnation,
                      identity_.partition,
                      last_record_bytes_,
                      last_time_};
    segment.exists = false;
    segments_.push_back(std::move(segment));
    tail_.break_chunk();
    next_index_ = tail_.end() + static_cast<std::int64_t>(options_.index_distance);
}

void Log::flush_if_idle() {
    if (flushing_) return;
    const bool data = visible_ < tail_.end();
    if (!data && segments_.back().exists) return;
    flushing_ = std::make_shared<Flushing>(Flushing{plan_flush(), {}});
    flushing_->plan.mark.counter = ++mark_counter_;
    ++disk_tasks_;
    context_.disk.post([flushed = lifetime_.guard([this] { on_flushed(); }), writer = writer_,
                        flushing = flushing_, &loop = context_.loop]() mutable {
        flushing->outcome = writer->flush(flushing->plan);
        loop.post(std::move(flushed));
    });
}

// Whole batches from visible_ on, up to the flush limit, one part for each segment they lie in.
Flush Log::plan_flush() const {
    const Waiting* last = nullptr;
    for (const auto& batch : waiting_) {
        const auto bytes = static_cast<std::uint64_t>(batch.end.value - visible_.value);
        if (last && bytes > options_.flush_bytes_max) break;
        last = &batch;
    }
    const Offset end = last ? last->end : visible_;
    Flush flush;
    auto entry = pending_index_.begin();
    Offset at = visible_;
    for (std::size_t i = segment_of(visible_); i < segments_.size(); ++i) {
        const Segment& segment = segments_[i];
        const Offset base = segment.header.name.base;
        if (base > end) break;
        const Offset part_end = std::min(
            end, i + 1 < segments_.size() ? segments_[i + 1].header.name.base : tail_.end());
        // An abandoned file in which nothing is durable yet is written again from its header on.
        const bool create = !segment.exists || (abandoned_ && base == visible_);
        FlushPart part{segment.header, create, at, {}, {}};
        while (at < part_end) {
            part.pieces.push_back(tail_.piece(at, part_end));
            at = part.pieces.back().to;
        }
        for (; entry != pending_index_.end() && entry->offset < part_end; ++entry) {
            part.index.push_back(*entry);
        }
        if (part.create || !part.pieces.empty()) flush.parts.push_back(std::move(part));
    }
    flush.mark = {0,
                  start_,
                  start_sequence_,
                  end,
                  last ? last->end_sequence : visible_sequence_,
                  last ? last->appended.enqueued : visible_time_,
                  last ? last->last_record_bytes : visible_record_bytes_};
    return flush;
}

void Log::on_flushed() {
    --disk_tasks_;
    // flushing_ stays set, so that callbacks which append do not start the next flush too early.
    const std::shared_ptr<Flushing> flushing = flushing_;
    const FlushOutcome& outcome = flushing->outcome;
    const Offset before = visible_;
    for (std::size_t i = 0; i < outcome.parts_done; ++i) {
        const FlushPart& part = flushing->plan.parts[i];
        auto& segment = segments_[segment_of(part.header.name.base)];
        if (part.create) {
            segment.exists = true;
            abandoned_ = false;
            index_.clear();
        }
        if (!part.pieces.empty()) visible_ = part.pieces.back().to;
        index_.insert(index_.end(), part.index.begin(), part.index.end());
    }
    const auto flushed = std::find_if(pending_index_.begin(), pending_index_.end(),
                                      [&](const auto& entry) { return entry.offset >= visible_; });
    pending_index_.erase(pending_index_.begin(), flushed);
    context_.metrics.bytes.add(static_cast<std::uint64_t>(visible_.value - before.value));
    for (const Waiting& batch : waiting_) {
        if (batch.end > visible_) break;
        context_.metrics.queue_time.observe((outcome.began - batch.queued).count());
    }
    acknowledge();
    if (!outcome.result.ok()) {
        // Said once; a full disk would fill the terminal as well.
        if (!abandoned_) {
            trace(TraceLevel::error, "appends are refused by the disk",
                  {{"directory", directory_}, {"cause", outcome.result.error().detail}});
        }
        abandoned_ = true;
        refuse_all(outcome.result.error());
    }
    tail_.shrink(visible_, options_.tail_bytes_max);
    flushing_.reset();
    flush_if_idle();
    // A purge of all events waited for the successor that keeps their numbers.
    const bool purged =
        segments_.size() > 1 && segments_[1].exists && segments_[1].header.name.base <= start_;
    if (purged) remove_below_start([](const Result<>&) {});
    finish_close_if_idle();
}

void Log::acknowledge() {
    // All of it becomes visible first: callbacks may look, read and append.
    const auto pending = std::find_if(waiting_.begin(), waiting_.end(),
                                      [&](const Waiting& batch) { return batch.end > visible_; });
    auto count = pending - waiting_.begin();
    if (count > 0) {
        const Waiting& last = *(pending - 1);
        context_.metrics.events.add(
            static_cast<std::uint64_t>(last.end_sequence.value - visible_sequence_.value));
        visible_sequence_ = last.end_sequence;
        visible_time_ = last.appended.enqueued;
        visible_record_bytes_ = last.last_record_bytes;
    }
    for (; count > 0; --count) {
        Waiting batch = std::move(waiting_.front());
        waiting_.pop_front();
        batch.done(batch.appended);
    }
    // One at a time: a task may cancel another's wait, or wait again.
    const WaitId last{last_wait_};
    while (!waiters_.empty() && waiters_.front().id <= last) {
        Waiter waiter = std::move(waiters_.front());
        waiters_.pop_front();
        waiter.task();
    }
}

// LOG-6: what did not become durable was never there. Its numbers were not seen by anyone.
void Log::refuse_all(const Error& error) {
    while (!segments_.back().exists) segments_.pop_back();
    tail_.cut(visible_);
    pending_index_.clear();
    next_sequence_ = visible_sequence_;
    last_time_ = visible_time_;
    last_record_bytes_ = visible_record_bytes_;
    set_next_index();
    auto refused = std::move(waiting_);
    waiting_.clear();
    for (auto& batch : refused) {
        batch.done(Error{error.code, "not stored: " + error.detail});
    }
}

void Log::set_next_index() {
    const Offset last = index_.empty() ? segments_.back().header.name.base : index_.back().offset;
    next_index_ = last + static_cast<std::int64_t>(options_.index_distance);
}

void Log::close(Task done) {
    context_.loop.check_here();
    EK_CHECK(!closing_, "a log is closed once");
    closing_ = true;
    closed_ = std::move(done);
    finish_close_if_idle();
}

void Log::finish_close_if_idle() {
    if (!closing_ || flushing_ || disk_tasks_ > 0 || !closed_) return;
    if (saved_) {
        waiters_.clear();
        Task done = std::move(closed_);
        done();
        return;
    }
    saved_ = true;
    ++disk_tasks_;
    auto saved = lifetime_.guard([this] {
        --disk_tasks_;
        finish_close_if_idle();
    });
    context_.disk.post([saved = std::move(saved), writer = writer_, mark = next_mark(2),
                        &loop = context_.loop]() mutable {
        (void)writer->save(mark);  // a hint: without it the next start reads more
        loop.post(std::move(saved));
    });
}

Mark Log::next_mark(std::uint64_t counter_step) {
    mark_counter_ += counter_step;
    return {mark_counter_,     start_,        start_sequence_,      visible_,
            visible_sequence_, visible_time_, visible_record_bytes_};
}

LogProperties Log::properties() const {
    LogProperties properties;
    properties.last_sequence = visible_sequence_ + -1;
    properties.is_empty = start_ == visible_;
    properties.begin_sequence = properties.is_empty ? properties.last_sequence : start_sequence_;
    if (visible_record_bytes_ > 0) {
        properties.last_offset = visible_ + -std::int64_t{visible_record_bytes_};
    }
    properties.last_enqueued = visible_time_;
    properties.bytes =
        static_cast<std::uint64_t>(visible_.value - segments_.front().header.name.base.value) +
        segments_.size() * segment_header_bytes;
    return properties;
}

}  // namespace evenkeel::commitlog
