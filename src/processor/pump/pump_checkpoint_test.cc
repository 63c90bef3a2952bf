// What handlers say about their progress, and what is stored of it.
#include <stdexcept>

#include <gtest/gtest.h>

#include "processor/pump/pump_fixture.h"

namespace evenkeel::processor {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Sequences = std::vector<std::int64_t>;

// Keeps events until there are five of them; only then are they done.
struct Windows {
    PumpRig::Behaviour behaviour() {
        return [this](Partition& partition, Events events) -> Result<> {
            for (const Event& event : events) {
                kept.append(EventBatch::copy_of({&event, 1}));
                if (kept.size() < 5) continue;
                for (const Event& each : kept) done.push_back(each.sequence_number);
                partition.checkpoint(kept.back());
                kept = {};
            }
            return {};
        };
    }
    EventBatch kept;
    Sequences done;
};

TEST(ManualCheckpoint, crash_resumes_right_behind_the_last_one_asked_for) {
    PumpRig rig;
    rig.options.checkpoints.manual = true;
    rig.options.batch_events_max = 3;
    Windows windows;
    rig.behaviour = windows.behaviour();
    rig.append(13);
    rig.open();
    ASSERT_TRUE(rig.run_until_handled(12));
    rig.run_for(seconds(5));
    EXPECT_EQ(rig.stored().sequence.value, 9) << "10, 11 and 12 are only kept";

    rig.crash();
    windows.kept = {};  // its memory is gone
    const std::size_t before = rig.sequences().size();
    rig.open(0, 2);
    rig.append(2);
    ASSERT_TRUE(rig.run_until_handled(14));
    rig.run_for(seconds(5));

    const Sequences all = rig.sequences();
    EXPECT_EQ(Sequences(all.begin() + static_cast<std::ptrdiff_t>(before), all.end()),
              up_to(14, 10));
    EXPECT_EQ(windows.done, up_to(14)) << "each once, none lost";
    EXPECT_EQ(rig.stored().sequence.value, 14);
}

TEST(ManualCheckpoint, hand_over_gives_the_open_window_to_the_next_owner) {
    PumpRig rig;
    rig.options.checkpoints.manual = true;
    Windows first, second;
    rig.behaviour = first.behaviour();
    rig.append(8);
    rig.open();
    ASSERT_TRUE(rig.run_until_handled(7));

    ASSERT_TRUE(rig.close(CloseReason::hand_over));
    EXPECT_EQ(rig.stored().sequence.value, 4);
    rig.behaviour = second.behaviour();
    rig.open(0, 2);
    rig.append(2);
    ASSERT_TRUE(rig.run_until_handled(9));

    EXPECT_EQ(first.done, up_to(4));
    EXPECT_EQ(second.done, up_to(9, 5));
}

TEST(ManualCheckpoint, stores_nothing_that_was_not_asked_for) {
    PumpRig rig;
    rig.options.checkpoints = {.manual = true, .every_events = 1, .every = milliseconds(1)};
    rig.append(20);
    rig.behaviour = [](Partition& partition, Events events) -> Result<> {
        partition.done(events.back());
        return {};
    };
    rig.open();
    ASSERT_TRUE(rig.run_until_handled(19));
    rig.run_for(seconds(5));

    ASSERT_TRUE(rig.close(CloseReason::shutdown));

    EXPECT_EQ(rig.stored().sequence.value, -1);
}

TEST(ManualCheckpoint, begins_anew_with_a_hub_that_was_made_again) {
    PumpRig rig;
    rig.options.checkpoints.manual = true;
    rig.behaviour = [](Partition& partition, Events events) -> Result<> {
        partition.checkpoint(events.back());
        return {};
    };
    rig.append(50);
    rig.open();
    ASSERT_TRUE(rig.run_until_handled(49));
    rig.run_for(seconds(1));
    ASSERT_EQ(rig.stored().sequence.value, 49);

    rig.hub.recreate(78);
    rig.append(5);
    ASSERT_TRUE(rig.run_until([&] { return rig.calls.back().sequences.back() == 4; }));
    rig.run_for(seconds(5));

    EXPECT_EQ(rig.stored().sequence.value, 4) << "what was asked for the old one counts no more";
}

TEST(ManualCheckpoint, of_an_event_that_was_not_given_is_told_once) {
    PumpRig rig;
    rig.options.checkpoints.manual = true;
    rig.options.batch_events_max = 2;
    Event of_another;
    of_another.sequence_number = 1000;
    rig.behaviour = [&](Partition& partition, Events events) -> Result<> {
        partition.checkpoint(of_another);
        partition.checkpoint(events.back());
        return {};
    };
    rig.append(6);
    rig.open();
    ASSERT_TRUE(rig.run_until_handled(5));
    rig.run_for(seconds(5));

    EXPECT_EQ(rig.stored().sequence.value, 5) << "later calls count";
    EXPECT_EQ(std::ranges::count_if(rig.failures,
                                    [](const Failure& failure) {
                                        return failure.error.detail.find("event 1000") !=
                                               std::string::npos;
                                    }),
              1);
}

TEST(Done, of_an_event_that_was_not_given_skips_nothing) {
    PumpRig rig;
    Event of_another;
    of_another.sequence_number = 1000;
    rig.behaviour = [&](Partition& partition, Events) -> Result<> {
        partition.done(of_another);
        return Error{ErrorCode::handler_failed, "it is early"};
    };
    rig.options.retry.delay = seconds(20);
    rig.append(3);
    rig.open();
    ASSERT_TRUE(rig.run_until([&] { return rig.calls.size() == 2; }));

    EXPECT_EQ(rig.calls[1].sequences, Sequences{0}) << "tried again from the first one";
}

TEST(AutomaticCheckpoint, needs_no_call) {
    PumpRig rig;
    rig.append(10);
    rig.open();
    ASSERT_TRUE(rig.run_until_handled(9));
    rig.run_for(seconds(2));

    EXPECT_EQ(rig.stored().sequence.value, 9);
    EXPECT_EQ(rig.needless_checkpoints, 0);
}

TEST(AutomaticCheckpoint, a_needless_call_is_told_once_and_counts_as_done) {
    PumpRig rig;
    rig.options.batch_events_max = 1;
    rig.behaviour = [](Partition& partition, Events events) -> Result<> {
        partition.checkpoint(events.back());
        return {};
    };
    rig.append(10);
    rig.open();
    ASSERT_TRUE(rig.run_until_handled(9));
    rig.run_for(seconds(2));

    EXPECT_EQ(rig.needless_checkpoints, 1);
    EXPECT_EQ(rig.stored().sequence.value, 9);
}

TEST(AutomaticCheckpoint, keeps_what_a_failed_call_called_done) {
    PumpRig rig;
    rig.append(4);
    rig.options.checkpoints.every_events = 1000;
    rig.options.checkpoints.every = std::chrono::hours(1);
    rig.behaviour = [](Partition& partition, Events events) -> Result<> {
        if (events.size() > 2) partition.done(events[1]);
        return Error{ErrorCode::handler_failed, "at the third"};
    };
    rig.options.retry.delay = seconds(20);
    rig.open();
    ASSERT_TRUE(rig.run_until([&] { return rig.calls.size() == 2; }));
    rig.run_for(seconds(1));

    EXPECT_EQ(rig.calls[1].sequences, Sequences{2}) << "tried again behind what is done";
    EXPECT_EQ(rig.stored().sequence.value, 1);
}

TEST(Done, of_an_earlier_call_does_not_count_after_a_seek_back) {
    PumpRig rig;
    rig.options.batch_events_max = 20;
    Partition* partition = nullptr;
    rig.behaviour = [&](Partition& given, Events events) -> Result<> {
        partition = &given;
        given.done(events.back());
        return {};
    };
    rig.append(10);
    rig.open();
    ASSERT_TRUE(rig.run_until_handled(9));
    rig.calls.clear();
    bool is_first = true;
    rig.behaviour = [&](Partition&, Events) -> Result<> {
        if (!std::exchange(is_first, false)) return {};
        return Error{ErrorCode::handler_failed, "the first call after the seek"};
    };

    partition->seek(Position::at_sequence(3));
    ASSERT_TRUE(rig.run_until([&] { return rig.last_of(0) == 9 && rig.calls.size() > 1; }));

    Sequences expected = up_to(9, 3);  // the batch that fails, then one by one
    for (const auto again : up_to(9, 3)) expected.push_back(again);
    rig.run_for(seconds(5));
    EXPECT_EQ(rig.sequences(), expected);
}

TEST(BatchHandlerOfEvents, does_not_repeat_those_before_one_that_throws) {
    PumpRig rig;
    Sequences seen;
    bool has_thrown = false;
    rig.behaviour = batch_handler([&](Partition&, const Event& event) {
        if (event.sequence_number == 2 && !std::exchange(has_thrown, true)) {
            throw std::runtime_error("the third, once");
        }
        seen.push_back(event.sequence_number);
    });
    rig.append(5);
    rig.open();
    ASSERT_TRUE(rig.run_until([&] { return seen.size() == 5; }));
    rig.run_for(seconds(5));

    EXPECT_EQ(seen, up_to(4));
}

// One that throws in the way that the test says.
enum class Thrown { exception, number, nothing };

class Throwing final : public PartitionHandler {
public:
    explicit Throwing(Thrown opened, Thrown closed, int& closed_calls)
        : opened_(opened), closed_(closed), closed_calls_(closed_calls) {}
    Result<> on_opened(Partition&) override {
        raise(opened_);
        return {};
    }
    Result<> on_events(Partition&, Events) override { return {}; }
    void on_closed(Partition&, Closed) override {
        ++closed_calls_;
        raise(closed_);
    }

private:
    static void raise(Thrown what) {
        if (what == Thrown::exception) throw std::runtime_error("no bread");
        if (what == Thrown::number) throw 7;
    }
    const Thrown opened_, closed_;
    int& closed_calls_;
};

TEST(HandlerException, in_on_opened_or_the_factory_is_tried_again) {
    for (const Thrown what : {Thrown::exception, Thrown::number}) {
        for (const bool is_in_factory : {true, false}) {
            PumpRig rig;
            int tries = 0, closed_calls = 0;
            rig.handlers = [&](std::uint32_t) -> std::unique_ptr<PartitionHandler> {
                const bool is_bad = ++tries <= 3;
                if (is_bad && is_in_factory && what == Thrown::number) throw 7;
                if (is_bad && is_in_factory) throw std::runtime_error("no bread");
                return std::make_unique<Throwing>(is_bad ? what : Thrown::nothing, Thrown::nothing,
                                                  closed_calls);
            };
            rig.append(3);
            rig.open();
            ASSERT_TRUE(
                rig.run_until([&] { return rig.pumps[0]->status().handled_sequence == 2; }));

            EXPECT_EQ(rig.count_failures("open handler"), 3u);
            EXPECT_EQ(rig.failures[0].error.code, ErrorCode::handler_failed);
            EXPECT_EQ(closed_calls, 0) << "one that was not opened is not closed";
            ASSERT_TRUE(rig.close(CloseReason::shutdown));
            EXPECT_EQ(closed_calls, 1);
        }
    }
}

TEST(HandlerException, in_on_closed_is_reported_and_changes_nothing) {
    for (const Thrown what : {Thrown::exception, Thrown::number}) {
        PumpRig rig;
        int closed_calls = 0;
        rig.handlers = [&](std::uint32_t) {
            return std::make_unique<Throwing>(Thrown::nothing, what, closed_calls);
        };
        rig.append(3);
        rig.open();
        ASSERT_TRUE(rig.run_until([&] { return rig.pumps[0]->status().handled_sequence == 2; }));

        ASSERT_TRUE(rig.close(CloseReason::shutdown));

        EXPECT_EQ(rig.count_failures("close"), 1u);
        EXPECT_EQ(rig.stored().sequence.value, 2);
    }
}

}  // namespace
}  // namespace evenkeel::processor
