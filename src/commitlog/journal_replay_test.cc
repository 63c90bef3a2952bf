#include "commitlog/journal_replay.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/crc32c.h"
#include "commitlog/journal_fixture.h"

namespace evenkeel::commitlog {
namespace {

using io::sim::OperationKind;
using Bodies = std::vector<std::string>;

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
