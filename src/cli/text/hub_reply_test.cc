#include "cli/text/hub_reply.h"

#include <gtest/gtest.h>

namespace evenkeel::cli {
namespace {

const std::string tracking =
    " TrackingId:9abccc9e, SystemTracker:eh1, Timestamp:2026-11-19T04:02:32.253Z";

TEST(HubReply, names_the_event_hub_that_does_not_exist) {
    EXPECT_EQ(
        plain_reply("The messaging entity 'sb://localhost/eh1' could not be found." + tracking),
        "event hub 'eh1' does not exist");
    EXPECT_EQ(plain_reply("not_found: The messaging entity 'eh1' could not be found."),
              "not_found: event hub 'eh1' does not exist");
    EXPECT_EQ(plain_reply("The messaging entity 'sb://h/eh1/ConsumerGroups/g' could not be found."),
              "'eh1/ConsumerGroups/g' does not exist");
}

TEST(HubReply, names_the_right_that_is_missing) {
    EXPECT_EQ(plain_reply("not_allowed: Unauthorized access. 'Send' claim(s) are required to "
                          "perform this operation. Resource: 'sb://localhost/eh1'." +
                          tracking),
              "not_allowed: the key lacks the right 'send' for 'eh1'");
}

TEST(HubReply, tells_a_wrong_key) {
    const std::string wrong = "InvalidSignature: The token has an invalid signature." + tracking;
    EXPECT_EQ(plain_reply(wrong), "the key, or the name of the key, is wrong");
    EXPECT_TRUE(is_wrong_key(wrong));
    EXPECT_FALSE(is_wrong_key("Unauthorized access."));
    EXPECT_EQ(plain_reply("InvalidSignature: The identity provider's keys have not been fetched "
                          "yet."),
              "The identity provider's keys have not been fetched yet.");
}

TEST(HubReply, names_the_partition_that_does_not_exist) {
    EXPECT_EQ(plain_reply("The specified partition is invalid for an EventHub partition sender or "
                          "receiver. It should be between 0 and one less than the number of "
                          "partitions of 'eh1'; it is '9'." +
                          tracking),
              "event hub 'eh1' has no partition 9");
}

TEST(HubReply, keeps_what_comes_behind_the_numbers) {
    EXPECT_EQ(plain_reply("nobody reads (It is taken." + tracking + "), and (It is gone." +
                          tracking + ")"),
              "nobody reads (It is taken.), and (It is gone.)");
    EXPECT_EQ(plain_reply("It is gone. TrackingId:1"), "It is gone.");
}

TEST(HubReply, calls_a_rule_a_key) {
    EXPECT_EQ(plain_reply("not_found: there is no rule 'app'"), "not_found: there is no key 'app'");
}

TEST(HubReply, keeps_what_it_does_not_know) {
    for (const std::string text :
         {"", "connect to localhost:1: Connection refused", "The messaging entity 'sb://h/eh1",
          "Unauthorized access. 'Send", "InvalidSignature: ", "' could not be found."}) {
        EXPECT_EQ(plain_reply(text), text == "InvalidSignature: " ? "" : text);
    }
}

}  // namespace
}  // namespace evenkeel::cli
