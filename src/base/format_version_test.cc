#include "base/format_version.h"

#include <gtest/gtest.h>

namespace evenkeel::format {
namespace {

TEST(FormatVersion, names_both_versions_of_a_newer_file) {
    EXPECT_TRUE(check("the mark", 1, 1).ok());
    EXPECT_TRUE(check("the mark", 1, 2).ok());

    const auto refused = check("the mark", 3, 2);

    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
    EXPECT_NE(refused.error().detail.find("version 3"), std::string::npos);
    EXPECT_NE(refused.error().detail.find("up to 2"), std::string::npos);
}

TEST(FormatVersion, frames_a_text_and_gives_it_back) {
    const std::string text = framed("word", 1, "{\"a\":1}");

    EXPECT_EQ(text.substr(0, 16), "evenkeel word 1 ");
    EXPECT_EQ(*unframed(text, "word", 1, "word"), "{\"a\":1}");
    EXPECT_EQ(*unframed(text, "word", 2, "word"), "{\"a\":1}") << "an older one is read";
    EXPECT_EQ(*unframed(framed("word", 1, ""), "word", 1, "word"), "");
}

TEST(FormatVersion, refuses_a_newer_text_and_calls_it_so) {
    EXPECT_EQ(unframed(framed("word", 2, "x"), "word", 1, "word").error().code,
              ErrorCode::unsupported);
    std::string damaged = framed("word", 1, "x");
    damaged[14] = '3';
    EXPECT_EQ(unframed(damaged, "word", 1, "word").error().code, ErrorCode::corrupt)
        << "a digit that rotted is no newer version";
}

TEST(FormatVersion, calls_every_cut_and_every_changed_byte_damage) {
    const std::string text = framed("word", 1, "{\"a\":1}");
    for (std::size_t size = 0; size < text.size(); ++size) {
        EXPECT_FALSE(unframed(text.substr(0, size), "word", 1, "word").ok()) << size;
    }
    for (std::size_t at = 0; at < text.size(); ++at) {
        std::string changed = text;
        changed[at] = static_cast<char>(changed[at] ^ 1);
        EXPECT_FALSE(unframed(changed, "word", 1, "word").ok()) << at;
    }
}

}  // namespace
}  // namespace evenkeel::format
