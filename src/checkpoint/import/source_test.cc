#include "checkpoint/import/source.h"

#include <gtest/gtest.h>

#include "checkpoint/blob/server_fixture.h"

namespace evenkeel::checkpoint {
namespace {

const GroupName source_group{"myns", "homes", "$Default"};
constexpr const char* lease = R"({"Offset":"700","SequenceNumber":41,"PartitionId":"0"})";

Result<LegacyCheckpoints> read(const BlobServer& server, std::string path = "") {
    return read_legacy(
        {.address = "azblob:" + server.address(), .group = source_group, .path = std::move(path)});
}

TEST(LegacySource, finds_the_layout_and_reads_page_by_page) {
    BlobServer server;
    for (int p = 0; p < 20; ++p) {
        const std::string name = std::to_string(p);
        server.put("myns/homes/$Default/" + name, {},
                   R"({"Offset":"7","SequenceNumber":)" + name + "}");
        server.put("myns/other/$Default/" + name, {}, lease);
    }
    server.set_page_items(7);

    const auto found = read(server);

    ASSERT_TRUE(found.ok()) << to_string(found.error());
    EXPECT_EQ(found->layout, LegacyLayout::functions);
    ASSERT_EQ(found->entries.size(), 20u);
    for (std::uint32_t p = 0; p < 20; ++p) {
        const LegacyEntry& entry = found->entries[p];
        EXPECT_EQ(entry.partition, PartitionId{p});
        ASSERT_TRUE(entry.record.ok());
        EXPECT_EQ(entry.record->checkpoint->sequence, SequenceNumber{p});
    }
}

TEST(LegacySource, prefers_what_the_sdks_of_today_wrote) {
    BlobServer server;
    server.put("myns/homes/$default/checkpoint/0", {{"offset", "9"}, {"sequencenumber", "50"}});
    server.put("myns/homes/$Default/0", {}, lease);
    server.put("$Default/0", {}, lease);

    const auto found = read(server);

    ASSERT_TRUE(found.ok()) << to_string(found.error());
    EXPECT_EQ(found->layout, LegacyLayout::metadata);
    ASSERT_EQ(found->entries.size(), 1u);
    EXPECT_EQ(found->entries[0].record->checkpoint->sequence, SequenceNumber{50});
}

TEST(LegacySource, keeps_a_record_that_cannot_be_used_beside_the_others) {
    BlobServer server;
    server.put("$Default/0", {}, lease);
    server.put("$Default/1", {}, std::string(100'000, 'x'));

    const auto found = read(server);

    ASSERT_TRUE(found.ok()) << to_string(found.error());
    EXPECT_TRUE(found->entries.at(0).record.ok());
    ASSERT_FALSE(found->entries.at(1).record.ok());
    EXPECT_EQ(found->entries.at(1).record.error().code, ErrorCode::corrupt);
}

TEST(LegacySource, names_what_else_is_there) {
    BlobServer server;
    server.put("old$Default/0", {}, lease);

    const auto nothing = read(server);
    const auto named = read(server, "old$Default/");

    ASSERT_FALSE(nothing.ok());
    EXPECT_EQ(nothing.error().code, ErrorCode::not_found);
    EXPECT_NE(nothing.error().detail.find("'old$Default/'"), std::string::npos)
        << nothing.error().detail;
    EXPECT_TRUE(named.ok());
}

TEST(LegacySource, refuses_addresses_that_it_does_not_know) {
    EXPECT_EQ(read_legacy({.address = "nonsense", .group = source_group}).error().code,
              ErrorCode::invalid_argument);
    EXPECT_EQ(read_legacy({.address = "sqlite:x", .group = source_group}).error().code,
              ErrorCode::invalid_argument);
    EXPECT_EQ(read_legacy({.address = "azblob:Container=x", .group = source_group}).error().code,
              ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace evenkeel::checkpoint
