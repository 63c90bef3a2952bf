#include "processor/options.h"

#include <gtest/gtest.h>

namespace evenkeel::processor {
namespace {

ProcessorOptions good() {
    ProcessorOptions options;
    options.hub = "amqp://localhost/homes";
    options.store = "memory:";
    return options;
}

TEST(ProcessorOptions, name_one_hub) {
    ProcessorOptions options{.hub = "amqp://localhost/homes", .event_hub = "homes"};
    options.store = "memory:";
    // Not used: it is only compared with null.
    options.hub_here = reinterpret_cast<Hub*>(&options);

    const auto checked = check(options);

    ASSERT_FALSE(checked.ok());
    EXPECT_EQ(checked.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(checked.error().detail.find("hub_here"), std::string::npos);
}

TEST(ProcessorOptions, are_fine_with_a_hub_and_a_store) {
    EXPECT_TRUE(check(good()).ok());
}

TEST(ProcessorOptions, name_what_is_wrong_with_them) {
    const auto wrong = [](const std::function<void(ProcessorOptions&)>& change) {
        ProcessorOptions options = good();
        change(options);
        const auto result = check(options);
        if (result.ok()) return std::string();
        EXPECT_EQ(result.error().code, ErrorCode::invalid_argument);
        return result.error().detail.substr(0, result.error().detail.find(':'));
    };

    EXPECT_EQ(wrong([](auto& o) { o.hub.clear(); }), "hub");
    EXPECT_EQ(wrong([](auto& o) { o.group.clear(); }), "group");
    EXPECT_EQ(wrong([](auto& o) { o.store.clear(); }), "store");
    EXPECT_EQ(wrong([](auto& o) { o.batch_events_max = 0; }), "batch_events_max");
    EXPECT_EQ(wrong([](auto& o) { o.batch_events_min = 10; }), "max_wait");
    EXPECT_EQ(wrong([](auto& o) { o.retry.attempts_max = 0; }), "retry.attempts_max");
    EXPECT_EQ(wrong([](auto& o) {
                  o.checkpoints.every_events = 0;
                  o.checkpoints.every = {};
              }),
              "checkpoints");
}

TEST(ProcessorOptions, send_dead_letters_to_a_hub_beside_or_elsewhere_but_not_back) {
    ProcessorOptions options = good();
    options.dead_letter_hub = "letters";
    EXPECT_TRUE(check_letters(options, {"localhost", "homes"}).ok());
    EXPECT_EQ(letter_options(options, nullptr).event_hub, "letters");
    EXPECT_EQ(letter_options(options, nullptr).client.connection, options.hub);

    options.dead_letter_hub = "Homes";
    EXPECT_EQ(check_letters(options, {"localhost", "homes"}).error().code,
              ErrorCode::invalid_argument);
    options.dead_letter_hub = "amqp://elsewhere/homes";
    EXPECT_TRUE(check_letters(options, {"localhost", "homes"}).ok());
    EXPECT_EQ(letter_options(options, nullptr).event_hub, "");
    EXPECT_EQ(letter_options(options, nullptr).client.connection, "amqp://elsewhere/homes");
}

TEST(ProcessorOptions, let_a_handler_drain_before_leaving_is_given_up) {
    ProcessorOptions options = good();
    EXPECT_GT(coordination(options, checkpoint::Pace::quick, "1", "").timing.leave_max,
              Duration(options.drain_max));

    options.drain_max = std::chrono::minutes(5);
    EXPECT_GT(coordination(options, checkpoint::Pace::quick, "1", "").timing.leave_max,
              Duration(options.drain_max));

    options.drain_max = std::chrono::milliseconds(1);
    EXPECT_EQ(coordination(options, checkpoint::Pace::quick, "1", "").timing.leave_max,
              standard_timing().leave_max);
}

TEST(ProcessorOptions, keep_to_the_pace_of_the_store_unless_haste_is_asked_for) {
    ProcessorOptions options = good();
    using checkpoint::Pace;
    EXPECT_EQ(coordination(options, Pace::quick, "1", "").timing.dead, standard_timing().dead);
    EXPECT_EQ(coordination(options, Pace::thrifty, "1", "").timing.dead, thrifty_timing().dead);

    options.profile = Profile::fast;
    EXPECT_EQ(coordination(options, Pace::thrifty, "1", "").timing.dead, fast_timing().dead);
    EXPECT_TRUE(coordination(options, Pace::thrifty, "1", "").may_be_mixed);
    EXPECT_FALSE(coordination(options, Pace::quick, "1", "").may_be_mixed);
}

TEST(ProcessorOptions, take_manual_checkpoints_with_at_least_once_only) {
    ProcessorOptions options = good();
    options.checkpoints.manual = true;
    EXPECT_TRUE(check(options).ok());

    for (const Delivery other : {Delivery::at_most_once, Delivery::exactly_once}) {
        options.delivery = other;
        EXPECT_EQ(check(options).error().code, ErrorCode::invalid_argument);
    }
}

TEST(Failures, read_as_one_line) {
    EXPECT_EQ(to_text({ErrorScope::source, 3, "read", Error{ErrorCode::unavailable, "gone"}, true,
                       std::chrono::milliseconds(200)}),
              "partition 3: read: unavailable: gone; again in 200 ms");
}

}  // namespace
}  // namespace evenkeel::processor
