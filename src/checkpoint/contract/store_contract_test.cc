#include "checkpoint/contract/store_contract.h"

#include "checkpoint/memory/store.h"
#include "checkpoint/sqlite/database.h"
#include "checkpoint/sqlite/store.h"
#include "support/temporary_directory.h"

namespace evenkeel::checkpoint {
namespace {

class MemoryBackend final : public StoreBackend {
public:
    Result<std::unique_ptr<Store>> open(const GroupName& group, io::Loop& loop) override {
        return std::unique_ptr<Store>(new MemoryStore(loop, server_, group));
    }
    bool is_durable() const override { return false; }

private:
    SystemClock clock_;
    MemoryServer server_{clock_};
};

std::unique_ptr<StoreBackend> a_memory_backend() {
    return std::make_unique<MemoryBackend>();
}

class SqliteBackend final : public StoreBackend {
public:
    Result<std::unique_ptr<Store>> open(const GroupName& group, io::Loop& loop) override {
        // Many clients on a busy machine: a test must not fail for that.
        auto store = SqliteStore::open(file_, group, loop, {.wait_max = std::chrono::seconds(60)});
        if (!store.ok()) return store.error();
        return std::unique_ptr<Store>(std::move(*store));
    }
    bool is_durable() const override { return true; }
    bool store_unknown_state(const Member&) override {
        const SystemClock clock;
        auto database =
            Database::open(file_, clock, clock.now() + Duration(std::chrono::seconds(60)));
        return database.ok() && (*database)->execute("UPDATE evenkeel_member SET state = 9").ok();
    }

private:
    test::TemporaryDirectory directory_;
    const std::string file_ = directory_.path() + "/progress.db";
};

std::unique_ptr<StoreBackend> a_sqlite_backend() {
    return std::make_unique<SqliteBackend>();
}

INSTANTIATE_TEST_SUITE_P(Memory, StoreContract, testing::Values(&a_memory_backend));
INSTANTIATE_TEST_SUITE_P(Sqlite, StoreContract, testing::Values(&a_sqlite_backend));

}  // namespace
}  // namespace evenkeel::checkpoint
