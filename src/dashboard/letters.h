// Dead letters of a group as the page shows them: a page of them, how many there are by cause, and
// one whole. Read from the store in small pieces, since each letter holds its event.
//
// Threads: pinned to the loop of the store, which outlives the answer; else there is none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "checkpoint/store.h"

namespace evenkeel::dashboard {

struct LetterQuery {
    static constexpr std::size_t limit_max = 500;
    static constexpr std::size_t looked_at_max = 5000;

    std::optional<checkpoint::DeadLetterId> after = {};
    std::size_t limit = 100;
    std::string cause = {};  // as cause_group() writes it; "" = all
};

// Without what differs from letter to letter: numbers and ids become "#".
std::string cause_group(std::string_view cause);

// {"total","causes":[...],"dead_letters":[...],"next"}. Looks at looked_at_max at most; "next" says
// where to go on, if there may be more. Causes are those of what was looked at from the beginning;
// with `after` there are none, and no more is read than is listed.
void list_letters(checkpoint::Store& store, LetterQuery query,
                  checkpoint::Store::Answer<std::string> done);
// not_found if there is no such letter.
void find_letter(checkpoint::Store& store, const checkpoint::DeadLetterId& id,
                 checkpoint::Store::Answer<checkpoint::DeadLetter> done);
// What the list says of it, and the members of its event.
std::string letter_json(const checkpoint::DeadLetter& letter);

}  // namespace evenkeel::dashboard
