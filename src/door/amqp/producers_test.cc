#include "door/amqp/producers.h"

#include <limits>

#include <gtest/gtest.h>

namespace evenkeel::door {
namespace {

const ProducerPlace place{{}, {0}};

TEST(Producers, begin_at_zero_with_an_id_of_their_own) {
    Producers producers;
    ProducerState first;
    ProducerState second;

    EXPECT_FALSE(producers.attach(place, {}, first));
    EXPECT_FALSE(producers.attach(place, {}, second));

    EXPECT_NE(first.id, second.id);
    EXPECT_GT(first.id, 0);
    EXPECT_EQ(first.sequence, 0);
}

TEST(Producers, have_ids_that_fit_a_number_of_javascript) {
    Producers producers;
    for (int i = 0; i < 1000; ++i) {
        ProducerState state;
        EXPECT_FALSE(producers.attach(place, {}, state));
        ASSERT_LT(state.id, std::int64_t{1} << 53);
        ASSERT_GT(state.id, 0);
    }
}

TEST(Producers, get_their_last_number_back) {
    Producers producers;
    ProducerState state;
    EXPECT_FALSE(producers.attach(place, {7, 0, 0}, state));
    EXPECT_FALSE(producers.admit(place, {7, 0, 1}, 5));

    EXPECT_FALSE(producers.attach(place, {7, std::nullopt, std::nullopt}, state));

    EXPECT_EQ(state, (ProducerState{7, 0, 5}));
}

TEST(Producers, that_know_less_than_the_hub_get_their_own_number_back) {
    Producers producers;
    ProducerState state;
    EXPECT_FALSE(producers.attach(place, {7, 0, 0}, state));
    EXPECT_FALSE(producers.admit(place, {7, 0, 1}, 5));

    EXPECT_FALSE(producers.attach(place, {7, 0, 3}, state));
    EXPECT_EQ(state.sequence, 3) << "an answer was lost: what comes is a repeat";
    EXPECT_TRUE(producers.admit(place, {7, 0, 4}, 2));
    EXPECT_FALSE(producers.attach(place, {7, 0, 9}, state));
    EXPECT_EQ(state.sequence, 9) << "the hub was started again";
    EXPECT_FALSE(producers.attach(place, {7, 1, 2}, state));
    EXPECT_EQ(state.sequence, 2) << "another life";
}

TEST(Producers, repeats_are_old_once_they_are_stored_and_put_off_before) {
    Producers producers;
    ProducerState state;
    EXPECT_FALSE(producers.attach(place, {7, 0, 0}, state));
    EXPECT_FALSE(producers.admit(place, {7, 0, 1}, 2));

    EXPECT_EQ(producers.admit(place, {7, 0, 1}, 2)->name, "com.microsoft:server-busy");
    producers.stored(place, {7, 0, 1}, {2, 10, 1});
    EXPECT_EQ(producers.admit(place, {7, 0, 1}, 2)->name, "com.microsoft:out-of-order-sequence");
}

TEST(Producers, repeats_are_exactly_what_was_stored_last) {
    const BatchContent first{2, 10, 1};
    const BatchContent second{3, 20, 2};
    Producers producers;
    ProducerState state;
    EXPECT_FALSE(producers.attach(place, {7, 0, 0}, state));
    EXPECT_FALSE(producers.admit(place, {7, 0, 1}, 2));
    EXPECT_FALSE(producers.is_repeat(place, {7, 0, 1}, first)) << "not stored yet";
    producers.stored(place, {7, 0, 1}, first);
    EXPECT_TRUE(producers.is_repeat(place, {7, 0, 1}, first));
    EXPECT_FALSE(producers.admit(place, {7, 0, 3}, 3));
    producers.stored(place, {7, 0, 3}, second);

    EXPECT_TRUE(producers.is_repeat(place, {7, 0, 3}, second));
    EXPECT_FALSE(producers.is_repeat(place, {7, 0, 1}, first)) << "older";
    EXPECT_FALSE(producers.is_repeat(place, {7, 0, 3}, {3, 20, 9})) << "other events";
    EXPECT_FALSE(producers.is_repeat(place, {7, 0, 4}, {2, 20, 2})) << "a part of it";
    EXPECT_FALSE(producers.is_repeat(place, {7, 1, 3}, second)) << "another epoch";
    EXPECT_FALSE(producers.is_repeat(place, {8, 0, 3}, second)) << "another producer";
    EXPECT_FALSE(producers.attach(place, {7, 1, 5}, state));
    EXPECT_FALSE(producers.is_repeat(place, {7, 1, 3}, second)) << "of an earlier life";
}

TEST(Producers, may_send_again_what_was_not_stored) {
    Producers producers;
    ProducerState state;
    EXPECT_FALSE(producers.attach(place, {7, 0, 0}, state));
    EXPECT_FALSE(producers.admit(place, {7, 0, 1}, 2));
    EXPECT_FALSE(producers.admit(place, {7, 0, 3}, 2));

    producers.take_back(place, {7, 0, 1});
    producers.take_back(place, {7, 0, 3});

    EXPECT_TRUE(producers.admit(place, {7, 0, 3}, 2));
    EXPECT_FALSE(producers.admit(place, {7, 0, 1}, 2));
}

TEST(Producers, count_on_from_zero_behind_the_largest_number) {
    Producers producers;
    ProducerState state;
    EXPECT_FALSE(producers.attach(place, {7, 0, std::numeric_limits<std::int32_t>::max()}, state));

    EXPECT_FALSE(producers.admit(place, {7, 0, 0}, 1));
}

TEST(Producers, are_apart_in_each_partition_and_bounded_in_all) {
    Producers producers;
    ProducerState state;
    for (std::int64_t id = 0; id < 100'010; ++id) {
        EXPECT_FALSE(producers.attach({{}, {1}}, {id, 0, 0}, state));
    }

    EXPECT_EQ(producers.size(), Producers::producers_max);
    EXPECT_FALSE(producers.attach(place, {7, 0, 3}, state));
    EXPECT_TRUE(producers.admit({{}, {2}}, {7, 0, 4}, 1));
}

TEST(Producers, with_a_stale_epoch_are_refused_at_attach_too) {
    Producers producers;
    ProducerState state;
    EXPECT_FALSE(producers.attach(place, {7, 2, 0}, state));

    const auto why = producers.attach(place, {7, 1, 0}, state);

    ASSERT_TRUE(why);
    EXPECT_EQ(why->name, "com.microsoft:producer-epoch-stolen");
}

TEST(Producers, know_repeats_where_the_numbers_begin_anew) {
    constexpr std::int32_t last = std::numeric_limits<std::int32_t>::max();
    Producers producers;
    ProducerState state;
    EXPECT_FALSE(producers.attach(place, {7, 0, last - 2}, state));
    EXPECT_FALSE(producers.admit(place, {7, 0, last - 1}, 4));

    EXPECT_EQ(producers.admit(place, {7, 0, last}, 1)->name, "com.microsoft:server-busy");
    producers.stored(place, {7, 0, last - 1}, {4, 10, 1});
    EXPECT_EQ(producers.admit(place, {7, 0, last}, 1)->name, "com.microsoft:out-of-order-sequence");
    EXPECT_FALSE(producers.attach(place, {7, 0, last - 2}, state));
    EXPECT_EQ(state.sequence, last - 2) << "an answer was lost";
    EXPECT_TRUE(producers.is_repeat(place, {7, 0, last - 1}, {4, 10, 1}));
    EXPECT_FALSE(producers.admit(place, {7, 0, 2}, 1));
}

TEST(Producers, that_are_new_have_sent_nothing_before) {
    Producers producers;
    for (const std::int64_t number : {0, 2, 1'600'000'000}) {
        const auto why = producers.admit(place, {7, 0, number}, 1);
        ASSERT_TRUE(why);
        EXPECT_EQ(why->description.find("old sequence"), std::string::npos)
            << number << " would be taken for stored";
    }
    ProducerState state;
    EXPECT_FALSE(producers.attach(place, {7, 0, 1'600'000'000}, state));
    EXPECT_EQ(state.sequence, 1'600'000'000);
}

TEST(Producers, of_the_log_do_not_push_out_others) {
    Producers producers;
    ProducerState state;
    const auto restore = [&](std::uint32_t partition, std::int64_t count) {
        for (std::int64_t id = 0; id < count; ++id) {
            producers.restore({{}, {partition}}, {id, 0, 5});
        }
    };
    EXPECT_FALSE(producers.attach(place, {7, 0, 3}, state));
    restore(1, 60'000);
    EXPECT_FALSE(producers.attach({{}, {1}}, {8, 0, std::nullopt}, state));
    EXPECT_EQ(state.sequence, 5);

    restore(2, 60'000);

    EXPECT_EQ(producers.size(), Producers::producers_max);
    EXPECT_FALSE(producers.admit(place, {7, 0, 4}, 1));
    EXPECT_FALSE(producers.admit({{}, {1}}, {8, 0, 6}, 1));
    producers.restore({{}, {1}}, {8, 0, 1});
    EXPECT_FALSE(producers.admit({{}, {1}}, {8, 0, 7}, 1)) << "what is known is newer";
}

}  // namespace
}  // namespace evenkeel::door
