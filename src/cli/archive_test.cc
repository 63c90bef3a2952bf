#include "cli/archive.h"

#include <gtest/gtest.h>

namespace evenkeel::cli {
namespace {

TEST(Archive, has_the_shape_of_gzip_and_tar) {
    const std::string bytes = tar_gz({{"a.txt", "hello"}}, WallTime{1'700'000'000'000});

    // One header, one block of content, two empty ones: 2,048 bytes in a single stored part.
    ASSERT_EQ(bytes.size(), 10u + 5 + 2048 + 8);
    EXPECT_EQ(bytes.substr(0, 3), "\x1f\x8b\x08");
    EXPECT_EQ(bytes.substr(10, 5), std::string("\x01\x00\x08\xff\xf7", 5));
    EXPECT_EQ(bytes.substr(15, 6), std::string("a.txt\0", 6));
    EXPECT_EQ(bytes.substr(15 + 124, 12), std::string("00000000005\0", 12));
    EXPECT_EQ(bytes.substr(15 + 512, 6), std::string("hello\0", 6));
    EXPECT_EQ(bytes.substr(bytes.size() - 4), std::string("\x00\x08\x00\x00", 4));
}

TEST(Archive, splits_what_is_larger_than_a_stored_part) {
    const std::string bytes = tar_gz({{"a", std::string(200'000, 'x')}, {"b", ""}}, WallTime{});

    const std::size_t tar = 512 + 200'192 + 512 + 1024;
    EXPECT_EQ(bytes.size(), 10 + 5 * ((tar + 65'534) / 65'535) + tar + 8);
}

}  // namespace
}  // namespace evenkeel::cli
