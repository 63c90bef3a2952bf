// What the tests of a store's contract share: a backend to open stores on, and short ways to say
// what they write.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "checkpoint/contract/blocking_client_fixture.h"
#include "checkpoint/store.h"
#include "io/loop.h"

namespace evenkeel::checkpoint {

// What the stores of one test share: a server, a file.
class StoreBackend {
public:
    virtual ~StoreBackend() = default;
    virtual Result<std::unique_ptr<Store>> open(const GroupName& group, io::Loop& loop) = 0;
    // What was answered is there after all clients have gone.
    virtual bool is_durable() const = 0;
    // How long it is compared with the model; fewer where each step asks a server.
    virtual int model_steps() const { return 1500; }
    // Why there is no such store on this machine, if there is none.
    virtual std::string why_missing() const { return {}; }
    // Stores for this member of the group localhost/homes/$Default a state that this version does
    // not know, as a newer one would. False if the store cannot hold one.
    virtual bool store_unknown_state(const Member& /*member*/) { return false; }
    // How much of the long tests it takes, in percent: less for those that are slow by nature.
    virtual std::uint32_t effort() const { return 100; }
};

class StoreContract : public testing::TestWithParam<std::unique_ptr<StoreBackend> (*)()> {
protected:
    void SetUp() override {
        if (!backend_->why_missing().empty()) GTEST_SKIP() << backend_->why_missing();
    }
    std::unique_ptr<BlockingClient> client(const GroupName& group = {"localhost", "homes",
                                                                     "$Default"}) {
        return std::make_unique<BlockingClient>([&](io::Loop& loop) {
            auto store = backend_->open(group, loop);
            EXPECT_TRUE(store.ok()) << to_string(store.error());
            return std::move(*store);
        });
    }
    std::vector<std::unique_ptr<BlockingClient>> clients(int count) {
        std::vector<std::unique_ptr<BlockingClient>> all;
        for (int i = 0; i < count; ++i) all.push_back(client());
        return all;
    }

    static Member a_member(std::string id, std::string version = "") {
        return {.id = std::move(id), .incarnation = "1", .version = std::move(version)};
    }
    static Ownership a_claim(std::uint32_t partition, std::int64_t epoch,
                             std::string version = "") {
        return {.partition = {partition},
                .owner = "me",
                .epoch = {epoch},
                .version = std::move(version)};
    }
    static Checkpoint at(std::uint32_t partition, std::int64_t sequence, std::int64_t epoch,
                         std::uint32_t attempts = 0) {
        return {.partition = {partition},
                .sequence = {sequence},
                .offset = std::to_string(sequence) + "00",
                .epoch = {epoch},
                .attempts = attempts};
    }
    template <typename T>
    static ErrorCode code(const Result<T>& result) {
        EXPECT_FALSE(result.ok());
        return result.ok() ? ErrorCode::cancelled : result.error().code;
    }

    std::unique_ptr<StoreBackend> backend_ = GetParam()();
};

}  // namespace evenkeel::checkpoint
