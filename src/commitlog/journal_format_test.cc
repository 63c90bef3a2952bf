#include "commitlog/journal_format.h"

#include <gtest/gtest.h>

namespace evenkeel::commitlog {
namespace {

TEST(JournalFormat, every_flipped_bit_of_an_entry_is_found) {
    const JournalHeader header{3, JournalNonce{std::byte{1}}};
    std::vector<std::byte> bytes;
    std::byte* const payload = begin_entry({{Incarnation{}, {1}}, {}, {0}}, 3, 16, bytes);
    seal_entry(16, header.seed(), payload);
    ASSERT_TRUE(decode_journal_entry(bytes, header));
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
        bytes[bit / 8] ^= std::byte{1} << (bit % 8);
        EXPECT_FALSE(decode_journal_entry(bytes, header)) << "bit " << bit;
        bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    }
}

TEST(JournalFormat, an_entry_of_another_generation_is_none) {
    const JournalHeader header{3, {}};
    std::vector<std::byte> bytes;
    std::byte* const payload = begin_entry({{Incarnation{}, {1}}, {}, {0}}, 3, 8, bytes);
    seal_entry(8, header.seed(), payload);

    EXPECT_TRUE(decode_journal_entry(bytes, header));
    EXPECT_FALSE(decode_journal_entry(bytes, {4, {}}));
    EXPECT_FALSE(decode_journal_entry(bytes, {3, JournalNonce{std::byte{1}}}));
}

TEST(JournalFormat, an_entry_has_a_largest_size) {
    const JournalHeader header{3, {}};
    for (const std::size_t bytes : {journal_entry_bytes_max, journal_entry_bytes_max + 8}) {
        std::vector<std::byte> entry;
        std::byte* const payload = begin_entry({{Incarnation{}, {1}}, {}, {0}}, 3, bytes, entry);
        seal_entry(bytes, header.seed(), payload);

        EXPECT_EQ(decode_journal_entry(entry, header).has_value(),
                  bytes == journal_entry_bytes_max);
    }
}

}  // namespace
}  // namespace evenkeel::commitlog
