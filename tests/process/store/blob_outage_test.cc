// Blob storage that goes away, falls silent, is slow, starts again and loses its answers: as a
// server in this process, and as Azurite if a script has installed it
// (tests/interop/interop_blob_outage).
#include <algorithm>
#include <memory>
#include <string>

#include "checkpoint/blob/server_fixture.h"
#include "checkpoint/blob/store.h"
#include "checkpoint/contract/outage_contract.h"
#include "support/azurite_server.h"

namespace evenkeel::checkpoint {
namespace {

using namespace std::chrono_literals;

const GroupName group{"localhost", "homes", "g"};

Result<std::unique_ptr<Store>> open_blobs(const std::string& address, Duration wait_max,
                                          io::Loop& loop) {
    auto store = BlobStore::open(
        address, group, loop,
        {.try_max = std::min<Duration>(wait_max, 10s), .wait_max = wait_max, .pause_min = 10ms});
    if (!store.ok()) return store.error();
    return std::unique_ptr<Store>(std::move(*store));
}

class BlobServerOutage final : public OutageBackend {
public:
    std::string why_missing() const override { return ""; }
    std::uint16_t port() const override { return server_.port(); }
    Result<std::unique_ptr<Store>> open(std::uint16_t port, Duration wait_max,
                                        io::Loop& loop) override {
        return open_blobs(server_.address(port), wait_max, loop);
    }
    void kill() override { server_.end(); }
    bool start_again() override {
        server_.start_again();
        return true;
    }

private:
    BlobServer server_;
};

test::AzuriteServer* shared_azurite(std::string& why) {
    static std::string why_not;
    static const std::unique_ptr<test::AzuriteServer> server = test::AzuriteServer::start(why_not);
    EXPECT_TRUE(server) << why_not;
    why = why_not;
    return server.get();
}

class AzuriteOutage final : public ServerOutage<test::AzuriteServer> {
public:
    AzuriteOutage() : ServerOutage(&shared_azurite) {}
    Result<std::unique_ptr<Store>> open(std::uint16_t port, Duration wait_max,
                                        io::Loop& loop) override {
        return open_blobs(server_->address(container_, port), wait_max, loop);
    }
    void kill() override { server_->end(); }  // killed, it would forget

private:
    const std::string container_ = test::new_container();
};

// What a store does about a lost answer is its own; this one finds out whether it was done.
class BlobLostAnswer : public StoreOutage {
protected:
    void SetUp() override {
        StoreOutage::SetUp();
        if (!IsSkipped()) store_ = client(outage_long);
    }
    // Carries out `operation` again and again, for another partition each time: the first of its
    // answers is lost, then the second, until it has no more of them. Returns how many times.
    template <typename Operation>
    std::uint32_t lose_each_answer(Operation operation) {
        std::uint64_t before = 0;
        std::uint32_t partition = 0;
        do {
            before = proxy_->lost_bytes();
            proxy_->lose_answer_after(static_cast<int>(partition));
            operation(partition);
            ++partition;
            if (HasFatalFailure()) return partition;
        } while (proxy_->lost_bytes() > before);
        proxy_->lose_answer_after(-1);
        EXPECT_GT(partition, 1u) << "none was lost";
        return partition;
    }

    std::unique_ptr<BlockingClient> store_;
};

TEST_P(BlobLostAnswer, of_any_write_does_not_lose_the_partition) {
    lose_each_answer([&](std::uint32_t partition) {
        Ownership mine{.partition = {partition}, .epoch = {1}};
        for (const char* owner : {"me", "me", ""}) {
            mine.owner = owner;
            const auto written = store_->write(mine);
            ASSERT_TRUE(written) << to_string(written.error());
            mine.version = *written;
        }
        const auto listed = store_->ownerships();
        ASSERT_EQ(listed->size(), partition + 1);
        for (const Ownership& each : *listed) {
            if (each.partition == mine.partition) {
                EXPECT_EQ(each.version, mine.version);
            }
        }
    });
}

TEST_P(BlobLostAnswer, of_a_heartbeat_does_not_make_a_member_its_own_rival) {
    lose_each_answer([&](std::uint32_t partition) {
        Member member{.id = "m" + std::to_string(partition), .incarnation = "1"};
        for (int i = 0; i < 2; ++i) {
            const auto written = store_->write(member);
            ASSERT_TRUE(written) << to_string(written.error());
            member.version = *written;
        }
        const auto removed = store_->remove(member.id, member.version);
        ASSERT_TRUE(removed) << to_string(removed.error());
    });

    EXPECT_TRUE(store_->members()->empty());
}

TEST_P(BlobLostAnswer, of_a_seal_or_a_checkpoint_does_not_fence_its_writer) {
    lose_each_answer([&](std::uint32_t partition) {
        for (std::int64_t epoch = 1; epoch <= 2; ++epoch) {
            const auto sealed = store_->seal(partition, epoch);
            ASSERT_TRUE(sealed) << to_string(sealed.error());
            EXPECT_EQ(sealed->sequence.value, 2 * epoch - 3);
            for (std::int64_t i = 2 * epoch - 2; i < 2 * epoch; ++i) {
                const auto written = store_->write(
                    Checkpoint{.partition = {partition}, .sequence = {i}, .epoch = {epoch}});
                ASSERT_TRUE(written) << to_string(written.error());
            }
        }
        const auto late =
            store_->write(Checkpoint{.partition = {partition}, .sequence = {9}, .epoch = {1}});
        ASSERT_FALSE(late);
        EXPECT_EQ(late.error().code, ErrorCode::fenced);
    });

    const auto listed = store_->checkpoints();
    ASSERT_TRUE(listed);
    for (const Checkpoint& each : *listed) EXPECT_EQ(each.sequence, SequenceNumber{3});
}

TEST_P(BlobLostAnswer, of_a_record_or_a_dead_letter_leaves_it_there_once) {
    const std::uint32_t times = lose_each_answer([&](std::uint32_t partition) {
        Record record{.key = "request/" + std::to_string(partition), .value = "first"};
        for (const char* value : {"first", "second", ""}) {
            record.value = value;
            const auto written = store_->write(record);
            ASSERT_TRUE(written) << to_string(written.error());
            record.version = *written;
        }
        const auto added = store_->add({.partition = {partition}, .sequence = {1}});
        ASSERT_TRUE(added) << to_string(added.error());
    });

    EXPECT_TRUE(store_->records("")->empty());
    EXPECT_EQ(store_->dead_letters(100)->size(), times);
}

std::unique_ptr<OutageBackend> a_blob_server() {
    return std::make_unique<BlobServerOutage>();
}

std::unique_ptr<OutageBackend> an_azurite() {
    return std::make_unique<AzuriteOutage>();
}

using Backends = std::vector<std::unique_ptr<OutageBackend> (*)()>;
const Backends azurites = test::AzuriteServer::is_installed() ? Backends{&an_azurite} : Backends{};

INSTANTIATE_TEST_SUITE_P(Blob, StoreOutage, testing::Values(&a_blob_server));
INSTANTIATE_TEST_SUITE_P(Blob, BlobLostAnswer, testing::Values(&a_blob_server));
INSTANTIATE_TEST_SUITE_P(Azurite, StoreOutage, testing::ValuesIn(azurites));
INSTANTIATE_TEST_SUITE_P(Azurite, BlobLostAnswer, testing::ValuesIn(azurites));

}  // namespace
}  // namespace evenkeel::checkpoint
