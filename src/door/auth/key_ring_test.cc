#include "door/auth/key_ring.h"

#include <optional>

#include <gtest/gtest.h>

#include "io/sim/disk.h"
#include "io/sim/scheduler.h"
#include "support/seed.h"

namespace evenkeel::door {
namespace {

const Secret first_key("k");

class KeyRingTest : public testing::Test {
protected:
    KeyRingTest() {
        EXPECT_TRUE(disk_.make_directory("data").ok());
        start();
    }
    void start() {
        ring_.emplace(loop_, metadata_, access_, Keys::load(disk_, "data").value(),
                      std::vector<Rule>{{"fixed", "", first_key, {}, {.send = true}}});
    }
    Result<Rule> create(const std::string& name) {
        std::optional<Result<Rule>> made;
        ring_->create({.name = name, .rights = {.listen = true}, .primary = first_key},
                      [&](Result<Rule> rule) { made = std::move(rule); });
        EXPECT_TRUE(scheduler_.run_until([&] { return made.has_value(); }, std::chrono::hours(1)));
        return std::move(*made);
    }
    bool knows(const std::string& name) { return access_.check_key(name, "k").ok(); }

    io::sim::Scheduler scheduler_{test::test_seed()};
    io::sim::SimLoop loop_{scheduler_, "loop/0"};
    io::sim::SimExecutor metadata_{scheduler_, "meta/0"};
    io::sim::Disk disk_;
    AccessRules access_{std::vector<Rule>{}};
    std::optional<KeyRing> ring_;
};

TEST_F(KeyRingTest, has_fixed_rules_and_stored_ones_in_force) {
    EXPECT_TRUE(knows("fixed"));
    EXPECT_FALSE(knows("app"));

    ASSERT_TRUE(create("app").ok());

    EXPECT_TRUE(knows("fixed"));
    EXPECT_TRUE(knows("app"));
    EXPECT_EQ(ring_->list().size(), 2u);
}

TEST_F(KeyRingTest, has_the_stored_ones_after_a_restart) {
    ASSERT_TRUE(create("app").ok());
    ring_.reset();
    access_.replace({});

    start();

    EXPECT_TRUE(knows("app"));
}

TEST_F(KeyRingTest, shows_nothing_that_is_not_durable) {
    disk_.set_capacity_bytes(0);

    const auto made = create("app");

    ASSERT_FALSE(made.ok());
    EXPECT_FALSE(knows("app"));
    EXPECT_EQ(ring_->find("app", "").error().code, ErrorCode::not_found);
}

TEST_F(KeyRingTest, prefers_a_configured_rule_to_a_stored_one) {
    ASSERT_TRUE(create("app").ok());
    const auto before = access_.generation();

    ring_->set_fixed({{"app", "", Secret("other"), {}, {true, true, true}}});

    EXPECT_GT(access_.generation(), before);
    EXPECT_FALSE(knows("fixed"));
    EXPECT_FALSE(knows("app"));
    EXPECT_TRUE(access_.check_key("app", "other").ok());
    EXPECT_EQ(ring_->list().size(), 1u);
    ring_->set_fixed({});
    EXPECT_TRUE(knows("app")) << "the stored one was only hidden";
}

TEST_F(KeyRingTest, drops_answers_when_it_goes) {
    bool answered = false;
    ring_->create({.name = "app", .rights = {.send = true}},
                  [&](const Result<Rule>&) { answered = true; });

    ring_.reset();
    EXPECT_TRUE(scheduler_.run_until_idle());

    EXPECT_FALSE(answered);
}

}  // namespace
}  // namespace evenkeel::door
