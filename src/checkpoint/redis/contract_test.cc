#include <fmt/format.h>

#include "checkpoint/contract/store_contract.h"
#include "checkpoint/redis/redis_fixture.h"
#include "checkpoint/redis/store.h"

namespace evenkeel::checkpoint {
namespace {

class RedisBackend final : public StoreBackend {
public:
    RedisBackend() {
        server_ = shared_redis(why_);
        if (server_ != nullptr) {
            EXPECT_TRUE(server_->run({"FLUSHALL"}));
        }
    }
    Result<std::unique_ptr<Store>> open(const GroupName& group, io::Loop& loop) override {
        auto store =
            RedisStore::open(server_->url(), group, loop, {.wait_max = std::chrono::seconds(60)});
        if (!store.ok()) return store.error();
        return std::unique_ptr<Store>(std::move(*store));
    }
    bool is_durable() const override { return true; }
    int model_steps() const override { return 400; }
    std::string why_missing() const override { return why_; }
    bool store_unknown_state(const Member& member) override {
        const std::string meaning = "1:1,6:asleep,1:0,1:0,1:0,0:,";
        return server_->run({"HSET", "evenkeel:{localhost/homes/$default}:members", member.id,
                             fmt::format("v2 1 {} {}1:0,0:,", meaning.size(), meaning)});
    }

private:
    std::string why_;
    test::RedisServer* server_ = nullptr;
};

std::unique_ptr<StoreBackend> a_redis_backend() {
    return std::make_unique<RedisBackend>();
}

INSTANTIATE_TEST_SUITE_P(Redis, StoreContract, testing::Values(&a_redis_backend));

}  // namespace
}  // namespace evenkeel::checkpoint
