// The part of every store's contract that is about records (STORE-1, STORE-2); see
// store_contract.h.
#pragma once

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "checkpoint/contract/store_contract_fixture.h"
#include "io/system/loop.h"

namespace evenkeel::checkpoint {

TEST_P(StoreContract, a_record_is_created_once_and_replaced_on_its_very_version) {
    const auto a = client(), b = client();

    const auto first = a->write(Record{"request/pause", "all"});
    ASSERT_TRUE(first) << to_string(first.error());
    EXPECT_NE(*first, "");
    EXPECT_EQ(code(b->write(Record{"request/pause", "none"})), ErrorCode::conflict);
    const auto second = b->write(Record{"request/pause", "1", *first});
    ASSERT_TRUE(second) << to_string(second.error());
    EXPECT_NE(*second, *first);

    EXPECT_EQ(code(a->write(Record{"request/pause", "2", *first})), ErrorCode::conflict);
    EXPECT_EQ(code(a->write(Record{"request/other", "2", *second})), ErrorCode::conflict);
    const auto listed = a->records();
    ASSERT_EQ(listed->size(), 1u);
    EXPECT_EQ(listed->at(0).key, "request/pause");
    EXPECT_EQ(listed->at(0).value, "1");
    EXPECT_EQ(listed->at(0).version, *second);
}

TEST_P(StoreContract, an_empty_value_removes_a_record_and_versions_do_not_repeat) {
    const auto a = client();
    std::set<std::string> versions;

    for (int i = 0; i < 20; ++i) {
        const auto version = a->write(Record{"x", "1"});
        ASSERT_TRUE(version) << to_string(version.error());
        EXPECT_TRUE(versions.insert(*version).second) << *version;
        EXPECT_EQ(code(a->write(Record{"x", "", *version + "0"})), ErrorCode::conflict);
        EXPECT_EQ(a->records()->size(), 1u);
        EXPECT_EQ(*a->write(Record{"x", "", *version}), "");
        EXPECT_EQ(*a->write(Record{"x", "", *version}), "") << "again, without harm";
        EXPECT_TRUE(a->records()->empty());
        EXPECT_EQ(code(a->write(Record{"x", "2", *version})), ErrorCode::conflict) << "it is gone";
    }
    EXPECT_EQ(*a->write(Record{"nothing", ""}), "");
}

TEST_P(StoreContract, records_are_listed_by_prefix_in_order_and_in_full) {
    const auto a = client();
    std::string bytes;
    for (std::size_t i = 0; i < record_value_bytes_max; ++i) bytes += static_cast<char>(i);
    for (const char* key : {"moves/2", "request/b", "request", "moves/10", "moves.", "z"}) {
        ASSERT_TRUE(a->write(Record{key, bytes}));
    }

    const auto keys = [&](std::string_view prefix) {
        std::vector<std::string> found;
        const auto listed = a->records(prefix);
        EXPECT_TRUE(listed) << to_string(listed.error());
        for (const Record& record : *listed) {
            found.push_back(record.key);
            EXPECT_EQ(record.value, bytes);
        }
        return found;
    };
    using Keys = std::vector<std::string>;
    EXPECT_EQ(keys(""), (Keys{"moves.", "moves/10", "moves/2", "request", "request/b", "z"}));
    EXPECT_EQ(keys("moves/"), (Keys{"moves/10", "moves/2"}));
    EXPECT_EQ(keys("moves/2"), (Keys{"moves/2"}));
    EXPECT_EQ(keys("nothing"), Keys{});
    EXPECT_EQ(keys("%"), Keys{}) << "no pattern";
    EXPECT_EQ(keys("move_"), Keys{});
    EXPECT_EQ(keys("*"), Keys{});
}

TEST_P(StoreContract, records_belong_to_their_group) {
    const auto a = client(), same = client({"LOCALHOST", "Homes", "$default"}),
               other = client({"localhost", "homes", "other"});
    ASSERT_TRUE(a->write(Record{"x", "1"}));

    EXPECT_EQ(same->records()->size(), 1u);
    EXPECT_TRUE(other->records()->empty());
    EXPECT_TRUE(other->write(Record{"x", "2"}));
}

TEST_P(StoreContract, a_record_that_breaks_the_rules_is_refused) {
    const auto a = client();

    EXPECT_EQ(code(a->write(Record{"", "1"})), ErrorCode::invalid_argument);
    EXPECT_EQ(code(a->write(Record{"a b", "1"})), ErrorCode::invalid_argument);
    EXPECT_EQ(code(a->write(Record{"a", std::string(record_value_bytes_max + 1, 'x')})),
              ErrorCode::invalid_argument);
    EXPECT_TRUE(a->records()->empty());
}

TEST_P(StoreContract, none_of_many_who_change_one_record_is_lost) {
    const auto all = clients(4);
    constexpr int rounds = 25;
    std::vector<std::unique_ptr<io::system::WorkerThread>> threads;
    for (const auto& each : all) {
        threads.push_back(std::make_unique<io::system::WorkerThread>("records"));
        threads.back()->post([&] {
            for (int i = 0; i < rounds;) {
                auto listed = each->records("sum");
                ASSERT_TRUE(listed) << to_string(listed.error());
                Record record = listed->empty() ? Record{"sum", ""} : listed->at(0);
                record.value += 'x';
                const auto written = each->write(record);
                ASSERT_TRUE(written || written.error().code == ErrorCode::conflict);
                if (written) ++i;
            }
        });
    }
    threads.clear();  // waits

    EXPECT_EQ(all[0]->records("sum")->at(0).value.size(), 4u * rounds);
}

}  // namespace evenkeel::checkpoint
