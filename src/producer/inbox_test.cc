#include "producer/inbox.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace evenkeel::producer {
namespace {

std::vector<std::string> lines_of(const Inbox::Events& events) {
    std::vector<std::string> lines;
    events.for_each([&](std::optional<std::uint32_t> partition, std::string_view key,
                        ByteView section) {
        lines.push_back((partition ? std::to_string(*partition) : "-") + " " + std::string(key) +
                        " " +
                        std::string(reinterpret_cast<const char*>(section.data()), section.size()));
    });
    return lines;
}

TEST(Inbox, gives_all_events_in_order) {
    Inbox inbox;
    EXPECT_TRUE(inbox.add({.partition = 3}, as_bytes("a")));
    EXPECT_FALSE(inbox.add({.partition_key = "home"}, as_bytes("bc")));
    EXPECT_FALSE(inbox.add({}, as_bytes("")));

    Inbox::Events events;
    inbox.take(events, true);

    EXPECT_EQ(lines_of(events), (std::vector<std::string>{"3  a", "- home bc", "-  "}));
    events.clear();
    inbox.take(events, true);
    EXPECT_TRUE(events.empty());
}

// SEND-5
TEST(Inbox, wakes_for_the_first_event_only_while_it_is_looked_at) {
    Inbox inbox;
    Inbox::Events events;
    EXPECT_TRUE(inbox.add({}, as_bytes("a")));
    EXPECT_FALSE(inbox.add({}, as_bytes("b")));

    inbox.take(events, true);
    events.clear();
    EXPECT_FALSE(inbox.add({}, as_bytes("c"))) << "there were events: it looks again";
    inbox.take(events, true);
    events.clear();
    inbox.take(events, true);
    EXPECT_TRUE(inbox.add({}, as_bytes("d"))) << "there were none: it does not";
    inbox.take(events, false);
    EXPECT_TRUE(inbox.add({}, as_bytes("e"))) << "it never does";
}

TEST(Inbox, wakes_once_when_much_has_come) {
    Inbox inbox;
    Inbox::Events events;
    const std::string section(Inbox::wake_bytes / 4, 'x');
    int woken = 0;

    for (int i = 0; i < 10; ++i) woken += inbox.add({}, as_bytes(section)) ? 1 : 0;
    EXPECT_EQ(woken, 2) << "the first one, and much";
    inbox.take(events, true);
    events.clear();
    for (int i = 0; i < 10; ++i) woken += inbox.add({}, as_bytes(section)) ? 1 : 0;

    EXPECT_EQ(woken, 3);
}

TEST(Inbox, gives_the_memory_of_a_burst_back_and_works_on) {
    Inbox inbox;
    Inbox::Events events;
    (void)inbox.add({}, as_bytes(std::string(std::size_t{4} << 20, 'x')));
    inbox.take(events, true);
    events.clear();

    (void)inbox.add({}, as_bytes("a"));
    inbox.take(events, true);

    EXPECT_EQ(lines_of(events), (std::vector<std::string>{"-  a"}));
}

}  // namespace
}  // namespace evenkeel::producer
