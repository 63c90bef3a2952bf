#include "processor/ownership/admission.h"

#include <chrono>
#include <optional>

#include <gtest/gtest.h>

#include "processor/ownership/step_fixture.h"

namespace evenkeel::processor {
namespace {

using checkpoint::Member;
using std::chrono::minutes;
using std::chrono::seconds;

class AdmissionTest : public testing::Test {
protected:
    AdmissionTest() {
        options_.id = "a";
        options_.incarnation = "new";
        options_.on_failure = [this](const Failure&) { ++failures_; };
    }
    void start() {
        admission_.start([this](Result<Admission::Entrance> entrance) {
            entrance_.emplace(std::move(entrance));
        });
    }
    bool run_until_ended() {
        return rig_.run_until([this] { return entrance_.has_value(); });
    }
    // As an instance with our id writes it.
    void beat() {
        checkpoint::Table table = rig_.table();
        Member entry{.id = "a", .incarnation = "old", .restarts = 2};
        entry.note = "host:7";
        for (const Member& each : table.members({})) entry.version = each.version;
        ASSERT_TRUE(table.write_member(entry, {rig_.now(), {}}).ok());
        rig_.server.restore(rig_.group, table);
    }

    StepRig rig_;
    CoordinatorOptions options_;
    int failures_ = 0;
    std::optional<Result<Admission::Entrance>> entrance_;
    Admission admission_{rig_.loop, rig_.store, rig_.steps, options_};
};

TEST_F(AdmissionTest, without_an_entry_of_its_id_is_given_at_once) {
    start();
    ASSERT_TRUE(run_until_ended());

    ASSERT_TRUE(entrance_->ok());
    const Admission::Entrance& given = **entrance_;
    EXPECT_EQ(given.entry.id, "a");
    EXPECT_EQ(given.entry.incarnation, "new");
    EXPECT_EQ(given.entry.version, "");
    EXPECT_EQ(given.entry.restarts, 0u);
    EXPECT_LE(given.accept_from, rig_.now()) << "there is no lease to wait for";
    EXPECT_EQ(admission_.requests(), 1u);
}

TEST_F(AdmissionTest, is_refused_while_another_instance_writes) {
    beat();
    start();
    ASSERT_FALSE(rig_.scheduler.run_until([this] { return entrance_.has_value(); },
                                          rig_.timing.heartbeat / 2));
    beat();
    ASSERT_TRUE(run_until_ended());

    ASSERT_FALSE(entrance_->ok());
    EXPECT_EQ(entrance_->error().code, ErrorCode::conflict);
    EXPECT_NE(entrance_->error().detail.find("host:7"), std::string::npos);
}

TEST_F(AdmissionTest, replaces_an_entry_that_does_not_change) {
    beat();
    start();
    ASSERT_TRUE(run_until_ended());

    ASSERT_TRUE(entrance_->ok());
    const Admission::Entrance& given = **entrance_;
    EXPECT_EQ(given.entry.version, rig_.table().members({})[0].version);
    EXPECT_EQ(given.entry.restarts, 3u) << "a crash counts against the id";
    EXPECT_GT(given.accept_from, rig_.now()) << "the one before may still have its lease";
}

TEST_F(AdmissionTest, forgets_crashes_of_long_ago) {
    beat();
    rig_.run_for(rig_.timing.restart_memory + minutes(1));
    start();
    ASSERT_TRUE(run_until_ended());

    ASSERT_TRUE(entrance_->ok());
    EXPECT_EQ((*entrance_)->entry.restarts, 0u);
}

TEST_F(AdmissionTest, asks_a_store_that_fails_until_it_answers) {
    rig_.faults.outage = true;
    start();
    rig_.run_for(seconds(20));
    EXPECT_FALSE(entrance_);
    EXPECT_GE(failures_, 5);
    EXPECT_LE(failures_, 20) << "not in a storm";

    rig_.faults.outage = false;

    ASSERT_TRUE(run_until_ended());
    EXPECT_TRUE(entrance_->ok());
}

}  // namespace
}  // namespace evenkeel::processor
