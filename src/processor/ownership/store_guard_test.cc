#include "processor/ownership/store_guard.h"

#include <chrono>
#include <memory>

#include <gtest/gtest.h>

#include "checkpoint/faulty_store.h"
#include "checkpoint/memory/store.h"
#include "io/sim/scheduler.h"
#include "support/seed.h"

namespace evenkeel::processor {
namespace {

using checkpoint::Record;
using std::chrono::minutes;
using std::chrono::seconds;

class StoreGuardTest : public testing::Test, private StoreGuard::Owner {
protected:
    StoreGuardTest() { make(false); }

    void make(bool accepts_loss) {
        guard_ = std::make_unique<StoreGuard>(
            StoreGuard::Place{loop_, store_, random_, seconds(1), accepts_loss},
            static_cast<StoreGuard::Owner&>(*this));
    }
    Result<> join() {
        std::optional<Result<>> joined;
        guard_->join([&](Result<> result) { joined = std::move(result); });
        EXPECT_TRUE(run_until([&] { return joined.has_value(); }));
        return *joined;
    }
    // As others have left it.
    void write(std::string_view key, const std::string& value) {
        checkpoint::Table table = server_.snapshot(group_);
        ASSERT_TRUE(table.write_record({std::string(key), value}).ok());
        server_.restore(group_, table);
    }
    std::vector<Record> records(std::string_view key) const {
        return server_.snapshot(group_).records(key);
    }
    void confirm() {
        guard_->confirm([this](const Result<>& result) { confirmed_ += result.ok(); });
    }
    bool run_until(Callback<bool()> condition) {
        return scheduler_.run_until(std::move(condition), minutes(1));
    }

    bool is_stopping() const override { return is_stopping_; }
    void on_failure(const Failure& failure) override { failures_.push_back(failure); }
    void on_store_settled() override { ++settled_; }
    void on_store_lost(const StoreVerdict& verdict) override {
        ++losses_;
        verdict_ = verdict;
    }

    const checkpoint::GroupName group_{"n", "hub", "group"};
    io::sim::Scheduler scheduler_{test::test_seed()};
    checkpoint::MemoryServer server_{scheduler_.clock()};
    io::sim::SimLoop server_loop_{scheduler_, "store"};
    io::sim::SimLoop loop_{scheduler_, "a"};
    checkpoint::Faults faults_;
    checkpoint::FaultyStore store_{
        loop_, server_loop_,
        std::make_shared<checkpoint::MemoryStore>(server_loop_, server_, group_), faults_,
        scheduler_.fork_random()};
    Random random_{test::test_seed()};
    bool is_stopping_ = false;
    int settled_ = 0;
    int losses_ = 0;
    int confirmed_ = 0;
    std::optional<StoreVerdict> verdict_;
    std::vector<Failure> failures_;
    std::unique_ptr<StoreGuard> guard_;
};

TEST_F(StoreGuardTest, marks_a_new_store_and_lets_it_settle) {
    ASSERT_TRUE(join().ok());
    EXPECT_EQ(records(store_mark_key).size(), 1u);
    EXPECT_FALSE(guard_->is_trusted()) << "it may have been emptied a moment ago";

    guard_->settle();
    scheduler_.run_for(store_settle / 2);
    EXPECT_EQ(settled_, 0);

    ASSERT_TRUE(run_until([&] { return settled_ == 1; }));
    EXPECT_TRUE(guard_->is_trusted());
}

TEST_F(StoreGuardTest, trusts_a_store_that_others_use) {
    write(store_mark_key, encode(StoreMark{"first", 5}));

    ASSERT_TRUE(join().ok());

    EXPECT_TRUE(guard_->is_trusted());
    EXPECT_EQ(guard_->incarnation(), "first");
}

TEST_F(StoreGuardTest, does_not_join_a_lost_store_before_it_is_accepted) {
    write(store_mark_key, encode(StoreMark{"second", 5}));
    write(store_lost_key, encode(StoreLost{"first", "b"}));
    EXPECT_EQ(join().error().code, ErrorCode::corrupt);
    EXPECT_FALSE(guard_->is_trusted());

    make(true);
    ASSERT_TRUE(join().ok());

    EXPECT_TRUE(records(store_lost_key).empty()) << "the others need not accept it again";
    EXPECT_NE(guard_->incarnation(), "second");
}

TEST_F(StoreGuardTest, raises_epochs_to_those_of_checkpoints_that_were_left) {
    checkpoint::Table table;
    table.reset_checkpoint({.partition = {3}, .sequence = {9}, .epoch = {7}}, {});
    server_.restore(group_, table);

    ASSERT_TRUE(join().ok());

    const auto owned = server_.snapshot(group_).ownerships({});
    ASSERT_EQ(owned.size(), 1u);
    EXPECT_EQ(owned[0].partition.value, 3u);
    EXPECT_EQ(owned[0].epoch.value, 7);
    EXPECT_TRUE(owned[0].owner.empty());
}

TEST_F(StoreGuardTest, joins_once_the_store_answers) {
    faults_.outage = true;
    bool is_joined = false;
    guard_->join([&](const Result<>& result) { is_joined = result.ok(); });
    scheduler_.run_for(seconds(3));
    EXPECT_FALSE(is_joined);
    ASSERT_FALSE(failures_.empty());
    EXPECT_TRUE(failures_[0].is_retried);

    faults_.outage = false;

    EXPECT_TRUE(run_until([&] { return is_joined; }));
}

TEST_F(StoreGuardTest, does_not_join_for_a_processor_that_stops) {
    faults_.outage = true;
    std::optional<ErrorCode> code;
    guard_->join([&](const Result<>& result) { code = result.error().code; });
    scheduler_.run_for(seconds(3));
    EXPECT_FALSE(code);

    is_stopping_ = true;

    ASSERT_TRUE(run_until([&] { return code.has_value(); }));
    EXPECT_EQ(code, ErrorCode::cancelled);
}

TEST_F(StoreGuardTest, confirms_for_many_with_one_listing) {
    ASSERT_TRUE(join().ok());
    const std::uint64_t before = store_.requests();

    for (int i = 0; i < 10; ++i) confirm();
    ASSERT_TRUE(run_until([&] { return confirmed_ == 10; }));

    EXPECT_EQ(store_.requests() - before, 2u) << "the first asks alone, then one for the others";
}

TEST_F(StoreGuardTest, tells_once_of_a_store_that_was_emptied) {
    ASSERT_TRUE(join().ok());
    server_.restore(group_, {});

    confirm();
    scheduler_.run_for(seconds(5));
    confirm();
    scheduler_.run_for(seconds(5));

    EXPECT_EQ(losses_, 1);
    EXPECT_EQ(confirmed_, 0) << "who asks gets no answer";
    ASSERT_TRUE(verdict_);
    EXPECT_EQ(verdict_->error.code, ErrorCode::corrupt);
    EXPECT_FALSE(verdict_->is_accepted);
    EXPECT_FALSE(guard_->is_trusted());
}

TEST_F(StoreGuardTest, asks_again_if_a_loss_was_answered_long_ago) {
    ASSERT_TRUE(join().ok());
    const StoreMark joined{guard_->incarnation(), 1};
    server_.restore(group_, {});
    confirm();
    // Stopped between the question and its answer; an operator accepts the loss meanwhile.
    loop_.pause(seconds(30));
    scheduler_.run_for(seconds(5));
    write(store_mark_key, encode(StoreMark{"second", 1, joined.incarnation}));

    ASSERT_TRUE(run_until([&] { return losses_ == 1; }));

    ASSERT_TRUE(verdict_);
    EXPECT_TRUE(verdict_->is_accepted) << verdict_->error.detail;
}

TEST_F(StoreGuardTest, asks_again_if_a_listing_looks_like_a_loss) {
    ASSERT_TRUE(join().ok());

    EXPECT_FALSE(guard_->is_same({}));
    scheduler_.run_for(seconds(5));

    EXPECT_EQ(losses_, 0) << "the store itself has all that it had";
    EXPECT_TRUE(guard_->is_same(read_store_signs(records(""))));
}

TEST_F(StoreGuardTest, takes_no_silence_for_a_loss) {
    ASSERT_TRUE(join().ok());
    faults_.outage = true;
    std::optional<bool> is_confirmed;

    guard_->confirm([&](const Result<>& result) { is_confirmed = result.ok(); });
    ASSERT_TRUE(run_until([&] { return is_confirmed.has_value(); }));

    EXPECT_FALSE(*is_confirmed);
    EXPECT_EQ(losses_, 0);
}

TEST_F(StoreGuardTest, tells_of_no_loss_while_the_processor_stops) {
    ASSERT_TRUE(join().ok());
    server_.restore(group_, {});
    is_stopping_ = true;

    confirm();
    scheduler_.run_for(seconds(5));

    EXPECT_EQ(losses_, 0);
    EXPECT_EQ(confirmed_, 0);
}

}  // namespace
}  // namespace evenkeel::processor
