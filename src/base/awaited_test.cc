#include "base/awaited.h"

#include <functional>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "base/promise.h"

namespace evenkeel {
namespace {

using namespace std::chrono_literals;

struct Call {
    std::chrono::milliseconds timeout = forever;
    std::stop_token stop = {};
};

TEST(Awaited, gives_the_first_answer_to_who_waits) {
    Awaited<std::string> awaited;
    std::thread answers([&] {
        awaited.set(std::string("first"));
        awaited.set(std::string("second"));
    });

    EXPECT_EQ(awaited.copy().value(), "first");
    answers.join();
    EXPECT_EQ(awaited.take().value(), "first");
}

TEST(Awaited, gives_up_after_its_time_and_takes_a_late_answer) {
    Awaited<int> awaited;

    EXPECT_EQ(awaited.take(1ms).error().code, ErrorCode::timed_out);
    EXPECT_EQ(awaited.take(-5ms).error().code, ErrorCode::timed_out);
    EXPECT_FALSE(awaited.wait(0ms, {}));

    awaited.set(7);
    EXPECT_EQ(awaited.take(0ms).value(), 7) << "an answer that is there needs no time";
}

TEST(Awaited, gives_up_when_another_thread_requests_a_stop) {
    Awaited<int> awaited;
    std::stop_source stop;
    Promise<ErrorCode> ended;
    std::thread waits([&] { ended.set(awaited.take(forever, stop.get_token()).error().code); });

    EXPECT_TRUE(stop.request_stop());
    EXPECT_FALSE(stop.request_stop()) << "twice does no harm";

    EXPECT_EQ(ended.wait(), ErrorCode::cancelled);
    waits.join();
    awaited.set(7);
    EXPECT_EQ(awaited.take(forever, stop.get_token()).value(), 7) << "an answer counts more";
}

TEST(Awaited, loses_no_answer_to_a_stop_at_the_same_time) {
    for (int i = 0; i < 200; ++i) {
        Awaited<int> awaited;
        std::stop_source stop;
        std::thread answers([&] { awaited.set(i); });
        std::thread stops([&] { stop.request_stop(); });

        const Result<int> taken = awaited.take(forever, stop.get_token());

        answers.join();
        stops.join();
        if (taken.ok()) {
            EXPECT_EQ(*taken, i);
        } else {
            EXPECT_EQ(taken.error().code, ErrorCode::cancelled);
            EXPECT_EQ(awaited.take(0ms).value(), i) << "it is still there";
        }
    }
}

TEST(Awaited, asked_does_not_ask_after_a_stop) {
    std::stop_source stop;
    stop.request_stop();
    bool is_asked = false;

    const auto answer = asked<int>(Call{.stop = stop.get_token()}, [&](auto) { is_asked = true; });

    EXPECT_EQ(answer.error().code, ErrorCode::cancelled);
    EXPECT_FALSE(is_asked);
}

TEST(Awaited, asked_leaves_a_late_answer_alone) {
    std::function<void(Result<int>)> later;

    const auto answer = asked<int>(Call{.timeout = 1ms}, [&](auto done) { later = done; });

    EXPECT_EQ(answer.error().code, ErrorCode::timed_out);
    later(7);  // nobody waits: it does no harm
}

}  // namespace
}  // namespace evenkeel
