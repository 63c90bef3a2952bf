#include "commitlog/writer.h"

#include <gtest/gtest.h>

#include "commitlog/recovery.h"
#include "io/sim/disk.h"
#include "io/sim/scheduler.h"
#include "support/seed.h"

namespace evenkeel::commitlog {
namespace {

using io::sim::OperationKind;

// A writer alone, without a log that plans for it.
class WriterTest : public testing::Test {
protected:
    WriterTest() {
        EXPECT_TRUE(create_log(disk, "p", identity).ok());
        EXPECT_TRUE(writer.open({}, 0).ok());
        operations.clear();
        disk.set_hook([this](const io::sim::Operation& operation) {
            const auto ending = operation.path.substr(operation.path.find_last_of("./") + 1);
            operations.push_back(std::string(to_string(operation.kind)) + " " +
                                 std::string(ending));
        });
    }

    // Adds a record of 64 bytes to the tail and a part that writes it.
    FlushPart a_part(const SegmentName& name, bool create) {
        const Record record{{number}, tail.end(), {number}, 0, 0, {0}, {}, as_bytes("x")};
        const Offset from = tail.end();
        tail.break_chunk();
        encode(record, identity.seed(), tail.append(stored_bytes(record)));
        ++number;
        FlushPart part{{name, identity.incarnation, identity.partition, 0, {0}},
                       create,
                       from,
                       {tail.piece(from, tail.end())},
                       {}};
        return part;
    }
    Flush a_flush(std::vector<FlushPart> parts) {
        return {std::move(parts), {++counter, {0}, {0}, tail.end(), {number}, {number}, 64}};
    }

    // Without a journal it is done at once.
    FlushOutcome flush(const Flush& flush) {
        FlushOutcome outcome;
        writer.flush(flush, [&outcome](FlushOutcome told) { outcome = std::move(told); });
        return outcome;
    }

    const LogIdentity identity{Incarnation{std::byte{1}}, PartitionId{1}};
    io::sim::Disk disk;
    io::sim::Scheduler scheduler{test::test_seed()};
    Metrics registry;
    LogMetrics metrics{registry};
    Writer writer{disk, scheduler.clock(), "p", identity, Durability::disk, metrics};
    Tail tail{Offset{0}};
    std::int64_t number = 0;
    std::uint64_t counter = 10;
    std::vector<std::string> operations;
};

TEST_F(WriterTest, syncs_what_it_wrote_before_it_moves_the_mark) {
    const auto outcome = flush(a_flush({a_part({}, false)}));

    EXPECT_TRUE(outcome.result.ok());
    EXPECT_EQ(outcome.parts_done, 1u);
    EXPECT_EQ(operations, (std::vector<std::string>{"write log", "sync log", "write mark"}));
}

TEST_F(WriterTest, creates_a_segment_only_after_the_one_before_was_synced) {
    const auto outcome = flush(a_flush({a_part({}, false), a_part({{1}, {64}}, true)}));

    EXPECT_EQ(outcome.parts_done, 2u);
    EXPECT_EQ(operations, (std::vector<std::string>{"write log", "sync log", "create log",
                                                    "write log", "write log", "sync log",
                                                    "sync_directory p", "write mark"}));
}

TEST_F(WriterTest, moves_the_mark_durably_before_it_removes) {
    ASSERT_TRUE(flush(a_flush({a_part({}, false), a_part({{1}, {64}}, true)})).result.ok());
    operations.clear();

    ASSERT_TRUE(writer.remove({SegmentName{}}, {20, {64}, {1}, {128}, {2}, {1}, 64}).ok());

    EXPECT_EQ(operations, (std::vector<std::string>{"write mark", "write mark", "sync mark",
                                                    "remove log", "remove idx"}));
}

TEST_F(WriterTest, cuts_the_file_back_when_a_sync_fails) {
    disk.fail({.kind = OperationKind::sync, .path_contains = ".log"});

    const auto outcome = flush(a_flush({a_part({}, false)}));

    EXPECT_EQ(outcome.parts_done, 0u);
    EXPECT_EQ(outcome.result.error().code, ErrorCode::unavailable);
    EXPECT_EQ(disk.file_size("p/" + log_name({})), segment_header_bytes);
    EXPECT_EQ(metrics.failures.value(), 1u);
}

TEST_F(WriterTest, says_overloaded_when_room_was_missing) {
    disk.fail(
        {.kind = OperationKind::write, .path_contains = ".log", .fault = io::sim::Fault::no_space});

    const auto outcome = flush(a_flush({a_part({}, false)}));

    EXPECT_EQ(outcome.result.error().code, ErrorCode::overloaded);
}

TEST_F(WriterTest, tells_how_many_parts_are_durable_when_a_later_one_fails) {
    disk.fail({.kind = OperationKind::create});

    const auto outcome = flush(a_flush({a_part({}, false), a_part({{1}, {64}}, true)}));

    EXPECT_EQ(outcome.parts_done, 1u);
    EXPECT_FALSE(outcome.result.ok());
}

TEST_F(WriterTest, leaves_no_file_when_a_segment_cannot_be_created) {
    disk.fail({.kind = OperationKind::sync_directory});

    const auto outcome = flush(a_flush({a_part({{0}, {0}}, false), a_part({{1}, {64}}, true)}));

    EXPECT_FALSE(outcome.result.ok());
    for (const auto& file : disk.files()) EXPECT_NE(file, "p/" + log_name({{1}, {64}}));
}

TEST_F(WriterTest, never_lowers_the_mark) {
    ASSERT_TRUE(flush(a_flush({a_part({}, false)})).result.ok());

    ASSERT_TRUE(writer.save({20, {0}, {0}, {0}, {0}, {0}, 0}).ok());

    const auto mark = read_mark(disk, "p", identity.seed());
    EXPECT_EQ((**mark).end.value, 64);
    EXPECT_EQ((**mark).end_sequence.value, 1);
    EXPECT_EQ((**mark).counter, 20u);
}

// The removal is planned and carried out while the flush waits for the journal's sync.
TEST_F(WriterTest, a_journaled_flush_brings_no_older_start_back) {
    ASSERT_TRUE(disk.make_directory("journal").ok());
    io::sim::SimExecutor executor{scheduler, "disk"};
    io::sim::SimExecutor background{scheduler, "background"};
    JournalOptions options;
    options.directory = "journal";
    const auto journal = std::make_shared<Journal>(
        JournalContext{disk, executor, background, scheduler.clock(), metrics}, options);
    Writer journaled{disk,    scheduler.clock(), "p", identity, Durability::disk,
                     metrics, journal.get()};
    ASSERT_TRUE(journaled.open({}, 0).ok());
    const Flush first = a_flush({a_part({}, false)});
    journaled.flush(first, [](const FlushOutcome&) {});
    scheduler.run_until_idle();
    const Flush waits = a_flush({a_part({}, false)});
    bool done = false;
    journaled.flush(waits, [&done](const FlushOutcome& outcome) { done = outcome.result.ok(); });
    ASSERT_FALSE(done);

    ASSERT_TRUE(journaled.remove({}, {20, {64}, {1}, {64}, {1}, {1}, 64}).ok());
    scheduler.run_until_idle();

    ASSERT_TRUE(done);
    const auto bytes = io::read_file(disk, "p/" + std::string(mark_file_name), 1024);
    ASSERT_TRUE(bytes.ok());
    for (const std::uint64_t at : {std::uint64_t{0}, mark_slot_distance}) {
        const auto mark = decode_mark(ByteView(*bytes).subspan(at), identity.seed());
        ASSERT_TRUE(mark);
        EXPECT_EQ(mark->start.value, 64) << "slot at " << at;
    }
    EXPECT_EQ((**read_mark(disk, "p", identity.seed())).end.value, 128);
}

TEST_F(WriterTest, adds_index_entries_behind_those_that_are_there) {
    auto first = a_part({}, false);
    first.index = {{{0}, {0}, {0}}};
    auto second = a_part({}, false);
    second.index = {{{64}, {1}, {1}}};

    ASSERT_TRUE(flush(a_flush({std::move(first)})).result.ok());
    ASSERT_TRUE(flush(a_flush({std::move(second)})).result.ok());

    EXPECT_EQ(read_index(disk, "p/" + index_name({}), {0}, {128}, identity.seed()).size(), 2u);
}

}  // namespace
}  // namespace evenkeel::commitlog
