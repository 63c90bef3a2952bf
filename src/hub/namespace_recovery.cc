#include "hub/namespace_recovery.h"

#include <algorithm>

#include "base/check.h"
#include "base/log.h"

namespace evenkeel::hub {

NamespaceRecovery::NamespaceRecovery(const NamespaceContext& context, const HubFolders& folders,
                                     Take take)
    : context_(context),
      folders_(folders),
      take_(std::move(take)),
      unrecovered_(context.disks.size()) {}

void NamespaceRecovery::add(const EventHubRecord& record) {
    for (std::uint32_t i = 0; i < record.partitions; ++i) {
        unrecovered_[folders_.disk_of(record, {i})].push_back({record, {i}});
    }
    progress_.partitions += record.partitions;
    check_state();
}

void NamespaceRecovery::open_all() {
    for (auto& queue : unrecovered_) {
        while (!queue.empty()) {
            const Unrecovered which = std::move(queue.front());
            queue.pop_front();
            take_recovered(which, folders_.open_log(which.record, which.partition));
        }
    }
}

void NamespaceRecovery::start(Task finished) {
    finished_ = std::move(finished);
    for (std::size_t disk = 0; disk < unrecovered_.size(); ++disk) recover_next(disk);
}

void NamespaceRecovery::stop() {
    for (auto& queue : unrecovered_) {
        progress_.partitions -= static_cast<std::uint32_t>(queue.size());
        queue.clear();
    }
    check_state();
    std::vector<Done> waiting;
    waiting.swap(waiting_);
    for (auto& done : waiting) {
        done(Error{ErrorCode::cancelled, "the hub was closed before it was recovered"});
    }
}

void NamespaceRecovery::when_done(Done done) {
    if (progress_.done()) return done({});
    waiting_.push_back(std::move(done));
}

void NamespaceRecovery::tell_waiting() {
    std::vector<Done> waiting;
    waiting.swap(waiting_);
    for (auto& done : waiting) done({});
}

// One at a time on each disk executor, so that the flushes of open partitions come in between.
void NamespaceRecovery::recover_next(std::size_t disk) {
    auto& queue = unrecovered_[disk];
    if (queue.empty()) return;
    Unrecovered which = std::move(queue.front());
    queue.pop_front();
    context_.disks[disk]->post([this, disk, which = std::move(which)]() mutable {
        auto log = folders_.open_log(which.record, which.partition);
        context_.loop.post([this, disk, which = std::move(which), log = std::move(log)]() mutable {
            take_recovered(which, std::move(log));
            if (progress_.done()) finished_();
            recover_next(disk);
        });
    });
}

void NamespaceRecovery::take_recovered(const Unrecovered& which, OpenedLog log) {
    if (log.ok()) {
        last_event_ = std::max(last_event_, (*log)->properties().last_enqueued);
    } else {
        trace(TraceLevel::error, "a partition cannot be used",
              {{"event_hub", which.record.name},
               {"partition", std::to_string(which.partition.value)},
               {"cause", log.error().detail}});
    }
    take_(which.record, which.partition, std::move(log));
    ++progress_.recovered;
    check_state();
}

void NamespaceRecovery::check_state() const {
    std::size_t waiting = 0;
    for (const auto& queue : unrecovered_) waiting += queue.size();
    EK_CHECK(progress_.recovered + waiting <= progress_.partitions,
             "a partition is recovered once");
}

}  // namespace evenkeel::hub
