// What every checkpoint store promises (<evenkeel/checkpoint_store.h>), as tests to run against
// your own with GoogleTest. In one source of your test program:
//
//   #include <evenkeel/testing/checkpoint_store_contract.h>
//
//   INSTANTIATE_TEST_SUITE_P(Mine, CheckpointStoreContract, testing::Values([] {
//       auto folder = std::make_shared<TemporaryFolder>();  // new and empty for each test
//       return evenkeel::contract::OpenCheckpointStore(
//           [folder] { return std::make_shared<MyStore>(folder->path()); });
//   }));
//
// (within namespace evenkeel::contract). The function makes a new, empty place; what it returns
// opens a store there, as an instance of a processor does: each test opens it several times.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/checkpoint_store.h>

namespace evenkeel::contract {

using OpenCheckpointStore = std::function<std::shared_ptr<CheckpointStore>()>;
using MakeCheckpointStores = std::function<OpenCheckpointStore()>;

class CheckpointStoreContract : public ::testing::TestWithParam<MakeCheckpointStores> {
protected:
    using Entry = CheckpointStore::Entry;

    std::shared_ptr<CheckpointStore> open() { return open_(); }

    template <typename T>
    static std::string code(const Result<T>& result) {
        return result.ok() ? "ok" : std::string(to_string(result.error().code));
    }
    // The keys that are listed, sorted.
    static std::set<std::string> keys(CheckpointStore& store, const std::string& prefix) {
        const auto listed = store.list(prefix);
        EXPECT_TRUE(listed.ok()) << to_string(listed.error());
        std::set<std::string> found;
        if (!listed.ok()) return found;
        for (const Entry& entry : *listed) {
            EXPECT_TRUE(found.insert(entry.key).second) << entry.key << " is listed twice";
        }
        return found;
    }
    // Runs `work(i)` in so many threads at once.
    template <typename Work>
    static void at_once(int count, Work work) {
        std::vector<std::jthread> threads;  // tidy: allow thread: programs of users have no loops
        for (int i = 0; i < count; ++i) threads.emplace_back([work, i] { work(i); });
    }

private:
    OpenCheckpointStore open_ = GetParam()();
};

// Contract 1

TEST_P(CheckpointStoreContract, a_key_is_created_once_and_replaced_on_its_version) {
    const auto a = open(), b = open();

    const auto first = a->put("g/member/x", "1", "");
    ASSERT_TRUE(first.ok()) << to_string(first.error());
    EXPECT_EQ(code(b->put("g/member/x", "2", "")), "conflict");
    const auto second = b->put("g/member/x", "3", *first);
    ASSERT_TRUE(second.ok()) << to_string(second.error());

    EXPECT_EQ(code(a->put("g/member/x", "4", *first)), "conflict") << "it was replaced";
    EXPECT_EQ(code(a->put("g/member/y", "4", *second)), "conflict") << "there is no such key";
    const auto found = a->get("g/member/x");
    ASSERT_TRUE(found.ok() && found->has_value());
    EXPECT_EQ((*found)->key, "g/member/x");
    EXPECT_EQ((*found)->value, "3");
    EXPECT_EQ((*found)->version, *second);
}

TEST_P(CheckpointStoreContract, a_removal_needs_the_version_and_may_be_repeated) {
    const auto store = open();
    const std::string version = store->put("g/x", "1", "").value();

    EXPECT_EQ(code(store->remove("g/x", version + "0")), "conflict");
    EXPECT_TRUE(store->get("g/x").value().has_value());
    EXPECT_EQ(code(store->remove("g/x", version)), "ok");
    EXPECT_EQ(code(store->remove("g/x", version)), "ok");
    EXPECT_EQ(code(store->remove("g/nobody", "1")), "ok");

    EXPECT_FALSE(store->get("g/x").value().has_value());
    EXPECT_EQ(code(store->put("g/x", "2", version)), "conflict") << "it is gone";
}

TEST_P(CheckpointStoreContract, one_of_many_wins_each_creation) {
    constexpr int rounds = 20, clients = 6;
    std::vector<std::atomic<int>> winners(rounds);

    at_once(clients, [&](int) {
        const auto store = open();
        for (std::size_t i = 0; i < rounds; ++i) {
            const auto put = store->put("g/ownership/" + std::to_string(i), "me", "");
            EXPECT_TRUE(put.ok() || put.error().code == ErrorCode::conflict)
                << to_string(put.error());
            winners[i] += put.ok();
        }
    });

    for (const auto& count : winners) EXPECT_EQ(count, 1);
}

TEST_P(CheckpointStoreContract, none_of_many_changes_of_one_value_is_lost) {
    constexpr int rounds = 20, clients = 4;

    at_once(clients, [&](int) {
        const auto store = open();
        for (int i = 0; i < rounds;) {
            const auto found = store->get("g/sum");
            ASSERT_TRUE(found.ok()) << to_string(found.error());
            const Entry entry = found->value_or(Entry());
            const auto put = store->put("g/sum", entry.value + "x", entry.version);
            ASSERT_TRUE(put.ok() || put.error().code == ErrorCode::conflict)
                << to_string(put.error());
            if (put.ok()) ++i;
        }
    });

    EXPECT_EQ(open()->get("g/sum").value()->value.size(), std::size_t{clients * rounds});
}

// Contract 2

TEST_P(CheckpointStoreContract, a_write_that_changes_nothing_makes_a_new_version) {
    const auto store = open();
    std::set<std::string> versions = {""};
    std::string version;

    for (int i = 0; i < 30; ++i) {
        version = store->put("g/x", "same", version).value();
        EXPECT_TRUE(versions.insert(version).second) << "version '" << version << "' again";
    }
}

TEST_P(CheckpointStoreContract, versions_do_not_repeat_after_a_removal) {
    std::set<std::string> versions = {""};

    for (int i = 0; i < 30; ++i) {
        const auto store = open();
        const std::string version = store->put("g/x", "same", "").value();
        EXPECT_TRUE(versions.insert(version).second) << "version '" << version << "' again";
        ASSERT_TRUE(store->remove("g/x", version).ok());
    }
}

// Contract 3

TEST_P(CheckpointStoreContract, reads_show_what_others_were_answered_before) {
    const auto a = open(), b = open();
    std::string version;

    for (int i = 0; i < 50; ++i) {
        version = a->put("g/x", std::to_string(i), version).value();

        ASSERT_EQ(b->get("g/x").value()->version, version);
        const auto listed = b->list("g/").value();
        ASSERT_EQ(listed.size(), 1u);
        ASSERT_EQ(listed[0].version, version);
        ASSERT_EQ(listed[0].value, std::to_string(i));
    }
}

TEST_P(CheckpointStoreContract, a_listing_has_the_keys_with_the_prefix_and_no_others) {
    const auto store = open();
    for (const char* key : {"g/checkpoint/1", "g/checkpoint/10", "g/checkpoints/1", "g/member/a%2F",
                            "g2/checkpoint/1", "h/g/checkpoint/1"}) {
        ASSERT_TRUE(store->put(key, key, "").ok()) << key;
    }

    using Keys = std::set<std::string>;
    EXPECT_EQ(keys(*store, "g/checkpoint/"), (Keys{"g/checkpoint/1", "g/checkpoint/10"}));
    EXPECT_EQ(keys(*store, "g/member/"), Keys{"g/member/a%2F"});
    EXPECT_EQ(keys(*store, "g/nothing/"), Keys());
    EXPECT_FALSE(store->get("g/checkpoint").value().has_value());
    EXPECT_EQ(store->get("g/checkpoint/1").value()->value, "g/checkpoint/1");
}

TEST_P(CheckpointStoreContract, a_thousand_keys_are_listed) {
    const auto store = open();
    for (int i = 0; i < 1000; ++i) {
        ASSERT_TRUE(store->put("g/ownership/" + std::to_string(i), "me", "").ok());
    }

    EXPECT_EQ(keys(*open(), "g/ownership/").size(), 1000u);
}

// What keys and values may be

TEST_P(CheckpointStoreContract, keys_may_be_long_and_have_every_allowed_byte) {
    const auto store = open();
    const std::string odd = "aZ09-_.~%2E%/" + std::string(200, 'k');
    const std::string long_key = std::string(250, 'n') + "/" + std::string(250, 'h') + "/" +
                                 std::string(250, 'g') + "/" + odd;
    const std::string other_case = "Az09-_.~%2E%/" + std::string(200, 'k');
    for (const auto& key : {odd, long_key, other_case}) {
        ASSERT_EQ(code(store->put(key, key, "")), "ok") << key;
    }

    for (const auto& key : {odd, long_key, other_case}) {
        const auto found = store->get(key);
        ASSERT_TRUE(found.ok() && found->has_value()) << key;
        EXPECT_EQ((*found)->value, key);
    }
}

TEST_P(CheckpointStoreContract, values_may_be_large_and_hold_any_bytes) {
    const auto store = open();
    std::string bytes;
    for (int i = 0; i < 1 << 20; ++i) bytes += static_cast<char>(i);

    const std::string version = store->put("g/dead/0/1", bytes, "").value();
    ASSERT_TRUE(store->put("g/dead/0/2", std::string("\0\n\xff", 3), "").ok());

    EXPECT_TRUE(store->get("g/dead/0/1").value()->value == bytes);
    EXPECT_EQ(store->get("g/dead/0/2").value()->value, std::string("\0\n\xff", 3));
    ASSERT_TRUE(store->put("g/dead/0/1", "small", version).ok());
    EXPECT_EQ(store->get("g/dead/0/1").value()->value, "small");
}

TEST_P(CheckpointStoreContract, ages_are_those_of_the_last_write) {
    using Clock = std::chrono::steady_clock;
    const auto store = open();
    const std::string version = store->put("g/x", "1", "").value();
    const auto before = Clock::now();
    ASSERT_TRUE(store->put("g/x", "1", version).ok());

    const auto age = store->get("g/x").value()->age;
    const auto listed = store->list("g/").value().at(0).age;

    // A store may cut ages to seconds.
    const auto most = Clock::now() - before + std::chrono::seconds(1);
    EXPECT_GE(age.count(), 0);
    EXPECT_GE(listed.count(), 0);
    EXPECT_LE(age, most);
    EXPECT_LE(listed, most);
}

}  // namespace evenkeel::contract
