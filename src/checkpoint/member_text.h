// How stores keep a member's state and offers. Pure. Format: a page for each in docs/formats/.
//
//     SQLite, PostgreSQL   state by number, offers as "2:5:alice;"
//     Redis                state by name, offers as above
//     Blob storage         state by name
//
// A state that this version does not know reads as `leaving` (STORE-9): a newer member wrote it,
// and `leaving` members are given nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/store.h"

namespace evenkeel::checkpoint {

std::int64_t state_number(MemberState state);
MemberState state_numbered(std::int64_t number);
std::string_view state_name(MemberState state);
MemberState state_named(std::string_view name);

// "2:5:alice;": partition 2 for "alice". What cannot be read is left out.
std::string encode_offers(const std::vector<Offer>& offers);
std::vector<Offer> decode_offers(std::string_view text);

}  // namespace evenkeel::checkpoint
