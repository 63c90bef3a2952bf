// What operators ask of a group, written into its store: pause, resume, drain, another position.
// `evenkeel processor` and the dashboard share it; processor/ownership/requests.h has the records.
//
// A change that another one overtakes is made again on what is there then.
// Threads: pinned to the store's loop. The store outlives the answer; else there is none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/store.h"
#include "processor/ownership/requests.h"

namespace evenkeel::processor {

// These partitions, or all if there is none. Answers what is paused then.
void pause(checkpoint::Store& store, std::vector<std::uint32_t> partitions,
           checkpoint::Store::Answer<Paused> done);

struct Resumed {
    Paused paused;                        // what still is
    std::vector<std::uint32_t> unparked;  // were parked, and are tried again
};
// `conflict` for some partitions while all are paused together.
void resume(checkpoint::Store& store, std::vector<std::uint32_t> partitions,
            checkpoint::Store::Answer<Resumed> done);

// Success also if it was asked before.
void ask_to_drain(checkpoint::Store& store, const std::string& incarnation,
                  checkpoint::Store::Answer<> done);

// Sets the position. Nobody may write the old one again: the ownership entry gets a new version and
// epoch, so that its owner loses it, and the checkpoint is sealed under that epoch.
void set_position(checkpoint::Store& store, std::optional<checkpoint::Ownership> ownership,
                  checkpoint::Checkpoint wanted, checkpoint::Store::Answer<> done);

}  // namespace evenkeel::processor
