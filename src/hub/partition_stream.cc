#include "hub/partition_stream.h"

#include <algorithm>
#include <utility>

namespace evenkeel::hub {

void ExecutorReads::perform(commitlog::ColdRead read, Done done) {
    executor_.post([&loop = loop_, read = std::move(read), done = std::move(done)]() mutable {
        auto outcome = read.perform();
        loop.post([done = std::move(done), outcome = std::move(outcome)]() mutable {
            done({std::move(outcome)});
        });
    });
}

PartitionStream::PartitionStream(Owner& owner, ColdReads& cold_reads, const Options& options)
    : owner_(owner),
      cold_reads_(cold_reads),
      options_(options),
      read_bytes_(options.read_bytes_min) {}

Callback<void(const Error&)> PartitionStream::ended() {
    return lifetime_.guard([this](const Error& why) { end(why); });
}

void PartitionStream::start(std::unique_ptr<LogCursor> cursor) {
    if (state_ == State::ended) return;
    EK_CHECK(state_ == State::unattached, "a stream starts once");
    cursor_ = std::move(cursor);
    given_ = cursor_->next();
    state_ = State::ready;
    check_state();
}

void PartitionStream::end(const Error& why) {
    if (state_ == State::ended) return;
    EK_CHECK(state_ != State::asking, "a stream does not end within next()");
    state_ = State::ended;
    reason_ = why;
    ahead_.reset();
    damage_.reset();
    failure_.reset();
    cursor_.reset();
    check_state();
    owner_.on_ended(why);
}

Result<StreamStep> PartitionStream::next() {
    while (true) {
        check_state();
        if (reason_) return *reason_;
        if (damage_) {
            given_ = damage_->end;
            return StreamStep(*std::exchange(damage_, std::nullopt));
        }
        if (failure_) return *std::exchange(failure_, std::nullopt);
        if (!ahead_) {
            if (state_ != State::ready) return StreamStep();
            EK_TRY(fetch());
            if (state_ == State::reading) return StreamStep();
        }
        if (!ahead_) {
            if (wait()) return StreamStep();
            continue;
        }
        commitlog::Slice events = std::move(ahead_->events);
        damage_ = std::move(ahead_->damage);
        ahead_.reset();
        if (damage_ && damage_->from == damage_->to) damage_.reset();  // STREAM-2
        given_ = damage_ ? damage_->begin : cursor_->next();
        read_ahead();
        if (!events.empty()) return StreamStep(std::move(events));
    }
}

Result<> PartitionStream::fetch() {
    EK_TRY_ASSIGN(auto step, cursor_->read(read_bytes_));
    if (auto* const slice = std::get_if<commitlog::Slice>(&step)) {
        ahead_.emplace();
        ahead_->events = std::move(*slice);
    } else if (auto* const cold = std::get_if<commitlog::ColdRead>(&step)) {
        perform(std::move(*cold));
    }
    return {};
}

// Reads on while what was read is being used. An error is met again when its turn comes.
void PartitionStream::read_ahead() {
    const bool wanted = disk_was_slow_ && read_bytes_ > options_.read_bytes_min;
    if (wanted && state_ == State::ready && !damage_) static_cast<void>(fetch());
}

void PartitionStream::perform(commitlog::ColdRead read) {
    if (options_.from_page_cache) {
        if (auto outcome = read.perform_cached()) {
            disk_was_slow_ = false;
            return took(std::move(*outcome), false);
        }
    }
    disk_was_slow_ = true;
    state_ = State::reading;
    const Offset from = read.from;
    cold_reads_.perform(std::move(read),
                        lifetime_.guard([this, from](ColdReads::Performed performed_there) {
                            performed(from, std::move(performed_there));
                        }));
}

void PartitionStream::performed(Offset from, ColdReads::Performed performed) {
    if (state_ == State::ended) return;
    EK_CHECK(state_ == State::reading, "a cold read is performed once");
    state_ = State::ready;
    if (performed.outcome.ok()) {
        took(std::move(*performed.outcome), performed.events_taken);
    } else if (performed.outcome.error().code == ErrorCode::not_found) {
        cursor_->missed(from);  // STREAM-3
    } else {
        failure_ = performed.outcome.error();
    }
    check_state();
    owner_.on_ready();
}

void PartitionStream::took(commitlog::ReadOutcome outcome, bool events_taken) {
    cursor_->advance(outcome);
    if (events_taken) outcome.events = {};
    ahead_ = std::move(outcome);
    if (owner_.keeps_up()) read_bytes_ = std::min(read_bytes_ * 2, options_.read_bytes_max);
}

bool PartitionStream::wait() {
    state_ = State::asking;
    cursor_->wait([this] {
        const bool within_the_call = state_ == State::asking;
        state_ = State::ready;
        if (!within_the_call) owner_.on_ready();
    });
    if (state_ == State::asking) state_ = State::waiting;
    return state_ == State::waiting;
}

void PartitionStream::cancel_wait() {
    if (state_ != State::waiting) return;
    cursor_->cancel_wait();
    state_ = State::ready;
}

bool PartitionStream::release(const commitlog::Slice& left) {
    read_bytes_ = options_.read_bytes_min;
    if (state_ != State::ready || damage_ || failure_ || (ahead_ && ahead_->damage)) return false;
    const commitlog::Slice& first = left.empty() && ahead_ ? ahead_->events : left;
    if (first.empty() || !cursor_->rewind((*first.begin()).sequence)) return false;
    ahead_.reset();
    return true;
}

void PartitionStream::check_state() const {
    const bool has_cursor = state_ != State::unattached && state_ != State::ended;
    EK_CHECK((cursor_ != nullptr) == has_cursor, "a cursor from the start to the end");
    EK_CHECK(reason_.has_value() == (state_ == State::ended), "an end has a reason");
    EK_CHECK(!ahead_ || state_ == State::ready, "reads ahead by one outcome");
}

}  // namespace evenkeel::hub
