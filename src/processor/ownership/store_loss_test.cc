// A store that is emptied or set back: under whole processors, and what one of them does then.
#include "processor/ownership/store_loss.h"

#include <chrono>

#include <gtest/gtest.h>

#include "processor/core_fixture.h"
#include "processor/ownership/store_mark.h"

namespace evenkeel::processor {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

class StoreLossTest : public testing::Test {
protected:
    void begin(const std::vector<std::string>& ids) {
        world_.append(50);
        for (const auto& id : ids) ASSERT_TRUE(world_.start(id).ok());
        ASSERT_TRUE(world_.run_until([&] { return world_.seen.size() == 50 * partitions; }));
        world_.scheduler.run_for(seconds(10));
    }
    void empty_the_store() { world_.server.restore(world_.group, {}); }
    bool have_ended(std::size_t count) {
        return world_.run_until([&] { return world_.endings.size() == count; }, minutes(1));
    }
    void expect_no_repeats() const {
        for (std::uint32_t p = 0; p < partitions; ++p) {
            const auto handled = world_.handled(p);
            EXPECT_EQ(handled, up_to(handled.back()));
        }
    }
    void expect_goes_on_with(const std::string& id) {
        world_.options.accept_store_loss = true;
        const Result<> started = world_.start(id);
        ASSERT_TRUE(started.ok()) << started.error().detail;
        const auto is_all = [&] {
            for (std::uint32_t p = 0; p < partitions; ++p) {
                if (world_.handled(p).back() < world_.hub.last({p}).value) return false;
            }
            return true;
        };
        EXPECT_TRUE(world_.run_until(is_all, minutes(1)));
        world_.scheduler.run_for(seconds(5));
    }

    World world_;
};

TEST_F(StoreLossTest, stops_all_members_and_stores_positions_again) {
    begin({"a", "b"});

    empty_the_store();
    world_.append(10);
    ASSERT_TRUE(have_ended(2));
    for (const auto& [id, why] : world_.endings) {
        EXPECT_EQ(why.code, ErrorCode::corrupt) << id;
        EXPECT_NE(why.detail.find("--accept-store-loss"), std::string::npos) << why.detail;
        EXPECT_EQ(world_.owned(id), 0U);
        world_.kill(id);
    }
    expect_no_repeats();

    EXPECT_EQ(world_.start("c").error().code, ErrorCode::corrupt) << "nobody accepted it";
    expect_goes_on_with("d");
    expect_no_repeats();
}

TEST_F(StoreLossTest, is_noticed_within_a_heartbeat) {
    begin({"a", "b"});

    empty_the_store();

    EXPECT_TRUE(world_.run_until([&] { return world_.endings.size() == 2; }, seconds(3)));
}

TEST_F(StoreLossTest, is_noticed_when_an_older_copy_is_put_back) {
    begin({"a"});
    const checkpoint::Table copy = world_.server.snapshot(world_.group);
    world_.append(50);
    world_.scheduler.run_for(6 * store_mark_period(standard_timing()));

    world_.server.restore(world_.group, copy);
    ASSERT_TRUE(have_ended(1));
    EXPECT_NE(world_.ended->detail.find("older copy"), std::string::npos) << world_.ended->detail;
    world_.kill("a");

    expect_goes_on_with("b");
    for (std::uint32_t p = 0; p < partitions; ++p) EXPECT_EQ(world_.handled(p), up_to(99));
}

TEST_F(StoreLossTest, makes_a_newcomer_wait_for_members_that_know_better) {
    begin({"a", "b"});

    empty_the_store();
    const Result<> started = world_.start("c");  // to which the store looks new
    if (!started.ok()) {
        EXPECT_EQ(started.error().code, ErrorCode::corrupt) << "the others were faster";
    }
    ASSERT_TRUE(have_ended(started.ok() ? 3 : 2));

    expect_no_repeats();
}

TEST_F(StoreLossTest, is_not_what_a_store_that_fails_looks_like) {
    begin({"a", "b"});

    world_.faults.outage = true;
    world_.scheduler.run_for(minutes(1));
    world_.faults.outage = false;
    world_.append(10);

    ASSERT_TRUE(world_.run_until([&] { return world_.seen.size() >= 60 * partitions; }));
    EXPECT_TRUE(world_.endings.empty());
    expect_no_repeats();
}

TEST_F(StoreLossTest, that_was_accepted_is_not_reported_again_by_a_late_member) {
    begin({"a", "b"});
    world_.nodes["b"]->loop.pause(seconds(60));
    empty_the_store();
    ASSERT_TRUE(have_ended(1));
    world_.kill("a");
    world_.options.accept_store_loss = true;
    ASSERT_TRUE(world_.start("c").ok());

    ASSERT_TRUE(world_.run_until([&] { return world_.endings.contains("b"); }, minutes(2)));
    world_.append(10);

    EXPECT_NE(world_.ended->detail.find("Start it again"), std::string::npos);
    EXPECT_TRUE(world_.run_until([&] { return world_.owned("c") == partitions; }));
    world_.scheduler.run_for(seconds(30));
    EXPECT_FALSE(world_.endings.contains("c"));
    EXPECT_TRUE(world_.records(store_lost_key).empty());
}

TEST_F(StoreLossTest, is_accepted_by_several_at_once) {
    begin({"a"});
    empty_the_store();
    ASSERT_TRUE(have_ended(1));
    world_.kill("a");

    world_.options.accept_store_loss = true;
    int started = 0;
    for (const std::string id : {"c", "d", "e"}) {
        world_.nodes[id] = std::make_unique<World::Node>(world_, id, world_.options);
        world_.nodes[id]->core->start([&](const Result<>& result) { started += result.ok(); });
    }
    ASSERT_TRUE(world_.run_until([&] { return started == 3; }));
    world_.append(10);

    ASSERT_TRUE(world_.run_until([&] { return world_.seen.size() >= 60 * partitions; }));
    world_.scheduler.run_for(seconds(30));
    EXPECT_EQ(world_.endings.size(), 1U) << "only the first";
    expect_no_repeats();
}

TEST_F(StoreLossTest, ends_soon_although_a_handler_runs) {
    begin({"a"});
    const std::size_t handled = world_.seen.size();
    world_.nodes["a"]->workers.set_latency(seconds(5), seconds(5));
    world_.append(10);
    world_.scheduler.run_for(milliseconds(100));

    empty_the_store();
    ASSERT_TRUE(have_ended(1));
    world_.kill("a");

    EXPECT_GT(world_.seen.size(), handled) << "what had begun was finished";
    expect_goes_on_with("b");
    expect_no_repeats();
}

// The part alone, with a processor that does what a test says.
class StoreLossPart : public testing::Test, private StoreLoss::Owner {
protected:
    checkpoint::Checkpoint at(std::uint32_t partition, std::int64_t sequence) const {
        return {.partition = {partition}, .sequence = {sequence}, .epoch = {3}};
    }
    std::map<std::uint32_t, std::int64_t> stored() const {
        std::map<std::uint32_t, std::int64_t> all;
        for (const auto& each : world_.server.snapshot(world_.group).checkpoints()) {
            all[each.partition.value] = each.sequence.value;
        }
        return all;
    }
    bool run_until_ended() {
        return world_.run_until([this] { return is_ended_; }, minutes(1));
    }

    std::vector<checkpoint::Checkpoint> progress() const override { return progress_; }
    bool has_pumps() const override { return has_pumps_; }
    bool is_handling() const override { return is_handling_; }
    void abandon() override {
        is_abandoned_ = true;
        has_pumps_ = false;
    }
    void on_loss_ended() override { is_ended_ = true; }

    World world_;
    io::sim::SimLoop loop_{world_.scheduler, "a"};
    checkpoint::FaultyStore store_{
        loop_, world_.store_loop,
        std::make_shared<checkpoint::MemoryStore>(world_.store_loop, world_.server, world_.group),
        world_.faults, world_.scheduler.fork_random()};
    Random random_{test::test_seed()};
    std::vector<checkpoint::Checkpoint> progress_;
    bool has_pumps_ = true;
    bool is_handling_ = false;
    bool is_abandoned_ = false;
    bool is_ended_ = false;
    StoreLoss loss_{{loop_, store_, random_, world_.options}, *this};
};

TEST_F(StoreLossPart, stores_what_pumps_know_and_what_was_remembered) {
    progress_ = {at(0, 9)};
    loss_.remember(at(1, 5));
    loss_.remember(at(1, 3));  // the furthest counts
    loss_.remember(at(2, -1));

    loss_.begin("first", false);
    ASSERT_TRUE(run_until_ended());

    EXPECT_EQ(stored(), (std::map<std::uint32_t, std::int64_t>{{0, 9}, {1, 5}}));
    const auto lost = world_.records(store_lost_key);
    ASSERT_EQ(lost.size(), 1u);
    EXPECT_EQ(decode_store_lost(lost[0].value).incarnation, "first");
    EXPECT_TRUE(is_abandoned_);
}

TEST_F(StoreLossPart, stores_what_calls_achieve_that_still_run) {
    is_handling_ = true;
    progress_ = {at(0, 9)};
    loss_.begin("first", false);
    world_.scheduler.run_for(seconds(5));
    EXPECT_EQ(stored().at(0), 9);
    EXPECT_FALSE(is_abandoned_);

    progress_ = {at(0, 12)};
    is_handling_ = false;

    ASSERT_TRUE(run_until_ended());
    EXPECT_EQ(stored().at(0), 12);
}

TEST_F(StoreLossPart, does_not_wait_for_ever_for_a_call) {
    world_.options.drain_max = seconds(10);
    is_handling_ = true;

    loss_.begin("first", false);
    world_.scheduler.run_for(seconds(9));
    EXPECT_FALSE(is_ended_);
    world_.scheduler.run_for(seconds(2));

    EXPECT_TRUE(is_ended_);
}

TEST_F(StoreLossPart, tries_a_store_that_does_not_answer_only_a_few_times) {
    progress_ = {at(0, 9)};
    world_.faults.outage = true;

    loss_.begin("first", false);

    ASSERT_TRUE(run_until_ended());
    EXPECT_TRUE(stored().empty());
    EXPECT_LT(store_.requests(), 10u);
}

TEST_F(StoreLossPart, stores_nothing_if_the_loss_was_accepted) {
    progress_ = {at(0, 9)};

    loss_.begin("first", true);
    ASSERT_TRUE(run_until_ended());

    EXPECT_EQ(store_.requests(), 0u);
    EXPECT_TRUE(is_abandoned_);
}

TEST_F(StoreLossPart, stores_nothing_of_what_the_store_has_with_its_results) {
    world_.options.delivery = Delivery::exactly_once;
    progress_ = {at(0, 9)};

    loss_.begin("first", false);
    ASSERT_TRUE(run_until_ended());

    EXPECT_TRUE(stored().empty());
}

}  // namespace
}  // namespace evenkeel::processor
