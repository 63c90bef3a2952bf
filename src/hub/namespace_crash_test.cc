// What a crash or a failing disk at any moment of a change leaves: the state before it or after it,
// after it if it was acknowledged, and a hub that opens and works.
#include <set>

#include <gtest/gtest.h>

#include "hub/hub_fixture.h"

namespace evenkeel::hub {
namespace {

using io::sim::CrashPolicy;
using io::sim::Fault;
using io::sim::OperationKind;

using Shape = std::map<std::string, std::pair<std::uint32_t, std::vector<std::string>>>;

Shape shape(HubFixture& world) {
    Shape all;
    for (const auto* record : world.hub->list()) {
        all[record->name] = {record->partitions, record->groups};
    }
    return all;
}

// "stays" with an event in each of its partitions, and "goes" with one.
void prepare(HubFixture& world) {
    opened(world);
    ASSERT_TRUE(world.create("stays", {.partitions = 2}).ok());
    ASSERT_TRUE(world.create_group("stays", "old").ok());
    ASSERT_TRUE(world.append("stays", 0, {"zero"}).ok());
    ASSERT_TRUE(world.append("stays", 1, {"one"}).ok());
    ASSERT_TRUE(world.create("goes", {.partitions = 1}).ok());
    ASSERT_TRUE(world.append("goes", 0, {"old"}).ok());
}

// Opens the image, expects one of the shapes, and that all partitions work.
void check_image(std::unique_ptr<io::sim::Disk> image, const std::set<Shape>& allowed) {
    HubFixture after(std::move(image));
    const auto result = after.open();
    ASSERT_TRUE(result.ok()) << result.error().detail;
    ASSERT_TRUE(allowed.contains(shape(after)));
    ASSERT_EQ(*after.read("stays", 0), (Bodies{"zero"}));
    ASSERT_EQ(*after.read("stays", 1), (Bodies{"one"}));
    for (const auto* record : after.hub->list()) {
        for (std::uint32_t i = 0; i < record->partitions; ++i) {
            const auto appended = after.append(record->name, i, {"x"});
            ASSERT_TRUE(appended.ok()) << appended.error().detail;
        }
    }
    const auto created = after.create("again", {.partitions = 1});
    ASSERT_TRUE(created.ok()) << created.error().detail;
}

struct Step {
    const char* what;
    std::function<Answer<Result<>>(HubFixture&)> start;
};

const Step steps[] = {
    {"create", [](HubFixture& world) { return world.start_create("new", {.partitions = 3}); }},
    {"alter", [](HubFixture& world) { return world.start_alter("stays", {.partitions = 4}); }},
    {"remove", [](HubFixture& world) { return world.start_remove("goes"); }},
    {"create group",
     [](HubFixture& world) {
         return world.start(
             [&](auto done) { world.hub->create_group("stays", "g", std::move(done)); });
     }},
    {"remove group",
     [](HubFixture& world) {
         return world.start(
             [&](auto done) { world.hub->remove_group("stays", "old", std::move(done)); });
     }},
};

TEST(HubCrash, at_any_operation_leaves_the_old_state_or_the_new_one) {
    Random random(test::test_seed());
    for (const Step& step : steps) {
        HubFixture world;
        prepare(world);
        const Shape before = shape(world);
        Shape after;
        {
            HubFixture trial(world.disk->kill());
            opened(trial);
            ASSERT_TRUE(trial.wait(step.start(trial)).ok()) << step.what;
            after = shape(trial);
        }
        ASSERT_NE(before, after);
        std::vector<std::pair<std::unique_ptr<io::sim::Disk>, bool>> images;
        Answer<Result<>> answer = std::make_shared<std::optional<Result<>>>();
        const auto take = [&] {
            for (int policy = 0; policy < static_cast<int>(CrashPolicy::any); ++policy) {
                images.emplace_back(world.disk->crash(random, static_cast<CrashPolicy>(policy)),
                                    answer->has_value());
            }
        };
        world.disk->set_hook([&](const io::sim::Operation&) { take(); });

        answer = step.start(world);
        world.run();

        world.disk->set_hook({});
        take();
        ASSERT_TRUE((**answer).ok()) << step.what;
        EXPECT_GT(images.size(), 25u) << step.what;
        for (auto& [image, acknowledged] : images) {
            const std::set<Shape> allowed =
                acknowledged ? std::set<Shape>{after} : std::set<Shape>{before, after};
            SCOPED_TRACE(step.what);
            check_image(std::move(image), allowed);
            if (testing::Test::HasFatalFailure()) return;
        }
    }
}

// The journal has events of the event hub that goes; one of the same name takes its place.
TEST(HubCrash, events_of_a_removed_event_hub_never_come_back) {
    Random random(test::test_seed());
    HubFixture world;
    opened(world);
    ASSERT_TRUE(world.create("h", {.partitions = 2}).ok());
    ASSERT_TRUE(world.append("h", 0, {"old"}).ok());
    ASSERT_TRUE(world.append("h", 1, {"old"}).ok());
    int done = 0;  // steps that were acknowledged
    std::size_t looks = 0;
    const auto look = [&] {
        for (int policy = 0; policy <= static_cast<int>(CrashPolicy::any); ++policy) {
            ++looks;
            HubFixture after(world.disk->crash(random, static_cast<CrashPolicy>(policy)));
            ASSERT_TRUE(after.open().ok());
            const bool there = !after.names().empty();
            if (done == 0 && !there) continue;  // it may be gone before that is acknowledged
            ASSERT_TRUE(there || done < 2) << done;
            if (!there) continue;
            const Bodies first = *after.read("h", 0);
            const Bodies second = *after.read("h", 1);
            SCOPED_TRACE(done);
            const Bodies wanted = {done == 0 ? "old" : "new"};
            const bool may_be_empty = done == 1 || done == 2;  // not acknowledged yet
            ASSERT_TRUE(first == wanted || (may_be_empty && first.empty()));
            ASSERT_EQ(second, done == 0 ? Bodies{"old"} : Bodies{});
            ASSERT_TRUE(after.append("h", 0, {"more"}).ok());
        }
    };
    world.disk->set_hook([&](const io::sim::Operation&) {
        if (!testing::Test::HasFatalFailure()) look();
    });

    ASSERT_TRUE(world.remove("h").ok());
    ++done;
    world.run();
    ASSERT_TRUE(world.create("h", {.partitions = 2}).ok());
    ++done;
    ASSERT_TRUE(world.append("h", 0, {"new"}).ok());
    ++done;
    world.close();

    world.disk->set_hook({});
    look();
    EXPECT_GT(looks, 100u);
}

// Each operation of each change fails once, in three ways. The answer tells what happened, now and
// after a crash, and the hub goes on.
TEST(HubFaults, of_any_operation_leave_a_consistent_working_hub) {
    Random random(test::test_seed());
    constexpr OperationKind kinds[] = {OperationKind::write,          OperationKind::sync,
                                       OperationKind::create,         OperationKind::rename,
                                       OperationKind::make_directory, OperationKind::sync_directory,
                                       OperationKind::remove};
    for (const Step& step : steps) {
        for (const OperationKind kind : kinds) {
            for (std::uint64_t after = 0; after < 40; ++after) {
                const Fault fault = random.chance(1, 2) ? Fault::io_error : Fault::no_space;
                HubFixture world;
                prepare(world);
                const Shape before = shape(world);
                world.disk->fail({.kind = kind, .after = after, .fault = fault});

                const auto result = world.wait(step.start(world));
                world.run();

                if (world.disk->faults() == 0) break;  // there are not so many
                SCOPED_TRACE(testing::Message()
                             << step.what << ", " << to_string(kind) << " " << after);
                const Shape now = shape(world);
                ASSERT_EQ(now == before, !result.ok());
                // A state that was reported lasts, whatever happens next.
                check_image(world.disk->crash(random, CrashPolicy::any), {now});
                if (testing::Test::HasFatalFailure()) return;
                if (!result.ok()) {
                    const auto again = world.wait(step.start(world));
                    ASSERT_TRUE(again.ok()) << again.error().detail;
                    world.run();
                    check_image(world.disk->crash(random, CrashPolicy::any), {shape(world)});
                    if (testing::Test::HasFatalFailure()) return;
                }
            }
        }
    }
}

TEST(HubFaults, of_a_full_disk_refuse_changes_until_there_is_room_again) {
    Random random(test::test_seed());
    for (const Step& step : steps) {
        HubFixture world;
        prepare(world);
        const Shape before = shape(world);
        std::uint64_t used = 0;
        for (const auto& file : world.disk->files()) used += world.disk->file_size(file);
        for (std::uint64_t room = 0; room < 2000; room += 97) {
            world.disk->set_capacity_bytes(used + room);

            const auto result = world.wait(step.start(world));
            world.run();

            if (result.ok()) break;
            EXPECT_EQ(result.error().code, ErrorCode::overloaded) << result.error().detail;
            ASSERT_EQ(shape(world), before) << step.what;
            ASSERT_EQ(*world.read("stays", 0), (Bodies{"zero"}));
            auto image = world.disk->crash(random, CrashPolicy::any);
            image->set_capacity_bytes(1 << 24);
            check_image(std::move(image), {before});
            if (testing::Test::HasFatalFailure()) return;
        }
        world.disk->set_capacity_bytes(1 << 24);
        if (shape(world) == before) {
            EXPECT_TRUE(world.wait(step.start(world)).ok()) << step.what;
        }
    }
}

TEST(HubCrash, keeps_acknowledged_events_of_new_event_hubs) {
    Random random(test::test_seed());
    for (int round = 0; round < 30; ++round) {
        HubFixture world;
        opened(world);
        ASSERT_TRUE(world.create("h", {.partitions = 2}).ok());
        ASSERT_TRUE(world.append("h", 1, {"kept"}).ok());
        ASSERT_TRUE(world.alter("h", {.partitions = 3}).ok());
        ASSERT_TRUE(world.append("h", 2, {"too"}).ok());

        HubFixture after(world.disk->crash(random, CrashPolicy::any));

        opened(after);
        EXPECT_EQ(*after.read("h", 1), (Bodies{"kept"}));
        EXPECT_EQ(*after.read("h", 2), (Bodies{"too"}));
    }
}

}  // namespace
}  // namespace evenkeel::hub
