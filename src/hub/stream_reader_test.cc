#include "hub/stream_reader.h"

#include <gtest/gtest.h>

#include "hub/hub_fixture.h"

namespace evenkeel::hub {
namespace {

using namespace std::chrono_literals;

// One reader of an event hub "h" with one partition.
class ReaderRig : public HubFixture {
public:
    ReaderRig() {
        opened(*this);
        EXPECT_TRUE(create("h", {.partitions = 1}).ok());
        reads = std::make_unique<ExecutorReads>(node->loop, executor);
        reader = std::make_unique<StreamReader>(node->loop, *reads);
        EXPECT_TRUE(attach_reader().ok());
    }
    Result<> attach_reader() {
        EK_TRY_ASSIGN(EventHub* const event_hub, hub->find("h"));
        return reader->attach(*event_hub, "$Default", {0}, Position::earliest(), {"r", {}});
    }
    void ask(Duration wait) {
        answer.reset();
        reader->read(wait, [this](Result<commitlog::Slice> slice) { answer = std::move(slice); });
    }

    io::sim::SimExecutor executor{scheduler, "read/0"};
    std::unique_ptr<ExecutorReads> reads;
    std::unique_ptr<StreamReader> reader;
    std::optional<Result<commitlog::Slice>> answer;
};

TEST(StreamReader, answers_when_events_come_and_knows_the_end) {
    ReaderRig rig;
    EXPECT_EQ(rig.reader->last(), SequenceNumber{-1});
    rig.ask(10s);
    EXPECT_FALSE(rig.answer);

    ASSERT_TRUE(rig.append("h", 0, {"a"}).ok());

    ASSERT_TRUE(rig.answer && rig.answer->ok());
    EXPECT_FALSE((*rig.answer)->empty());
    EXPECT_EQ(rig.reader->last(), SequenceNumber{0});
}

TEST(StreamReader, answers_with_no_events_when_the_time_is_over) {
    ReaderRig rig;
    rig.ask(2s);
    rig.run_for(1s);
    EXPECT_FALSE(rig.answer);

    rig.run_for(2s);

    ASSERT_TRUE(rig.answer && rig.answer->ok());
    EXPECT_TRUE((*rig.answer)->empty());
    rig.ask(0s);
    ASSERT_TRUE(rig.answer && rig.answer->ok());
    EXPECT_TRUE((*rig.answer)->empty());
}

TEST(StreamReader, answers_with_the_reason_when_the_event_hub_is_removed) {
    ReaderRig rig;
    rig.ask(10s);

    ASSERT_TRUE(rig.remove("h").ok());

    ASSERT_TRUE(rig.answer && !rig.answer->ok());
    EXPECT_EQ(rig.answer->error().code, ErrorCode::not_found);
    EXPECT_TRUE(rig.reader->has_ended());
}

TEST(StreamReader, answers_cancelled_after_close) {
    ReaderRig rig;
    rig.ask(10s);

    rig.reader->close();

    ASSERT_TRUE(rig.answer && !rig.answer->ok());
    EXPECT_EQ(rig.answer->error().code, ErrorCode::cancelled);
    rig.ask(10s);
    ASSERT_TRUE(rig.answer && !rig.answer->ok());
    EXPECT_EQ(rig.answer->error().code, ErrorCode::cancelled);
}

}  // namespace
}  // namespace evenkeel::hub
