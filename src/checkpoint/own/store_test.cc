#include "checkpoint/own/store.h"

#include <stdexcept>

#include "checkpoint/contract/store_contract.h"
#include "checkpoint/own/entries.h"

namespace evenkeel::checkpoint {
namespace {

class OwnBackend final : public StoreBackend {
public:
    Result<std::unique_ptr<Store>> open(const GroupName& group, io::Loop& loop) override {
        return OwnStore::open(store_, group, loop);
    }
    bool is_durable() const override { return false; }
    bool store_unknown_state(const Member& member) override {
        const auto keys = OwnKeys::of({"localhost", "homes", "$Default"}).value();
        std::string value = to_value(member);
        const std::size_t at = value.find("6:active");
        value.replace(at, 8, "6:asleep");
        return store_->put(keys.member(member.id).value(), value, member.version).ok();
    }

private:
    const std::shared_ptr<CheckpointStore> store_ = memory_checkpoint_store();
};

std::unique_ptr<StoreBackend> an_own_backend() {
    return std::make_unique<OwnBackend>();
}

// All that the stores of the library promise, made of the user's compare-and-set.
INSTANTIATE_TEST_SUITE_P(Own, StoreContract, testing::Values(&an_own_backend));

class ThrowingStore final : public CheckpointStore {
public:
    Result<std::optional<Entry>> get(const std::string&) override { return fail(); }
    Result<std::vector<Entry>> list(const std::string&) override { return fail(); }
    Result<std::string> put(const std::string&, const std::string&, const std::string&) override {
        return fail();
    }
    Result<> remove(const std::string&, const std::string&) override { return fail(); }

private:
    static Error fail() {
        throw std::runtime_error("no such bucket");  // tidy: allow throw: as users' code may
    }
};

TEST(OwnStore, answers_unavailable_for_what_the_users_code_throws) {
    BlockingClient client([](io::Loop& loop) {
        return OwnStore::open(std::make_shared<ThrowingStore>(), {"h", "e", "g"}, loop).value();
    });

    const auto members = client.members();
    const auto sealed = client.seal(0, 1);

    ASSERT_FALSE(members.ok());
    EXPECT_EQ(members.error().code, ErrorCode::unavailable);
    EXPECT_NE(members.error().detail.find("no such bucket"), std::string::npos);
    EXPECT_EQ(sealed.error().code, ErrorCode::unavailable);
}

}  // namespace
}  // namespace evenkeel::checkpoint
