// What every store's transactions promise (checkpoint/transaction.h).
//
//     INSTANTIATE_TYPED_TEST_SUITE_P(Sqlite, TransactionContract, SqliteSink);
//
// A Sink is a testing::Test with a table `totals` of the handler's own, whose key is `house`:
//   begin(partition)     a transaction
//   add(transaction, h)  inserts house h through native(), as a handler does; whether it worked
//   rows(), sequence()   what others see: rows of the table, the stored position (-1 = none)
#pragma once

#include <optional>

#include <gtest/gtest.h>

#include "checkpoint/transaction.h"

namespace evenkeel::checkpoint {

template <typename Sink>
class TransactionContract : public Sink {
protected:
    static Checkpoint at(std::int64_t sequence, std::int64_t epoch) {
        return {.partition = {0}, .sequence = {sequence}, .epoch = {epoch}};
    }
};
TYPED_TEST_SUITE_P(TransactionContract);

TYPED_TEST_P(TransactionContract, commits_result_and_position_as_one) {
    const auto transaction = this->begin();
    ASSERT_TRUE(this->add(*transaction, "a"));
    EXPECT_EQ(this->rows(), 0) << "not yet";

    const auto committed = transaction->commit(this->at(7, 1));

    ASSERT_TRUE(committed) << to_string(committed.error());
    EXPECT_EQ(this->rows(), 1);
    EXPECT_EQ(this->sequence(), 7);
}

TYPED_TEST_P(TransactionContract, leaves_nothing_if_it_is_not_committed) {
    ASSERT_TRUE(this->add(*this->begin(), "a"));

    EXPECT_EQ(this->rows(), 0);
    EXPECT_EQ(this->sequence(), -1);
}

TYPED_TEST_P(TransactionContract, commits_nothing_of_a_fenced_owner) {
    ASSERT_TRUE(this->begin()->commit(this->at(5, 2)));
    auto transaction = this->begin();
    ASSERT_TRUE(this->add(*transaction, "a"));

    const auto committed = transaction->commit(this->at(7, 1));
    transaction.reset();

    ASSERT_FALSE(committed);
    EXPECT_EQ(committed.error().code, ErrorCode::fenced);
    EXPECT_EQ(this->rows(), 0);
}

TYPED_TEST_P(TransactionContract, refuses_a_repeated_position_and_its_result) {
    {
        const auto first = this->begin();
        ASSERT_TRUE(this->add(*first, "a"));
        ASSERT_TRUE(first->commit(this->at(7, 1)));
    }
    auto repeated = this->begin();
    ASSERT_TRUE(this->add(*repeated, "b"));

    const auto committed = repeated->commit(this->at(6, 1));
    repeated.reset();

    ASSERT_FALSE(committed);
    EXPECT_EQ(committed.error().code, ErrorCode::conflict);
    EXPECT_EQ(this->rows(), 1);
    EXPECT_EQ(this->sequence(), 7);
}

TYPED_TEST_P(TransactionContract, refuses_another_partition) {
    const auto committed = this->begin(1)->commit(this->at(1, 1));

    ASSERT_FALSE(committed);
    EXPECT_EQ(committed.error().code, ErrorCode::invalid_argument);
}

TYPED_TEST_P(TransactionContract, uses_its_connection_again) {
    std::optional<Native> first;
    for (int i = 0; i < 10; ++i) {
        const auto transaction = this->begin();
        if (!first) first = transaction->native();
        EXPECT_TRUE(transaction->native() == *first);
        ASSERT_TRUE(transaction->commit(this->at(i, 1)));
    }
}

REGISTER_TYPED_TEST_SUITE_P(TransactionContract, commits_result_and_position_as_one,
                            leaves_nothing_if_it_is_not_committed,
                            commits_nothing_of_a_fenced_owner,
                            refuses_a_repeated_position_and_its_result, refuses_another_partition,
                            uses_its_connection_again);

}  // namespace evenkeel::checkpoint
