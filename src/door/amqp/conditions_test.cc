#include "door/amqp/conditions.h"

#include <gtest/gtest.h>

namespace evenkeel::door {
namespace {

TEST(Condition, of_each_error_makes_clients_do_the_right_thing) {
    const auto name = [](ErrorCode code) { return condition_of({code, "why"}).name; };

    EXPECT_EQ(name(ErrorCode::invalid_argument), "com.microsoft:argument-error");
    EXPECT_EQ(name(ErrorCode::not_found), "amqp:not-found");
    EXPECT_EQ(name(ErrorCode::conflict), "amqp:not-allowed");
    EXPECT_EQ(name(ErrorCode::unsupported), "amqp:not-implemented");
    EXPECT_EQ(name(ErrorCode::fenced), "amqp:link:stolen");
    EXPECT_EQ(name(ErrorCode::overloaded), "com.microsoft:server-busy");
    EXPECT_EQ(name(ErrorCode::unavailable), "com.microsoft:server-busy");
    EXPECT_EQ(name(ErrorCode::timed_out), "com.microsoft:timeout");
    EXPECT_EQ(name(ErrorCode::cancelled), "amqp:link:detach-forced");
    EXPECT_EQ(name(ErrorCode::corrupt), "amqp:internal-error");
}

TEST(Condition, of_the_storage_names_no_file_of_the_server) {
    const auto text = [](ErrorCode code, const char* detail) {
        return storage_condition({code, detail}).description;
    };
    EXPECT_EQ(text(ErrorCode::unavailable, "write /srv/data/hubs/ab/0/1-0.log: I/O error"),
              "The storage of the partition failed. The server's log says more.");
    EXPECT_EQ(text(ErrorCode::corrupt, "open data/hubs/ab: bad header"),
              "The storage of the partition failed. The server's log says more.");
    EXPECT_EQ(text(ErrorCode::overloaded, "sync data/hubs/ab: no space left on device"),
              "The storage of the partition is full. The server's log says more.");
    EXPECT_EQ(text(ErrorCode::overloaded, "too much is waiting"), "too much is waiting");
    EXPECT_EQ(storage_condition({ErrorCode::unavailable, "a/b"}).name, "com.microsoft:server-busy");
}

TEST(Condition, of_a_missing_entity_has_the_words_that_clients_match) {
    EXPECT_EQ(entity_not_found("sb://hub/x").description,
              "The messaging entity 'sb://hub/x' could not be found.");
}

TEST(Condition, of_throttling_names_the_code_and_the_wait) {
    EXPECT_EQ(throttled("namespace", "x").name, "com.microsoft:server-busy");
    EXPECT_EQ(throttled("key 'app'", "events_per_second = 5").description,
              "The request was terminated because the key 'app' is being throttled "
              "(events_per_second = 5). Error code : 50002. Please wait 4 seconds and try again.");
}

TEST(PeerText, keeps_descriptions_short_and_good_utf8) {
    EXPECT_EQ(peer_text("a\nb\xff\xc3z"), "a?b??z");
    EXPECT_EQ(peer_text(std::string(1000, 'x')).size(), 300u);
}

TEST(Tracking, ends_a_text_with_what_people_search_for) {
    const std::string text = tracking("eh1", WallTime{1767225600000});

    EXPECT_TRUE(text.starts_with(" TrackingId:"));
    EXPECT_TRUE(text.ends_with(", SystemTracker:eh1, Timestamp:2026-01-01T00:00:00.000Z")) << text;
}

}  // namespace
}  // namespace evenkeel::door
