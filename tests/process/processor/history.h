// What processors in one process have handled, from all their threads.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/mutex.h"
#include <evenkeel/processor.h>

namespace evenkeel::test {

class History {
public:
    void add(std::uint32_t partition, std::int64_t sequence) {
        const Lock lock(mutex_);
        handled_[partition].push_back(sequence);
        ++count_;
        changed_.notify_all();
    }
    void wait_for(std::size_t count) {
        const Lock lock(mutex_);
        while (count_ < count) changed_.wait(mutex_);
    }
    std::map<std::uint32_t, std::vector<std::int64_t>> handled() {
        const Lock lock(mutex_);
        return handled_;
    }

private:
    Mutex mutex_;
    Condition changed_;
    std::map<std::uint32_t, std::vector<std::int64_t>> handled_ EK_GUARDED_BY(mutex_);
    std::size_t count_ EK_GUARDED_BY(mutex_) = 0;
};

// Each event once, in order.
inline void expect_each_once(const std::vector<std::int64_t>& handled, std::size_t count) {
    ASSERT_EQ(handled.size(), count);
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(handled[i], static_cast<std::int64_t>(i));
}

}  // namespace evenkeel::test
