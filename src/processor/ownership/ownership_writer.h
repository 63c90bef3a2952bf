// The one place that writes ownership records to the store: claims, renewals, transfers, releases
// (OwnershipWriter), and the epochs of a store that was lost (write_ownerships).
//
//     write(entries) ──▶ store, conditional on each entry's version ──▶ Ownerships ──▶ done
//
// Invariants
//   OWN-12  While a record is being written, Ownerships knows it: no listing overrules the write.
//   OWN-13  A record that was written is in Ownerships, with its new version, before `done` runs.
//   OWN-14  One write at a time for each partition.
// Ownership: the loop, the store, the ownerships and the guard outlive it.
// Threads: part of Coordinator, on its loop. Failure: the whole request fails if the store does not
// answer for each entry; then each of them may have been applied.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "base/task.h"
#include "checkpoint/store.h"
#include "io/loop.h"
#include "processor/ownership/ownerships.h"
#include "processor/ownership/step_guard.h"

namespace evenkeel::processor {

// For each entry: as it is stored now, or why it was not written.
using WrittenOwnerships = Result<std::vector<Result<checkpoint::Ownership>>>;

// Sends `entries`; each replaces the version that it names.
void write_ownerships(checkpoint::Store& store, std::vector<checkpoint::Ownership> entries,
                      Callback<void(WrittenOwnerships)> done);

class OwnershipWriter {
public:
    OwnershipWriter(io::Loop& loop, checkpoint::Store& store, Ownerships& ownerships,
                    StepGuard& steps)
        : loop_(loop), store_(store), ownerships_(ownerships), steps_(steps) {}

    void write(std::vector<checkpoint::Ownership> entries,
               Callback<void(const WrittenOwnerships&)> done);
    std::uint64_t requests() const { return requests_; }

private:
    io::Loop& loop_;
    checkpoint::Store& store_;
    Ownerships& ownerships_;
    StepGuard& steps_;
    std::uint64_t requests_ = 0;
};

}  // namespace evenkeel::processor
