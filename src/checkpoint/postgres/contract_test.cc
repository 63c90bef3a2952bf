#include "checkpoint/contract/store_contract.h"
#include "checkpoint/postgres/postgres_fixture.h"
#include "checkpoint/postgres/store.h"

namespace evenkeel::checkpoint {
namespace {

class PostgresBackend final : public StoreBackend {
public:
    PostgresBackend() {
        server_ = shared_postgres(why_);
        if (server_ == nullptr) return;
        EXPECT_TRUE(server_->run("DROP SCHEMA IF EXISTS evenkeel CASCADE"));
    }
    Result<std::unique_ptr<Store>> open(const GroupName& group, io::Loop& loop) override {
        // Many clients on a busy machine: a test must not fail for that.
        auto store = PostgresStore::open(server_->url(), group, loop,
                                         {.wait_max = std::chrono::seconds(60)});
        if (!store.ok()) return store.error();
        return std::unique_ptr<Store>(std::move(*store));
    }
    bool is_durable() const override { return true; }
    int model_steps() const override { return 400; }
    std::string why_missing() const override { return why_; }
    bool store_unknown_state(const Member&) override {
        return server_->run("UPDATE evenkeel.member SET state = 9");
    }

private:
    std::string why_;
    test::PostgresServer* server_ = nullptr;
};

std::unique_ptr<StoreBackend> a_postgres_backend() {
    return std::make_unique<PostgresBackend>();
}

INSTANTIATE_TEST_SUITE_P(Postgres, StoreContract, testing::Values(&a_postgres_backend));

}  // namespace
}  // namespace evenkeel::checkpoint
