// The command is tested in tests/fault/import_test.cc.
#include "checkpoint/legacy_source.h"
#include "checkpoint/redis_fixture.h"

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

}  // namespace
}  // namespace evenkeel::checkpoint
