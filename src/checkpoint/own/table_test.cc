#include "checkpoint/own/table.h"

#include <gtest/gtest.h>

namespace evenkeel::checkpoint {
namespace {

// Between a read and the write behind it another one writes, as often as it is told to.
class BusyStore final : public CheckpointStore {
public:
    Result<std::optional<Entry>> get(const std::string& key) override { return inner->get(key); }
    Result<std::vector<Entry>> list(const std::string& prefix) override {
        return inner->list(prefix);
    }
    Result<std::string> put(const std::string& key, const std::string& value,
                            const std::string& version) override {
        if (interruptions-- > 0) {
            const auto found = inner->get(key).value().value_or(Entry{key, value, "", {}});
            EXPECT_TRUE(inner->put(key, found.value, found.version).ok());
        }
        return inner->put(key, value, version);
    }
    Result<> remove(const std::string& key, const std::string& version) override {
        return inner->remove(key, version);
    }

    int interruptions = 0;
    const std::shared_ptr<CheckpointStore> inner = memory_checkpoint_store();
};

OwnTable a_table(std::shared_ptr<CheckpointStore> store) {
    return {std::move(store), OwnKeys::of({"h", "e", "g"}).value()};
}

Checkpoint at(std::int64_t sequence, std::int64_t epoch) {
    return {.partition = {0}, .sequence = {sequence}, .epoch = {epoch}};
}

TEST(OwnStoreTable, writes_again_when_another_was_faster) {
    const auto store = std::make_shared<BusyStore>();
    OwnTable table = a_table(store);
    ASSERT_TRUE(table.write_checkpoint(at(1, 1), {}).ok());

    store->interruptions = 10;

    EXPECT_TRUE(table.write_checkpoint(at(2, 1), {}).ok());
    EXPECT_EQ(table.checkpoints()->at(0).sequence, SequenceNumber{2});
}

TEST(OwnStoreTable, gives_up_when_others_are_always_faster) {
    const auto store = std::make_shared<BusyStore>();
    OwnTable table = a_table(store);
    ASSERT_TRUE(table.write_checkpoint(at(1, 1), {}).ok());

    store->interruptions = OwnTable::attempts_max + 1;

    EXPECT_EQ(table.write_checkpoint(at(2, 1), {}).error().code, ErrorCode::overloaded);
}

// What it remembers may be old: others seal, and operators reset.
TEST(OwnStoreTable, judges_by_what_is_stored_and_not_by_what_it_remembers) {
    const auto store = memory_checkpoint_store();
    OwnTable mine = a_table(store), others = a_table(store);
    ASSERT_TRUE(mine.write_checkpoint(at(10, 1), {}).ok());

    ASSERT_TRUE(others.reset_checkpoint(at(3, 1), {}).ok());
    EXPECT_TRUE(mine.write_checkpoint(at(4, 1), {}).ok()) << "it was set back";
    ASSERT_TRUE(others.seal({0}, {2}, {}).ok());

    EXPECT_EQ(mine.write_checkpoint(at(5, 1), {}).error().code, ErrorCode::fenced);
    EXPECT_EQ(mine.seal({0}, {2}, {})->sequence, SequenceNumber{4});
}

}  // namespace
}  // namespace evenkeel::checkpoint
