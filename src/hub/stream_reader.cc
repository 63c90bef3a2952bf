#include "hub/stream_reader.h"

#include <utility>

namespace evenkeel::hub {

Result<> StreamReader::attach(EventHub& event_hub, std::string_view group, PartitionId partition,
                              const Position& position, const ReaderRequest& request) {
    EK_TRY_ASSIGN(partition_, event_hub.partition(partition));
    EK_TRY_ASSIGN(auto cursor,
                  event_hub.attach(group, partition, position, request, stream_.ended()));
    stream_.start(std::move(cursor));
    return {};
}

void StreamReader::read(Duration wait, Answer answer) {
    answer_ = std::move(answer);
    deadline_ = loop_.clock().now() + wait;
    try_read();
}

void StreamReader::close() {
    stream_.end({ErrorCode::cancelled, "the reader was closed"});
}

void StreamReader::on_ready() {
    timer_.cancel();
    if (answer_) try_read();
}

void StreamReader::on_ended(const Error& why) {
    has_ended_ = true;
    partition_ = nullptr;
    timer_.cancel();
    if (answer_) reply(why);
}

void StreamReader::try_read() {
    look_at_end();
    auto step = stream_.next();
    if (!step.ok()) return reply(step.error());
    if (auto* const events = std::get_if<commitlog::Slice>(&*step)) {
        return reply(std::move(*events));
    }
    if (const auto* const damage = std::get_if<commitlog::Damage>(&*step)) {
        return reply(Error{ErrorCode::corrupt,
                           commitlog::to_string(*damage) + "; the next read goes on behind them"});
    }
    if (stream_.state() == PartitionStream::State::waiting) wait_until_deadline();
}

void StreamReader::wait_until_deadline() {
    if (loop_.clock().now() >= deadline_) {
        stream_.cancel_wait();
        return reply(commitlog::Slice());
    }
    timer_.run_at(deadline_, [this] {
        stream_.cancel_wait();
        if (answer_) reply(commitlog::Slice());
    });
}

void StreamReader::look_at_end() {
    if (!partition_) return;
    if (const auto log = partition_->log(); log.ok()) {
        last_ = (*log)->properties().last_sequence.value;
    }
}

void StreamReader::reply(Result<commitlog::Slice> slice) {
    Answer answer = std::move(answer_);
    answer_ = nullptr;
    answer(std::move(slice));
}

}  // namespace evenkeel::hub
