#include "hub/readers.h"

#include <limits>

#include <gtest/gtest.h>

namespace evenkeel::hub {
namespace {

using Displaced = std::vector<ReaderSet::Displaced>;

Result<Displaced> admit(ReaderSet& readers, std::uint64_t id, std::optional<std::int64_t> epoch,
                        std::string name = {}) {
    ReaderRequest request{std::move(name), std::nullopt};
    if (epoch) request.epoch = Epoch{*epoch};
    return readers.admit(ReaderId{id}, request);
}

std::vector<std::uint64_t> ids(const Displaced& displaced) {
    std::vector<std::uint64_t> all;
    for (const auto& each : displaced) all.push_back(static_cast<std::uint64_t>(each.reader));
    return all;
}

TEST(ReaderSet, takes_anyone_while_it_is_empty) {
    for (const auto& epoch : {std::optional<std::int64_t>(), std::optional<std::int64_t>(0),
                              std::optional(std::numeric_limits<std::int64_t>::max())}) {
        ReaderSet readers;
        EXPECT_TRUE(admit(readers, 1, epoch).ok());
        EXPECT_EQ(readers.size(), 1u);
    }
}

TEST(ReaderSet, takes_five_without_an_epoch_and_refuses_the_sixth) {
    ReaderSet readers;
    for (std::uint64_t i = 1; i <= 5; ++i) {
        ASSERT_TRUE(admit(readers, i, {}, i == 3 ? "" : "r" + std::to_string(i)).ok());
    }

    const auto sixth = admit(readers, 6, {}, "r6");

    ASSERT_FALSE(sixth.ok());
    EXPECT_EQ(sixth.error().code, ErrorCode::overloaded);
    EXPECT_EQ(sixth.error().detail,
              "Exceeded the maximum number of allowed receivers per partition in a consumer group "
              "which is 5. List of connected receivers - r1, r2, nil, r4, r5");
    EXPECT_EQ(readers.size(), 5u);
    readers.remove(ReaderId{2});
    EXPECT_TRUE(admit(readers, 7, {}).ok());
}

TEST(ReaderSet, gives_the_partition_to_a_higher_epoch) {
    ReaderSet readers;
    ASSERT_TRUE(admit(readers, 1, 4, "old").ok());

    const auto displaced = admit(readers, 2, 5, "new");

    ASSERT_TRUE(displaced.ok());
    ASSERT_EQ(ids(*displaced), (std::vector<std::uint64_t>{1}));
    EXPECT_EQ(displaced->front().reason.code, ErrorCode::fenced);
    EXPECT_EQ(displaced->front().reason.detail,
              "New receiver 'new' with higher epoch of '5' is created hence current receiver 'old' "
              "with epoch '4' is getting disconnected. If you are recreating the receiver, make "
              "sure a higher epoch is used.");
    EXPECT_EQ(readers.size(), 1u);
}

TEST(ReaderSet, gives_the_partition_to_an_equal_epoch) {
    ReaderSet readers;
    ASSERT_TRUE(admit(readers, 1, 0).ok());

    const auto displaced = admit(readers, 2, 0);

    ASSERT_TRUE(displaced.ok());
    EXPECT_EQ(ids(*displaced), (std::vector<std::uint64_t>{1}));
}

TEST(ReaderSet, displaces_all_without_an_epoch_by_one_that_has_it) {
    ReaderSet readers;
    for (std::uint64_t i = 1; i <= 5; ++i) ASSERT_TRUE(admit(readers, i, {}).ok());

    const auto displaced = admit(readers, 6, 0);

    ASSERT_TRUE(displaced.ok());
    EXPECT_EQ(ids(*displaced), (std::vector<std::uint64_t>{1, 2, 3, 4, 5}));
    EXPECT_EQ(displaced->front().reason.detail,
              "New receiver 'nil' with higher epoch of '0' is created hence current receiver 'nil' "
              "with epoch '' is getting disconnected. If you are recreating the receiver, make "
              "sure a higher epoch is used.");
    EXPECT_EQ(readers.size(), 1u);
}

TEST(ReaderSet, refuses_a_lower_epoch_and_leaves_the_owner_alone) {
    ReaderSet readers;
    ASSERT_TRUE(admit(readers, 1, 7, "owner").ok());

    const auto late = admit(readers, 2, 6, "late");

    ASSERT_FALSE(late.ok());
    EXPECT_EQ(late.error().code, ErrorCode::fenced);
    EXPECT_EQ(late.error().detail,
              "Receiver 'owner' with a higher epoch '7' already exists. Receiver 'late' with epoch "
              "6 cannot be created. Make sure you are creating receiver with increasing epoch "
              "value to ensure connectivity, or ensure all old epoch receivers are closed or "
              "disconnected");
    EXPECT_EQ(readers.size(), 1u);
}

TEST(ReaderSet, refuses_those_without_an_epoch_beside_one_that_has_it) {
    ReaderSet readers;
    ASSERT_TRUE(admit(readers, 1, 3).ok());

    const auto plain = admit(readers, 2, {});

    ASSERT_FALSE(plain.ok());
    EXPECT_EQ(plain.error().code, ErrorCode::fenced);
    EXPECT_EQ(plain.error().detail,
              "At least one receiver for the endpoint is created with epoch of '3', and so "
              "non-epoch receiver is not allowed. Either reconnect with a higher epoch, or make "
              "sure all epoch receivers are closed or disconnected.");
}

TEST(ReaderSet, refuses_a_negative_epoch) {
    ReaderSet readers;

    const auto negative = admit(readers, 1, -1, "x");

    ASSERT_FALSE(negative.ok());
    EXPECT_EQ(negative.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(negative.error().detail, "epoch -1 of receiver 'x' is negative; use 0 or more");
    EXPECT_EQ(readers.size(), 0u);
}

TEST(ReaderSet, forgets_an_epoch_when_its_reader_leaves) {
    ReaderSet readers;
    ASSERT_TRUE(admit(readers, 1, 9).ok());

    readers.remove(ReaderId{1});

    EXPECT_TRUE(admit(readers, 2, 1).ok());
    readers.remove(ReaderId{2});
    EXPECT_TRUE(admit(readers, 3, {}).ok());
}

TEST(ReaderSet, names_a_displaced_reader_once) {
    ReaderSet readers;
    ASSERT_TRUE(admit(readers, 1, 1).ok());
    ASSERT_TRUE(admit(readers, 2, 2).ok());

    const auto displaced = admit(readers, 3, 3);

    EXPECT_EQ(ids(*displaced), (std::vector<std::uint64_t>{2}));
    readers.remove(ReaderId{1});  // gone already: does nothing
    EXPECT_EQ(readers.size(), 1u);
}

}  // namespace
}  // namespace evenkeel::hub
