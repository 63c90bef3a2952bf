#include "commitlog/log.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/check.h"
#include "base/log.h"

namespace evenkeel::commitlog {

Result<std::unique_ptr<Log>> Log::create(const LogContext& context, std::string directory,
                                         const LogIdentity& identity, const LogOptions& options) {
    EK_TRY_ASSIGN(auto empty, create_log(context.files, directory, identity));
    return make(context, std::move(directory), identity, options, std::move(empty));
}

Result<std::unique_ptr<Log>> Log::open(const LogContext& context, std::string directory,
                                       const LogIdentity& identity, const LogOptions& options) {
    EK_TRY_ASSIGN(auto recovered,
                  recover(context.files, directory, identity, options.index_distance));
    for (const auto& damage : recovered.damages) {
        context.metrics.damages.add();
        trace(TraceLevel::error, to_string(damage));
    }
    for (const auto& file : recovered.odd_files) {
        trace(TraceLevel::warning, "not a file of this partition, left alone: move it away",
              {{"file", file}});
    }
    return make(context, std::move(directory), identity, options, std::move(recovered));
}

Result<std::unique_ptr<Log>> Log::make(const LogContext& context, std::string directory,
                                       const LogIdentity& identity, const LogOptions& options,
                                       Recovered recovered) {
    auto writer = std::make_shared<Writer>(context.files, context.loop.clock(), directory, identity,
                                           options.durability, context.metrics, context.journal);
    EK_TRY(writer->open(recovered.segments.back().name, recovered.index.size()));
    return std::unique_ptr<Log>(new Log(context, std::move(directory), identity, options,
                                        std::move(recovered), std::move(writer)));
}

Log::Log(const LogContext& context, std::string directory, const LogIdentity& identity,
         const LogOptions& options, Recovered recovered, std::shared_ptr<Writer> writer)
    : context_(context),
      directory_(std::move(directory)),
      options_(options),
      writer_(std::move(writer)),
      odd_files_(std::move(recovered.odd_files)),
      stream_(context.files, directory_, identity,
              {options.segment_bytes_max, options.index_distance,
               Tail::chunk_bytes_for(options.tail_bytes_max)},
              recovered),
      reading_(context, stream_, std::move(recovered.damages)),
      removal_(context, stream_, reading_, writer_, [this] {
          stream_.start_segment();
          flush_if_idle();
      }) {}

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
    const auto pending =
        static_cast<std::uint64_t>(stream_.taken().offset.value - stream_.visible().offset.value);
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
    // An abandoned file has its successor once; further batches join it while it is being created.
    const bool leave = abandoned_ && stream_.segments().back().exists;
    if (stream_.active_bytes() > 0 && (stream_.is_full(bytes) || leave)) stream_.start_segment();

    const Appended appended = stream_.append(events, context_.loop.clock().wall());
    waiting_.push_back({stream_.taken(), appended, context_.loop.clock().now(), std::move(done)});
    flush_if_idle();
}

void Log::flush_if_idle() {
    if (flushing_) return;
    const bool data = stream_.visible().offset < stream_.taken().offset;
    if (!data && stream_.segments().back().exists) return;
    check_state();
    flushing_ = std::make_shared<Flushing>(Flushing{plan_flush(), {}});
    context_.disk.post([flushed = lifetime_.guard([this] { on_flushed(); }), writer = writer_,
                        flushing = flushing_, &loop = context_.loop]() mutable {
        Writer& disk_side = *writer;
        const Flush& plan = flushing->plan;
        disk_side.flush(plan,
                        [flushed = std::move(flushed), writer = std::move(writer),
                         flushing = std::move(flushing), &loop](FlushOutcome outcome) mutable {
                            flushing->outcome = std::move(outcome);
                            loop.post(std::move(flushed));
                        });
    });
}

// Whole batches, up to the flush limit.
Flush Log::plan_flush() {
    StreamEnd end = stream_.visible();
    bool any = false;
    for (const auto& batch : waiting_) {
        const auto bytes =
            static_cast<std::uint64_t>(batch.end.offset.value - stream_.visible().offset.value);
        if (any && bytes > options_.flush_bytes_max) break;
        end = batch.end;
        any = true;
    }
    return {stream_.parts(end.offset, abandoned_), stream_.next_mark(end, 1)};
}

void Log::on_flushed() {
    // flushing_ stays set, so that callbacks which append do not start the next flush too early.
    const std::shared_ptr<Flushing> flushing = flushing_;
    const FlushOutcome& outcome = flushing->outcome;
    const Offset before = stream_.visible().offset;
    Offset durable = before;
    for (std::size_t i = 0; i < outcome.parts_done; ++i) {
        const FlushPart& part = flushing->plan.parts[i];
        stream_.take_flushed(part);
        if (part.create) abandoned_ = false;
        if (!part.pieces.empty()) durable = part.pieces.back().to;
    }
    context_.metrics.bytes.add(static_cast<std::uint64_t>(durable.value - before.value));
    for (const Waiting& batch : waiting_) {
        if (batch.end.offset > durable) break;
        context_.metrics.queue_time.observe((outcome.began - batch.queued).count());
    }
    acknowledge(durable);
    if (!outcome.result.ok()) {
        // Said once; a full disk would fill the terminal as well.
        if (!abandoned_) {
            trace(TraceLevel::error, "appends are refused by the disk",
                  {{"directory", directory_}, {"cause", outcome.result.error().detail}});
        }
        abandoned_ = true;
        refuse_all(outcome.result.error());
    }
    stream_.shrink(options_.tail_bytes_max);
    flushing_.reset();
    flush_if_idle();
    removal_.go_on([this](const Result<>&) { finish_close_if_idle(); });
    finish_close_if_idle();
}

void Log::acknowledge(Offset durable) {
    // All of it becomes visible first: callbacks may look, read and append.
    const auto pending = std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& batch) {
        return batch.end.offset > durable;
    });
    auto count = pending - waiting_.begin();
    if (count > 0) {
        const StreamEnd& end = (pending - 1)->end;
        context_.metrics.events.add(
            static_cast<std::uint64_t>(end.sequence.value - stream_.visible().sequence.value));
        stream_.show(end);
    }
    for (; count > 0; --count) {
        Waiting batch = std::move(waiting_.front());
        waiting_.pop_front();
        batch.done(batch.appended);
    }
    reading_.wake();
}

// LOG-6: what did not become durable was never there. Its numbers were not seen by anyone.
void Log::refuse_all(const Error& error) {
    stream_.cut();
    auto refused = std::move(waiting_);
    waiting_.clear();
    for (auto& batch : refused) {
        batch.done(Error{error.code, "not stored: " + error.detail});
    }
}

void Log::retain(const RetentionPolicy& policy, WallTime now) {
    context_.loop.check_here();
    if (closing_) return;
    removal_.retain(policy, now, [this](const Result<>&) { finish_close_if_idle(); });
}

void Log::purge(SequenceNumber first_kept, Callback<void(Result<>)> done) {
    context_.loop.check_here();
    if (closing_) return done(Error{ErrorCode::cancelled, "the log is closed"});
    removal_.purge(first_kept, [this, watch = lifetime_.watch(),
                                done = std::move(done)](Result<> result) mutable {
        done(std::move(result));
        if (!watch.over()) finish_close_if_idle();
    });
}

void Log::close(Task done) {
    context_.loop.check_here();
    EK_CHECK(!closing_, "a log is closed once");
    closing_ = true;
    closed_ = std::move(done);
    finish_close_if_idle();
}

void Log::finish_close_if_idle() {
    if (!closing_ || flushing_ || !removal_.idle() || !closed_) return;
    switch (save_) {
        case Save::under_way: return;
        case Save::done: {
            reading_.end_waits();
            Task done = std::move(closed_);
            done();
            return;
        }
        case Save::not_begun: break;
    }
    check_state();
    save_ = Save::under_way;
    auto saved = lifetime_.guard([this] {
        save_ = Save::done;
        finish_close_if_idle();
    });
    context_.disk.post([saved = std::move(saved), writer = writer_,
                        mark = stream_.next_mark(stream_.visible(), 2),
                        &loop = context_.loop]() mutable {
        (void)writer->save(mark);  // a hint: without it the next start reads more
        loop.post(std::move(saved));
    });
}

LogProperties Log::properties() const {
    LogProperties properties;
    const Offset end = stream_.visible().offset;
    properties.last_sequence = stream_.last_sequence();
    properties.is_empty = stream_.start() == end;
    properties.begin_sequence =
        properties.is_empty ? properties.last_sequence : stream_.start_sequence();
    properties.last_offset = stream_.last_offset();
    properties.last_enqueued = stream_.visible().last_time;
    properties.bytes =
        static_cast<std::uint64_t>(end.value - stream_.segments().front().base().value) +
        stream_.segments().size() * segment_header_bytes;
    return properties;
}

void Log::check_state() const {
    const Offset taken = waiting_.empty() ? stream_.visible().offset : waiting_.back().end.offset;
    EK_CHECK(taken == stream_.taken().offset, "what was taken waits for the disk");
}

}  // namespace evenkeel::commitlog
