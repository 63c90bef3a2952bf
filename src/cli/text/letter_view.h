// Dead letters for operators: which of them a command means, and how they are shown. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "checkpoint/dead_letter.h"
#include "cli/text/listing.h"

namespace evenkeel::cli {

// Whose dead letters they are.
struct LetterPlace {
    std::string event_hub;
    std::string group;
};

// A dead letter without its sections.
struct LetterRow {
    checkpoint::DeadLetter letter;
    std::uint64_t body_bytes = 0;
};

// All conditions that are given must hold.
struct LetterChoice {
    std::vector<checkpoint::DeadLetterId> ids;  // empty: any
    std::vector<std::uint32_t> partitions;      // empty: any
    std::string cause;                          // a part of it; empty: any
};
bool matches(const LetterChoice& choice, const checkpoint::DeadLetter& letter);

// One JSON object without a line end: as event_json.h writes the event, so that `send --ndjson`
// takes it, and besides its group, its cause, attempts and dead_lettered_at.
std::string letter_json(const LetterPlace& place, const checkpoint::DeadLetter& letter);
// All of it but the body as a table with two columns.
Listing letter_fields(const LetterPlace& place, const checkpoint::DeadLetter& letter);

Listing letter_listing(const std::vector<LetterRow>& rows, std::int64_t now_ms);
boost::json::value letters_json(const std::vector<LetterRow>& rows);

}  // namespace evenkeel::cli
