#include "io/twin_file.h"

#include <gtest/gtest.h>

#include "io/sim/disk.h"
#include "support/seed.h"

namespace evenkeel::io {
namespace {

using sim::Disk;
using sim::OperationKind;

// "3 words": a generation and what follows it.
struct Content {
    std::uint64_t generation = 0;
    std::string words;
};

Result<Content> decode(std::string_view text) {
    const std::size_t space = text.find(' ');
    if (text.starts_with("newer")) return Error{ErrorCode::unsupported, "version 2"};
    if (space != 1) return Error{ErrorCode::corrupt, "not a content"};
    return Content{static_cast<std::uint64_t>(text[0] - '0'), std::string(text.substr(2))};
}

class TwinFiles : public testing::Test {
protected:
    TwinFiles() {
        EXPECT_TRUE(disk.make_directory("data").ok());
        EXPECT_TRUE(disk.sync_directory("").ok());
    }
    static TwinFile on(FileSystem& files) {
        return {files, {.directory = "data", .name = "twin", .bytes_max = 1000}};
    }
    void put(const std::string& path, std::string_view text) {
        EXPECT_TRUE(replace_file(disk, path, as_bytes(text)).ok());
    }

    Disk disk;
    const TwinFile file = on(disk);
};

TEST_F(TwinFiles, are_none_before_the_first_save) {
    const auto loaded = file.load(&decode);

    ASSERT_TRUE(loaded.ok());
    EXPECT_FALSE(loaded->has_value());
}

TEST_F(TwinFiles, are_whole_after_a_save) {
    ASSERT_TRUE(file.save("1 one").ok());

    const auto loaded = file.load(&decode);

    ASSERT_TRUE(loaded.ok() && loaded->has_value());
    EXPECT_EQ((*loaded)->content.words, "one");
    EXPECT_TRUE((*loaded)->is_whole);
    EXPECT_EQ(disk.files().size(), 2u);
}

TEST_F(TwinFiles, give_the_newer_of_two_good_texts) {
    put("data/twin", "1 old");
    put("data/twin.copy", "2 new");

    const auto loaded = file.load(&decode);

    EXPECT_EQ((*loaded)->content.words, "new");
    EXPECT_FALSE((*loaded)->is_whole);
}

TEST_F(TwinFiles, give_the_good_one_beside_a_damaged_one) {
    for (const char* damaged : {"data/twin", "data/twin.copy"}) {
        ASSERT_TRUE(file.save("1 one").ok());
        put(damaged, "rot");

        const auto loaded = file.load(&decode);

        EXPECT_EQ((*loaded)->content.words, "one");
        EXPECT_FALSE((*loaded)->is_whole);
    }
}

TEST_F(TwinFiles, that_are_both_damaged_are_named) {
    put("data/twin", "rot");
    put("data/twin.copy", "");

    const auto loaded = file.load(&decode);

    EXPECT_EQ(loaded.error().code, ErrorCode::corrupt);
    EXPECT_EQ(loaded.error().detail,
              "data/twin: not a content; data/twin.copy: not a content; restore one of them from a "
              "copy of the data folder");
}

TEST_F(TwinFiles, that_cannot_be_read_are_not_called_damaged) {
    ASSERT_TRUE(file.save("1 one").ok());
    disk.fail({.kind = OperationKind::read, .times = 2});

    EXPECT_EQ(file.load(&decode).error().code, ErrorCode::unavailable);
    EXPECT_TRUE(file.load(&decode).ok());
}

TEST_F(TwinFiles, of_a_newer_version_are_refused_beside_an_older_copy) {
    put("data/twin", "1 one");
    put("data/twin.copy", "newer");

    EXPECT_EQ(file.load(&decode).error().code, ErrorCode::unsupported);
}

// IO-5, IO-6
TEST_F(TwinFiles, are_the_old_ones_or_the_new_ones_after_any_crash) {
    Random random(test::test_seed());
    ASSERT_TRUE(file.save("1 old").ok());
    std::size_t images = 0;
    const auto check = [&](bool is_saved) {
        for (int policy = 0; policy <= static_cast<int>(sim::CrashPolicy::any); ++policy) {
            const auto image = disk.crash(random, static_cast<sim::CrashPolicy>(policy));
            const auto loaded = on(*image).load(&decode);
            ASSERT_TRUE(loaded.ok() && loaded->has_value());
            const std::string& words = (*loaded)->content.words;
            ASSERT_TRUE(words == "new" || (words == "old" && !is_saved)) << words;
            ++images;
        }
    };
    disk.set_hook([&](const sim::Operation&) { check(false); });

    ASSERT_TRUE(file.save("2 new").ok());

    disk.set_hook({});
    check(true);
    EXPECT_GT(images, 20u);
}

TEST_F(TwinFiles, do_not_change_without_space) {
    ASSERT_TRUE(file.save("1 one").ok());
    disk.set_capacity_bytes(18);  // both are 5 bytes: one more fits, a second does not

    const auto saved = file.save("2 three");

    EXPECT_EQ(saved.error().code, ErrorCode::overloaded);
    EXPECT_EQ((*file.load(&decode))->content.words, "one");
    EXPECT_EQ(disk.files().size(), 2u);
}

}  // namespace
}  // namespace evenkeel::io
