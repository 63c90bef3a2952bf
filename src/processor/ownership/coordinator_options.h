// What a coordinator and its parts are configured with, and how they report failures of the store.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/result.h"
#include "processor/ownership/journal.h"
#include "processor/ownership/timing.h"
#include <evenkeel/processor.h>

namespace evenkeel::processor {

using evenkeel::Strategy;  // balanced: gradually, within Timing::ramp

struct CoordinatorOptions {
    std::string id;           // stable over restarts; two at once are refused
    std::string incarnation;  // new at every start
    std::string note = {};    // "host:pid fast", shown to operators; see note_with_profile()
    Timing timing = standard_timing();
    Strategy strategy = Strategy::balanced;
    // The source keeps readers apart by epoch (source::Source::is_exclusive). Then reading goes on
    // while the store is away: whoever takes over cuts our reader at the broker.
    bool exclusive_source = false;
    // Events a second of a partition that we read, smoothed. If set, loads are published and
    // partitions are shared by load instead of by count.
    std::function<double(PartitionId)> load = {};
    std::function<void(const Failure&)> on_failure = {};
    // Processors of other SDKs may join at any time, and whoever claims a partition must be able to
    // read it: at owner level 0 it cuts our reader. At a higher level its reader would be refused,
    // and some SDKs do not try again for a minute. Such a store shows everything in one listing.
    // Not together with exclusive_source.
    bool may_be_mixed = false;
    // A listing is requested in this task: what is requested in it as well comes with it.
    std::function<void()> on_look = {};
    // Our entry is not there as we wrote it: the store may have lost more than that.
    std::function<void()> on_doubt = {};
    // A partition changed hands by a write of ours: claimed, handed over, released.
    std::function<void(OwnerMove)> on_move = {};
    // Our id was taken by another incarnation: everything was closed as lost, and this coordinator
    // does nothing any more.
    std::function<void(Error)> on_ended = {};
};

// Reports to options.on_failure that the store failed, and when it is asked again.
inline void report_store_failure(const CoordinatorOptions& options, std::string_view operation,
                                 const Error& error, Duration retried_in) {
    if (!options.on_failure) return;
    options.on_failure(
        {.scope = ErrorScope::store,
         .partition = {},
         .operation = std::string(operation),
         .error = error,
         .is_retried = true,
         .retried_in = std::chrono::duration_cast<std::chrono::milliseconds>(retried_in)});
}

}  // namespace evenkeel::processor
