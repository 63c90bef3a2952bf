#include "door/amqp/link_table.h"

#include <gtest/gtest.h>

#include "door/amqp/link_fixture.h"

namespace evenkeel::door {
namespace {

class Hanging final : public PeerLink {
public:
    explicit Hanging(int& gone) : gone_(gone) {}
    ~Hanging() override { ++gone_; }

private:
    int& gone_;
};

std::int64_t links(LinkFixture& door, std::string_view role) {
    return door.metrics.gauge("evenkeel_links", "", {{"role", role}}).value();
}

TEST(LinkTable, has_the_links_in_the_order_they_came) {
    int gone = 0;
    LinkFixture door;
    amqp::Link& first = door.attach();
    amqp::Link& second = door.attach(amqp::Role::receiver);

    door.links().add(first, std::make_unique<Hanging>(gone));
    door.links().add(second, std::make_unique<Hanging>(gone));

    ASSERT_EQ(door.links().entries().size(), 2u);
    EXPECT_EQ(door.links().entries()[0].link, &first);
    EXPECT_EQ(door.links().entries()[1].user, LinkTable::user_of(second));
    EXPECT_EQ(links(door, "sender"), 1);
    EXPECT_EQ(links(door, "receiver"), 1);
}

TEST(LinkTable, destroys_what_hung_on_a_removed_link_at_once) {
    int gone = 0;
    LinkFixture door;
    amqp::Link& link = door.attach();
    door.links().add(link, std::make_unique<Hanging>(gone));

    door.links().remove(link);
    door.links().remove(link);

    EXPECT_EQ(gone, 1);
    EXPECT_TRUE(door.links().empty());
    EXPECT_EQ(LinkTable::user_of(link), nullptr);
    EXPECT_EQ(links(door, "sender"), 0) << "counted once";
}

TEST(LinkTable, keeps_what_hung_on_a_dropped_link_until_the_answer) {
    int gone = 0;
    LinkFixture door;
    amqp::Link& link = door.attach();
    door.links().add(link, std::make_unique<Hanging>(gone));
    door.frames();

    door.links().drop(link, {"amqp:link:detach-forced", "why"});

    EXPECT_TRUE(door.links().empty());
    EXPECT_EQ(gone, 0) << "it may be the caller";
    const auto detached = amqp::all<amqp::Detach>(door.frames());
    ASSERT_EQ(detached.size(), 1u);
    EXPECT_EQ(detached[0].error->description, "why");
    door.frame(amqp::Detach{0, true, std::nullopt});
    EXPECT_EQ(gone, 1);
}

TEST(LinkTable, forgets_that_a_link_waits_for_room) {
    int gone = 0;
    LinkFixture door;
    amqp::Link& link = door.attach(amqp::Role::receiver);
    door.links().add(link, std::make_unique<Hanging>(gone));
    door.wire().wait_for_room(link);

    door.links().remove(link);
    door.wire().flush();
    door.client.take();

    EXPECT_TRUE(door.has_room.empty());
}

TEST(LinkTable, tells_since_when_there_is_no_link) {
    int gone = 0;
    LinkFixture door;
    amqp::Link& link = door.attach();
    door.links().add(link, std::make_unique<Hanging>(gone));
    const Instant before = door.links().unused_since();
    door.world.scheduler.run_for(1min);

    door.links().remove(link);

    EXPECT_EQ(door.links().unused_since() - before, Duration(1min));
}

}  // namespace
}  // namespace evenkeel::door
