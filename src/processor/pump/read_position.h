// Where a pump's next reader begins: at the checkpoint, behind the events that were handed out
// since, or where the handler asked for. Pure.
//
//     set_checkpoint ─▶ begin(resume) ─▶ note_taken, note_taken, ... ─▶ rewind() ─▶ next()
//                                          seek() ──────────────────▶ apply_seek() ─▶ next()
//
// Threads: one.
#pragma once

#include <cstdint>
#include <optional>

#include "checkpoint/store.h"
#include "processor/pump/resume.h"
#include <evenkeel/event.h>

namespace evenkeel::processor {

class ReadPosition {
public:
    void set_checkpoint(const checkpoint::Checkpoint& stored) { checkpoint_ = stored; }
    // The store's, then what was handed out since.
    const checkpoint::Checkpoint& checkpoint() const { return checkpoint_; }
    // Of which incarnation of the event hub the events are.
    void set_hub(std::int64_t created_ms) { hub_created_ms_ = created_ms; }
    std::int64_t hub_created_ms() const { return hub_created_ms_; }
    // The checkpoint counts for that incarnation.
    void tie_to_hub() { checkpoint_.hub_created_ms = hub_created_ms_; }

    // As resume() decided.
    void begin(const Resume& resume);
    // The last event of a batch for the handler.
    void note_taken(const Event& last);
    std::int64_t last_taken() const { return taken_.sequence; }
    // Nothing was handed out: it begins where the store says.
    void forget_taken();
    // What was read but not handed out is read again. False if nothing was handed out: it begins
    // where it began.
    bool rewind();

    // To be applied before the next reader is opened.
    void seek(const Position& position) { seek_ = position; }
    bool is_seek_wanted() const { return seek_.has_value(); }
    // False if there is none.
    bool apply_seek();
    // A seek chose it, so it is not to be held against the checkpoint.
    bool is_chosen() const { return is_chosen_ || seek_.has_value(); }

    // The event before the position, if it is known: a reader begins with it (PUMP-7).
    const std::optional<Landmark>& landmark() const { return landmark_; }
    Position next() const;

private:
    checkpoint::Checkpoint checkpoint_;
    std::int64_t hub_created_ms_ = 0;
    Position position_;
    std::optional<Landmark> landmark_;
    Landmark taken_;  // sequence -1: none
    std::optional<Position> seek_;
    bool is_chosen_ = false;
};

}  // namespace evenkeel::processor
