#include "processor/pump/closing.h"

#include <chrono>

#include <gtest/gtest.h>

#include "processor/pump/part_fixture.h"

namespace evenkeel::processor {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Operations = std::vector<std::string>;

// A pump with a handler that ends when the test says so.
class ClosingTest : public testing::Test, private Closing::Pump {
protected:
    void close(CloseReason reason) {
        closing_.close(reason, [this] { ++done_; });
    }
    bool run_until_done() {
        return rig_.run_until([this] { return done_ > 0; });
    }
    void end_call() {
        is_busy_ = false;
        closing_.on_drained();
    }
    void end_on_closed() {
        is_handler_open_ = false;
        closing_.on_handler_closed();
    }

    void drop_reader() override { has_reader_ = false; }
    bool has_reader() const override { return has_reader_; }
    void stop_handling(bool is_lost) override { stopped_as_lost_ = is_lost; }
    bool is_busy() const override { return is_busy_; }
    void tell_handler(Closed reason) override { told_ = reason; }
    bool is_handler_open() const override { return is_handler_open_; }
    bool close_handler(Closed reason) override {
        if (is_handler_open_) closed_as_ = reason;
        return is_handler_open_;
    }
    void abandon_handler(Closed) override {
        is_handler_open_ = false;
        is_abandoned_ = true;
    }
    void store_asked() override { ++asked_; }
    void report(ErrorScope scope, std::string_view operation, const Error& error,
                std::optional<Duration> retried_in) override {
        rig_.add_report(scope, operation, error, retried_in);
    }

    PartRig rig_;
    bool has_reader_ = true;
    bool is_busy_ = true;
    bool is_handler_open_ = true;
    bool is_abandoned_ = false;
    std::optional<bool> stopped_as_lost_;
    std::optional<Closed> told_;
    std::optional<Closed> closed_as_;
    int asked_ = 0;
    int done_ = 0;
    Closing closing_{{rig_.loop, rig_.permit, rig_.checkpoints, {0}, seconds(10)}, *this};
};

TEST_F(ClosingTest, waits_for_the_call_closes_the_handler_and_stores) {
    rig_.checkpoints.advance({5}, 0);
    close(CloseReason::hand_over);
    rig_.run_for(seconds(1));
    EXPECT_EQ(told_, Closed::handed_over);
    EXPECT_EQ(stopped_as_lost_, false);
    EXPECT_FALSE(has_reader_);
    EXPECT_FALSE(closed_as_) << "its call still runs";

    end_call();
    EXPECT_EQ(closed_as_, Closed::handed_over);
    EXPECT_EQ(done_, 0);
    end_on_closed();
    ASSERT_TRUE(run_until_done());

    EXPECT_EQ(asked_, 1) << "on_closed() may have asked for a last checkpoint";
    EXPECT_EQ(rig_.stored().sequence.value, 5);
    EXPECT_TRUE(rig_.reports.empty());
}

TEST_F(ClosingTest, without_a_handler_only_stores) {
    is_busy_ = is_handler_open_ = false;
    rig_.checkpoints.advance({5}, 0);

    close(CloseReason::shutdown);

    ASSERT_TRUE(run_until_done());
    EXPECT_EQ(rig_.stored().sequence.value, 5);
}

TEST_F(ClosingTest, of_a_lost_partition_stores_nothing) {  // PUMP-6
    is_busy_ = is_handler_open_ = false;
    rig_.faults.outage = true;
    rig_.checkpoints.advance({5}, 1);
    rig_.run_for(milliseconds(10));  // the write has failed, and would be tried again

    close(CloseReason::lost);
    EXPECT_TRUE(closing_.is_void());
    rig_.faults.outage = false;
    rig_.run_for(seconds(5));

    EXPECT_EQ(done_, 1);
    EXPECT_EQ(stopped_as_lost_, true);
    EXPECT_EQ(rig_.stored().sequence.value, -1);
}

TEST_F(ClosingTest, a_loss_ends_a_graceful_close_and_says_what_repeats) {
    is_busy_ = is_handler_open_ = false;
    rig_.faults.outage = true;
    rig_.checkpoints.advance({5}, 0);
    close(CloseReason::hand_over);
    rig_.run_for(milliseconds(10));
    ASSERT_EQ(done_, 0);

    close(CloseReason::lost);

    EXPECT_EQ(done_, 2) << "both callers are answered";
    EXPECT_EQ(rig_.operations().back(), "last checkpoint");
}

TEST_F(ClosingTest, gives_up_a_handler_that_does_not_end) {
    close(CloseReason::hand_over);
    rig_.run_for(seconds(9));
    EXPECT_FALSE(is_abandoned_);

    ASSERT_TRUE(run_until_done());

    EXPECT_TRUE(is_abandoned_);
    EXPECT_EQ(rig_.operations(), Operations{"close"});
    EXPECT_TRUE(closing_.is_void());
}

TEST_F(ClosingTest, ends_in_time_although_the_store_does_not_answer) {
    is_busy_ = is_handler_open_ = false;
    rig_.faults.outage = true;
    rig_.checkpoints.advance({5}, 0);
    close(CloseReason::shutdown);
    rig_.run_for(seconds(9));
    EXPECT_EQ(done_, 0);

    rig_.run_for(seconds(2));

    EXPECT_EQ(done_, 1);
    EXPECT_EQ(rig_.operations().back(), "last checkpoint");
}

TEST_F(ClosingTest, tells_the_permit_once_that_there_is_a_newer_owner) {
    closing_.on_fenced();
    EXPECT_EQ(rig_.permit.fenced.size(), 1u);
    EXPECT_FALSE(has_reader_);
    EXPECT_EQ(stopped_as_lost_, true);
    EXPECT_EQ(told_, Closed::lost);
    EXPECT_TRUE(closing_.is_void());
    EXPECT_FALSE(closing_.is_closing()) << "that is for the coordinator to say";

    rig_.permit.fenced.clear();
    closing_.on_fenced();

    EXPECT_TRUE(rig_.permit.fenced.empty());
}

TEST_F(ClosingTest, stores_nothing_if_it_was_fenced_before) {
    closing_.on_fenced();
    is_busy_ = is_handler_open_ = false;

    close(CloseReason::hand_over);

    EXPECT_EQ(done_, 1);
    EXPECT_EQ(asked_, 0);
}

}  // namespace
}  // namespace evenkeel::processor
