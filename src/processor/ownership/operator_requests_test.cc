#include "processor/ownership/operator_requests.h"

#include <optional>

#include <gtest/gtest.h>

#include "checkpoint/memory/store.h"
#include "io/sim/scheduler.h"
#include "support/seed.h"

namespace evenkeel::processor {
namespace {

class OperatorRequests : public testing::Test {
protected:
    ~OperatorRequests() override { loop.discard(); }

    template <typename T, typename Ask>
    Result<T> answer(Ask ask) {
        std::optional<Result<T>> answered;
        ask([&](Result<T> result) { answered.emplace(std::move(result)); });
        EXPECT_TRUE(
            scheduler.run_until([&] { return answered.has_value(); }, std::chrono::minutes(1)));
        return answered.value_or(Error{ErrorCode::timed_out, "no answer"});
    }
    Result<Paused> paused(std::vector<std::uint32_t> partitions) {
        return answer<Paused>([&](auto done) { pause(store, partitions, std::move(done)); });
    }
    Result<Resumed> resumed(std::vector<std::uint32_t> partitions) {
        return answer<Resumed>([&](auto done) { resume(store, partitions, std::move(done)); });
    }
    std::string record(const std::string& key) {
        const auto listed = answer<std::vector<checkpoint::Record>>(
            [&](auto done) { store.list_records(key, std::move(done)); });
        return listed->empty() ? "" : listed->front().value;
    }

    io::sim::Scheduler scheduler{test::test_seed()};
    checkpoint::MemoryServer server{scheduler.clock()};
    io::sim::SimLoop loop{scheduler, "me"};
    checkpoint::MemoryStore store{loop, server, {"localhost", "homes", "g"}};
};

TEST_F(OperatorRequests, pause_and_resume_partitions) {
    EXPECT_EQ(paused({3, 1})->partitions, (std::set<std::uint32_t>{1, 3}));
    EXPECT_EQ(paused({2})->partitions, (std::set<std::uint32_t>{1, 2, 3}));
    EXPECT_EQ(resumed({1, 3})->paused.partitions, std::set<std::uint32_t>{2});
    EXPECT_TRUE(paused({})->all);
    EXPECT_EQ(resumed({2}).error().code, ErrorCode::conflict);
    EXPECT_TRUE(resumed({})->paused.empty());
    EXPECT_EQ(record(std::string(pause_key)), "");
}

TEST_F(OperatorRequests, resume_tries_parked_partitions_again) {
    for (const std::uint32_t p : {1U, 2U}) {
        (void)answer<std::string>([&](auto done) {
            store.write_record({parked_key({p}), encode(Parked{1, false, "a", "why"})},
                               std::move(done));
        });
    }
    EXPECT_EQ(resumed({2})->unparked, std::vector<std::uint32_t>{2});
    EXPECT_EQ(record(parked_key({2})), "");
    EXPECT_EQ(resumed({})->unparked, std::vector<std::uint32_t>{1});
}

TEST_F(OperatorRequests, ask_to_drain_once) {
    for (int i = 0; i < 2; ++i) {
        const auto asked =
            answer<void>([&](auto done) { ask_to_drain(store, "i1", std::move(done)); });
        EXPECT_TRUE(asked.ok());
    }
    EXPECT_EQ(record(drain_key("i1")), "drain");
}

TEST_F(OperatorRequests, set_a_position_that_its_owner_cannot_write_over) {
    const auto made = answer<std::vector<Result<std::string>>>([&](auto done) {
        store.write_ownerships({{.partition = {0}, .owner = "ada", .epoch = {4}}}, std::move(done));
    });
    const checkpoint::Ownership entry{
        .partition = {0}, .owner = "ada", .epoch = {4}, .version = *made->at(0)};
    EXPECT_TRUE(answer<void>([&](auto done) {
                    set_position(store, entry, {.partition = {0}, .sequence = {7}},
                                 std::move(done));
                }).ok());

    const auto late = answer<void>([&](auto done) {
        store.write_checkpoint({.partition = {0}, .sequence = {90}, .epoch = {4}}, std::move(done));
    });
    EXPECT_EQ(late.error().code, ErrorCode::fenced);
    const auto again = answer<void>([&](auto done) {
        set_position(store, entry, {.partition = {0}, .sequence = {1}}, std::move(done));
    });
    EXPECT_EQ(again.error().code, ErrorCode::conflict) << "the entry is another one now";
}

}  // namespace
}  // namespace evenkeel::processor
