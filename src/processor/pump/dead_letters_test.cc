#include "processor/pump/dead_letters.h"

#include <optional>

#include <gtest/gtest.h>

#include "checkpoint/memory/store.h"
#include "io/sim/scheduler.h"
#include "support/seed.h"

namespace evenkeel::processor {
namespace {

struct FakeOutlet final : source::Outlet {
    void open(Callback<void(Result<>)> done) override { done({}); }
    void send(std::vector<std::byte> sections, std::string partition_key,
              Callback<void(Result<>)> done) override {
        sent = std::string(as_text(sections));
        key = std::move(partition_key);
        done(answer);
    }
    void close(Task done) override { done(); }

    Result<> answer;
    std::string sent, key;
};

struct HubLetters : testing::Test {
    std::optional<Result<>> put() {
        std::optional<Result<>> answered;
        letters.put({.partition = {3},
                     .sequence = {41},
                     .offset = "4100",
                     .partition_key = "home-17",
                     .cause = "no such house",
                     .attempts = 5,
                     .sections = {std::byte{0}}},
                    [&](Result<> result) { answered = std::move(result); });
        scheduler.run_for(std::chrono::seconds(1));
        return answered;
    }

    const checkpoint::GroupName group{"a", "homes", "billing"};
    io::sim::Scheduler scheduler{test::test_seed()};
    checkpoint::MemoryServer server{scheduler.clock()};
    io::sim::SimLoop loop{scheduler, "me"};
    checkpoint::MemoryStore store{loop, server, group};
    FakeOutlet outlet;
    HubDeadLetters letters{outlet, store, "homes", "billing"};
};

TEST_F(HubLetters, say_why_and_where_it_was) {
    EXPECT_TRUE(put().value().ok());

    for (const char* told : {"no such house", "homes", "billing", "4100", "evenkeel-sequence",
                             "evenkeel-attempts", "evenkeel-partition"}) {
        EXPECT_NE(outlet.sent.find(told), std::string::npos) << told;
    }
    EXPECT_EQ(outlet.key, "home-17");
    EXPECT_TRUE(server.snapshot(group).dead_letters({10}).empty());
}

TEST_F(HubLetters, are_not_put_while_the_hub_is_away) {
    outlet.answer = Error{ErrorCode::unavailable, "away"};

    EXPECT_EQ(put().value().error().code, ErrorCode::unavailable);
    EXPECT_TRUE(server.snapshot(group).dead_letters({10}).empty());
}

TEST_F(HubLetters, go_to_the_store_if_the_hub_will_never_take_them) {
    outlet.answer = Error{ErrorCode::invalid_argument, "too large"};

    EXPECT_TRUE(put().value().ok());

    const auto kept = server.snapshot(group).dead_letters({10});
    ASSERT_EQ(kept.size(), 1u);
    EXPECT_EQ(kept[0].sequence, SequenceNumber{41});
    EXPECT_EQ(kept[0].cause, "no such house");
}

}  // namespace
}  // namespace evenkeel::processor
