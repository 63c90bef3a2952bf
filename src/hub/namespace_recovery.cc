// Opening the partitions of a hub: all of them before anybody is served, or one after the other
// while those that are open work already.
#include <fmt/core.h>

#include "base/log.h"
#include "eventhubs/names.h"
#include "hub/namespace.h"

namespace evenkeel::hub {

Result<std::unique_ptr<Namespace>> Namespace::open(const NamespaceContext& context,
                                                   const HubOptions& options) {
    EK_TRY_ASSIGN(auto opened, open_in_background(context, options));
    for (auto& queue : opened->unrecovered_) {
        for (const auto& which : queue) {
            opened->take_recovered(which, opened->open_log(which.record, which.partition));
        }
        queue.clear();
    }
    return opened;
}

Result<std::unique_ptr<Namespace>> Namespace::open_in_background(const NamespaceContext& context,
                                                                 const HubOptions& options) {
    EK_TRY_ASSIGN(auto opened, open_folder(context, options));
    opened->unrecovered_.resize(context.disks.size());
    for (const auto& record : opened->catalogue_.event_hubs) {
        OpenedLogs logs;
        for (std::uint32_t i = 0; i < record.partitions; ++i) {
            logs.push_back(Error{ErrorCode::unavailable,
                                 fmt::format("partition {} of event hub '{}' is being recovered "
                                             "after a start; try again soon",
                                             i, record.name)});
            opened->unrecovered_[opened->disk_of(record, {i})].push_back({record, {i}});
        }
        opened->progress_.partitions += record.partitions;
        opened->event_hubs_[eventhubs::folded(record.name)] = std::make_unique<EventHub>(
            record, std::move(logs), AppendLimits{options.event_bytes_max});
    }
    if (opened->progress_.done()) opened->judge_time();
    return opened;
}

Namespace::Progress Namespace::recovery() const {
    context_.loop.check_here();
    return progress_;
}

void Namespace::when_recovered(Done done) {
    context_.loop.check_here();
    if (progress_.done()) return done({});
    when_recovered_.push_back(std::move(done));
}

void Namespace::stop_recovery() {
    context_.loop.check_here();
    for (auto& queue : unrecovered_) {
        progress_.partitions -= static_cast<std::uint32_t>(queue.size());
        queue.clear();
    }
    std::vector<Done> waiting;
    waiting.swap(when_recovered_);
    for (auto& done : waiting) {
        done(Error{ErrorCode::cancelled, "the hub was closed before it was recovered"});
    }
}

// One at a time on each disk executor, so that the flushes of open partitions come in between.
void Namespace::recover_next(std::size_t disk) {
    auto& queue = unrecovered_[disk];
    if (queue.empty()) return;
    Unrecovered which = std::move(queue.front());
    queue.pop_front();
    context_.disks[disk]->post([this, disk, which = std::move(which)]() mutable {
        auto log = open_log(which.record, which.partition);
        context_.loop.post([this, disk, which = std::move(which), log = std::move(log)]() mutable {
            take_recovered(which, std::move(log));
            if (progress_.done()) finish_recovery();
            recover_next(disk);
        });
    });
}

void Namespace::take_recovered(const Unrecovered& which,
                               Result<std::unique_ptr<commitlog::Log>> log) {
    if (log.ok()) {
        last_event_ = std::max(last_event_, (*log)->properties().last_enqueued);
    } else {
        trace(TraceLevel::error, "a partition cannot be used",
              {{"event_hub", which.record.name},
               {"partition", std::to_string(which.partition.value)},
               {"cause", log.error().detail}});
    }
    const auto found =
        event_hubs_.at(eventhubs::folded(which.record.name))->partition(which.partition);
    EK_CHECK(found.ok(), "nothing is changed before all is recovered");
    (*found)->set_log(std::move(log));
    ++progress_.recovered;
    if (progress_.done()) judge_time();
}

void Namespace::finish_recovery() {
    if (closing_) return finish_close_if_idle();
    begin_upkeep();
    std::vector<Done> waiting;
    waiting.swap(when_recovered_);
    for (auto& done : waiting) done({});
}

}  // namespace evenkeel::hub
