// The command is tested in tests/process/store/import_test.cc.
#include "checkpoint/import/source.h"
#include "checkpoint/redis/cluster_fixture.h"
#include "checkpoint/redis/redis_fixture.h"

namespace evenkeel::checkpoint {
namespace {

struct LegacyRedis : WithRedis {
    void put(const std::string& group, int partition, int sequence) const {
        ASSERT_TRUE(
            server->run({"HSET", "myns/homes/" + group + "/" + std::to_string(partition),
                         "checkpoint", R"({"sequenceNumber":)" + std::to_string(sequence) + "}"}));
    }
    Result<LegacyCheckpoints> read(std::string path = "") const {
        return read_legacy({.address = server->url(),
                            .group = {"MyNs", "homes", "$Default"},
                            .path = std::move(path)});
    }
};

TEST_F(LegacyRedis, is_read_and_left_as_it_was) {
    for (int p = 0; p < 12; ++p) put("$default", p, 100 + p);
    put("other", 0, 1);
    const std::string before = server->answer({"DBSIZE"});

    const auto found = read();

    ASSERT_TRUE(found.ok()) << to_string(found.error());
    EXPECT_EQ(found->path, "myns/homes/$default/");
    ASSERT_EQ(found->entries.size(), 12u);
    EXPECT_EQ(found->entries[11].record->checkpoint->sequence, SequenceNumber{111});
    EXPECT_EQ(server->answer({"DBSIZE"}), before);
}

TEST_F(LegacyRedis, with_twins_is_told) {
    put("$default", 0, 1);
    put("$DEFAULT", 0, 2);

    const auto twins = read();
    const auto chosen = read("myns/homes/$DEFAULT/");

    ASSERT_FALSE(twins.ok());
    EXPECT_EQ(twins.error().code, ErrorCode::conflict);
    ASSERT_TRUE(chosen.ok()) << to_string(chosen.error());
    EXPECT_EQ(chosen->entries.at(0).record->checkpoint->sequence, SequenceNumber{2});
}

TEST_F(LegacyRedis, that_is_not_there_is_told) {
    EXPECT_EQ(read().error().code, ErrorCode::not_found);
    const auto gone = read_legacy({.address = "redis://127.0.0.1:1", .group = {"a", "b", "c"}});
    EXPECT_EQ(gone.error().code, ErrorCode::unavailable);
}

TEST(LegacyRedisCluster, is_read_from_every_primary_or_not_at_all) {
    std::string why;
    const RedisNodes nodes = a_cluster({{0, 5'460}, {5'461, 10'922}, {10'923, 16'383}}, why);
    if (nodes.empty()) GTEST_SKIP() << why;
    for (int p = 0; p < 12; ++p) {
        const std::string key = "myns/homes/$default/" + std::to_string(p);
        const std::string value = R"({"sequenceNumber":)" + std::to_string(100 + p) + "}";
        ASSERT_TRUE(cluster_comes_to([&] {
            nodes[0]->run({"-c", "HSET", key, "checkpoint", value});
            return nodes[0]->answer({"-c", "HGET", key, "checkpoint"}) == value + "\n";
        }));
    }
    for (const auto& node : nodes) ASSERT_NE(node->answer({"DBSIZE"}), "0\n") << "keys are spread";
    const auto read = [&](const std::unique_ptr<test::RedisServer>& node) {
        return read_legacy({.address = node->url(), .group = {"myns", "homes", "$Default"}});
    };
    const auto read_at_last = [&](const std::unique_ptr<test::RedisServer>& node) {
        auto found = read(node);
        cluster_comes_to([&] {
            if (!found.ok()) found = read(node);
            return found.ok() || !is_retriable(found.error());
        });
        return found;
    };

    const auto first = read_at_last(nodes[0]), last = read_at_last(nodes[2]);
    nodes[1]->kill();
    const auto cut = read(nodes[0]);

    for (const auto* found : {&first, &last}) {
        ASSERT_TRUE(found->ok()) << to_string(found->error());
        ASSERT_EQ((*found)->entries.size(), 12u);
        for (std::uint32_t p = 0; p < 12; ++p) {
            EXPECT_EQ((*found)->entries[p].partition, PartitionId{p});
            EXPECT_EQ((*found)->entries[p].record->checkpoint->sequence, SequenceNumber{100 + p});
        }
    }
    ASSERT_FALSE(cut.ok()) << "a part of the keys is no import";
    EXPECT_EQ(cut.error().code, ErrorCode::unavailable);
    EXPECT_NE(cut.error().detail.find(":" + std::to_string(nodes[1]->port())), std::string::npos)
        << cut.error().detail;
}

}  // namespace
}  // namespace evenkeel::checkpoint
