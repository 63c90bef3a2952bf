#include "io/system/worker_pool.h"

#include <algorithm>
#include <deque>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>

#include "base/mutex.h"

namespace evenkeel::io::system {

struct WorkerPool::State {
    void run() {
        while (true) {
            Task task;
            {
                Lock lock(mutex);
                while (tasks.empty() && !finishing) changed.wait(mutex);
                if (tasks.empty()) return;
                task = std::move(tasks.front());
                tasks.pop_front();
            }
            task();
        }
    }

    Mutex mutex;
    Condition changed;
    std::deque<Task> tasks EK_GUARDED_BY(mutex);
    bool finishing EK_GUARDED_BY(mutex) = false;
    std::vector<std::thread> threads;
};

WorkerPool::WorkerPool(std::string_view name, std::uint32_t threads)
    : state_(std::make_unique<State>()) {
    for (std::uint32_t i = 0; i < threads; ++i) {
        const std::string shown = std::string(name) + "/" + std::to_string(i);
        state_->threads.emplace_back([state = state_.get(), shown] {
            pthread_setname_np(pthread_self(), shown.substr(0, 15).c_str());
            state->run();
        });
    }
}

WorkerPool::~WorkerPool() {
    finish();
}

void WorkerPool::post(Task task) {
    {
        Lock lock(state_->mutex);
        if (state_->finishing) return;
        state_->tasks.push_back(std::move(task));
    }
    state_->changed.notify_one();
}

void WorkerPool::finish() {
    {
        Lock lock(state_->mutex);
        state_->finishing = true;
    }
    state_->changed.notify_all();
    for (std::thread& thread : state_->threads) {
        EK_CHECK(thread.get_id() != std::this_thread::get_id(), "a worker cannot wait for itself");
        if (thread.joinable()) thread.join();
    }
}

std::uint32_t usual_workers() {
    return std::max(4U, 2 * std::thread::hardware_concurrency());
}

}  // namespace evenkeel::io::system
