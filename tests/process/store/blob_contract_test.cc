// The contract of stores on Blob storage: as the service answers (in this process), and on the
// emulator, if $EVENKEEL_AZURITE has a connection string of one.
#include "checkpoint/blob/server_fixture.h"
#include "checkpoint/blob/store.h"
#include "checkpoint/contract/store_contract.h"
#include "process/store/azurite.h"

namespace evenkeel::checkpoint {
namespace {

using namespace std::chrono_literals;

// A busy machine must not fail a test.
constexpr BlobOptions patient{.try_max = 30s, .wait_max = 60s, .pause_min = 1ms};

class BlobBackend final : public StoreBackend {
public:
    BlobBackend(std::size_t page_items, std::uint32_t effort) : effort_(effort) {
        server_.set_page_items(page_items);
    }
    Result<std::unique_ptr<Store>> open(const GroupName& group, io::Loop& loop) override {
        auto store = BlobStore::open(server_.address(), group, loop, patient);
        if (!store.ok()) return store.error();
        return std::unique_ptr<Store>(std::move(*store));
    }
    bool is_durable() const override { return true; }
    std::uint32_t effort() const override { return effort_; }
    int model_steps() const override { return static_cast<int>(15 * effort_); }
    bool store_unknown_state(const Member& member) override {
        server_.put("localhost/homes/$default/members/" + member.id,
                    {{"v", "1"}, {"generation", "0"}, {"state", "asleep"}});
        return true;
    }

private:
    BlobServer server_;
    const std::uint32_t effort_;
};

std::unique_ptr<StoreBackend> a_blob_backend() {
    return std::make_unique<BlobBackend>(5000, 100);
}

std::unique_ptr<StoreBackend> a_blob_backend_with_small_pages() {
    return std::make_unique<BlobBackend>(7, 20);
}

// A container of its own for each test.
class AzuriteBackend final : public StoreBackend {
public:
    Result<std::unique_ptr<Store>> open(const GroupName& group, io::Loop& loop) override {
        auto store = BlobStore::open(address_, group, loop, patient);
        if (!store.ok()) return store.error();
        return std::unique_ptr<Store>(std::move(*store));
    }
    bool is_durable() const override { return true; }
    // The emulator answers a few hundred requests a second.
    std::uint32_t effort() const override {
        return std::getenv("EVENKEEL_LONG") == nullptr ? 10 : 100;
    }
    int model_steps() const override { return static_cast<int>(15 * effort()); }

private:
    const std::string address_ = test::azurite_address();
};

std::unique_ptr<StoreBackend> an_azurite_backend() {
    return std::make_unique<AzuriteBackend>();
}

INSTANTIATE_TEST_SUITE_P(Blob, StoreContract, testing::Values(&a_blob_backend));
INSTANTIATE_TEST_SUITE_P(BlobPages, StoreContract,
                         testing::Values(&a_blob_backend_with_small_pages));
INSTANTIATE_TEST_SUITE_P(Azurite, StoreContract,
                         testing::ValuesIn(test::has_azurite()
                                               ? std::vector{&an_azurite_backend}
                                               : decltype(std::vector{&an_azurite_backend}){}));

}  // namespace
}  // namespace evenkeel::checkpoint
