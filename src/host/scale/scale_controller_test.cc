#include "host/scale/scale_controller.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "host/scale/scale_fixture.h"

namespace evenkeel::host {
namespace {

using Kind = ControllerAction::Kind;
using std::chrono::seconds;

// An app whose instances become ready at once, unless a test says otherwise.
class Scaled {
public:
    explicit Scaled(ScalePolicy policy = {.min = 1}, std::size_t functions = 1)
        : controller_({.functions = std::vector<ScaledFunction>(functions, {"f", policy}),
                       .name = "app",
                       .drain_max = seconds(10)}) {}

    // The count of actions of a kind in one round with so many unread events.
    int round(std::int64_t second, std::int64_t unread, Kind kind, std::size_t function = 0) {
        controller_.note(function, spread_load(10, unread), at_second(second));
        return obey(controller_.decide(at_second(second)), second, kind);
    }
    int obey(const ControllerActions& actions, std::int64_t second, Kind kind) {
        int count = 0;
        for (const auto& action : actions) {
            if (action.kind == kind) ++count;
            if (action.kind == Kind::start) controller_.is_ready(action.name, at_second(second));
            if (action.kind == Kind::drain)
                controller_.has_ended(action.name, "0", at_second(second));
        }
        return count;
    }
    ScaleController& operator*() { return controller_; }
    ScaleController* operator->() { return &controller_; }

private:
    ScaleController controller_;
};

TEST(ScaleController, starts_min_before_anything_was_read) {
    Scaled app({.min = 2});

    const auto actions = app->decide(at_second(0));

    EXPECT_EQ(actions, (ControllerActions{{Kind::start, "app-1"}, {Kind::start, "app-2"}}));
    EXPECT_TRUE(app->decisions().at(0).unknown);
}

TEST(ScaleController, grows_with_the_lag_up_to_one_per_partition) {
    Scaled app;

    EXPECT_EQ(app.round(0, 10, Kind::start), 1);
    EXPECT_EQ(app.round(2, 190, Kind::start), 1);
    EXPECT_EQ(app.round(4, 1000, Kind::start), 4) << "a step adds four, or doubles";
    EXPECT_EQ(app.round(6, 1000, Kind::start), 4);
    EXPECT_EQ(app.round(8, 100'000, Kind::start), 0);

    EXPECT_EQ(app->instances(), 10u);
}

TEST(ScaleController, settles_when_no_step_and_no_checkpoint_is_missing) {
    Scaled app;

    app.round(0, 1000, Kind::start);
    EXPECT_TRUE(app->is_settling()) << "more will follow";
    while (app->instances() < 10) app.round(2, 1000, Kind::start);
    app.round(4, 1000, Kind::start);
    EXPECT_FALSE(app->is_settling());
    app->note(0, {{{.unread = 5, .position = -1, .last = 4}}}, at_second(6));
    app->decide(at_second(6));
    EXPECT_TRUE(app->is_settling()) << "nobody knows yet how fast it goes";
}

TEST(ScaleController, has_no_more_than_the_default_max_of_processes) {
    Scaled app;
    for (int second = 0; second < 20; second += 2) {
        app->note(0, spread_load(100, 1'000'000), at_second(second));
        app.obey(app->decide(at_second(second)), second, Kind::start);
    }

    EXPECT_EQ(app->instances(), ScaleController::default_max);
    EXPECT_EQ(app->decisions().at(0).above, ScaleDecision::Above::max);
}

TEST(ScaleController, wants_what_the_neediest_function_wants) {
    Scaled app({.min = 1}, 2);
    app->note(1, spread_load(10, 0), at_second(0));

    app.round(0, 300, Kind::start);

    EXPECT_EQ(app->instances(), 3u);
    EXPECT_EQ(app->leader(), 0u);
}

TEST(ScaleController, holds_all_while_one_function_cannot_be_read) {
    Scaled app({.min = 1}, 2);
    app->note(1, spread_load(10, 0), at_second(0));
    app.round(0, 400, Kind::start);
    app->note_unknown(1, "out of reach");

    for (int second = 2; second < 1000; second += 2) {
        ASSERT_EQ(app.round(second, 0, Kind::drain), 0) << second;
    }

    EXPECT_EQ(app->instances(), 4u);
}

TEST(ScaleController, drains_the_instances_that_own_the_fewest) {
    Scaled app;
    app.round(0, 300, Kind::start);
    app->note_owned({{"app-1", 0}, {"app-2", 9}, {"app-3", 1}});

    for (int second = 2; second < 400; second += 2) app.round(second, 0, Kind::drain);

    ASSERT_EQ(app->instances(), 1u);
    EXPECT_EQ(app->slots().at(0).name, "app-2");
}

TEST(ScaleController, starts_an_instance_that_ended_after_a_pause) {
    Scaled app;
    app.round(0, 0, Kind::start);

    app->has_ended("app-1", "signal 9", at_second(1));

    EXPECT_TRUE(app->tick(at_second(1)).empty());
    EXPECT_EQ(app->tick(at_second(2)), (ControllerActions{{Kind::start, "app-2"}}));
    EXPECT_EQ(app->slots().at(0).last_end, "signal 9");
    EXPECT_EQ(app->instances(), 1u);
}

TEST(ScaleController, waits_longer_for_one_that_ends_again_and_again) {
    Scaled app;
    app.round(0, 0, Kind::start);
    std::vector<Duration> pauses;
    Instant now = at_second(1);
    for (int i = 0; i < 12; ++i) {
        app->has_ended(app->slots().at(0).name, "exit code 1", now);
        pauses.push_back(app->slots().at(0).until - now);
        now = app->slots().at(0).until;
        ASSERT_EQ(app->tick(now).size(), 1u);
    }

    EXPECT_LE(pauses.front(), std::chrono::milliseconds(120));
    EXPECT_GE(pauses.back(), seconds(24));
    EXPECT_LE(pauses.back(), seconds(36));
    app->is_ready(app->slots().at(0).name, now);
    now = now + seconds(60);
    app->has_ended(app->slots().at(0).name, "exit code 1", now);
    EXPECT_LE(app->slots().at(0).until - now, std::chrono::milliseconds(120));
}

TEST(ScaleController, starts_no_more_of_an_app_that_does_not_run) {
    Scaled app;
    app->note(0, spread_load(10, 0), at_second(0));
    app->decide(at_second(0));
    app->has_ended("app-1", "exit code 1", at_second(1));

    EXPECT_EQ(app.round(2, 100'000, Kind::start), 0);
    EXPECT_TRUE(app->is_failing());

    app.obey(app->tick(at_second(3)), 3, Kind::start);
    EXPECT_GT(app.round(4, 100'000, Kind::start), 0);
}

TEST(ScaleController, kills_what_does_not_drain_in_time) {
    Scaled app;
    app.round(0, 0, Kind::start);

    const auto asked = app->stop(at_second(5));
    EXPECT_EQ(asked, (ControllerActions{{Kind::drain, "app-1"}}));
    EXPECT_TRUE(app->tick(at_second(5 + 10)).empty());
    EXPECT_EQ(app->tick(at_second(5 + 25)), (ControllerActions{{Kind::kill, "app-1"}}));
    EXPECT_TRUE(app->tick(at_second(5 + 26)).empty()) << "once";

    EXPECT_FALSE(app->is_stopped());
    app->has_ended("app-1", "signal 9", at_second(31));
    EXPECT_TRUE(app->is_stopped());
}

TEST(ScaleController, never_kills_one_that_runs) {
    Scaled app;
    app.round(0, 0, Kind::start);

    for (int second = 0; second < 100'000; second += 100) {
        ASSERT_TRUE(app->tick(at_second(second)).empty());
    }
}

TEST(ScaleController, kills_one_that_does_not_become_ready) {
    Scaled app;
    app->decide(at_second(0));

    EXPECT_TRUE(app->tick(at_second(119)).empty());
    EXPECT_EQ(app->tick(at_second(120)), (ControllerActions{{Kind::kill, "app-1"}}));
    app->has_ended("app-1", "signal 9", at_second(121));

    EXPECT_EQ(app->instances(), 1u) << "it is started again";
}

TEST(ScaleController, starts_nothing_once_it_stops) {
    Scaled app;
    app.round(0, 300, Kind::start);
    app->has_ended("app-2", "signal 9", at_second(1));

    const auto actions = app->stop(at_second(1));

    EXPECT_EQ(actions.size(), 2u) << "one waits to be started again: there is nothing to drain";
    EXPECT_TRUE(app->decide(at_second(2)).empty());
    app->has_ended("app-1", "exit code 0", at_second(2));
    app->has_ended("app-3", "exit code 0", at_second(2));
    EXPECT_TRUE(app->tick(at_second(200)).empty());
    EXPECT_TRUE(app->is_stopped());
}

TEST(ScaleController, ignores_instances_that_it_does_not_know) {
    Scaled app;
    app.round(0, 0, Kind::start);

    app->is_ready("other", at_second(1));
    app->has_ended("other", "signal 9", at_second(1));

    EXPECT_EQ(app->instances(), 1u);
}

}  // namespace
}  // namespace evenkeel::host
