#include "processor/ownership/coordinator.h"

#include <list>
#include <map>
#include <memory>
#include <set>

#include <gtest/gtest.h>

#include "checkpoint/faulty_store.h"
#include "checkpoint/memory/store.h"
#include "io/sim/scheduler.h"
#include "support/seed.h"

namespace evenkeel::processor {
namespace {

using namespace std::chrono_literals;
using checkpoint::Faults;
using checkpoint::FaultyStore;
using checkpoint::MemoryServer;
using checkpoint::MemoryStore;
using io::sim::Scheduler;
using io::sim::SimLoop;

// Opens at once and closes at once; remembers with which epochs.
class PlainHost final : public PartitionHost {
public:
    explicit PlainHost(io::Loop& loop) : loop_(loop) {}
    void open(PartitionId partition, Epoch epoch) override {
        EXPECT_TRUE(open_.emplace(partition, epoch).second);
    }
    void close(PartitionId partition, CloseReason, Task done) override {
        open_.erase(partition);
        loop_.post(std::move(done));
    }
    const std::map<PartitionId, Epoch>& opened() const { return open_; }

private:
    io::Loop& loop_;
    std::map<PartitionId, Epoch> open_;
};

// The far end of an instance's way to the store. Requests on their way keep it: they arrive after
// the instance has gone, as they would at a server elsewhere.
struct Remote {
    Remote(SimLoop& server_loop, MemoryServer& server)
        : store(server_loop, server, checkpoint::GroupName{"n", "hub", "group"}) {}

    Faults faults;
    MemoryStore store;
};

// One processor with a way to the store that may go wrong.
struct Instance {
    Instance(Scheduler& scheduler, SimLoop& server_loop, MemoryServer& server,
             CoordinatorOptions options)
        : remote(std::make_shared<Remote>(server_loop, server)),
          loop(scheduler, options.id),
          store(loop, server_loop, std::shared_ptr<checkpoint::Store>(remote, &remote->store),
                remote->faults, scheduler.fork_random()),
          host(loop) {
        options.on_ended = [this](Error error) { ended = std::move(error); };
        options.on_failure = [this](const Failure&) { ++failures; };
        coordinator = std::make_unique<Coordinator>(loop, store, host, std::move(options),
                                                    scheduler.fork_random());
    }
    void start(std::uint32_t partitions) {
        coordinator->start(partitions, [this](Result<> result) { started = std::move(result); });
    }
    std::size_t count() const { return host.opened().size(); }

    const std::shared_ptr<Remote> remote;
    Faults& faults = remote->faults;
    SimLoop loop;
    FaultyStore store;
    PlainHost host;
    std::unique_ptr<Coordinator> coordinator;
    std::optional<Result<>> started;
    std::optional<Error> ended;
    int failures = 0;
};

class CoordinatorTest : public testing::Test {
protected:
    std::unique_ptr<Instance> make(const std::string& id, const std::string& incarnation = "1") {
        CoordinatorOptions options{.id = id, .incarnation = incarnation};
        options.exclusive_source = is_exclusive_;
        return std::make_unique<Instance>(scheduler_, server_loop_, server_, options);
    }

    // A store whose clock can be set, empty, until the test ends.
    MemoryServer& make_server() {
        return servers_.emplace_back(scheduler_.clock(), MemoryServer::Options{.is_steady = false});
    }

    bool is_exclusive_ = false;
    Scheduler scheduler_{test::test_seed()};
    MemoryServer server_{scheduler_.clock()};
    std::list<MemoryServer> servers_;
    SimLoop server_loop_{scheduler_, "store"};  // the first to go, with what is on its way
};

TEST_F(CoordinatorTest, one_alone_takes_all_and_releases_all_when_it_leaves) {
    auto a = make("a");
    a->start(4);
    scheduler_.run_for(3s);
    ASSERT_TRUE(a->started && a->started->ok());
    EXPECT_EQ(a->count(), 4U);
    EXPECT_TRUE(a->coordinator->may_act({0}));
    EXPECT_TRUE(a->coordinator->status().is_balanced);

    bool is_gone = false;
    a->coordinator->leave([&] { is_gone = true; });
    scheduler_.run_for(2s);

    EXPECT_TRUE(is_gone);
    EXPECT_EQ(a->count(), 0U);
    EXPECT_FALSE(a->coordinator->may_act({0}));
    const auto table = server_.snapshot({"n", "hub", "group"});
    EXPECT_TRUE(table.members({scheduler_.now(), {}}).empty());
    for (const auto& entry : table.ownerships({scheduler_.now(), {}})) EXPECT_EQ(entry.owner, "");
}

TEST_F(CoordinatorTest, hands_over_in_peace_to_one_that_joins) {
    auto a = make("a");
    a->start(8);
    scheduler_.run_for(3s);

    auto b = make("b");
    b->start(8);
    scheduler_.run_for(5s);

    EXPECT_EQ(a->count(), 4U);
    EXPECT_EQ(b->count(), 4U);
    EXPECT_EQ(a->coordinator->status().handed_over, 4U);
    EXPECT_EQ(a->coordinator->status().lost, 0U);
    for (const auto& [partition, epoch] : b->host.opened()) EXPECT_GT(epoch.value, 1);
    EXPECT_NE(b->coordinator->explain().find("nothing to move"), std::string::npos)
        << b->coordinator->explain();
}

TEST_F(CoordinatorTest, one_that_leaves_gives_to_one_that_comes_at_once) {
    auto a = make("a");
    auto b = make("b");
    a->start(8);
    b->start(8);
    scheduler_.run_for(10s);
    ASSERT_EQ(a->count(), 4U);

    auto c = make("c");
    bool has_left = false;
    a->coordinator->leave([&] { has_left = true; });
    c->start(8);
    scheduler_.run_for(10s);

    EXPECT_TRUE(has_left);
    EXPECT_EQ(b->count(), 4U);
    EXPECT_EQ(c->count(), 4U);
    EXPECT_EQ(b->coordinator->status().received, 0U) << "each moves once";
    EXPECT_EQ(b->coordinator->status().handed_over, 0U);
}

// OWN-5: before any timer or answer has run.
TEST_F(CoordinatorTest, may_not_act_after_the_lease_whatever_runs_first) {
    auto a = make("a");
    a->start(2);
    scheduler_.run_for(3s);
    ASSERT_TRUE(a->coordinator->may_act({0}));

    a->loop.pause(10s);
    scheduler_.run_for(standard_timing().lease);

    EXPECT_FALSE(a->coordinator->may_act({0}));
    scheduler_.run_for(10s);
    EXPECT_TRUE(a->coordinator->may_act({0})) << "it comes back by itself";
    EXPECT_GT(a->host.opened().at({0}).value, 1) << "under a new epoch";
}

TEST_F(CoordinatorTest, with_exclusive_readers_it_reads_on_while_the_store_is_away) {
    is_exclusive_ = true;
    auto a = make("a");
    a->start(2);
    scheduler_.run_for(3s);

    a->faults.outage = true;
    scheduler_.run_for(30s);
    EXPECT_TRUE(a->coordinator->may_act({0}));
    EXPECT_GT(a->failures, 5);
    a->faults.outage = false;
    scheduler_.run_for(3s);

    EXPECT_EQ(a->host.opened().at({0}).value, 1) << "it was never closed";
}

TEST_F(CoordinatorTest, a_regained_lease_covers_only_what_is_written_under_it) {
    is_exclusive_ = true;
    auto a = make("a");
    a->start(1);
    scheduler_.run_for(3s);
    EXPECT_FALSE(a->coordinator->hangs_on_reader({0}));

    a->faults.outage = true;
    scheduler_.run_for(7s);
    EXPECT_TRUE(a->coordinator->may_act({0}));
    EXPECT_TRUE(a->coordinator->hangs_on_reader({0}));

    a->faults.outage = false;
    const auto epoch = a->host.opened().at({0});
    ASSERT_TRUE(scheduler_.run_until([&] { return a->coordinator->status().is_leased; }, 5s));
    EXPECT_TRUE(a->coordinator->hangs_on_reader({0})) << "somebody may just be taking it";
    scheduler_.run_for(3s);
    EXPECT_FALSE(a->coordinator->hangs_on_reader({0}));
    EXPECT_EQ(a->host.opened().at({0}), epoch) << "it was read all the time";
}

TEST_F(CoordinatorTest, a_second_one_with_a_living_id_is_refused) {
    auto a = make("a", "1");
    a->start(2);
    scheduler_.run_for(5s);

    auto twin = make("a", "2");
    twin->start(2);
    scheduler_.run_for(10s);

    ASSERT_TRUE(twin->started);
    ASSERT_FALSE(twin->started->ok());
    EXPECT_EQ(twin->started->error().code, ErrorCode::conflict);
    EXPECT_NE(twin->started->error().detail.find("id 'a' is running"), std::string::npos);
    EXPECT_EQ(a->count(), 2U);
    EXPECT_FALSE(a->ended);
}

TEST_F(CoordinatorTest, of_two_that_start_with_one_id_at_once_one_is_refused) {
    auto one = make("a", "1");
    auto two = make("a", "2");
    one->start(2);
    two->start(2);
    scheduler_.run_for(10s);

    ASSERT_TRUE(one->started && two->started);
    EXPECT_NE(one->started->ok(), two->started->ok());
    EXPECT_EQ(one->count() + two->count(), 2U);
}

TEST_F(CoordinatorTest, ends_when_a_newer_one_has_taken_its_id) {
    auto a = make("a", "1");
    a->start(2);
    scheduler_.run_for(5s);
    a->loop.pause(30s);
    scheduler_.run_for(10s);

    auto twin = make("a", "2");
    twin->start(2);
    scheduler_.run_for(40s);

    ASSERT_TRUE(twin->started && twin->started->ok());
    ASSERT_TRUE(a->ended);
    EXPECT_EQ(a->ended->code, ErrorCode::conflict);
    EXPECT_EQ(a->count(), 0U);
    EXPECT_EQ(twin->count(), 2U);
}

TEST_F(CoordinatorTest, leaving_ends_also_if_another_takes_the_id_meanwhile) {
    auto a = make("a", "1");
    a->start(2);
    scheduler_.run_for(5s);
    int left = 0;
    a->coordinator->leave([&] { ++left; });
    a->loop.pause(15s);
    scheduler_.run_for(1s);  // what it has sent arrives

    auto twin = make("a", "2");
    twin->start(2);
    scheduler_.run_for(17s);

    ASSERT_TRUE(twin->started && twin->started->ok());
    EXPECT_EQ(left, 1);
    EXPECT_FALSE(a->ended);
    EXPECT_EQ(twin->count(), 2U);
}

TEST_F(CoordinatorTest, a_restarted_member_waits_for_its_old_lease) {
    auto a = make("a", "1");
    auto other = make("b", "1");
    a->start(4);
    other->start(4);
    scheduler_.run_for(5s);
    const auto had = a->host.opened();
    a->loop.discard();
    a->coordinator.reset();

    auto again = make("a", "2");
    again->start(4);
    // Its entry may be another's heartbeat old, and must be silent for two; then the lease.
    scheduler_.run_for(9s);

    ASSERT_EQ(again->count(), had.size());
    for (const auto& [partition, epoch] : had) {
        EXPECT_GT(again->host.opened().at(partition), epoch);
    }
}

TEST_F(CoordinatorTest, a_cut_reader_is_reopened_under_a_higher_epoch_if_ours) {
    is_exclusive_ = true;
    auto a = make("a");
    a->start(1);
    scheduler_.run_for(3s);
    const Epoch before = a->host.opened().at({0});

    a->coordinator->on_fenced({0});
    EXPECT_FALSE(a->coordinator->may_act({0}));
    scheduler_.run_for(2s);

    EXPECT_GT(a->host.opened().at({0}), before);
}

// Somebody reads past the store. We do not attach more than once a second.
TEST_F(CoordinatorTest, does_not_fight_over_a_reader_that_is_cut_again_and_again) {
    is_exclusive_ = true;
    auto a = make("a");
    a->start(1);
    scheduler_.run_for(3s);
    int attached = 0;
    for (int i = 0; i < 600; ++i) {
        if (a->coordinator->may_act({0})) {
            ++attached;
            a->coordinator->on_fenced({0});
        }
        scheduler_.run_for(100ms);
    }

    EXPECT_LE(attached, 10);
    EXPECT_GE(attached, 4);
}

TEST_F(CoordinatorTest, takes_new_partitions_of_a_hub_that_grows) {
    auto a = make("a");
    a->start(2);
    scheduler_.run_for(3s);

    a->coordinator->set_partitions(6);
    scheduler_.run_for(2s);

    EXPECT_EQ(a->count(), 6U);
}

TEST_F(CoordinatorTest, bad_options_are_refused_by_name) {
    CoordinatorOptions options{.id = "a", .incarnation = "1"};
    options.timing.lease = options.timing.dead;
    Instance a(scheduler_, server_loop_, server_, options);
    a.start(1);
    scheduler_.run_for(1s);
    ASSERT_TRUE(a.started && !a.started->ok());
    EXPECT_EQ(a.started->error().code, ErrorCode::invalid_argument);
    EXPECT_NE(a.started->error().detail.find("lease"), std::string::npos);

    auto none = make("b");
    none->start(0);
    scheduler_.run_for(1s);
    ASSERT_TRUE(none->started && !none->started->ok());
    EXPECT_NE(none->started->error().detail.find("partition"), std::string::npos);
}

TEST_F(CoordinatorTest, waits_for_a_store_that_is_away_at_the_start_and_says_so) {
    auto a = make("a");
    a->faults.outage = true;
    a->start(2);
    scheduler_.run_for(10s);
    EXPECT_FALSE(a->started);
    EXPECT_GT(a->failures, 3);
    EXPECT_LT(a->failures, 12) << "backs off";

    a->faults.outage = false;
    scheduler_.run_for(5s);

    ASSERT_TRUE(a->started && a->started->ok());
    EXPECT_EQ(a->count(), 2U);
}

// Trap 12: an error storm backs off.
TEST_F(CoordinatorTest, an_outage_makes_few_requests) {
    auto a = make("a");
    a->start(8);
    scheduler_.run_for(5s);
    a->faults.outage = true;
    const std::uint64_t before = a->coordinator->status().requests;

    scheduler_.run_for(60s);

    // Heartbeats every half second, listings every two.
    EXPECT_LT(a->coordinator->status().requests - before, 250U);
}

TEST_F(CoordinatorTest, steps_of_the_stores_clock_move_nothing) {
    for (const Duration step : {Duration(5s), Duration(600s), Duration(-600s)}) {
        MemoryServer& server = make_server();
        const auto make_fast = [&](const std::string& id) {
            CoordinatorOptions options{.id = id, .incarnation = "1"};
            options.timing = fast_timing();
            return std::make_unique<Instance>(scheduler_, server_loop_, server, options);
        };
        auto a = make_fast("a");
        auto b = make_fast("b");
        a->start(8);
        b->start(8);
        scheduler_.run_for(10s);
        const auto claims = a->coordinator->status().claims + b->coordinator->status().claims;

        for (int i = 0; i < 25; ++i) {
            server.step_clock(step);
            scheduler_.run_for(1s);
        }

        EXPECT_EQ(a->count(), 4U);
        EXPECT_EQ(b->count(), 4U);
        for (const auto* each : {a.get(), b.get()}) {
            EXPECT_EQ(each->coordinator->status().lost, 0U);
            EXPECT_EQ(each->coordinator->status().handed_over, 0U);
        }
        EXPECT_EQ(a->coordinator->status().claims + b->coordinator->status().claims, claims);
    }
}

TEST_F(CoordinatorTest, a_step_of_the_stores_clock_gives_no_twin_the_id) {
    MemoryServer& server = make_server();
    Instance a(scheduler_, server_loop_, server, {.id = "a", .incarnation = "1"});
    a.start(2);
    scheduler_.run_for(5s);

    server.step_clock(600s);
    Instance twin(scheduler_, server_loop_, server, {.id = "a", .incarnation = "2"});
    twin.start(2);
    scheduler_.run_for(10s);

    ASSERT_TRUE(twin.started && !twin.started->ok());
    EXPECT_FALSE(a.ended);
    EXPECT_EQ(a.count(), 2U);
}

TEST_F(CoordinatorTest, one_that_cannot_read_gives_to_one_that_can) {
    auto a = make("a");
    auto b = make("b");
    a->start(4);
    b->start(4);
    scheduler_.run_for(10s);
    ASSERT_EQ(a->count(), 2U);

    const Instant silent = scheduler_.now();
    scheduler_.run_for(10s);
    a->coordinator->set_unread(silent);
    scheduler_.run_for(9s);
    EXPECT_EQ(a->count(), 2U) << "not before unread_max";
    scheduler_.run_for(5s);
    EXPECT_EQ(a->count(), 0U);
    EXPECT_EQ(b->count(), 4U);
    EXPECT_EQ(a->coordinator->status().handed_over, 2U);
    EXPECT_NE(b->coordinator->explain().find("cannot read the hub"), std::string::npos);

    a->coordinator->set_unread(std::nullopt);
    scheduler_.run_for(10s);
    EXPECT_EQ(a->count(), 0U) << "it rests first";
    scheduler_.run_for(20s);
    EXPECT_EQ(a->count(), 2U);
}

TEST_F(CoordinatorTest, if_nobody_can_read_nobody_gives) {
    auto a = make("a");
    auto b = make("b");
    a->start(4);
    b->start(4);
    scheduler_.run_for(10s);

    const Instant silent = scheduler_.now();
    scheduler_.run_for(10s);
    a->coordinator->set_unread(silent);
    scheduler_.run_for(3s);
    b->coordinator->set_unread(silent + 3s);
    scheduler_.run_for(60s);
    EXPECT_EQ(a->count(), 2U);
    EXPECT_EQ(b->count(), 2U);

    // One hears of it sooner than the other.
    b->coordinator->set_unread(std::nullopt);
    scheduler_.run_for(5s);
    a->coordinator->set_unread(std::nullopt);
    scheduler_.run_for(60s);

    for (const auto* each : {a.get(), b.get()}) {
        EXPECT_EQ(each->count(), 2U);
        EXPECT_EQ(each->coordinator->status().handed_over, 0U);
    }
}

}  // namespace
}  // namespace evenkeel::processor
