#include "processor/pump/handler_cell.h"

#include <stdexcept>

#include <gtest/gtest.h>

#include "io/system/loop.h"

namespace evenkeel::processor {
namespace {

TEST(CallUser, turns_what_is_thrown_into_an_error) {
    Callback<Result<>()> throws = []() -> Result<> { throw std::runtime_error("no bread"); };
    Callback<Result<>()> throws_a_number = []() -> Result<> { throw 7; };
    Callback<Result<>()> works = []() -> Result<> { return {}; };

    EXPECT_EQ(call_user(throws).error().code, ErrorCode::handler_failed);
    EXPECT_NE(call_user(throws).error().detail.find("no bread"), std::string::npos);
    EXPECT_EQ(call_user(throws_a_number).error().code, ErrorCode::handler_failed);
    EXPECT_TRUE(call_user(works).ok());
}

TEST(HandlerCell, ends_a_waiting_flush_when_the_loop_ends) {
    auto loop = std::make_unique<io::system::LoopThread>("loop/0");
    io::system::WorkerThread worker("work/0");
    const auto cell = std::make_shared<HandlerCell>(*loop, worker, PartitionId{0}, Epoch{1}, true);
    loop->start();
    loop->stop();

    EXPECT_EQ(cell->flush({}).error().code, ErrorCode::cancelled);
}

}  // namespace
}  // namespace evenkeel::processor
