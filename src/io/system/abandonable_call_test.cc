#include "io/system/abandonable_call.h"

#include <unistd.h>

#include <gtest/gtest.h>
#include <poll.h>

#include "base/promise.h"

namespace evenkeel::io::system {
namespace {

bool readable(int descriptor, int milliseconds) {
    pollfd wanted{descriptor, POLLIN, 0};
    return ::poll(&wanted, 1, milliseconds) == 1;
}

TEST(AbandonableCall, tells_when_it_has_returned) {
    const auto value = std::make_shared<int>(0);
    const AbandonableCall call([value] { *value = 7; });

    ASSERT_TRUE(readable(call.descriptor(), 60'000));

    EXPECT_TRUE(call.done());
    EXPECT_EQ(*value, 7);
}

TEST(AbandonableCall, may_be_left_while_it_blocks) {
    int pipe[2];
    ASSERT_EQ(::pipe(pipe), 0);
    const auto ended = std::make_shared<Promise<bool>>();
    {
        const AbandonableCall call([ended, from = pipe[0]] {
            char byte = 0;
            ended->set(::read(from, &byte, 1) == 1);
        });
        EXPECT_FALSE(readable(call.descriptor(), 0));
        EXPECT_FALSE(call.done());
    }

    ASSERT_EQ(::write(pipe[1], "x", 1), 1);

    EXPECT_TRUE(ended->wait());
    ::close(pipe[0]);
    ::close(pipe[1]);
}

TEST(AbandonableCall, is_waited_for_as_long_as_asked) {
    const auto release = std::make_shared<Promise<bool>>();
    const AbandonableCall call([release] { release->wait(); });
    EXPECT_FALSE(call.wait_for(std::chrono::milliseconds(1)));
    release->set(true);
    EXPECT_TRUE(call.wait_for(std::chrono::minutes(1)));
}

}  // namespace
}  // namespace evenkeel::io::system
