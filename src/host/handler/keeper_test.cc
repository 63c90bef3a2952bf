#include "host/handler/keeper.h"

#include <memory>

#include <gtest/gtest.h>

namespace evenkeel::host {
namespace {

struct FakeWorker {
    explicit FakeWorker(bool has_it_ended = false) : is_over(has_it_ended) {}
    FakeWorker(const FakeWorker&) = delete;
    FakeWorker& operator=(const FakeWorker&) = delete;
    ~FakeWorker() {
        // As one that stops its threads: a lock within another one ends the program.
        outbox.with([](int& taken) { ++taken; });
    }
    bool has_ended() const { return is_over; }

    bool is_over;
    Guarded<int> outbox;
};

using FakeKeeper = Keeper<FakeWorker>;

TEST(RestartPause, doubles_up_to_half_a_minute) {
    Random random(1);
    for (const auto& [ends, ms] : {std::pair{1u, 100}, {2u, 200}, {4u, 800}, {40u, 30'000}}) {
        const auto pause = restart_pause(ends, random) / std::chrono::milliseconds(1);
        EXPECT_GE(pause, ms * 4 / 5) << ends;
        EXPECT_LE(pause, ms * 6 / 5) << ends;
    }
}

TEST(Keeper, starts_one_worker_for_all) {
    int starts = 0;
    FakeKeeper keeper("app", [&] {
        ++starts;
        return std::make_shared<FakeWorker>();
    });

    const auto first = keeper.get(), second = keeper.get();

    ASSERT_TRUE(first.ok() && second.ok());
    EXPECT_EQ(*first, *second);
    EXPECT_EQ(starts, 1);
}

TEST(Keeper, pauses_before_it_replaces_a_worker_that_ended) {
    int starts = 0;
    FakeKeeper keeper("app", [&] {
        ++starts;
        return std::make_shared<FakeWorker>(true);
    });
    ASSERT_TRUE(keeper.get().ok());

    const auto next = keeper.get();

    ASSERT_FALSE(next.ok());
    EXPECT_EQ(next.error().code, ErrorCode::unavailable);
    EXPECT_EQ(starts, 1);
}

// The one above lets go of the last reference too: here it is said what that must not do.
TEST(Keeper, destroys_a_worker_that_ended_outside_its_lock) {
    std::weak_ptr<FakeWorker> worker;
    FakeKeeper keeper("app", [&] {
        auto made = std::make_shared<FakeWorker>(true);
        worker = made;
        return made;
    });
    ASSERT_TRUE(keeper.get().ok());

    ASSERT_FALSE(keeper.get().ok());

    EXPECT_TRUE(worker.expired());
}

TEST(Keeper, waits_after_a_worker_could_not_be_started) {
    int starts = 0;
    FakeKeeper keeper("app", [&]() -> Result<std::shared_ptr<FakeWorker>> {
        ++starts;
        return Error{ErrorCode::not_found, "no python3"};
    });

    const auto first = keeper.get();

    ASSERT_FALSE(first.ok());
    EXPECT_EQ(first.error().code, ErrorCode::unavailable);
    EXPECT_NE(first.error().detail.find("no python3"), std::string::npos);
    EXPECT_FALSE(keeper.get().ok());
    EXPECT_EQ(starts, 1);
}

TEST(Keeper, that_is_stopped_during_a_start_starts_nothing_more) {
    int starts = 0;
    std::weak_ptr<FakeWorker> worker;
    std::unique_ptr<FakeKeeper> keeper;
    keeper = std::make_unique<FakeKeeper>("app", [&] {
        ++starts;
        keeper->stop();
        auto made = std::make_shared<FakeWorker>();
        worker = made;
        return made;
    });

    EXPECT_FALSE(keeper->get().ok());

    EXPECT_TRUE(worker.expired()) << "nobody uses what came too late";
    EXPECT_FALSE(keeper->get().ok());
    EXPECT_EQ(starts, 1);
}

TEST(Keeper, lets_users_of_a_worker_keep_it_after_its_stop) {
    FakeKeeper keeper("app", [] { return std::make_shared<FakeWorker>(); });
    const auto used = keeper.get();
    ASSERT_TRUE(used.ok());

    keeper.stop();

    EXPECT_FALSE((*used)->has_ended());
    EXPECT_EQ(used->use_count(), 1);
    EXPECT_FALSE(keeper.get().ok());
}

}  // namespace
}  // namespace evenkeel::host
