#include "checkpoint/blob/list.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "support/seed.h"

namespace evenkeel::checkpoint {
namespace {

const std::string page =
    "\xEF\xBB\xBF<?xml version=\"1.0\" encoding=\"utf-8\"?><EnumerationResults "
    "ServiceEndpoint=\"http://127.0.0.1/a\" ContainerName=\"c\"><Prefix>ns/</Prefix><Blobs>"
    "<Blob><Name>ns/hub/a&amp;b/ownership/0</Name><Properties>"
    "<Last-Modified>Sun, 15 Nov 2026 12:00:00 GMT</Last-Modified><Etag>0x8DE</Etag>"
    "<Content-Length>7</Content-Length><BlobType>BlockBlob</BlobType></Properties>"
    "<Metadata><OwnerId>me &lt;&#228;&#x1F600;&gt; &nope;</OwnerId><empty/><none></none></Metadata>"
    "<OrMetadata/></Blob>\n <!-- a > comment -->"
    "<Blob><Name Encoded=\"true\">ns/%EF%BF%BE</Name><Properties><Etag>\"q\"</Etag></Properties>"
    "<Metadata/></Blob>"
    "<BlobPrefix><Name>folder/</Name></BlobPrefix>"
    "<Blob><Name/></Blob>"
    "</Blobs><NextMarker>ns/hub&amp;2</NextMarker></EnumerationResults>";

TEST(BlobList, has_names_versions_times_and_metadata) {
    const auto list = parse_blob_list(page);

    ASSERT_TRUE(list.ok()) << to_string(list.error());
    ASSERT_EQ(list->items.size(), 2u) << "one without a name is left out";
    const BlobItem& first = list->items[0];
    EXPECT_EQ(first.name, "ns/hub/a&b/ownership/0");
    EXPECT_EQ(first.etag, "0x8DE");
    EXPECT_EQ(first.modified, WallTime{1'794'744'000'000});
    EXPECT_EQ(first.bytes, 7u);
    const Metadata expected = {
        {"ownerid", "me <\xC3\xA4\xF0\x9F\x98\x80> &nope;"}, {"empty", ""}, {"none", ""}};
    EXPECT_EQ(first.metadata, expected);
    EXPECT_EQ(list->items[1].name, "ns/\xEF\xBF\xBE");
    EXPECT_EQ(list->items[1].etag, "q");
    EXPECT_TRUE(list->items[1].metadata.empty());
    EXPECT_EQ(list->next, "ns/hub&2");
}

TEST(BlobList, may_be_empty_and_still_go_on) {
    const auto last =
        parse_blob_list("<EnumerationResults><Blobs/><NextMarker/></EnumerationResults>");
    const auto more = parse_blob_list(
        "<EnumerationResults><Blobs></Blobs><NextMarker>m</NextMarker></EnumerationResults>");

    ASSERT_TRUE(last.ok() && more.ok());
    EXPECT_TRUE(last->items.empty());
    EXPECT_EQ(last->next, "");
    EXPECT_EQ(more->next, "m");
}

TEST(BlobList, that_is_none_is_corrupt) {
    std::string deep;
    for (int i = 0; i < 100; ++i) deep += "<a>";
    for (const std::string& text :
         {std::string(), std::string("hello"), std::string("<html></html>"),
          std::string("<EnumerationResults>"), std::string("<EnumerationResults></Blobs>"),
          std::string("<EnumerationResults><"), std::string("<EnumerationResults><></>"),
          std::string("<!DOCTYPE a [<!ENTITY b \"c\">]><EnumerationResults></EnumerationResults>"),
          std::string("<!-- <EnumerationResults/>"), "<EnumerationResults>" + deep}) {
        const auto list = parse_blob_list(text);
        ASSERT_FALSE(list.ok()) << text;
        EXPECT_EQ(list.error().code, ErrorCode::corrupt);
    }
}

TEST(BlobList, with_flipped_or_missing_bytes_is_read_or_refused_and_no_more) {
    Random random(test::test_seed());
    for (int i = 0; i < 5000; ++i) {
        std::string text =
            page.substr(0, random.chance(1, 3) ? random.below(page.size()) : page.npos);
        for (std::uint64_t flips = random.below(4); flips > 0 && !text.empty(); --flips) {
            text[random.below(text.size())] = static_cast<char>(random.below(256));
        }
        (void)parse_blob_list(text);
        (void)parse_blob_error(text);
    }
}

TEST(BlobError, has_a_code) {
    EXPECT_EQ(parse_blob_error("<?xml version=\"1.0\"?>\n<Error>\n<Code>ContainerNotFound</Code>"
                               "<Message>The specified</Message></Error>"),
              "ContainerNotFound");
    EXPECT_EQ(parse_blob_error(""), "");
    EXPECT_EQ(parse_blob_error("<html><body>Bad gateway"), "");
}

TEST(BlobEtag, loses_its_quotes) {
    EXPECT_EQ(bare_etag("\"0x8\""), "0x8");
    EXPECT_EQ(bare_etag("W/\"0x8\""), "0x8");
    EXPECT_EQ(bare_etag("0x8"), "0x8");
    EXPECT_EQ(bare_etag("\""), "\"");
}

}  // namespace
}  // namespace evenkeel::checkpoint
