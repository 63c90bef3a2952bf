#include "processor/pump/intake.h"

#include <chrono>
#include <utility>

#include <gtest/gtest.h>

#include "processor/pump/part_fixture.h"

namespace evenkeel::processor {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Sequences = std::vector<std::int64_t>;

EventBatch batch(const Sequences& sequences) {
    std::vector<Event> events;
    for (const std::int64_t sequence : sequences) {
        Event event;
        event.sequence_number = sequence;
        event.offset = sequence * 100;
        events.push_back(event);
    }
    return {std::move(events), {}};
}

// What the readers of a test are asked, and answer when it says so.
struct Script {
    Callback<void(Result<EventBatch>)> answer;  // of the read under way
    std::size_t events_max = 0;
    int reads = 0;
};

class ScriptedReader final : public source::Reader {
public:
    explicit ScriptedReader(Script& script) : script_(script) {}
    void read(std::size_t events_max, Duration,
              Callback<void(Result<EventBatch>)> answer) override {
        ++script_.reads;
        script_.events_max = events_max;
        script_.answer = std::move(answer);
    }
    SequenceNumber last_enqueued() const override { return {-1}; }
    bool is_attached() const override { return true; }

private:
    Script& script_;
};

class IntakeTest : public testing::Test, private Intake::Pump {
protected:
    IntakeTest() { rig_.options.batch_events_max = 10; }

    void attach() {
        intake_.attach(std::make_unique<ScriptedReader>(script_));
        intake_.fill();
    }
    void answer(Result<EventBatch> read) {
        ASSERT_TRUE(script_.answer) << "nothing was read";
        std::exchange(script_.answer, nullptr)(std::move(read));
    }
    Sequences taken() {
        Sequences all;
        for (const Event& each : intake_.take()) all.push_back(each.sequence_number);
        return all;
    }

    bool may_read() const override { return may_read_; }
    void on_events() override { ++events_; }
    void on_heard(bool is_reading) override { heard_ += is_reading; }
    void on_read() override {}
    Duration on_read_failed(const Error&) override { return seconds(2); }
    void on_reader_failed(const Error& error) override { reader_failed_ = error.code; }
    void on_mismatch(const Error& error) override { mismatch_ = error.code; }
    void on_notice(std::string_view, const Error& error, std::optional<Duration>) override {
        notices_.push_back(error.code);
    }

    PartRig rig_;
    Script script_;
    bool may_read_ = true;
    int events_ = 0;
    int heard_ = 0;
    std::optional<ErrorCode> reader_failed_;
    std::optional<ErrorCode> mismatch_;
    std::vector<ErrorCode> notices_;
    Intake intake_{{rig_.loop, rig_.source, rig_.options, {0}}, *this};
};

TEST_F(IntakeTest, gathers_until_the_batch_is_full) {  // PUMP-18
    attach();
    EXPECT_EQ(script_.events_max, 10u);
    answer(batch(up_to(5)));
    EXPECT_EQ(script_.events_max, 4u) << "only what still fits";
    answer(batch(up_to(9, 6)));
    EXPECT_FALSE(script_.answer) << "it is full";
    EXPECT_EQ(events_, 2);

    EXPECT_EQ(taken(), up_to(9));
    intake_.fill();

    EXPECT_EQ(script_.events_max, 10u);
}

TEST_F(IntakeTest, reads_nothing_while_the_pump_may_not) {  // PUMP-18
    may_read_ = false;
    attach();
    EXPECT_EQ(script_.reads, 0);

    may_read_ = true;
    intake_.fill();
    intake_.fill();

    EXPECT_EQ(script_.reads, 1) << "one at a time";
}

TEST_F(IntakeTest, takes_no_event_twice) {  // PUMP-16
    intake_.set_last_read(4);
    attach();

    answer(batch({4, 5}));

    EXPECT_EQ(reader_failed_, ErrorCode::corrupt);
    EXPECT_TRUE(intake_.empty());
}

TEST_F(IntakeTest, reports_missing_events_unless_they_were_skipped) {  // PUMP-16
    intake_.set_last_read(4);
    intake_.set_may_skip(true);
    attach();
    answer(batch({8, 9}));
    EXPECT_TRUE(notices_.empty());

    answer(batch({12}));

    EXPECT_EQ(notices_, std::vector<ErrorCode>{ErrorCode::not_found});
    EXPECT_EQ(taken(), (Sequences{8, 9, 12}));
}

TEST_F(IntakeTest, passes_the_event_that_was_handled_last) {  // PUMP-17
    intake_.set_last_read(4);
    intake_.await(Landmark{4, 400, 0});
    attach();

    answer(batch({4, 5, 6}));

    EXPECT_FALSE(mismatch_);
    EXPECT_EQ(taken(), (Sequences{5, 6}));
}

TEST_F(IntakeTest, refuses_a_hub_that_has_another_event_there) {  // PUMP-17
    intake_.set_last_read(4);
    intake_.await(Landmark{4, 999, 0});
    attach();

    answer(batch({4, 5, 6}));

    EXPECT_EQ(mismatch_, ErrorCode::invalid_argument);
    EXPECT_TRUE(intake_.empty());
}

TEST_F(IntakeTest, asks_the_same_reader_again_after_an_error_that_may_pass) {
    attach();
    answer(Error{ErrorCode::unavailable, "no link"});
    rig_.run_for(milliseconds(1900));
    EXPECT_EQ(script_.reads, 1);
    EXPECT_TRUE(intake_.has_reader());

    rig_.run_for(milliseconds(200));

    EXPECT_EQ(script_.reads, 2);
    EXPECT_FALSE(reader_failed_);
}

TEST_F(IntakeTest, leaves_other_errors_to_the_pump) {
    attach();
    answer(Error{ErrorCode::fenced, "another reader"});

    EXPECT_EQ(reader_failed_, ErrorCode::fenced);
    EXPECT_EQ(script_.reads, 1);
}

TEST_F(IntakeTest, reads_on_behind_damage) {
    attach();
    answer(batch({0, 1}));
    answer(Error{ErrorCode::corrupt, "events 2 to 4 are damaged"});
    answer(batch({5, 6}));

    EXPECT_EQ(notices_, std::vector<ErrorCode>{ErrorCode::corrupt}) << "the gap is explained";
    EXPECT_EQ(taken(), (Sequences{0, 1, 5, 6}));
}

TEST_F(IntakeTest, drops_what_was_not_taken_with_its_reader) {
    attach();
    answer(batch({0, 1}));
    auto late = std::exchange(script_.answer, nullptr);

    intake_.detach();
    late(batch({2, 3}));

    EXPECT_TRUE(intake_.empty());
    EXPECT_FALSE(intake_.has_reader());
    EXPECT_EQ(events_, 1);
}

TEST_F(IntakeTest, asks_for_another_reader_if_events_are_there_but_none_come) {
    rig_.options.progress_slow = seconds(5);
    rig_.append(3);
    attach();

    answer(EventBatch());
    rig_.run_for(seconds(1));

    EXPECT_EQ(reader_failed_, ErrorCode::timed_out);
    EXPECT_EQ(intake_.last_enqueued(), 2);
}

}  // namespace
}  // namespace evenkeel::processor
