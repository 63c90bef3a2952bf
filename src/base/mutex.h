// A mutex that clang's thread-safety analysis understands.
//
// State belongs to one loop, so locks are few, and only base and io take them: for the task queues
// of loops and workers, metrics and budgets. Other modules share a value by base/guarded.h, and
// wait for one by base/promise.h. Locks do not nest: nothing is called under one of these, and
// Guarded checks its own.
#pragma once

#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define EK_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define EK_THREAD_ATTRIBUTE(x)
#endif

#define EK_GUARDED_BY(mutex) EK_THREAD_ATTRIBUTE(guarded_by(mutex))
#define EK_REQUIRES(mutex) EK_THREAD_ATTRIBUTE(requires_capability(mutex))

namespace evenkeel {

class EK_THREAD_ATTRIBUTE(capability("mutex")) Mutex {
public:
    void lock() EK_THREAD_ATTRIBUTE(acquire_capability()) { mutex_.lock(); }
    void unlock() EK_THREAD_ATTRIBUTE(release_capability()) { mutex_.unlock(); }

private:
    friend class Condition;
    std::mutex mutex_;
};

class EK_THREAD_ATTRIBUTE(scoped_lockable) Lock {
public:
    explicit Lock(Mutex& mutex) EK_THREAD_ATTRIBUTE(acquire_capability(mutex)) : mutex_(mutex) {
        mutex_.lock();
    }
    ~Lock() EK_THREAD_ATTRIBUTE(release_capability()) { mutex_.unlock(); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

private:
    Mutex& mutex_;
};

class Condition {
public:
    // Call in a loop that tests the guarded state.
    void wait(Mutex& mutex) EK_REQUIRES(mutex) {
        std::unique_lock<std::mutex> held(mutex.mutex_, std::adopt_lock);
        condition_.wait(held);
        held.release();
    }
    void notify_one() { condition_.notify_one(); }
    void notify_all() { condition_.notify_all(); }

private:
    std::condition_variable condition_;
};

}  // namespace evenkeel
