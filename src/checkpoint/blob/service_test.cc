#include "checkpoint/blob/service.h"

#include <gtest/gtest.h>

namespace evenkeel::checkpoint {
namespace {

http::Fetched fetched(int status, std::vector<http::Field> fields, std::string body = {}) {
    return {{status, std::move(fields), std::move(body)}, false};
}

TEST(BlobAnswer, is_read_from_headers_in_any_case) {
    const auto answer =
        blob_answer_of(fetched(200, {{"etag", "\"0x8\""},
                                     {"DATE", "Sun, 15 Nov 2026 12:00:05 GMT"},
                                     {"last-modified", "Sun, 15 Nov 2026 12:00:00 GMT"},
                                     {"X-Ms-Meta-OwnerId", "Me"},
                                     {"x-ms-meta-empty", ""}}));

    EXPECT_TRUE(answer.is_good());
    EXPECT_EQ(answer.etag, "0x8");
    EXPECT_EQ(answer.date - answer.modified, std::chrono::seconds(5));
    EXPECT_EQ(answer.metadata, (Metadata{{"ownerid", "Me"}, {"empty", ""}}));
}

TEST(BlobAnswer, has_the_code_of_an_error_from_its_header_or_its_body) {
    const std::string body = "<?xml version=\"1.0\"?><Error><Code>BlobNotFound</Code></Error>";

    EXPECT_EQ(blob_answer_of(fetched(404, {{"x-ms-error-code", "ContainerNotFound"}}, body)).code,
              "ContainerNotFound");
    EXPECT_EQ(blob_answer_of(fetched(404, {}, body)).code, "BlobNotFound");
    EXPECT_EQ(blob_answer_of(fetched(502, {}, "<html>bad gateway")).code, "");
    EXPECT_TRUE(blob_answer_of(fetched(412, {})).is_conflict());
    EXPECT_FALSE(blob_answer_of(fetched(403, {})).is_conflict());
}

TEST(BlobListRequest, hands_the_marker_back_as_it_came) {
    const auto first = blob_list_request("ns/hub/g/", 10, "");
    const auto next = blob_list_request("ns/hub/g/", 10, "2!abc&=");

    EXPECT_EQ(next.query.size(), first.query.size() + 1);
    EXPECT_EQ(next.query.back(), (std::pair<std::string, std::string>("marker", "2!abc&=")));
}

}  // namespace
}  // namespace evenkeel::checkpoint
