#include "processor/ownership/store_mark.h"

#include <gtest/gtest.h>

#include "support/golden.h"

namespace evenkeel::processor {
namespace {

const Instant begin{1'000'000'000};
constexpr Duration period = std::chrono::seconds(20);

StoreSigns showing(const StoreMark& mark) {
    return read_store_signs({{std::string(store_mark_key), encode(mark), "v"}});
}

StoreMemory joined(const StoreMark& mark) {
    StoreMemory memory(period);
    memory.join(mark, begin);
    return memory;
}

TEST(StoreMark, is_read_as_it_was_written) {
    EXPECT_EQ(decode_store_mark(encode({"ab12", 7})), (StoreMark{"ab12", 7}));
    EXPECT_EQ(decode_store_mark(encode({"ab12", 7, "cd34"})), (StoreMark{"ab12", 7, "cd34"}));
    for (const char* bad : {"", "ab12", " 7", "ab12 x", "ab12 7x", "ab12 -1"}) {
        EXPECT_FALSE(decode_store_mark(bad)) << bad;
    }
}

TEST(StoreMark, of_the_same_store_or_a_younger_one_is_good) {
    StoreMemory memory = joined({"ab", 7});

    EXPECT_FALSE(memory.judge(showing({"ab", 7}), begin));
    EXPECT_FALSE(memory.judge(showing({"ab", 9}), begin));
}

TEST(StoreMark, tells_an_emptied_store_and_another_one) {
    StoreMemory memory = joined({"ab", 7});

    EXPECT_EQ(memory.judge({}, begin)->error.code, ErrorCode::corrupt);
    EXPECT_TRUE(memory.judge(showing({"cd", 7}), begin));
    EXPECT_FALSE(memory.judge(showing({"cd", 7, "ef"}), begin)->is_accepted);
}

TEST(StoreMark, tells_an_older_copy_but_forgives_the_last_rise) {
    StoreMemory memory = joined({"ab", 5});
    EXPECT_FALSE(memory.judge(showing({"ab", 7}), begin));

    EXPECT_FALSE(memory.judge(showing({"ab", 6}), begin));
    EXPECT_TRUE(memory.judge(showing({"ab", 5}), begin));
}

TEST(StoreMark, that_accepted_a_loss_needs_nothing_of_late_members) {
    StoreMemory memory = joined({"ab", 7});

    const auto told = memory.judge(showing({"cd", 1, "ab"}), begin);

    ASSERT_TRUE(told);
    EXPECT_TRUE(told->is_accepted);
}

TEST(StoreMark, keeps_who_noticed_a_loss) {
    const StoreLost lost{"ab", "shop 1"};

    EXPECT_EQ(decode_store_lost(encode(lost)), lost);
    EXPECT_EQ(decode_store_lost(""), StoreLost());
}

TEST(StoreMark, is_the_golden_text) {
    auto golden = test::golden_texts("records_v1");
    const StoreMark mark{"9f3c", 17}, accepted{"77aa", 1, "9f3c"};
    const StoreLost lost{"9f3c", "shop 1"};

    EXPECT_EQ(encode(mark), golden["store"]);
    EXPECT_EQ(decode_store_mark(golden["store"]), mark);
    EXPECT_EQ(encode(accepted), golden["store whose loss was accepted"]);
    EXPECT_EQ(decode_store_mark(golden["store whose loss was accepted"]), accepted);
    EXPECT_EQ(encode(lost), golden["lost"]);
    EXPECT_EQ(decode_store_lost(golden["lost"]), lost);
}

TEST(StoreMark, rises_once_in_a_period) {
    StoreMemory memory = joined({"ab", 7});

    EXPECT_FALSE(memory.next(showing({"ab", 7}), begin));
    EXPECT_EQ(memory.next(showing({"ab", 7}), begin + period), (StoreMark{"ab", 8}));

    memory.raised({"ab", 8}, begin + period);
    EXPECT_FALSE(memory.next(showing({"ab", 8}), begin + period));
    EXPECT_TRUE(memory.next(showing({"ab", 8}), begin + 2 * period));
}

TEST(StoreMark, of_a_store_whose_loss_was_noticed_stops_everybody) {
    StoreMemory memory = joined({"ab", 7});
    StoreSigns signs = showing({"ab", 7});
    signs.lost = StoreLost{"ab", "a"};

    const auto told = memory.judge(signs, begin);

    ASSERT_TRUE(told);
    EXPECT_FALSE(told->is_accepted);
    EXPECT_NE(told->error.detail.find("--accept-store-loss"), std::string::npos);
}

}  // namespace
}  // namespace evenkeel::processor
