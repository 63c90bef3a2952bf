// A processor's options: what is wrong with them, and what its parts get of them. Pure.
#pragma once

#include <string>

#include "base/result.h"
#include "checkpoint/store.h"
#include "processor/ownership/coordinator.h"
#include "source/open.h"
#include "source/outlet.h"
#include <evenkeel/processor.h>

namespace evenkeel::processor {

// `invalid_argument` names the option and what it should be.
Result<> check(const ProcessorOptions& options);
// Whether this store can do what is asked of it.
Result<> check_store(const ProcessorOptions& options, checkpoint::Store& store);

// Dead letters must not come back to the event hub that is read.
Result<> check_letters(const ProcessorOptions& options, const source::Name& read);

source::OpenOptions source_options(const ProcessorOptions& options);
// With a dead_letter_hub; `hub_here` is the one that is read, if it is in this process.
source::OutletOptions letter_options(const ProcessorOptions& options, Hub* hub_here);
CoordinatorOptions coordination(const ProcessorOptions& options, checkpoint::Pace pace,
                                std::string incarnation, const std::string& note);

// "partition 3: checkpoint failed: unavailable: ...; again in 200 ms"
std::string to_text(const Failure& failure);

}  // namespace evenkeel::processor
