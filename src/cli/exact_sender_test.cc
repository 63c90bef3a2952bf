#include "cli/exact_sender.h"

#include <deque>
#include <string>

#include <gtest/gtest.h>

namespace evenkeel::cli {
namespace {

// A hub that can be out of reach, and whose answers can get lost.
class FakeHub final : public SenderLink {
public:
    Result<SendReceipt> send(const SendBatch& batch) override {
        said += "send ";
        if (outage > 0) return lost();
        const auto first = stored;
        stored += static_cast<std::int64_t>(batch.size());
        if (outage_after_send > 0) {
            outage = std::exchange(outage_after_send, 0);
            return lost();
        }
        return SendReceipt{.partition = 0, .first_sequence_number = first};
    }
    Result<PartitionInfo> look(std::uint32_t partition) override {
        said += "look ";
        if (outage > 0) return lost();
        PartitionInfo info;
        info.partition = partition;
        info.last_enqueued_sequence_number = stored - 1;
        return info;
    }
    Result<std::size_t> bytes_max() override { return std::size_t{1000}; }
    void drop() override {}
    bool wait(Duration) override { return waits_max-- <= 0; }

    std::int64_t stored = 0;
    int outage = 0;             // calls that do not reach it
    int outage_after_send = 0;  // the next batch is stored, and then it is out of reach
    int waits_max = 1000;
    std::string said;

private:
    Error lost() {
        --outage;
        return {ErrorCode::unavailable, "connection lost"};
    }
};

SendBatch a_batch(int events) {
    SendBatch batch;
    for (int i = 0; i < events; ++i) batch.try_add("event");
    return batch;
}

TEST(ExactSender, stores_batches_behind_each_other) {
    FakeHub hub;
    ExactSender sender(hub);
    ASSERT_TRUE(sender.begin(0).ok());

    EXPECT_TRUE(sender.send(a_batch(3)).ok());
    EXPECT_TRUE(sender.send(a_batch(2)).ok());

    EXPECT_EQ(hub.stored, 5);
    EXPECT_EQ(hub.said, "look send send ");
}

TEST(ExactSender, asks_before_it_repeats_what_was_not_answered) {
    FakeHub hub;
    ExactSender sender(hub);
    ASSERT_TRUE(sender.begin(0).ok());
    hub.outage_after_send = 2;

    EXPECT_TRUE(sender.send(a_batch(3)).ok());

    EXPECT_EQ(hub.stored, 3);
    EXPECT_EQ(hub.said, "look send look look ");
}

TEST(ExactSender, stores_nothing_twice_over_a_long_outage) {
    FakeHub hub;
    ExactSender sender(hub);
    ASSERT_TRUE(sender.begin(0).ok());
    hub.outage_after_send = 2 * ExactSender::tries_max + 2;

    EXPECT_TRUE(sender.send(a_batch(3)).ok());
    EXPECT_TRUE(sender.send(a_batch(1)).ok());

    EXPECT_EQ(hub.stored, 4);
    EXPECT_EQ(hub.said.find("send look"), 5u);
    EXPECT_EQ(hub.said.find("send", 9), hub.said.rfind("send")) << hub.said;
}

TEST(ExactSender, repeats_what_the_hub_did_not_get) {
    FakeHub hub;
    ExactSender sender(hub);
    ASSERT_TRUE(sender.begin(0).ok());
    hub.outage = 1;

    EXPECT_TRUE(sender.send(a_batch(3)).ok());

    EXPECT_EQ(hub.stored, 3);
    EXPECT_EQ(hub.said, "look send look send ");
}

TEST(ExactSender, gives_up_without_a_repeat) {
    FakeHub hub;
    ExactSender sender(hub);
    ASSERT_TRUE(sender.begin(0).ok());
    hub.outage_after_send = 1000;

    const auto sent = sender.send(a_batch(3));

    ASSERT_FALSE(sent.ok());
    EXPECT_EQ(sent.error().code, ErrorCode::unavailable);
    EXPECT_EQ(hub.stored, 3);
    EXPECT_EQ(hub.said.find("send"), hub.said.rfind("send"));
}

TEST(ExactSender, notices_events_of_others) {
    FakeHub hub;
    ExactSender sender(hub);
    ASSERT_TRUE(sender.begin(0).ok());
    hub.stored += 1;
    const auto between = sender.send(a_batch(3));
    ASSERT_TRUE(sender.begin(0).ok());
    hub.stored += 1;
    hub.outage = 1;
    const auto unanswered = sender.send(a_batch(3));

    ASSERT_FALSE(between.ok());
    EXPECT_EQ(between.error().code, ErrorCode::conflict);
    ASSERT_FALSE(unanswered.ok());
    EXPECT_EQ(unanswered.error().code, ErrorCode::conflict);
}

TEST(ExactSender, ends_when_it_is_interrupted) {
    FakeHub hub;
    ExactSender sender(hub);
    ASSERT_TRUE(sender.begin(0).ok());
    hub.outage = 1000;
    hub.waits_max = 3;

    const auto sent = sender.send(a_batch(3));

    ASSERT_FALSE(sent.ok());
    EXPECT_EQ(sent.error().code, ErrorCode::cancelled);
}

}  // namespace
}  // namespace evenkeel::cli
