#include "commitlog/journal.h"

#include <algorithm>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "commitlog/journal_fixture.h"

namespace evenkeel::commitlog {
namespace {

using io::sim::OperationKind;
using Bodies = std::vector<std::string>;

TEST(Journal, syncs_the_flushes_of_many_partitions_at_once) {
    JournalFixture world(20);
    world.options.growth_bytes = 65536;
    ASSERT_TRUE(world.open().ok());
    world.append(0, "the first one makes the file");
    world.run();
    world.watch();

    for (std::size_t i = 0; i < 20; ++i) world.append(i, "x");
    world.run();

    EXPECT_EQ(world.acknowledged.size(), 21u);
    EXPECT_EQ(world.count("sync ", ".journal"), 1u);
    EXPECT_EQ(world.count("sync ", ".log"), 0u);
}

TEST(Journal, leaves_a_large_flush_to_its_segment) {
    JournalFixture world(1);
    ASSERT_TRUE(world.open().ok());
    world.watch();

    world.append(0, std::string(world.options.entry_bytes_max, 'x'));
    world.run();

    EXPECT_EQ(world.acknowledged.size(), 1u);
    EXPECT_EQ(world.count("sync ", ".journal"), 0u);
    EXPECT_EQ(world.count("sync ", ".log"), 1u);
}

// One small flush, and then a partition that is busy with large ones.
TEST(Journal, a_small_flush_does_not_wait_for_several_large_ones) {
    JournalFixture world(3);
    ASSERT_TRUE(world.open().ok());
    world.append(0, "the first one makes the file");
    world.run();
    world.watch();

    world.append(0, "small");
    world.append(1, std::string(world.options.entry_bytes_max, 'x'));
    world.append(2, std::string(world.options.entry_bytes_max, 'x'));
    world.run();

    EXPECT_EQ(world.acknowledged.size(), 4u);
    EXPECT_EQ(world.count("sync p", ".log"), 2u);
    const auto at = [&](const std::string& operation) {
        return std::find(world.operations.begin(), world.operations.end(), operation);
    };
    EXPECT_LT(at("sync journal/a.journal"), at("sync p2/" + log_name({})));
}

TEST(Journal, a_power_loss_takes_nothing_acknowledged) {
    JournalFixture world(3);
    ASSERT_TRUE(world.open().ok());
    for (int i = 0; i < 30; ++i) {
        world.append(static_cast<std::size_t>(i) % 3, std::to_string(i));
        if (i % 4 == 0) world.run();
    }
    world.run();

    JournalFixture again(3, world.lose_power());
    ASSERT_TRUE(again.open().ok());

    EXPECT_GT(again.replayed.entries, 0u);
    EXPECT_EQ(missing(again, world.acknowledged), "");
    EXPECT_EQ(world.acknowledged.size(), 30u);
}

TEST(Journal, a_segment_that_refuses_stops_only_its_partition) {
    JournalFixture world(3);
    ASSERT_TRUE(world.open().ok());
    world.disk->fail({OperationKind::write, "p1/", 0, 1, io::sim::Fault::no_space});

    for (std::size_t i = 0; i < 3; ++i) world.append(i, "x");
    world.run();

    EXPECT_EQ(world.refused, (std::vector<JournalFixture::Sent>{{1, "x"}}));
    EXPECT_EQ(world.acknowledged.size(), 2u);
}

TEST(Journal, a_failed_sync_is_final_for_its_whole_group) {
    JournalFixture world(3);
    ASSERT_TRUE(world.open().ok());
    for (std::size_t i = 0; i < 3; ++i) world.append(i, "before");
    world.run();
    world.disk->fail({OperationKind::sync, ".journal"});
    for (std::size_t i = 0; i < 3; ++i) world.append(i, "refused");
    world.run();
    ASSERT_EQ(world.refused.size(), 3u);
    EXPECT_EQ(world.bodies(0), Bodies{"before"});

    world.watch();
    for (std::size_t i = 0; i < 3; ++i) world.append(i, "after");
    world.run();

    // All segments and the removal of the failed journal come before the next acknowledgement.
    EXPECT_EQ(world.acknowledged.size(), 6u);
    const auto removed =
        std::find(world.operations.begin(), world.operations.end(), "sync_directory journal");
    EXPECT_EQ(std::count_if(world.operations.begin(), removed,
                            [](const auto& operation) { return operation.starts_with("sync p"); }),
              3);
    JournalFixture again(3, world.lose_power());
    ASSERT_TRUE(again.open().ok());
    EXPECT_EQ(again.bodies(1), (Bodies{"before", "after"}));
}

TEST(Journal, acknowledges_nothing_while_it_cannot_be_mended) {
    JournalFixture world(2);
    ASSERT_TRUE(world.open().ok());
    world.disk->fail({OperationKind::sync, ".journal", 1});  // the one behind that of the new file
    world.disk->fail({OperationKind::remove, ".journal", 0, 2});
    world.append(0, "a");
    world.run();
    world.append(0, "b");
    world.append(1, std::string(world.options.entry_bytes_max, 'x'));
    world.run();
    EXPECT_EQ(world.refused.size(), 3u);

    world.scheduler.run_for(std::chrono::seconds(1));
    world.append(1, "second try");
    world.run();
    world.append(1, "too soon again");
    world.run();
    EXPECT_EQ(world.refused.size(), 5u);
    world.scheduler.run_for(std::chrono::seconds(1));
    world.append(1, "c");
    world.run();

    EXPECT_EQ(world.acknowledged, (std::vector<JournalFixture::Sent>{{1, "c"}}));
}

TEST(Journal, uses_a_file_again_when_its_segments_are_synced) {
    JournalFixture world(2, nullptr, 4096);
    ASSERT_TRUE(world.open().ok());
    world.watch();

    for (int i = 0; i < 200; ++i) {
        world.append(static_cast<std::size_t>(i) % 2, std::to_string(i));
        world.run();
    }

    EXPECT_EQ(world.acknowledged.size(), 200u);
    EXPECT_EQ(world.count("create ", ".journal"), 2u);
    EXPECT_GE(world.count("sync p0", ".log"), 5u);
    JournalFixture again(2, world.lose_power(), 4096);
    ASSERT_TRUE(again.open().ok());
    EXPECT_EQ(missing(again, world.acknowledged), "");
}

TEST(Journal, writes_a_segment_anew_whose_sync_failed) {
    JournalFixture world(2, nullptr, 4096);
    ASSERT_TRUE(world.open().ok());
    world.disk->fail({OperationKind::sync, "p0/", 0, 3});

    for (int i = 0; i < 200; ++i) {
        world.append(static_cast<std::size_t>(i) % 2, std::to_string(i));
        world.run();
    }

    EXPECT_EQ(world.disk->faults(), 3u);
    JournalFixture again(2, world.lose_power(), 4096);
    ASSERT_TRUE(again.open().ok());
    EXPECT_EQ(missing(again, world.acknowledged), "");
}

// The first file is full and waits for p0; the second one has room for long.
TEST(Journal, a_segment_that_failed_is_tried_again_after_a_second) {
    JournalFixture world(2, nullptr, 16384);
    ASSERT_TRUE(world.open().ok());
    world.disk->fail({OperationKind::sync, "p0/"});
    for (int i = 0; world.disk->faults() == 0; ++i) {
        ASSERT_LT(i, 1000);
        world.append(static_cast<std::size_t>(i) % 2, std::to_string(i));
        world.run();
    }
    world.watch();
    world.append(1, "too soon");
    world.run();
    EXPECT_EQ(world.count("sync p0", ".log"), 0u);

    world.scheduler.run_for(std::chrono::seconds(1));
    world.append(1, "in the second file");
    world.run();

    EXPECT_EQ(world.count("sync p0", ".log"), 1u);
    EXPECT_EQ(world.refused.size(), 0u);
}

TEST(Journal, tries_again_when_no_flush_comes) {
    JournalFixture world(2, nullptr, 16384);
    ASSERT_TRUE(world.open().ok());
    world.disk->fail({OperationKind::sync, "p0/"});
    for (int i = 0; world.disk->faults() == 0; ++i) {
        ASSERT_LT(i, 1000);
        world.append(static_cast<std::size_t>(i) % 2, std::to_string(i));
        world.run();
    }
    world.watch();

    world.scheduler.run_for(std::chrono::seconds(1));
    world.executor.post([&world] { world.journal->tend(); });
    world.run();

    EXPECT_EQ(world.count("sync p0", ".log"), 1u);
}

// What an entry is written over is on the disk, with zeros, before the entry comes.
TEST(Journal, grows_its_file_ahead_of_the_entries) {
    const std::string path = "journal/a.journal";
    JournalFixture world(2);
    ASSERT_TRUE(world.open().ok());
    std::uint64_t durable = 0;
    for (int i = 0; i < 200; ++i) {
        world.append(static_cast<std::size_t>(i) % 2, std::string(200, 'x'));
        const std::size_t before = world.acknowledged.size();
        while (world.acknowledged.size() == before) world.scheduler.step();
        const auto content = read_journal(*world.disk, path, 1 << 20);
        ASSERT_TRUE(content.ok());
        const auto walk = for_each_entry(*content, [](const JournalEntry&) { return Result<>(); });
        ASSERT_TRUE(walk.ok());
        EXPECT_LE(walk->end, std::max<std::uint64_t>(durable, world.options.growth_bytes));
        world.run();
        durable = world.lose_power()->file_size(path);
    }

    EXPECT_GE(durable, 40'000u);
    EXPECT_EQ(world.acknowledged.size(), 200u);
}

// There is room for the events, but not for zeros ahead of them.
TEST(Journal, a_nearly_full_disk_refuses_nothing_that_fits) {
    JournalFixture world(2);
    world.options.growth_bytes = 65536;
    ASSERT_TRUE(world.open().ok());
    std::uint64_t used = 0;
    for (const auto& file : world.disk->files()) used += world.disk->file_size(file);
    world.disk->set_capacity_bytes(used + 16384);
    world.watch();

    for (int i = 0; i < 50; ++i) {
        world.append(static_cast<std::size_t>(i) % 2, std::to_string(i));
        world.run();
    }

    EXPECT_EQ(world.refused.size(), 0u);
    EXPECT_EQ(world.acknowledged.size(), 50u);
    EXPECT_EQ(world.count("write ", ".journal"), 1u);
    world.disk->set_capacity_bytes(1 << 30);
    world.scheduler.run_for(std::chrono::seconds(1));
    world.append(0, "with a journal");
    world.run();
    EXPECT_EQ(world.count("write ", ".journal"), 3u);
    JournalFixture again(2, world.lose_power());
    ASSERT_TRUE(again.open().ok());
    EXPECT_EQ(missing(again, world.acknowledged), "");
}

// A file that cannot grow is used as it is, and again.
TEST(Journal, goes_on_in_small_files_where_there_is_no_room) {
    JournalFixture world(2);
    world.options.growth_bytes = 1536;
    ASSERT_TRUE(world.open().ok());
    // Which is how a file grows; the hub makes it by another call.
    world.disk->fail({OperationKind::open, ".journal", 0, 1'000'000'000, io::sim::Fault::no_space});
    world.watch();

    for (int i = 0; i < 200; ++i) {
        world.append(static_cast<std::size_t>(i) % 2, std::to_string(i));
        world.run();
    }

    EXPECT_EQ(world.refused.size(), 0u);
    EXPECT_EQ(world.disk->file_size("journal/a.journal"), 1536u);
    EXPECT_GT(world.count("write ", ".journal"), 20u);
    JournalFixture again(2, world.lose_power());
    ASSERT_TRUE(again.open().ok());
    EXPECT_EQ(missing(again, world.acknowledged), "");
}

// Both files are full, and both have events of p0. The sync of p0 for the first one gives up on all
// of its bytes, so that one for the second one would find nothing to do, and seem to succeed.
TEST(Journal, a_failed_sync_for_one_file_counts_for_the_other) {
    JournalFixture world(4, nullptr, 2048);
    ASSERT_TRUE(world.open().ok());
    world.background.set_latency(std::chrono::seconds(1), std::chrono::seconds(1));
    world.watch();
    const auto append = [&](std::size_t partition, std::size_t bytes) {
        world.append(partition, std::string(bytes, static_cast<char>('0' + partition)));
        const std::size_t before = world.acknowledged.size();
        while (world.acknowledged.size() == before) world.scheduler.step();
    };
    append(0, 10);
    append(1, 10);
    append(2, 10);
    append(0, 700);  // the second file
    append(3, 300);  // by itself
    ASSERT_EQ(world.count("sync p0", ".log"), 0u);
    ASSERT_EQ(world.count("sync p3", ".log"), 1u);
    world.disk->fail({OperationKind::sync, "p0/"});
    world.run();
    EXPECT_EQ(world.disk->faults(), 1u);
    world.background.set_latency({}, {});
    // What is used again is written over.
    for (std::size_t i = 0; i < 50; ++i) {
        world.append(3, std::string(100, 'x') + std::to_string(i));
        world.run();
    }

    JournalFixture again(4, world.lose_power(), 2048);
    ASSERT_TRUE(again.open().ok());
    EXPECT_EQ(missing(again, world.acknowledged), "");
}

// Both files have events of p0 and stay full; others sync their own segments.
TEST(Journal, a_segment_that_fails_for_good_is_tried_seldom) {
    constexpr std::uint64_t for_ever = 1'000'000'000;
    JournalFixture world(2, nullptr, 4096);
    ASSERT_TRUE(world.open().ok());
    world.disk->fail({OperationKind::sync, "p0/", 0, for_ever});
    world.watch();
    for (int i = 0; i < 30; ++i) {
        world.append(static_cast<std::size_t>(i) % 2, std::to_string(i));
        world.run();
    }
    for (int i = 0; i < 200; ++i) {
        world.append(1, std::to_string(i));
        world.run();
    }
    EXPECT_LE(world.count("sync p0", ".log"), 2u);

    for (int i = 0; i < 100; ++i) {
        world.scheduler.run_for(std::chrono::seconds(1));
        world.append(1, std::to_string(i));
        world.run();
    }
    EXPECT_GT(world.count("sync p0", ".log"), 4u);
    EXPECT_LE(world.count("sync p0", ".log"), 20u);
    EXPECT_EQ(world.refused.size(), 0u);

    world.disk->clear_faults();
    world.scheduler.run_for(std::chrono::seconds(60));
    world.append(1, "tries again");
    world.run();
    world.operations.clear();
    world.append(1, "in the journal");
    world.run();

    EXPECT_EQ(world.count("sync ", ".journal"), 1u);
    JournalFixture again(2, world.lose_power(), 4096);
    ASSERT_TRUE(again.open().ok());
    EXPECT_EQ(missing(again, world.acknowledged), "");
}

// Two faults: a segment that cannot be synced, and its journal rots meanwhile.
TEST(Journal, a_damaged_file_is_not_let_go_of) {
    JournalFixture world(2, nullptr, 4096);
    ASSERT_TRUE(world.open().ok());
    world.disk->fail({OperationKind::sync, "p0/", 0, 1});
    world.append(0, "x");
    world.run();
    world.disk->flip_bit("journal/a.journal", journal_entries_at + journal_entry_header_bytes, 1);

    for (int i = 0; i < 200; ++i) {
        world.scheduler.run_for(std::chrono::seconds(1));
        world.append(1, std::to_string(i));
        world.run();
    }

    EXPECT_EQ(world.disk->faults(), 1u);
    EXPECT_EQ(world.acknowledged.size(), 201u);
    const auto first = read_journal(*world.disk, "journal/a.journal", 4096);
    ASSERT_TRUE(first.ok() && first->header);
    EXPECT_EQ(first->header->generation, 1u);
}

TEST(Journal, leaves_nothing_behind_when_it_is_closed) {
    JournalFixture world(2);
    ASSERT_TRUE(world.open().ok());
    world.append(0, "a");
    world.append(1, "b");
    world.run();

    world.close_logs();
    bool gone = false;
    world.journal->close([&](const Result<>& result) { gone = result.ok(); });
    world.run();

    EXPECT_TRUE(gone);
    for (const auto& file : world.disk->files()) EXPECT_FALSE(file.ends_with(".journal")) << file;
    JournalFixture again(2, world.lose_power());
    ASSERT_TRUE(again.open().ok());
    EXPECT_EQ(again.replayed.entries, 0u);
    EXPECT_EQ(missing(again, world.acknowledged), "");
}

// Several partitions, files that are used again soon, and a look before each operation at what a
// power loss or a kill would leave.
TEST(Journal, three_partitions_survive_a_crash_at_any_operation) {
    std::size_t states = 0;
    std::size_t removals = 0;
    for (std::uint64_t round = 0; round < 20; ++round) {
        JournalFixture world(3, nullptr, 2048, test::test_seed() + round);
        if (round % 2 == 0) world.options.growth_bytes = 1280;
        world.log_options.segment_bytes_max = round % 4 < 2 ? 8192 : 1024;
        ASSERT_TRUE(world.open().ok());
        std::string wrong;
        world.disk->set_hook([&](const io::sim::Operation& operation) {
            removals += operation.kind == OperationKind::remove;
            if (!wrong.empty()) return;
            const auto policy = static_cast<io::sim::CrashPolicy>(
                world.random.below(static_cast<std::uint64_t>(io::sim::CrashPolicy::any) + 1));
            JournalFixture again(3, world.disk->crash(world.random, policy), 2048);
            const auto opened = again.open();
            wrong = opened.ok() ? missing(again, world.acknowledged, world.removals)
                                : opened.error().detail;
            if (!wrong.empty()) wrong += fmt::format(" before {}", operation.path);
            ++states;
        });
        for (int i = 0; i < 60; ++i) {
            world.append(world.random.below(3),
                         std::string(world.random.below(200), 'x') + std::to_string(i));
            if (world.random.chance(1, 3)) world.run();
            if (world.random.chance(1, 8)) world.remove_some(world.random.below(3));
            for (auto steps = world.random.below(4); steps > 0; --steps) world.scheduler.step();
        }
        world.run();
        world.disk->set_hook({});
        ASSERT_EQ(wrong, "") << "round " << round;
        EXPECT_EQ(world.acknowledged.size(), 60u);
    }
    EXPECT_GT(states, 1000u);
    EXPECT_GT(removals, 10u);
}

// Each partition has all that was acknowledged, in the order in which it was sent, and nothing
// twice. What was never answered, or was refused before a crash, may be there in its place.
std::string out_of_place(JournalFixture& world, const std::vector<JournalFixture::Sent>& sent,
                         const std::vector<JournalFixture::Sent>& acknowledged,
                         JournalFixture::Removals removals) {
    for (std::size_t i = 0; i < world.logs.size(); ++i) {
        const Bodies read = world.bodies(i);
        auto at = read.begin();
        std::size_t count = 0;  // acknowledged so far
        for (const auto& event : sent) {
            if (event.partition != i) continue;
            const bool was_acknowledged =
                std::find(acknowledged.begin(), acknowledged.end(), event) != acknowledged.end();
            count += was_acknowledged;
            const bool is_removed = at == read.begin() && count <= removals[i].asked;
            if (at != read.end() && *at == event.body) {
                if (was_acknowledged && count <= removals[i].done) {
                    return fmt::format("partition {}: '{}' is back", i, event.body);
                }
                ++at;
            } else if (was_acknowledged && !is_removed) {
                return fmt::format("partition {}: '{}' is lost or out of place", i, event.body);
            }
        }
        if (at != read.end()) return fmt::format("partition {}: '{}' is foreign", i, *at);
    }
    return {};
}

// The same with a disk that fails now and then, kills too, and a restart at the end.
TEST(Journal, three_partitions_survive_faults_and_a_crash_anywhere) {
    constexpr const char* places[] = {".journal", "p0/", "p1/", "", "journal"};
    constexpr OperationKind kinds[] = {OperationKind::sync, OperationKind::write,
                                       OperationKind::remove, OperationKind::sync_directory};
    constexpr std::uint64_t policies = static_cast<std::uint64_t>(io::sim::CrashPolicy::any) + 2;
    std::size_t states = 0;
    std::uint64_t faults = 0;
    for (std::uint64_t round = 0; round < 60; ++round) {
        JournalFixture world(3, nullptr, 2048, test::test_seed() + round);
        if (round % 2 == 0) world.options.growth_bytes = 1280;
        world.log_options.segment_bytes_max = round % 4 < 2 ? 8192 : 1024;
        ASSERT_TRUE(world.open().ok());
        std::vector<JournalFixture::Sent> sent;
        std::string wrong;
        world.disk->set_hook([&](const io::sim::Operation& operation) {
            if (!wrong.empty() || !world.random.chance(1, 2)) return;
            const auto policy = world.random.below(policies);
            auto image =
                policy + 1 == policies
                    ? world.disk->kill()
                    : world.disk->crash(world.random, static_cast<io::sim::CrashPolicy>(policy));
            JournalFixture again(3, std::move(image), 2048);
            const auto opened = again.open();
            wrong = opened.ok() ? out_of_place(again, sent, world.acknowledged, world.removals)
                                : opened.error().detail;
            if (!wrong.empty()) wrong += fmt::format(" before {}", operation.path);
            ++states;
        });
        for (int fault = 0; fault < 3; ++fault) {
            const auto kind = kinds[fault == 0 ? 0 : world.random.below(std::size(kinds))];
            world.disk->fail({kind, places[world.random.below(std::size(places))],
                              world.random.below(20), 1 + world.random.below(3)});
        }
        for (int i = 0; i < 60; ++i) {
            const std::size_t partition = world.random.below(3);
            const std::string body = std::string(world.random.below(200), 'x') + std::to_string(i);
            sent.push_back({partition, body});
            world.append(partition, body);
            if (world.random.chance(1, 3)) world.run();
            if (world.random.chance(1, 5)) world.scheduler.run_for(std::chrono::seconds(2));
            if (world.random.chance(1, 8)) world.remove_some(world.random.below(3));
            for (auto steps = world.random.below(4); steps > 0; --steps) world.scheduler.step();
        }
        world.run();
        faults += world.disk->faults();
        world.disk->clear_faults();
        world.scheduler.run_for(std::chrono::seconds(60));
        const std::size_t before = world.acknowledged.size();
        for (std::size_t i = 0; i < 3; ++i) {
            sent.push_back({i, "healthy"});
            world.append(i, "healthy");
        }
        world.run();
        EXPECT_EQ(world.acknowledged.size(), before + 3) << "round " << round;
        world.close_logs();
        world.journal->close([](const Result<>&) {});
        world.run();
        world.disk->set_hook({});
        ASSERT_EQ(wrong, "") << "round " << round;
        JournalFixture again(3, world.lose_power(), 2048);
        ASSERT_TRUE(again.open().ok());
        EXPECT_EQ(out_of_place(again, sent, world.acknowledged, world.removals), "")
            << "round " << round;
    }
    EXPECT_GT(states, 1000u);
    EXPECT_GT(faults, 60u);
}

}  // namespace
}  // namespace evenkeel::commitlog
