#include "processor/balance/foreign_pace.h"

#include <gtest/gtest.h>

namespace evenkeel::processor {
namespace {

using namespace std::chrono_literals;

// Looked at every second, in whole seconds, as the store tells ages.
class ForeignPaces : public testing::Test {
protected:
    // Owners by their intervals; 0: it does not renew any more.
    void run(std::map<std::string, Duration> intervals, Duration duration) {
        for (const Instant end = now_ + duration; now_ < end; now_ = now_ + 1s) {
            std::map<std::string, Duration> ages;
            for (const auto& [id, interval] : intervals) {
                Instant& renewed = renewed_.try_emplace(id, now_).first->second;
                if (interval > 0s && now_ - renewed >= interval) renewed = now_;
                ages[id] = now_ - renewed;
            }
            pace_.observe(ages, now_);
        }
    }

    const Timing timing_ = standard_timing();
    ForeignPace pace_;
    Instant now_{1'000'000'000'000};
    std::map<std::string, Instant> renewed_;
};

TEST_F(ForeignPaces, renews_often_as_long_as_somebody_is_new) {
    run({{"slow", 30s}}, 85s);
    EXPECT_EQ(pace_.renewal(timing_), timing_.foreign_renewal);
    EXPECT_EQ(pace_.expiry("slow", timing_), timing_.foreign_expiry);

    run({{"slow", 30s}}, 10s);

    EXPECT_EQ(pace_.renewal(timing_), timing_.foreign_renewal_max);
    run({{"slow", 30s}, {"new", 30s}}, 1s);
    EXPECT_EQ(pace_.renewal(timing_), timing_.foreign_renewal);
}

TEST_F(ForeignPaces, renews_as_the_quickest_needs_it_within_bounds) {
    run({{"python", 33s}, {"js", 10s}, {"quick", 2s}}, 200s);
    EXPECT_EQ(pace_.renewal(timing_), timing_.foreign_renewal);

    run({{"python", 33s}, {"js", 10s}}, 1s);

    EXPECT_EQ(pace_.renewal(timing_), 18s);
}

TEST_F(ForeignPaces, takes_the_silent_for_dead_when_their_own_kind_does) {
    run({{"python", 33s}, {"js", 10s}, {"quick", 3s}}, 200s);

    run({{"python", 0s}, {"js", 0s}, {"quick", 0s}}, 300s);

    EXPECT_EQ(pace_.expiry("python", timing_), timing_.foreign_expiry);
    EXPECT_EQ(pace_.expiry("js", timing_), 54s);
    EXPECT_EQ(pace_.expiry("quick", timing_), timing_.foreign_expiry_min);
    EXPECT_EQ(pace_.expiry("nobody", timing_), timing_.foreign_expiry);
}

}  // namespace
}  // namespace evenkeel::processor
