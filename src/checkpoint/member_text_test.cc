#include "checkpoint/member_text.h"

#include <gtest/gtest.h>

namespace evenkeel::checkpoint {
namespace {

TEST(MemberStates, have_fixed_numbers_and_names) {
    EXPECT_EQ(state_number(MemberState::active), 0);
    EXPECT_EQ(state_number(MemberState::leaving), 1);
    EXPECT_EQ(state_number(MemberState::unable), 2);
    EXPECT_EQ(state_name(MemberState::active), "active");
    EXPECT_EQ(state_name(MemberState::leaving), "leaving");
    EXPECT_EQ(state_name(MemberState::unable), "unable");
}

TEST(MemberStates, are_read_as_they_were_written) {
    for (const MemberState state :
         {MemberState::active, MemberState::leaving, MemberState::unable}) {
        EXPECT_EQ(state_numbered(state_number(state)), state);
        EXPECT_EQ(state_named(state_name(state)), state);
    }
}

// STORE-9
TEST(MemberStates, that_are_unknown_read_as_leaving) {
    for (const std::int64_t number : {-1, 3, 256}) {
        EXPECT_EQ(state_numbered(number), MemberState::leaving) << number;
    }
    for (const char* name : {"", "asleep", "Active", "active "}) {
        EXPECT_EQ(state_named(name), MemberState::leaving) << name;
    }
}

TEST(Offers, survive_what_they_were_written_as) {
    const std::vector<Offer> offers = {{{0}, ""}, {{17}, "a;1:2:b"}, {{4'294'967'295}, "c"}};
    EXPECT_EQ(decode_offers(encode_offers(offers)), offers);
}

TEST(Offers, what_cannot_be_read_is_left_out) {
    const std::vector<Offer> one = {{{1}, "ab"}};
    for (const char* text :
         {"1:2:ab;2:5:abc;", "1:2:ab;x", "1:2:ab;3", "1:2:ab;3:99999999999999999999:a;",
          "1:2:ab;4294967296:1:a;", "1:2:ab;1:18446744073709551615:a;"}) {
        EXPECT_EQ(decode_offers(text), one) << text;
    }
    EXPECT_TRUE(decode_offers("nonsense").empty());
}

}  // namespace
}  // namespace evenkeel::checkpoint
