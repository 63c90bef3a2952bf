#include "processor/pump/opening.h"

#include <chrono>

#include <gtest/gtest.h>

#include "processor/pump/intake.h"
#include "processor/pump/part_fixture.h"

namespace evenkeel::processor {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Operations = std::vector<std::string>;

// A pump that has an opening, and an intake that it never asks to read by itself.
class OpeningTest : public testing::Test, private Opening::Pump, private Intake::Pump {
protected:
    // As the handler's own on_opened() answers.
    void answer_handler(const Result<>& result) {
        has_handler_ = result.ok();
        opening_.on_handler_opened(result);
    }
    bool open() {
        opening_.start();
        if (!rig_.run_until([this] { return handlers_opened_ > 0; })) return false;
        answer_handler({});
        return rig_.run_until([this] { return readers_ > 0; });
    }
    std::vector<std::int64_t> read() {
        intake_.fill();
        rig_.run_for(milliseconds(10));
        std::vector<std::int64_t> all;
        for (const Event& each : intake_.take()) all.push_back(each.sequence_number);
        return all;
    }

    bool is_idle() const override { return is_idle_; }
    void on_checkpoint(const checkpoint::Checkpoint& stored) override {
        rig_.checkpoints.begin(stored);
        checkpoints_.push_back(stored.sequence.value);
    }
    void on_resumed(SequenceNumber handled) override { resumed_ = handled.value; }
    bool has_handler() const override { return has_handler_; }
    void open_handler() override {
        has_handler_ = true;
        ++handlers_opened_;
    }
    void on_reader() override { ++readers_; }
    void on_reader_dropped() override { ++dropped_; }
    void on_fenced() override { is_fenced_ = true; }
    void report(ErrorScope scope, std::string_view operation, const Error& error,
                std::optional<Duration> retried_in) override {
        rig_.add_report(scope, operation, error, retried_in);
    }

    bool may_read() const override { return true; }
    void on_events() override {}
    void on_heard(bool is_reading) override { opening_.heard(is_reading); }
    void on_read() override { opening_.on_read(); }
    Duration on_read_failed(const Error&) override { return opening_.on_read_failed(); }
    void on_reader_failed(const Error& error) override {
        opening_.restart(ErrorScope::source, "read", error);
    }
    void on_mismatch(const Error& error) override { opening_.refuse(error); }
    void on_notice(std::string_view operation, const Error& error,
                   std::optional<Duration> retried_in) override {
        rig_.add_report(ErrorScope::source, operation, error, retried_in);
    }

    PartRig rig_;
    bool is_idle_ = true;
    bool has_handler_ = false;
    bool is_fenced_ = false;
    int handlers_opened_ = 0;
    int readers_ = 0;
    int dropped_ = 0;
    std::vector<std::int64_t> checkpoints_;
    std::optional<std::int64_t> resumed_;
    Intake intake_{{rig_.loop, rig_.source, rig_.options, {0}}, *this};
    Opening opening_{{rig_.place(), rig_, {0}, {1}, rig_.random, rig_.checkpoints, intake_}, *this};
};

TEST_F(OpeningTest, attaches_behind_the_sealed_checkpoint) {
    rig_.append(10);
    rig_.store_by_hand({.partition = {0}, .sequence = {4}, .hub_created_ms = 77});

    ASSERT_TRUE(open());

    EXPECT_TRUE(opening_.is_open());
    EXPECT_EQ(resumed_, 4);
    EXPECT_EQ(rig_.stored().epoch.value, 1) << "PUMP-1";
    EXPECT_EQ(read(), up_to(9, 5));
}

TEST_F(OpeningTest, looks_at_nothing_before_the_store_is_confirmed) {  // PUMP-8
    rig_.confirmation = Error{ErrorCode::unavailable, "no answer"};
    opening_.start();
    rig_.run_for(seconds(1));

    EXPECT_EQ(handlers_opened_, 0);
    ASSERT_GE(rig_.reports.size(), 2u);
    EXPECT_EQ(rig_.reports[0].operation, "look at the store");
    EXPECT_EQ(checkpoints_.size(), rig_.reports.size()) << "sealed again each time";

    rig_.confirmation = {};
    EXPECT_TRUE(rig_.run_until([this] { return handlers_opened_ == 1; }));
}

TEST_F(OpeningTest, tries_again_until_the_store_answers) {  // PUMP-5
    rig_.faults.outage = true;
    opening_.start();
    rig_.run_for(seconds(2));
    ASSERT_FALSE(rig_.reports.empty());
    for (const Report& each : rig_.reports) {
        EXPECT_EQ(each.operation, "seal");
        EXPECT_TRUE(each.is_retried);
    }
    EXPECT_LT(rig_.reports.size(), 10u) << "the pauses grow";

    rig_.faults.outage = false;

    EXPECT_TRUE(rig_.run_until([this] { return handlers_opened_ == 1; }));
}

TEST_F(OpeningTest, leaves_a_newer_owner_to_the_pump) {
    rig_.store_by_hand({.partition = {0}, .sequence = {4}, .epoch = {2}});

    opening_.start();
    rig_.run_for(seconds(10));

    EXPECT_TRUE(is_fenced_);
    EXPECT_TRUE(rig_.reports.empty());
    EXPECT_EQ(handlers_opened_, 0);
}

TEST_F(OpeningTest, opens_the_handler_again_only_if_it_failed) {
    opening_.start();
    ASSERT_TRUE(rig_.run_until([this] { return handlers_opened_ == 1; }));
    EXPECT_FALSE(opening_.unread_since()) << "it may take its time";
    answer_handler(Error{ErrorCode::handler_failed, "no"});
    EXPECT_EQ(rig_.operations(), Operations{"open handler"});
    ASSERT_TRUE(rig_.run_until([this] { return handlers_opened_ == 2; }));
    answer_handler({});
    ASSERT_TRUE(rig_.run_until([this] { return readers_ == 1; }));

    opening_.restart(ErrorScope::source, "read", {ErrorCode::unavailable, "cut"});

    EXPECT_TRUE(opening_.unread_since());
    ASSERT_TRUE(rig_.run_until([this] { return readers_ == 2; }));
    EXPECT_FALSE(opening_.unread_since());
    EXPECT_EQ(handlers_opened_, 2);
}

TEST_F(OpeningTest, takes_no_answer_from_before_the_reader_was_dropped) {
    opening_.start();
    opening_.drop_reader();
    rig_.run_for(seconds(10));

    EXPECT_TRUE(checkpoints_.empty());
    EXPECT_EQ(handlers_opened_, 0);
    EXPECT_EQ(dropped_, 1);
}

TEST_F(OpeningTest, reads_again_what_was_read_but_not_handed_out) {
    rig_.append(10);
    ASSERT_TRUE(open());
    intake_.fill();
    rig_.run_for(milliseconds(10));
    const EventBatch batch = intake_.take();
    opening_.note_taken(batch[3]);

    opening_.restart(ErrorScope::source, "read", {ErrorCode::unavailable, "cut"});
    ASSERT_TRUE(rig_.run_until([this] { return readers_ == 2; }));

    EXPECT_EQ(read(), up_to(9, 4));
}

TEST_F(OpeningTest, goes_where_a_seek_says_whatever_is_stored) {
    rig_.append(10);
    rig_.store_by_hand({.partition = {0}, .sequence = {9}, .hub_created_ms = 77});
    ASSERT_TRUE(open());

    opening_.seek(Position::at_sequence(2));
    opening_.seek_now();
    ASSERT_TRUE(rig_.run_until([this] { return readers_ == 2; }));

    EXPECT_EQ(read(), up_to(9, 2));
}

TEST_F(OpeningTest, refuses_a_hub_until_its_position_was_set) {  // PUMP-7
    rig_.append(10);
    rig_.store_by_hand({.partition = {0}, .sequence = {50}, .hub_created_ms = 77});
    opening_.start();
    rig_.run_for(seconds(5));
    EXPECT_EQ(handlers_opened_, 0);
    ASSERT_FALSE(rig_.reports.empty());
    EXPECT_EQ(rig_.reports[0].operation, "resume");
    EXPECT_NE(rig_.reports[0].error.detail.find("evenkeel checkpoint set homes"),
              std::string::npos);

    rig_.store_by_hand({.partition = {0}, .sequence = {7}, .epoch = {1}, .hub_created_ms = 77});

    ASSERT_TRUE(rig_.run_until([this] { return handlers_opened_ == 1; }));
    EXPECT_EQ(resumed_, 7);
}

TEST_F(OpeningTest, resets_no_checkpoint_while_a_batch_is_in_hand) {
    rig_.append(10);
    rig_.store_by_hand({.partition = {0}, .sequence = {4}, .hub_created_ms = 66});
    is_idle_ = false;
    opening_.start();
    rig_.run_for(seconds(1));
    EXPECT_EQ(rig_.stored().sequence.value, 4);

    is_idle_ = true;

    ASSERT_TRUE(rig_.run_until([this] { return handlers_opened_ == 1; }));
    EXPECT_EQ(rig_.stored().sequence.value, -1);
    EXPECT_EQ(resumed_, -1);
    EXPECT_EQ(opening_.hub_created_ms(), 77);
}

// Without the permit the pin waits, so that an operator can be first.
TEST_F(OpeningTest, begins_where_an_operator_set_it_during_a_pin) {
    rig_.options.start = Position::latest();
    rig_.permit.is_there = false;
    opening_.start();
    rig_.run_for(milliseconds(100));
    rig_.append(10);
    rig_.store_by_hand({.partition = {0}, .sequence = {6}, .epoch = {1}, .hub_created_ms = 77});
    rig_.permit.is_there = true;

    ASSERT_TRUE(rig_.run_until([this] { return handlers_opened_ == 1; }));
    answer_handler({});
    ASSERT_TRUE(rig_.run_until([this] { return readers_ == 1; }));

    EXPECT_EQ(resumed_, 6);
    EXPECT_EQ(rig_.stored().sequence.value, 6);
    EXPECT_EQ(read(), up_to(9, 7));
}

TEST_F(OpeningTest, does_not_pin_above_a_lower_position_of_an_operator) {
    rig_.append(10);
    rig_.options.start = Position::latest();
    rig_.permit.is_there = false;
    opening_.start();
    rig_.run_for(milliseconds(100));
    rig_.store_by_hand({.partition = {0}, .sequence = {2}, .epoch = {1}, .hub_created_ms = 77});
    rig_.permit.is_there = true;

    ASSERT_TRUE(rig_.run_until([this] { return handlers_opened_ == 1; }));

    EXPECT_EQ(resumed_, 2);
    EXPECT_EQ(rig_.stored().sequence.value, 2);
}

TEST_F(OpeningTest, pins_latest_again_if_the_first_was_not_stored) {
    rig_.append(10);
    rig_.options.start = Position::latest();
    rig_.permit.is_there = false;
    opening_.start();
    rig_.run_for(milliseconds(100));

    opening_.restart(ErrorScope::source, "look", {ErrorCode::unavailable, "cut"});
    rig_.run_for(seconds(2));
    EXPECT_EQ(handlers_opened_, 0);
    rig_.permit.is_there = true;

    ASSERT_TRUE(rig_.run_until([this] { return handlers_opened_ == 1; }));
    EXPECT_EQ(resumed_, 9);
    EXPECT_EQ(rig_.stored().sequence.value, 9);
}

}  // namespace
}  // namespace evenkeel::processor
