#include "hub/partition.h"

#include <algorithm>
#include <vector>

namespace evenkeel::hub {

PartitionReader::~PartitionReader() {
    if (partition_) partition_->detach(*this);
}

Result<commitlog::ReadStep> PartitionReader::read(std::size_t bytes_max) {
    if (reason_) return *reason_;
    EK_TRY_ASSIGN(commitlog::Log* const log, partition_->log());
    commitlog::ReadStep step = log->read(cursor_, bytes_max);
    // The log forgets a segment before retention removes its file: it still knows this one.
    auto* const cold = std::get_if<commitlog::ColdRead>(&step);
    if (cold && missed_ == cold->from) cold->lost = true;
    return step;
}

void PartitionReader::advance(const commitlog::ReadOutcome& outcome) {
    if (reason_) return;
    if (const auto log = partition_->log(); log.ok()) (*log)->advance(cursor_, outcome);
}

void PartitionReader::count_sent(std::int64_t events) {
    if (partition_) partition_->sent_ += events;
}

bool PartitionReader::rewind(SequenceNumber sequence) {
    if (reason_ || wait_) return false;
    const auto log = partition_->log();
    if (!log.ok()) return false;
    auto cursor = (*log)->seek(Position::at_sequence(sequence.value));
    if (cursor.ok()) cursor_ = std::move(*cursor);
    return cursor.ok();
}

void PartitionReader::wait(Task task) {
    if (reason_) return;
    EK_CHECK(!wait_, "a reader waits once at a time");
    const auto log = partition_->log();
    EK_CHECK(log.ok(), "a reader is attached to a log that is open");
    if (cursor_.next < (*log)->end()) return task();
    wait_ = (*log)->wait(cursor_, [this, task = std::move(task)]() mutable {
        wait_.reset();
        // The task may wait again, or destroy the reader and with it this callback.
        Task now = std::move(task);
        now();
    });
}

void PartitionReader::cancel_wait() {
    if (!wait_) return;
    if (const auto log = partition_->log(); log.ok()) (*log)->cancel(*wait_);
    wait_.reset();
}

Partition::Partition(PartitionId id, Result<std::unique_ptr<commitlog::Log>> log)
    : id_(id), log_(std::move(log)), rate_in_(stored_ever()) {}

Partition::~Partition() {
    end_readers(std::nullopt, {ErrorCode::cancelled, "the hub was closed"});
}

Result<commitlog::Log*> Partition::log() {
    if (!log_.ok()) return log_.error();
    return log_->get();
}

void Partition::set_log(Result<std::unique_ptr<commitlog::Log>> log) {
    EK_CHECK(!log_.ok(), "a log is recovered once");
    log_ = std::move(log);
    rate_in_ = Rate(stored_ever());
}

Result<std::unique_ptr<PartitionReader>> Partition::attach(const std::string& group,
                                                           const Position& position,
                                                           const ReaderRequest& request,
                                                           Callback<void(const Error&)> ended) {
    EK_TRY_ASSIGN(commitlog::Log* const opened, log());
    EK_TRY_ASSIGN(auto cursor, opened->seek(position));
    const ReaderId id{++last_reader_};
    ReaderSet& readers = groups_[group];
    const auto displaced = readers.admit(id, request);
    if (!displaced.ok()) {
        if (readers.size() == 0) groups_.erase(group);
        return displaced.error();
    }
    std::unique_ptr<PartitionReader> reader(
        new PartitionReader(*this, id, group, request, std::move(cursor), std::move(ended)));
    // Known before others end, whose callbacks may attach again and displace this one.
    readers_[id] = reader.get();
    for (const auto& [other, reason] : *displaced) end(other, reason);
    return reader;
}

Result<std::unique_ptr<PartitionReader>> Partition::peek(const Position& position,
                                                         Callback<void(const Error&)> ended) {
    EK_TRY_ASSIGN(commitlog::Log* const opened, log());
    EK_TRY_ASSIGN(auto cursor, opened->seek(position));
    const ReaderId id{++last_reader_};
    std::unique_ptr<PartitionReader> reader(
        new PartitionReader(*this, id, std::nullopt, {}, std::move(cursor), std::move(ended)));
    readers_[id] = reader.get();
    return reader;
}

std::size_t Partition::reader_count() const {
    return static_cast<std::size_t>(std::count_if(
        readers_.begin(), readers_.end(), [](const auto& each) { return each.second->group_; }));
}

std::vector<Partition::ReaderInfo> Partition::readers() const {
    std::vector<ReaderInfo> all;
    for (const auto& [id, reader] : readers_) {
        if (!reader->group_) continue;
        all.push_back({*reader->group_, reader->request_.name, reader->request_.epoch,
                       reader->cursor_.sequence});
    }
    return all;
}

std::optional<Partition::ReaderInfo> Partition::last_epoch_reader(const std::string& group) const {
    for (const auto& [id, reader] : readers_) {
        if (reader->group_ == group && reader->request_.epoch) {
            return ReaderInfo{group, reader->request_.name, reader->request_.epoch,
                              reader->cursor_.sequence};
        }
    }
    const auto gone = gone_.find(group);
    return gone == gone_.end() ? std::nullopt : std::optional(gone->second);
}

void Partition::end_readers(const std::optional<std::string>& group, const Error& reason) {
    std::vector<ReaderId> ending;
    for (const auto& [id, reader] : readers_) {
        if (!group || reader->group_ == *group) ending.push_back(id);
    }
    for (const ReaderId id : ending) end(id, reason);
    if (!group) return gone_.clear();
    groups_.erase(*group);
    gone_.erase(*group);
}

void Partition::end(ReaderId id, const Error& reason) {
    const auto found = readers_.find(id);
    if (found == readers_.end()) return;
    PartitionReader& reader = *found->second;
    detach(reader);
    reader.reason_ = reason;
    if (reader.ended_) {
        // The callback may destroy the reader.
        auto ended = std::move(reader.ended_);
        ended(reason);
    }
}

void Partition::detach(PartitionReader& reader) {
    reader.cancel_wait();
    if (reader.group_ && reader.request_.epoch) {
        gone_[*reader.group_] = {*reader.group_, reader.request_.name, reader.request_.epoch,
                                 reader.cursor_.sequence};
    }
    const auto group = reader.group_ ? groups_.find(*reader.group_) : groups_.end();
    if (group != groups_.end()) {
        group->second.remove(reader.id_);
        if (group->second.size() == 0) groups_.erase(group);
    }
    readers_.erase(reader.id_);
    reader.partition_ = nullptr;
}

Partition::Traffic Partition::traffic(Instant now) const {
    return {rate_in_.per_second(now, stored_ever()), rate_out_.per_second(now, sent_)};
}

void Partition::sample_traffic(Instant now) {
    rate_in_.sample(now, stored_ever());
    rate_out_.sample(now, sent_);
}

WallTime Partition::last_enqueued() const {
    return log_.ok() ? (*log_)->properties().last_enqueued : WallTime{0};
}

std::int64_t Partition::stored_ever() const {
    return log_.ok() ? (*log_)->properties().last_sequence.value + 1 : 0;
}

}  // namespace evenkeel::hub
