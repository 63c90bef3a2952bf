// The formats byte by byte, against a file that was made without the code under test.
#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include <gtest/gtest.h>

#include "commitlog/index.h"
#include "commitlog/journal_format.h"
#include "commitlog/mark.h"
#include "commitlog/record.h"
#include "commitlog/segment.h"
#include "support/paths.h"

namespace evenkeel::commitlog {
namespace {

constexpr PartitionId partition{5};
constexpr WallTime time{1767225600123};

Incarnation incarnation() {
    Incarnation bytes;
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i);
    return bytes;
}

std::uint32_t golden_seed() {
    return checksum_seed(incarnation(), partition);
}

// By name: "record 454b52…".
std::map<std::string, std::string> golden(const std::string& name_of_file = "segment_v1.hex") {
    std::map<std::string, std::string> lines;
    std::ifstream file(test::data_path(name_of_file));
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with('#')) continue;
        std::istringstream words(line);
        std::string name;
        words >> name >> lines[name];
    }
    return lines;
}

std::string hex(ByteView bytes) {
    constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (const std::byte byte : bytes) {
        text += digits[std::to_integer<unsigned>(byte) >> 4];
        text += digits[std::to_integer<unsigned>(byte) & 15];
    }
    return text;
}

TEST(GoldenBytes, a_record_is_what_it_was) {
    const Record record{{1000}, {64000}, time, 1, 2, {63936}, as_bytes("key"), as_bytes("payload")};
    std::vector<std::byte> bytes(stored_bytes(record));

    encode(record, golden_seed(), bytes.data());

    EXPECT_EQ(hex(bytes), golden()["record"]);
}

TEST(GoldenBytes, a_segment_header_is_what_it_was) {
    const SegmentHeader header{{{1000}, {64000}}, incarnation(), partition, 72, {1767225600100}};

    EXPECT_EQ(hex(encode(header, golden_seed())), golden()["segment_header"]);
}

TEST(GoldenBytes, an_index_entry_is_what_it_was) {
    std::vector<std::byte> bytes;

    append_encoded({{64000}, {1000}, time}, golden_seed(), bytes);

    EXPECT_EQ(hex(bytes), golden()["index_entry"]);
}

TEST(GoldenBytes, a_mark_is_what_it_was) {
    const Mark mark{9, {64000}, {1000}, {64072}, {1001}, time, 72};

    EXPECT_EQ(hex(encode(mark, golden_seed())), golden()["mark_slot"]);
}

std::vector<std::byte> bytes_of(const std::string& name,
                                const std::string& name_of_file = "segment_v1.hex") {
    const std::string text = golden(name_of_file)[name];
    std::vector<std::byte> bytes(text.size() / 2);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = static_cast<std::byte>(std::stoi(text.substr(2 * i, 2), nullptr, 16));
    }
    return bytes;
}

// What each version wrote is read for ever: the fixtures of a version stay when the next one comes.
TEST(GoldenBytes, of_version_1_are_read) {
    const auto bytes = bytes_of("record");  // the record's body is a part of them
    const auto record = decode(bytes, {64000}, golden_seed());
    ASSERT_TRUE(record);
    EXPECT_EQ(record->sequence.value, 1000);
    EXPECT_EQ(as_text(record->body), "payload");
    const auto header = decode_segment_header(bytes_of("segment_header"));
    ASSERT_TRUE(header);
    EXPECT_EQ(header->name.base.value, 64000);
    EXPECT_EQ(segment_version(bytes_of("segment_header")), 1);
    const auto index = decode_index(bytes_of("index_entry"), {0}, {70000}, golden_seed());
    ASSERT_EQ(index.size(), 1u);
    EXPECT_EQ(index[0].sequence.value, 1000);
    const auto mark = decode_mark(bytes_of("mark_slot"), golden_seed());
    ASSERT_TRUE(mark);
    EXPECT_EQ(mark->end_sequence.value, 1001);
}

JournalHeader golden_journal() {
    JournalHeader header{7, {}};
    for (std::size_t i = 0; i < header.nonce.size(); ++i) {
        header.nonce[i] = static_cast<std::byte>(i + 16);
    }
    return header;
}

TEST(GoldenBytes, a_journal_is_what_it_was) {
    const auto record = bytes_of("record");
    const auto header = encode(golden_journal());
    std::vector<std::byte> entry;
    std::byte* const payload = begin_entry({{incarnation(), partition}, {{1000}, {64000}}, {64000}},
                                           golden_journal().generation, record.size(), entry);
    std::copy(record.begin(), record.end(), payload);
    seal_entry(record.size(), golden_journal().seed(), payload);

    EXPECT_EQ(hex(ByteView(header).first(journal_header_bytes)),
              golden("journal_v1.hex")["header"]);
    EXPECT_EQ(hex(entry), golden("journal_v1.hex")["entry"]);
}

TEST(GoldenBytes, of_version_1_of_the_journal_are_read) {
    const auto header = decode_journal_header(bytes_of("header", "journal_v1.hex"), "journal");
    ASSERT_TRUE(header.ok() && *header);
    EXPECT_EQ((**header).generation, 7u);
    const auto bytes = bytes_of("entry", "journal_v1.hex");
    const auto entry = decode_journal_entry(bytes, **header);
    ASSERT_TRUE(entry);
    EXPECT_EQ(entry->place.identity.partition, partition);
    EXPECT_EQ(entry->place.segment.base_sequence.value, 1000);
    EXPECT_EQ(hex(entry->bytes), golden()["record"]);
}

TEST(GoldenBytes, the_seed_joins_incarnation_and_partition) {
    std::array<std::byte, 4> bytes;

    store(bytes.data(), golden_seed());

    EXPECT_EQ(hex(bytes), golden()["checksum_seed"]);
}

}  // namespace
}  // namespace evenkeel::commitlog
