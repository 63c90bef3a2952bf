// The rot lab: files of a stopped log are damaged in every way, and what is left of it stays
// right.
#include "crash/rot.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "support/seed.h"

namespace evenkeel::crash {
namespace {

using test::test_seed;

constexpr std::uint64_t large = 64 << 10;
constexpr std::uint64_t small = 8 << 10;

class RotLab : public testing::TestWithParam<Stopped> {
protected:
    RotLog make(std::uint64_t segment_bytes) {
        return a_rot_log(test_seed(), GetParam(), segment_bytes);
    }
    Random random_{test_seed() + 1};
};

std::string name_of(const testing::TestParamInfo<Stopped>& parameter) {
    constexpr const char* names[] = {"cleanly", "killed", "power_lost"};
    return names[static_cast<std::size_t>(parameter.param)];
}

// Logs whose mark tells where they end; without one, a cut last record is a torn tail.
class RotLabWithMark : public RotLab {};

INSTANTIATE_TEST_SUITE_P(Stopped, RotLabWithMark,
                         testing::Values(Stopped::cleanly, Stopped::killed), name_of);
INSTANTIATE_TEST_SUITE_P(Stopped, RotLab,
                         testing::Values(Stopped::cleanly, Stopped::killed, Stopped::power_lost),
                         name_of);

std::uint64_t flips() {
    return std::getenv("EVENKEEL_SANITIZED") ? 200 : 7'000;  // for each kind of stop
}

void remove(io::sim::Disk& disk, const std::string& path) {
    ASSERT_TRUE(disk.remove(path).ok());
    ASSERT_TRUE(disk.sync_directory(partition_folder).ok());
}

void put(io::sim::Disk& disk, const std::string& path, ByteView bytes) {
    ASSERT_TRUE(io::replace_file(disk, path, bytes).ok());
}

std::string flip(const RotLog& log, const std::string& path, std::uint64_t bit, Random& random) {
    auto damaged = log.disk->kill();
    damaged->flip_bit(path, bit / 8, static_cast<unsigned>(bit % 8));
    const auto wrong = examine(log, std::move(damaged), {touched(log, path, bit / 8, 1)}, random);
    return wrong.empty() ? "" : fmt::format("bit {} of {}: {}", bit, path, wrong);
}

TEST_P(RotLab, no_flipped_bit_costs_more_than_its_record_or_passes_unseen) {
    const bool every_bit = std::getenv("EVENKEEL_LONG") != nullptr;
    const RotLog log = make(every_bit ? small : large);
    // Nothing tells a rotten last flush from a torn one if the power went as well.
    const auto counts = [&](const std::string& path, std::uint64_t bit) {
        return touched(log, path, bit / 8, 1).end <= log.proved;
    };
    std::uint64_t count = 0;
    if (every_bit) {
        for (const auto& path : log.disk->files()) {
            for (std::uint64_t bit = 0; bit < log.disk->file_size(path) * 8; ++bit) {
                if (!counts(path, bit)) continue;
                ASSERT_EQ(flip(log, path, bit, random_), "");
                ++count;
            }
        }
    }
    const std::vector<std::string> kinds[] = {log.files(".log"), log.files(".idx"),
                                              log.files("/mark")};
    while (count < flips()) {
        const auto& paths = kinds[std::min<std::uint64_t>(2, random_.below(10) / 4)];
        if (paths.empty()) continue;  // an index's name need not survive a power loss
        const auto& path = paths[random_.below(paths.size())];
        if (log.disk->file_size(path) == 0) continue;
        const std::uint64_t bit = random_.below(log.disk->file_size(path) * 8);
        if (!counts(path, bit)) continue;
        ASSERT_EQ(flip(log, path, bit, random_), "");
        ++count;
    }
    std::printf("ledger: %llu bit flips\n", static_cast<unsigned long long>(count));
}

TEST_P(RotLab, zeroed_and_garbage_blocks_cost_only_what_they_cover) {
    const RotLog log = make(small);
    for (const std::size_t size : {std::size_t{512}, std::size_t{4096}}) {
        for (const bool garbage : {false, true}) {
            for (const auto& path : log.disk->files()) {
                for (std::uint64_t at = 0; at < log.disk->file_size(path); at += size) {
                    if (touched(log, path, at, size).end > log.proved) continue;
                    std::vector<std::byte> block(size);
                    if (garbage) random_.fill(block);
                    auto damaged = log.disk->kill();
                    damaged->overwrite(path, at, block);
                    ASSERT_EQ(examine(log, std::move(damaged),
                                      {touched(log, path, at, size), path == log.mark()}, random_),
                              "")
                        << size << " bytes at " << at << " of " << path;
                }
            }
        }
    }
}

// A record that a wrong program wrote: its checksum holds, its number does not fit.
TEST_P(RotLab, a_wrong_number_with_a_good_checksum_costs_only_its_event) {
    const RotLog log = make(small);
    const auto& events = log.reading.events;
    const auto segments = log.files(".log");
    const int rounds = std::getenv("EVENKEEL_SANITIZED") ? 100 : 2'000;
    for (int round = 0; round < rounds; ++round) {
        const std::size_t index = random_.below(events.size());
        const std::int64_t offset = events[index].offset;
        const auto segment =
            std::find_if(segments.rbegin(), segments.rend(),
                         [&](const auto& path) { return touched(path, 0, 0).begin <= offset; });
        const auto position = commitlog::segment_header_bytes +
                              static_cast<std::uint64_t>(offset - touched(*segment, 0, 0).begin);
        std::vector<std::byte> bytes(commitlog::record_header_bytes);
        auto damaged = log.disk->kill();
        {
            const auto file = damaged->open(*segment, io::OpenMode::read);
            ASSERT_TRUE(file.ok() && (*file)->read(position, bytes).ok());
            bytes.resize(commitlog::stored_bytes_at(bytes.data()));
            ASSERT_TRUE((*file)->read(position, bytes).ok());
        }
        const Touched place = touched(*segment, position, bytes.size());
        if (place.end > log.proved) continue;
        commitlog::Record record = commitlog::view(bytes.data());
        const std::int64_t steps[] = {-1, 1, 2, -static_cast<std::int64_t>(random_.below(1000)),
                                      static_cast<std::int64_t>(random_.below(1'000'000))};
        record.sequence = record.sequence + steps[random_.below(std::size(steps))];
        if (record.sequence.value < 0 || record.sequence.value == events[index].sequence) continue;
        std::vector<std::byte> changed(bytes.size());
        commitlog::encode(record, test_identity().seed(), changed.data());
        damaged->overwrite(*segment, position, changed);

        ASSERT_EQ(examine(log, std::move(damaged), {place}, random_), "")
            << "event " << events[index].sequence << " became " << record.sequence.value;
    }
}

TEST_P(RotLabWithMark, a_cut_last_record_is_told_and_nothing_else_is_lost) {
    const RotLog log = make(small);
    const std::string active = log.files(".log").back();
    const std::uint64_t end = log.disk->file_size(active);
    const auto& events = log.reading.events;
    const auto last_bytes =
        static_cast<std::uint64_t>(touched(active, end, 0).begin - events.back().offset);
    for (std::uint64_t size = end - last_bytes; size < end; ++size) {
        auto damaged = log.disk->kill();
        {
            const auto file = damaged->open(active, io::OpenMode::write);
            ASSERT_TRUE(file.ok() && (*file)->truncate(size).ok() && (*file)->sync().ok());
        }
        ASSERT_EQ(examine(log, std::move(damaged), {touched(active, size, end - size)}, random_),
                  "")
            << "cut to " << size << " of " << end << " bytes";
    }
}

TEST_P(RotLab, a_segment_that_is_gone_is_told_and_the_others_stay) {
    const RotLog log = make(small);
    const auto segments = log.files(".log");
    ASSERT_GE(segments.size(), 3u);
    for (const auto& path : segments) {
        auto damaged = log.disk->kill();
        // Of the last one, what the journal has counts as well.
        const std::uint64_t size =
            path == segments.back() ? std::uint64_t{1} << 20 : damaged->file_size(path);
        if (GetParam() == Stopped::power_lost && touched(path, 0, size).end > log.proved) continue;
        remove(*damaged, path);
        ASSERT_EQ(examine(log, std::move(damaged), {touched(path, 0, size)}, random_), "") << path;
    }
}

TEST_P(RotLab, index_and_mark_may_be_gone_empty_garbage_or_of_another) {
    const RotLog log = make(small);
    auto hints = log.files(".idx");
    hints.push_back(log.mark());
    const auto other = io::read_file(*log.disk, hints.front(), 1 << 20);
    ASSERT_TRUE(other.ok());
    for (int round = 0; round < 20; ++round) {
        for (const auto& path : hints) {
            std::vector<std::byte> garbage(random_.below(2000));
            random_.fill(garbage);
            const std::vector<std::byte> zeros(random_.below(2000));
            for (const ByteView content :
                 {ByteView(), ByteView(garbage), ByteView(zeros), ByteView(*other)}) {
                auto damaged = log.disk->kill();
                put(*damaged, path, content);
                ASSERT_EQ(examine(log, std::move(damaged), {{}, path == log.mark()}, random_), "")
                    << path << " with " << content.size() << " bytes";
            }
            auto damaged = log.disk->kill();
            remove(*damaged, path);
            ASSERT_EQ(examine(log, std::move(damaged), {{}, path == log.mark()}, random_), "")
                << path << " removed";
        }
    }
}

TEST_P(RotLab, files_that_are_not_ours_change_nothing_and_stay) {
    const RotLog log = make(small);
    std::vector<std::byte> garbage(3000);
    random_.fill(garbage);
    const std::string folder = std::string(partition_folder) + "/";
    const std::string far = "00000000000000900000-00000000000009000000";
    for (const auto& name : {std::string("notes.txt"), std::string("x.log"), far + ".tmp",
                             std::string("mark.old"), std::string("-1.log"), far + "0.log"}) {
        auto damaged = log.disk->kill();
        put(*damaged, folder + name, garbage);
        ASSERT_EQ(examine(log, damaged->kill(), {}, random_), "") << name;
        LogWorld world(1, std::move(damaged), log.options);
        ASSERT_TRUE(world.open().ok());
        EXPECT_EQ(world.disk().file_size(folder + name), garbage.size());
        EXPECT_EQ(world.log().odd_files(), std::vector{folder + name});
    }
}

// A file with a segment's name, but with the bytes of another partition, or none that make sense.
TEST_P(RotLab, a_strange_segment_hides_nothing_of_ours) {
    const RotLog log = make(small);
    std::vector<std::byte> garbage(3000);
    random_.fill(garbage);
    auto foreign = *io::read_file(*log.disk, log.files(".log").front(), 1 << 20);
    for (std::size_t i = 0; i < foreign.size(); i += 100) foreign[i] ^= std::byte{1};
    const std::string folder = std::string(partition_folder) + "/";
    for (const ByteView content : {ByteView(garbage), ByteView(foreign), ByteView()}) {
        for (const auto* name : {"00000000000000900000-00000000000009000000.log",
                                 "00000000000000000007-00000000000000000008.log",
                                 "00000000000000000000-00000000000009000000.log"}) {
            auto damaged = log.disk->kill();
            put(*damaged, folder + name, content);
            ASSERT_EQ(examine(log, std::move(damaged), {}, random_), "")
                << name << " with " << content.size() << " bytes";
        }
    }
}

}  // namespace
}  // namespace evenkeel::crash
