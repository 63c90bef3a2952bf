// tidy: no test: tests/client tests it against a door
#include "producer/buffer.h"

#include <cstdint>

#include "base/check.h"
#include "producer/batch_access.h"

namespace evenkeel::producer {

Buffer::Buffer(io::Loop& loop, Core& core, const BufferOptions& options, Settled settled)
    : loop_(loop), core_(core), options_(options), settled_(std::move(settled)) {}

Buffer::~Buffer() = default;

void Buffer::add(std::optional<std::uint32_t> partition, std::string_view key, ByteView section) {
    auto found = groups_.find(Place(partition, key));
    if (found == groups_.end()) {
        found = groups_.try_emplace(Where(partition, key), loop_).first;
    }
    const Where& where = found->first;
    Group& group = found->second;
    if (group.open && !BatchAccess::try_add(*group.open, section)) {
        close(where, group);
    } else if (group.open) {
        return;
    }
    group.open = std::make_unique<SendBatch>(Route{partition, key}, core_.message_bytes_max(),
                                             options_.event_overhead);
    if (!BatchAccess::try_add(*group.open, section)) {
        // The hub takes less than when the event was let in: the sender refuses it, and says why.
        group.open = std::make_unique<SendBatch>(Route{partition, key}, SIZE_MAX);
        BatchAccess::try_add(*group.open, section);
        close(where, group);
        return pump();
    }
    group.timer.run_after(options_.wait_max, [this, where] {
        close(where, groups_.at(where));
        pump();
    });
    pump();
}

void Buffer::close(const Where& where, Group& group) {
    group.timer.cancel();
    if (!group.open) return;
    unsettled_.insert(++last_number_);
    group.ready.push_back({last_number_, std::move(group.open)});
    enqueue(where, group);
}

// SEND-3
void Buffer::enqueue(const Where& where, Group& group) {
    if (group.is_queued || group.ready.empty() || (is_ordered(where) && group.in_flight > 0))
        return;
    group.is_queued = true;
    runnable_.push_back(where);
}

void Buffer::pump() {
    while (in_flight_ < options_.in_flight_max && !runnable_.empty()) {
        const Where where = std::move(runnable_.front());
        runnable_.pop_front();
        Group& group = groups_.at(where);
        group.is_queued = false;
        send(where, group);
    }
}

void Buffer::send(const Where& where, Group& group) {
    Closed closed = std::move(group.ready.front());
    group.ready.pop_front();
    ++group.in_flight;
    ++in_flight_;
    enqueue(where, group);
    Sender::Bytes message(closed.batch, &BatchAccess::message(*closed.batch));
    core_.send(where.first, std::move(message),
               lifetime_.guard([this, where, closed](const Result<>& result) {
                   settle(where, closed, result);
               }),
               where.second);
}

void Buffer::settle(const Where& where, const Closed& closed, const Result<>& result) {
    Group& group = groups_.at(where);
    --group.in_flight;
    --in_flight_;
    enqueue(where, group);
    const bool is_idle =
        !group.open && group.ready.empty() && group.in_flight == 0 && !group.is_queued;
    if (is_idle) groups_.erase(where);
    EK_CHECK(unsettled_.erase(closed.number) == 1, "SEND-4: a batch is answered once");
    settled_(result, *closed.batch);
    finish_flushes();
    pump();
}

void Buffer::flush(Task done) {
    for (auto& [where, group] : groups_) close(where, group);
    flushes_.push_back({last_number_, std::move(done)});
    pump();
    finish_flushes();
}

void Buffer::finish_flushes() {
    while (!flushes_.empty() &&
           (unsettled_.empty() || *unsettled_.begin() > flushes_.front().up_to)) {
        Task done = std::move(flushes_.front().done);
        flushes_.pop_front();
        done();
    }
}

}  // namespace evenkeel::producer
