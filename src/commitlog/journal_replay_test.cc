#include "commitlog/journal_replay.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/crc32c.h"
#include "commitlog/journal_fixture.h"

namespace evenkeel::commitlog {
namespace {

using io::sim::OperationKind;
using Bodies = std::vector<std::string>;
constexpr std::uint64_t for_ever = 1'000'000'000;

TEST(JournalReplay, brings_back_no_segment_that_was_removed) {
    JournalFixture world(2);
    ASSERT_TRUE(world.open().ok());
    world.append(0, "a");
    world.append(1, "b");
    world.run();
    const std::string segment = "p0/" + log_name({});
    ASSERT_TRUE(world.disk->remove(segment).ok());

    const auto replayed = world.replay();

    ASSERT_TRUE(replayed.ok());
    EXPECT_EQ(replayed->entries, 1u);
    EXPECT_EQ(replayed->skipped, 1u);
    const auto files = world.disk->files();
    EXPECT_EQ(std::find(files.begin(), files.end(), segment), files.end());
}

TEST(JournalReplay, passes_over_an_event_hub_that_is_gone) {
    JournalFixture world(2);
    ASSERT_TRUE(world.open().ok());
    world.append(0, "a");
    world.append(1, "b");
    world.run();

    JournalFixture smaller(1, world.lose_power());
    ASSERT_TRUE(smaller.open().ok());

    EXPECT_EQ(smaller.replayed.skipped, 1u);
    EXPECT_EQ(smaller.bodies(0), Bodies{"a"});
    EXPECT_EQ(smaller.disk->file_size("p1/" + log_name({})), segment_header_bytes);
}

TEST(JournalReplay, keeps_the_journal_if_a_segment_cannot_be_written) {
    JournalFixture world(1);
    ASSERT_TRUE(world.open().ok());
    world.append(0, "a");
    world.run();
    JournalFixture again(1, world.lose_power());
    again.disk->fail({OperationKind::write, ".log", 0, 1, io::sim::Fault::no_space});

    const auto opened = again.open();

    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().code, ErrorCode::overloaded);
    EXPECT_NE(opened.error().detail.find("make room on the disk"), std::string::npos);
    ASSERT_TRUE(again.open().ok());
    EXPECT_EQ(again.bodies(0), Bodies{"a"});
}

bool is_there(JournalFixture& world, const std::string& path) {
    const auto files = world.disk->files();
    return std::find(files.begin(), files.end(), path) != files.end();
}

TEST(JournalReplay, one_bad_segment_closes_only_its_partition) {
    JournalFixture world(3);
    ASSERT_TRUE(world.open().ok());
    world.append(0, "a");
    world.append(1, "b");
    world.append(2, "c");
    world.run();
    JournalFixture again(3, world.lose_power());
    again.disk->fail({OperationKind::write, "p1/", 0, for_ever});

    ASSERT_TRUE(again.open().ok());

    ASSERT_EQ(again.replayed.unreplayed.size(), 1u);
    const Unreplayed& refused = again.replayed.unreplayed.front();
    EXPECT_EQ(refused.identity.partition.value, 1u);
    EXPECT_NE(refused.error.detail.find("kept in journal/kept-"), std::string::npos);
    EXPECT_TRUE(is_there(again, "journal/kept-1.journal"));
    again.append(0, "more");
    again.run();
    EXPECT_EQ(again.bodies(0), (Bodies{"a", "more"}));
    EXPECT_EQ(again.bodies(2), Bodies{"c"});

    JournalFixture healthy(3, again.lose_power());
    ASSERT_TRUE(healthy.open().ok());
    EXPECT_EQ(healthy.bodies(0), (Bodies{"a", "more"}));
    EXPECT_EQ(healthy.bodies(1), Bodies{"b"});
    EXPECT_FALSE(is_there(healthy, "journal/kept-1.journal"));
}

// Looks before each operation at what a power loss or a kill would leave for a healthy start.
void check_images(JournalFixture& world, std::vector<JournalFixture::Sent> acknowledged,
                  std::string& wrong, std::size_t& states) {
    world.disk->set_hook([&, acknowledged](const io::sim::Operation& operation) {
        for (int policy = 0; policy <= static_cast<int>(io::sim::CrashPolicy::any) + 1; ++policy) {
            if (!wrong.empty()) return;
            const bool kill = policy > static_cast<int>(io::sim::CrashPolicy::any);
            auto image =
                kill ? world.disk->kill()
                     : world.disk->crash(world.random, static_cast<io::sim::CrashPolicy>(policy));
            JournalFixture healthy(3, std::move(image), 2048);
            const auto opened = healthy.open();
            auto all = acknowledged;
            all.insert(all.end(), world.acknowledged.begin(), world.acknowledged.end());
            wrong = opened.ok() ? missing(healthy, all) : opened.error().detail;
            if (!healthy.replayed.unreplayed.empty()) wrong += " is not replayed";
            if (!wrong.empty()) {
                wrong += fmt::format(", policy {}, before {} {}", policy,
                                     io::sim::to_string(operation.kind), operation.path);
            }
            ++states;
        }
    });
}

TEST(JournalReplay, what_is_kept_survives_a_crash_at_any_operation) {
    std::size_t states = 0;
    std::uint64_t seed = test::test_seed();
    for (const auto kind : {OperationKind::write, OperationKind::sync, OperationKind::open}) {
        JournalFixture world(3, nullptr, 2048, ++seed);
        ASSERT_TRUE(world.open().ok());
        for (int i = 0; i < 40; ++i) {
            world.append(world.random.below(3), std::to_string(i));
            if (world.random.chance(1, 3)) world.run();
        }
        world.run();
        world.append(1, "in the journal");
        world.run();
        auto acknowledged = world.acknowledged;
        auto disk = world.lose_power();
        // The second start finds what the first one kept, and a journal with new events.
        for (int start = 0; start < 2; ++start) {
            JournalFixture again(3, std::move(disk), 2048, ++seed);
            again.disk->fail({kind, "p1/", 0, for_ever});
            std::string wrong;
            check_images(again, acknowledged, wrong, states);
            ASSERT_TRUE(again.open().ok());
            ASSERT_EQ(again.replayed.unreplayed.size(), 1u);
            for (int i = 0; i < 10; ++i) {
                again.append(again.random.chance(1, 2) ? 0 : 2, "new" + std::to_string(i));
                if (again.random.chance(1, 3)) again.run();
            }
            again.run();
            again.disk->set_hook({});
            ASSERT_EQ(wrong, "") << io::sim::to_string(kind) << ", start " << start;
            acknowledged.insert(acknowledged.end(), again.acknowledged.begin(),
                                again.acknowledged.end());
            disk = again.lose_power();
        }
        JournalFixture healthy(3, std::move(disk), 2048);
        ASSERT_TRUE(healthy.open().ok());
        EXPECT_EQ(missing(healthy, acknowledged), "");
    }
    EXPECT_GT(states, 500u);
}

TEST(JournalReplay, starts_nothing_if_events_cannot_be_kept) {
    JournalFixture world(2);
    ASSERT_TRUE(world.open().ok());
    world.append(0, "a");
    world.append(1, "b");
    world.run();
    JournalFixture again(2, world.lose_power());
    again.disk->fail({OperationKind::sync, "p1/"});
    again.disk->fail({OperationKind::sync, "kept-"});

    const auto opened = again.open();

    ASSERT_FALSE(opened.ok());
    EXPECT_NE(opened.error().detail.find("nor be kept"), std::string::npos);
    EXPECT_FALSE(is_there(again, "journal/kept-1.journal"));
    JournalFixture healthy(2, again.lose_power());
    ASSERT_TRUE(healthy.open().ok());
    EXPECT_EQ(healthy.bodies(0), Bodies{"a"});
    EXPECT_EQ(healthy.bodies(1), Bodies{"b"});
}

TEST(JournalReplay, reports_a_journal_without_a_good_header) {
    JournalFixture world(1);
    ASSERT_TRUE(world.open().ok());
    world.append(0, "a");
    world.run();
    const std::vector<std::byte> junk(journal_entries_at, std::byte{7});
    world.disk->overwrite("journal/a.journal", 0, junk);

    const auto replayed = world.replay();

    ASSERT_TRUE(replayed.ok());
    EXPECT_EQ(replayed->damages, 1u);
    EXPECT_EQ(replayed->entries, 0u);
}

TEST(JournalReplay, looks_at_all_versions_first) {
    JournalFixture world(1);
    ASSERT_TRUE(world.open().ok());
    world.append(0, "a");
    world.run();
    JournalFixture again(1, world.lose_power());
    auto bytes = encode(JournalHeader{9, {}});
    bytes[12] = std::byte{2};
    store(bytes.data() + 8, crc32c(ByteView(bytes).subspan(12, journal_header_bytes - 12)));
    const auto newer = again.disk->open("journal/z.journal", io::OpenMode::create);
    ASSERT_TRUE((*newer)->write(0, ByteView(bytes).first(journal_header_bytes)).ok());

    EXPECT_EQ(again.replay().error().code, ErrorCode::unsupported);
    EXPECT_EQ(again.disk->file_size("p0/" + log_name({})), segment_header_bytes);
}

TEST(JournalReplay, refuses_a_journal_of_a_newer_version) {
    JournalFixture world(1);
    ASSERT_TRUE(world.open().ok());
    world.append(0, "a");
    world.run();
    auto bytes = encode(JournalHeader{9, {}});
    bytes[12] = std::byte{2};
    const auto body = ByteView(bytes).subspan(12, journal_header_bytes - 12);
    store(bytes.data() + 8, crc32c(body));
    world.disk->overwrite("journal/a.journal", 0, ByteView(bytes).first(journal_header_bytes));

    const auto replayed = world.replay();

    ASSERT_FALSE(replayed.ok());
    EXPECT_EQ(replayed.error().code, ErrorCode::unsupported);
    EXPECT_GT(world.disk->file_size("journal/a.journal"), 0u);
}

}  // namespace
}  // namespace evenkeel::commitlog
