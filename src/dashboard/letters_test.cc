#include "dashboard/letters.h"

#include <optional>

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "checkpoint/memory/store.h"
#include "eventhubs/sections.h"
#include "io/sim/scheduler.h"
#include "support/seed.h"

namespace evenkeel::dashboard {
namespace {

using checkpoint::DeadLetter;

class LettersTest : public testing::Test {
protected:
    ~LettersTest() override { loop.discard(); }

    void add(std::uint32_t partition, std::int64_t sequence, const std::string& cause,
             std::string_view body = "b") {
        std::string sections;
        eventhubs::append_data_section(body, sections);
        const auto bytes = as_bytes(sections);
        store.add_dead_letter({.partition = {partition},
                               .sequence = {sequence},
                               .cause = cause,
                               .attempts = 3,
                               .at_ms = 1000 + sequence,
                               .sections = {bytes.begin(), bytes.end()}},
                              [](const Result<>& added) { ASSERT_TRUE(added.ok()); });
        scheduler.run_for(std::chrono::milliseconds(1));
    }
    boost::json::value list(LetterQuery query = {}) {
        std::optional<Result<std::string>> answer;
        list_letters(store, std::move(query),
                     [&](Result<std::string> json) { answer.emplace(std::move(json)); });
        EXPECT_TRUE(
            scheduler.run_until([&] { return answer.has_value(); }, std::chrono::minutes(1)));
        return boost::json::parse(**answer);
    }
    Result<DeadLetter> find(std::uint32_t partition, std::int64_t sequence) {
        std::optional<Result<DeadLetter>> answer;
        find_letter(store, {{partition}, {sequence}},
                    [&](Result<DeadLetter> letter) { answer.emplace(std::move(letter)); });
        EXPECT_TRUE(
            scheduler.run_until([&] { return answer.has_value(); }, std::chrono::minutes(1)));
        return *answer;
    }

    io::sim::Scheduler scheduler{test::test_seed()};
    checkpoint::MemoryServer server{scheduler.clock()};
    io::sim::SimLoop loop{scheduler, "me"};
    checkpoint::MemoryStore store{loop, server, {"localhost", "homes", "g"}};
};

TEST_F(LettersTest, are_counted_by_cause_and_listed_page_by_page) {
    for (int i = 0; i < 60; ++i) add(1, i, "bad json at line " + std::to_string(i));
    add(2, 7, "no such home");

    const auto first = list({.limit = 50});
    EXPECT_EQ(first.at("total").as_int64(), 61);
    EXPECT_EQ(first.at("causes").at(0).at("cause").as_string(), "bad json at line #");
    EXPECT_EQ(first.at("causes").at(0).at("count").as_int64(), 60);
    EXPECT_EQ(first.at("dead_letters").as_array().size(), 50U);
    EXPECT_EQ(first.at("next").as_string(), "1/49");
    const auto second = list({.after = checkpoint::DeadLetterId{{1}, {49}}, .limit = 50});
    EXPECT_EQ(second.at("dead_letters").as_array().size(), 11U);
    EXPECT_TRUE(second.at("next").is_null());
    EXPECT_EQ(list({.cause = "no such home"}).at("dead_letters").as_array().size(), 1U);
}

TEST_F(LettersTest, behind_the_first_thousands_can_be_reached) {
    constexpr int count = LetterQuery::looked_at_max + 60;
    for (int i = 0; i < count; ++i) add(1, i, i + 1 == count ? "the last" : "bad json");

    const checkpoint::DeadLetterId half{{1}, {LetterQuery::looked_at_max - 1}};
    const auto behind = list({.after = half, .limit = 50});
    EXPECT_EQ(behind.at("dead_letters").at(0).at("seq").as_int64(), half.sequence.value + 1);
    EXPECT_EQ(behind.at("next").as_string(), "1/5049");
    EXPECT_TRUE(behind.at("causes").as_array().empty()) << "they are those of the first page";
    const auto last = list({.after = checkpoint::DeadLetterId{{1}, {5049}}, .limit = 50});
    EXPECT_EQ(last.at("dead_letters").as_array().size(), 10U);
    EXPECT_TRUE(last.at("next").is_null());
    // A cause that is rare: an empty page says where to go on.
    const auto rare = list({.cause = "the last"});
    EXPECT_TRUE(rare.at("dead_letters").as_array().empty());
    EXPECT_EQ(rare.at("next").as_string(), "1/4999");
    EXPECT_EQ(list({.after = half, .cause = "the last"}).at("dead_letters").as_array().size(), 1U);
}

TEST_F(LettersTest, are_found_one_by_one) {
    add(0, 0, "first");
    add(1, 0, "second", "{\"a\":1}");
    EXPECT_EQ(find(0, 0)->cause, "first");
    EXPECT_EQ(find(1, 0)->cause, "second");
    EXPECT_EQ(find(1, 1).error().code, ErrorCode::not_found);
    const auto shown = boost::json::parse(letter_json(*find(1, 0)));
    EXPECT_EQ(shown.at("body").at("kind").as_string(), "json");
    EXPECT_EQ(shown.at("attempts").as_int64(), 3);
}

TEST(CauseGroup, leaves_out_numbers_and_ids) {
    EXPECT_EQ(cause_group("timeout after 1500 ms of 6ba7b810-9dad-11d1"),
              "timeout after # ms of #");
    EXPECT_EQ(cause_group("decade faced a bad end"), "decade faced a bad end");
    EXPECT_EQ(cause_group(std::string(1000, 'x')).size(), 200U);
}

}  // namespace
}  // namespace evenkeel::dashboard
