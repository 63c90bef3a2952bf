#include "processor/pump/handling.h"

#include <chrono>

#include <gtest/gtest.h>

#include "processor/pump/handler_cell.h"
#include "processor/pump/part_fixture.h"

namespace evenkeel::processor {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Sequences = std::vector<std::int64_t>;
using State = Handling::State;

EventBatch batch(std::int64_t first, std::int64_t last) {
    std::vector<Event> events;
    for (; first <= last; ++first) {
        Event event;
        event.sequence_number = first;
        event.offset = first * 100;
        events.push_back(event);
    }
    return {std::move(events), {}};
}

// A pump that has a handler, and hands it one batch.
class HandlingTest : public testing::Test, private Handling::Pump, private HandlerCell::Pump {
protected:
    HandlingTest() {
        rig_.options.retry = {.attempts_max = 2, .delay = milliseconds(100)};
        rig_.handlers = [this](std::uint32_t) { return std::make_unique<Recorder>(*this); };
        cell_ =
            std::make_shared<HandlerCell>(rig_.loop, rig_.workers, PartitionId{0}, Epoch{1}, true);
        cell_->open(*this, rig_.handlers);
        EXPECT_TRUE(rig_.run_until([this] { return !cell_->is_busy(); }));
    }
    ~HandlingTest() override { cell_->abandon(Closed::lost, nullptr); }

    bool run_until_idle() {
        return rig_.run_until([this] { return idle_ > 0; });
    }
    void run_until_called() {
        ASSERT_TRUE(rig_.run_until([this] { return !calls_.empty(); }));
    }
    void fail_with(std::int64_t poison) {
        behaviour_ = [poison](Partition&, Events events) -> Result<> {
            for (const Event& each : events) {
                if (each.sequence_number == poison) {
                    return Error{ErrorCode::handler_failed, "poison"};
                }
            }
            return {};
        };
    }

    class Recorder final : public PartitionHandler {
    public:
        explicit Recorder(HandlingTest& test) : test_(test) {}
        Result<> on_events(Partition& partition, Events events) override {
            Sequences call;
            for (const Event& each : events) call.push_back(each.sequence_number);
            test_.calls_.push_back(std::move(call));
            return test_.behaviour_ ? test_.behaviour_(partition, events) : Result<>();
        }

    private:
        HandlingTest& test_;
    };

    HandlerCell* cell() const override { return cell_.get(); }
    bool may_handle() const override { return may_handle_; }
    bool must_wait() const override { return must_wait_; }
    bool is_closing() const override { return is_closing_; }
    bool is_void() const override { return is_void_; }
    std::int64_t hub_created_ms() const override { return 77; }
    bool apply_seek() override {
        if (!is_seek_wanted_) return false;
        is_seek_wanted_ = false;
        handling_.drop();
        ++seeks_;
        return true;
    }
    void on_idle() override { ++idle_; }
    void on_drained() override { ++drained_; }
    void on_not_stored(const Error& error) override { not_stored_ = error.code; }
    void on_not_committed(const Error&) override {}
    void on_stop_wanted(const Error& error) override { stop_wanted_ = error.code; }
    void on_parked(bool is_storm, const std::string& reason) override {
        is_storm_ = is_storm;
        parked_because_ = reason;
    }
    void report(ErrorScope scope, std::string_view operation, const Error& error,
                std::optional<Duration> retried_in) override {
        rig_.add_report(scope, operation, error, retried_in);
    }

    void on_ended(Result<> result) override {
        if (handling_.is_running()) handling_.on_ended(result);
    }
    void on_asked() override {}
    void on_needless_checkpoint() override {}
    void on_foreign_event(std::int64_t) override {}
    void on_pause(bool) override {}
    void on_seek(const Position&) override {}
    void on_flush(Callback<void(Result<>)>) override {}

    PartRig rig_;
    std::shared_ptr<HandlerCell> cell_;
    std::function<Result<>(Partition&, Events)> behaviour_;
    std::vector<Sequences> calls_;
    bool may_handle_ = true;
    bool must_wait_ = false;
    bool is_closing_ = false;
    bool is_void_ = false;
    bool is_seek_wanted_ = false;
    int seeks_ = 0;
    int idle_ = 0;
    int drained_ = 0;
    std::optional<ErrorCode> not_stored_;
    std::optional<ErrorCode> stop_wanted_;
    std::optional<bool> is_storm_;
    std::string parked_because_;
    Handling handling_{{rig_.place(), {0}, {1}, rig_.random, rig_.checkpoints}, *this};
};

TEST_F(HandlingTest, counts_a_batch_once_its_handler_has_ended) {  // PUMP-4
    handling_.begin(batch(0, 9));
    EXPECT_EQ(handling_.state(), State::running);
    EXPECT_EQ(rig_.checkpoints.latest().sequence, -1);

    ASSERT_TRUE(run_until_idle());

    EXPECT_EQ(calls_, std::vector<Sequences>{up_to(9)});
    EXPECT_EQ(handling_.state(), State::idle);
    EXPECT_EQ(handling_.events_handled(), 10u);
    EXPECT_EQ(handling_.handled_sequence(), 9);
    EXPECT_EQ(rig_.checkpoints.latest().sequence, 9);
}

TEST_F(HandlingTest, begins_no_call_without_the_permit) {  // PUMP-3
    may_handle_ = false;
    handling_.begin(batch(0, 9));
    rig_.run_for(seconds(1));
    EXPECT_EQ(handling_.state(), State::resting);
    EXPECT_TRUE(calls_.empty());

    may_handle_ = true;
    must_wait_ = true;
    rig_.run_for(seconds(1));
    EXPECT_TRUE(calls_.empty()) << "an operator has paused it";

    must_wait_ = false;
    ASSERT_TRUE(run_until_idle());
    EXPECT_EQ(calls_.size(), 1u);
}

TEST_F(HandlingTest, dead_letters_only_the_event_that_fails_alone) {
    fail_with(1);
    handling_.begin(batch(0, 2));

    ASSERT_TRUE(run_until_idle());

    const std::vector<Sequences> expected{{0, 1, 2}, {0}, {1}, {1}, {2}};
    EXPECT_EQ(calls_, expected);
    std::vector<checkpoint::DeadLetter> letters;
    rig_.store.list_dead_letters({10}, [&](auto listed) { letters = *listed; });
    ASSERT_TRUE(rig_.run_until([&] { return !letters.empty(); }));
    ASSERT_EQ(letters.size(), 1u);
    EXPECT_EQ(letters[0].sequence.value, 1);
    EXPECT_EQ(letters[0].attempts, 2u);
    EXPECT_EQ(rig_.operations().back(), "dead letter");
    EXPECT_EQ(handling_.dead_letters(), 1u);
    EXPECT_EQ(handling_.handled_sequence(), 2);
}

TEST_F(HandlingTest, does_not_pass_a_dead_letter_that_is_not_stored) {
    rig_.options.retry.attempts_max = 1;
    fail_with(0);
    rig_.faults.outage = true;
    handling_.begin(batch(0, 0));
    rig_.run_for(seconds(5));
    EXPECT_EQ(handling_.state(), State::dead_lettering);
    EXPECT_EQ(handling_.handled_sequence(), -1);

    rig_.faults.outage = false;

    ASSERT_TRUE(run_until_idle());
    EXPECT_EQ(handling_.handled_sequence(), 0);
}

TEST_F(HandlingTest, stays_parked_until_somebody_looks) {
    rig_.options.retry.attempts_max = 1;
    rig_.options.poison = Poison::park;
    fail_with(0);
    EXPECT_FALSE(handling_.unpark()) << "it is not parked yet";
    handling_.begin(batch(0, 0));
    rig_.run_for(seconds(60));
    ASSERT_EQ(handling_.state(), State::parked);
    EXPECT_EQ(calls_.size(), 1u);
    EXPECT_FALSE(stop_wanted_);

    fail_with(-1);
    EXPECT_TRUE(handling_.unpark());

    ASSERT_TRUE(run_until_idle());
    EXPECT_EQ(handling_.handled_sequence(), 0);
}

TEST_F(HandlingTest, asks_to_stop_the_processor_if_poison_is_to_do_so) {
    rig_.options.retry.attempts_max = 1;
    rig_.options.poison = Poison::stop;
    fail_with(0);

    handling_.begin(batch(0, 0));
    rig_.run_for(seconds(1));

    EXPECT_EQ(stop_wanted_, ErrorCode::handler_failed);
    EXPECT_EQ(handling_.state(), State::parked);
}

TEST_F(HandlingTest, an_outage_uses_no_attempt_and_keeps_the_batch) {  // PUMP-19
    int outages = 8;
    behaviour_ = [&](Partition& partition, Events) -> Result<> {
        EXPECT_EQ(partition.attempt(), 0u);
        if (outages-- > 0) return Error{ErrorCode::unavailable, "the database is away"};
        return {};
    };
    handling_.begin(batch(0, 2));
    rig_.run_for(seconds(5));
    EXPECT_EQ(handling_.state(), State::resting);
    EXPECT_TRUE(handling_.is_outage_pause());
    EXPECT_EQ(handling_.reason(), "unavailable: the database is away");
    EXPECT_EQ(rig_.checkpoints.latest().attempts, 0u);

    ASSERT_TRUE(run_until_idle());

    EXPECT_EQ(calls_.size(), 9u);
    for (const Sequences& call : calls_) EXPECT_EQ(call, (Sequences{0, 1, 2}));
    EXPECT_EQ(handling_.handled_sequence(), 2);
    EXPECT_EQ(handling_.reason(), "");
}

TEST_F(HandlingTest, an_outage_repeats_nothing_that_was_asked_for) {  // PUMP-19
    behaviour_ = [this](Partition& partition, Events events) -> Result<> {
        if (calls_.size() > 1) return {};
        partition.checkpoint(events[0]);
        return Error{ErrorCode::overloaded, "full"};
    };
    handling_.begin(batch(0, 2));

    ASSERT_TRUE(run_until_idle());

    EXPECT_EQ(calls_, (std::vector<Sequences>{{0, 1, 2}, {1, 2}}));
}

TEST_F(HandlingTest, an_outage_loses_nothing_at_most_once) {  // PUMP-19
    rig_.options.delivery = Delivery::at_most_once;
    behaviour_ = [this](Partition&, Events) -> Result<> {
        if (calls_.size() == 1) return Error{ErrorCode::unavailable, "it cannot start"};
        return {};
    };
    handling_.begin(batch(0, 2));

    ASSERT_TRUE(run_until_idle());

    EXPECT_EQ(calls_, (std::vector<Sequences>{{0, 1, 2}, {0, 1, 2}}));
}

TEST_F(HandlingTest, drains_in_an_outage_without_an_attempt) {  // PUMP-19
    behaviour_ = [](Partition&, Events) { return Result<>(Error{ErrorCode::unavailable, "away"}); };
    handling_.begin(batch(0, 2));
    run_until_called();
    is_closing_ = true;

    ASSERT_TRUE(rig_.run_until([this] { return drained_ > 0; }));

    EXPECT_EQ(rig_.checkpoints.latest().attempts, 0u);
    EXPECT_EQ(handling_.handled_sequence(), -1);
}

TEST_F(HandlingTest, a_storm_of_dead_letters_parks_the_partition) {
    rig_.options.retry.attempts_max = 1;
    rig_.options.poison_in_row_max = 3;
    bool is_mended = false;
    behaviour_ = [&](Partition&, Events) {
        return is_mended ? Result<>() : Result<>(Error{ErrorCode::handler_failed, "broken"});
    };
    handling_.begin(batch(0, 9));
    rig_.run_for(seconds(60));

    ASSERT_EQ(handling_.state(), State::parked);
    EXPECT_EQ(is_storm_, true);
    EXPECT_EQ(
        parked_because_,
        "3 events in a row were dead-lettered, and event 3 fails too: handler_failed: broken");
    EXPECT_EQ(handling_.handled_sequence(), 2);
    EXPECT_EQ(rig_.operations().back(), "pause");

    is_mended = true;
    EXPECT_TRUE(handling_.unpark());

    ASSERT_TRUE(run_until_idle());
    EXPECT_EQ(handling_.handled_sequence(), 9) << "the event that met the limit was not lost";
}

TEST_F(HandlingTest, an_event_that_is_handled_ends_a_storm) {
    rig_.options.retry.attempts_max = 1;
    rig_.options.poison_in_row_max = 2;
    behaviour_ = [](Partition&, Events events) -> Result<> {
        for (const Event& each : events) {
            if (each.sequence_number % 3 != 0) return Error{ErrorCode::handler_failed, "poison"};
        }
        return {};
    };
    handling_.begin(batch(0, 9));

    EXPECT_TRUE(run_until_idle()) << "two bad ones, one good one, and again";
}

TEST_F(HandlingTest, without_a_limit_no_storm_parks) {
    rig_.options.retry.attempts_max = 1;
    rig_.options.poison_in_row_max = 0;
    behaviour_ = [](Partition&, Events) { return Result<>(Error{ErrorCode::handler_failed, ""}); };
    handling_.begin(batch(0, 99));

    EXPECT_TRUE(run_until_idle());
    EXPECT_EQ(handling_.handled_sequence(), 99);
}

TEST_F(HandlingTest, at_most_once_is_stored_before_the_call) {  // PUMP-15
    rig_.options.delivery = Delivery::at_most_once;
    std::optional<std::int64_t> stored;
    behaviour_ = [&](Partition&, Events) {
        stored = rig_.stored().sequence.value;
        return Result<>();
    };

    handling_.begin(batch(0, 9));
    EXPECT_EQ(handling_.state(), State::committing);
    handling_.stop(false);  // it is closed gracefully: what is being stored is handled
    ASSERT_TRUE(run_until_idle());

    EXPECT_EQ(stored, 9);
}

TEST_F(HandlingTest, at_most_once_is_not_called_for_what_is_not_stored) {
    rig_.options.delivery = Delivery::at_most_once;
    rig_.faults.outage = true;
    handling_.begin(batch(0, 9));
    rig_.run_for(milliseconds(10));

    rig_.checkpoints.stop();
    rig_.run_for(seconds(1));

    EXPECT_EQ(not_stored_, ErrorCode::cancelled);
    EXPECT_TRUE(calls_.empty());
    EXPECT_EQ(handling_.state(), State::idle);
}

TEST_F(HandlingTest, drops_what_is_being_stored_if_the_partition_is_lost) {
    rig_.options.delivery = Delivery::at_most_once;
    handling_.begin(batch(0, 9));

    handling_.stop(true);
    rig_.run_for(seconds(1));

    EXPECT_TRUE(calls_.empty());
    EXPECT_EQ(handling_.state(), State::idle);
}

TEST_F(HandlingTest, counts_no_result_of_a_lost_partition) {  // PUMP-6
    handling_.begin(batch(0, 9));
    is_void_ = true;
    handling_.stop(true);
    EXPECT_EQ(handling_.state(), State::running) << "the call is not interrupted";

    run_until_called();
    rig_.run_for(seconds(1));

    EXPECT_EQ(handling_.state(), State::idle);
    EXPECT_EQ(handling_.handled_sequence(), -1);
    EXPECT_EQ(rig_.checkpoints.latest().sequence, -1);
    EXPECT_EQ(idle_, 0);
}

TEST_F(HandlingTest, begins_no_further_call_while_it_closes) {
    fail_with(1);
    handling_.begin(batch(0, 2));
    is_closing_ = true;

    rig_.run_for(seconds(5));

    EXPECT_EQ(calls_.size(), 1u);
    EXPECT_EQ(drained_, 1);
    EXPECT_EQ(idle_, 0);
    EXPECT_EQ(rig_.checkpoints.latest().attempts, 1u) << "the next owner counts on";
}

TEST_F(HandlingTest, leaves_the_rest_of_the_batch_for_a_seek) {
    fail_with(1);
    handling_.begin(batch(0, 2));
    is_seek_wanted_ = true;

    rig_.run_for(seconds(5));

    EXPECT_EQ(calls_.size(), 1u);
    EXPECT_EQ(seeks_, 1);
    EXPECT_EQ(handling_.state(), State::idle);
}

TEST_F(HandlingTest, stores_by_hand_what_the_handler_asked_for) {
    rig_.options.checkpoints.manual = true;
    behaviour_ = [](Partition& partition, Events events) {
        partition.checkpoint(events[3]);
        return Result<>();
    };
    handling_.begin(batch(0, 9));
    ASSERT_TRUE(run_until_idle());
    EXPECT_EQ(rig_.checkpoints.latest().sequence, 3);

    std::optional<bool> flushed;
    handling_.flush(9, [&](const Result<>& result) { flushed = result.ok(); });
    ASSERT_TRUE(rig_.run_until([&] { return flushed.has_value(); }));
    EXPECT_EQ(rig_.stored().sequence.value, 3);
}

TEST_F(HandlingTest, is_running_although_its_handler_was_abandoned) {
    handling_.begin(batch(0, 9));

    handling_.on_abandoned();

    EXPECT_EQ(handling_.state(), State::abandoned);
    EXPECT_TRUE(handling_.is_running());
    handling_.stop(true);
    EXPECT_EQ(handling_.state(), State::abandoned);
}

}  // namespace
}  // namespace evenkeel::processor
