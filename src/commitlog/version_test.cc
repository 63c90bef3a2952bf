// Files of a newer version, and records whose numbers are wrong although their checksums hold.
#include <gtest/gtest.h>

#include "base/crc32c.h"
#include "commitlog/log_fixture.h"

namespace evenkeel::commitlog {
namespace {

// Overwrites bytes in a header, slot or record, and makes its checksum good again.
template <typename T>
void put(LogFixture& world, const std::string& path, std::uint64_t position, std::size_t size,
         std::size_t at_crc, std::size_t at, T value) {
    std::vector<std::byte> bytes(size);
    {
        const auto file = world.disk->open(path, io::OpenMode::read);
        ASSERT_TRUE(file.ok() && (*file)->read(position, bytes).ok());
    }
    store(bytes.data() + at, value);
    store(bytes.data() + at_crc, crc32c(ByteView(bytes).subspan(at_crc + 4), test_identity.seed()));
    world.disk->overwrite(path, position, bytes);
}

std::string segment_path(const SegmentName& name = {}) {
    return test_directory + "/" + log_name(name);
}

std::vector<std::pair<std::string, std::vector<std::byte>>> contents(LogFixture& world) {
    std::vector<std::pair<std::string, std::vector<std::byte>>> all;
    for (const auto& path : world.disk->files()) {
        all.emplace_back(path, *io::read_file(*world.disk, path, 1 << 20));
    }
    return all;
}

void expect_refused(LogFixture& world, const std::string& file) {
    const auto before = contents(world);

    const auto opened = world.try_open();

    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().code, ErrorCode::unsupported);
    EXPECT_NE(opened.error().detail.find(file + " has format version 2"), std::string::npos)
        << opened.error().detail;
    EXPECT_NE(opened.error().detail.find("up to 1"), std::string::npos) << opened.error().detail;
    EXPECT_EQ(contents(world), before) << "not a byte is changed";
}

TEST(NewerVersion, of_any_segment_is_refused_and_nothing_is_changed) {
    for (const std::int64_t number : {0, 1, 2}) {
        LogFixture world(short_segments);
        world.append_numbers(0, 10);
        world.close();
        ASSERT_TRUE(io::replace_file(*world.disk, test_directory + "/x.idx.tmp", {}).ok());
        const SegmentName name{{number * 4}, {number * 256}};
        put(world, segment_path(name), 0, segment_header_bytes, 8, 12, std::uint16_t{2});

        expect_refused(world, segment_path(name));
    }
}

TEST(NewerVersion, of_the_mark_is_refused_and_nothing_is_changed) {
    for (const std::uint64_t slot : {std::uint64_t{0}, std::uint64_t{1}}) {
        LogFixture world;
        world.append_numbers(0, 3);
        world.close();
        put(world, test_directory + "/mark", slot * mark_slot_distance, mark_slot_bytes, 4, 60,
            std::uint32_t{1});

        expect_refused(world, test_directory + "/mark");
    }
}

TEST(NewerVersion, of_an_index_is_a_hint_that_is_not_taken) {
    LogFixture world({.segment_bytes_max = 1024, .index_distance = 64, .tail_bytes_max = 0});
    world.append_numbers(0, 40);
    world.close();
    for (const auto& path : world.disk->files()) {
        if (path.ends_with(".idx")) {
            put(world, path, 0, index_entry_bytes, 0, 4, std::uint32_t{1});
        }
    }

    world.open();

    EXPECT_EQ(world.read(Position::at_sequence(3)).bodies(), numbers(3, 40));
}

// Event `event` of one segment gets another number, with a good checksum.
void number(LogFixture& world, std::uint64_t event, std::int64_t sequence) {
    put(world, segment_path(), segment_header_bytes + event * 64, 64, 4, 16, sequence);
}

void expect_all_but(LogFixture& world, const std::vector<std::int64_t>& wrong) {
    std::vector<std::int64_t> expected;
    for (std::int64_t i = 0; i < 20; ++i) {
        if (std::find(wrong.begin(), wrong.end(), i) == wrong.end()) expected.push_back(i);
    }
    for (const std::size_t bytes_max : {std::size_t{64}, std::size_t{256}, std::size_t{1} << 20}) {
        const auto read = world.read(Position::earliest(), bytes_max);
        EXPECT_EQ(read.sequences(), expected) << bytes_max;
        EXPECT_FALSE(read.error) << read.error->detail;
        std::vector<std::int64_t> reported;
        for (const auto& damage : read.damages) {
            EXPECT_LT(damage.from, damage.to) << to_string(damage);
            for (auto at = damage.from; at < damage.to; at = at + 1) reported.push_back(at.value);
        }
        EXPECT_EQ(reported, wrong) << bytes_max;
    }
}

class WrongNumber : public testing::Test {
protected:
    // Twenty events of 64 bytes in one segment, which are read from the file after a restart.
    void SetUp() override {
        world.append_numbers(0, 20);
        world.close();
    }
    void expect(const std::vector<std::int64_t>& wrong) {
        world.open();
        expect_all_but(world, wrong);
        EXPECT_EQ(world.append({"next"})->first.value, 20);
    }
    LogFixture world{{.tail_bytes_max = 0}};
};

TEST_F(WrongNumber, in_one_record_costs_that_event_only) {
    for (const std::int64_t sequence : {0, 11, 13, 19, 20, 500}) {
        number(world, 12, sequence);
        world.open();
        expect_all_but(world, {12});
        world.close();
    }
    expect({12});
}

TEST_F(WrongNumber, beside_a_damaged_record_costs_two_events) {
    world.disk->flip_bit(segment_path(), segment_header_bytes + 11 * 64 + 57, 1);
    number(world, 12, 13);

    expect({11, 12});
}

TEST_F(WrongNumber, in_the_last_records_hides_no_event_before_them) {
    number(world, 18, 3);
    number(world, 19, 4);

    expect({18, 19});
}

TEST_F(WrongNumber, in_the_first_record_hides_no_event_behind_it) {
    number(world, 0, 7);

    expect({0});
}

}  // namespace
}  // namespace evenkeel::commitlog
