#include "io/system/worker_pool.h"

#include <algorithm>
#include <deque>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>

#include "base/mutex.h"

namespace evenkeel::io::system {

namespace {

struct Worker {
    Condition changed;
    bool is_called = false;  // under the pool's lock
    std::thread thread;
};

}  // namespace

// Whoever went idle last is called first: its caches are warm. One call is under way at a time;
// whoever comes and finds more to do calls the next, so that short tasks do not wake everybody, and
// one that blocks delays nobody. Each waits for a condition of its own: signalling one that others
// are just leaving may wait for them.
struct WorkerPool::State {
    void run(Worker& self) {
        while (true) {
            Task task;
            Worker* next = nullptr;
            {
                Lock lock(mutex);
                while (tasks.empty() && !finishing) wait(self);
                if (tasks.empty()) return;
                task = std::move(tasks.front());
                tasks.pop_front();
                if (!tasks.empty()) next = call();
            }
            if (next) next->changed.notify_one();
            task();
        }
    }
    void wait(Worker& self) EK_REQUIRES(mutex) {
        idle.push_back(&self);
        while (!self.is_called && !finishing) self.changed.wait(mutex);
        if (self.is_called) is_calling = false;
        self.is_called = false;
    }
    // To be notified without the lock.
    Worker* call() EK_REQUIRES(mutex) {
        if (is_calling || idle.empty()) return nullptr;
        Worker* const worker = idle.back();
        idle.pop_back();
        is_calling = true;
        worker->is_called = true;
        return worker;
    }

    Mutex mutex;
    std::deque<Task> tasks EK_GUARDED_BY(mutex);
    std::vector<Worker*> idle EK_GUARDED_BY(mutex);
    bool is_calling EK_GUARDED_BY(mutex) = false;  // one was called and has not come yet
    bool finishing EK_GUARDED_BY(mutex) = false;
    std::deque<Worker> workers;
};

WorkerPool::WorkerPool(std::string_view name, std::uint32_t threads)
    : state_(std::make_unique<State>()) {
    for (std::uint32_t i = 0; i < threads; ++i) {
        const std::string shown = std::string(name) + "/" + std::to_string(i);
        Worker& worker = state_->workers.emplace_back();
        worker.thread = std::thread([state = state_.get(), &worker, shown] {
            pthread_setname_np(pthread_self(), shown.substr(0, 15).c_str());
            state->run(worker);
        });
    }
}

WorkerPool::~WorkerPool() {
    finish();
}

void WorkerPool::post(Task task) {
    Worker* next = nullptr;
    {
        Lock lock(state_->mutex);
        if (state_->finishing) return;
        state_->tasks.push_back(std::move(task));
        next = state_->call();
    }
    if (next) next->changed.notify_one();
}

void WorkerPool::finish() {
    {
        Lock lock(state_->mutex);
        state_->finishing = true;
    }
    for (Worker& worker : state_->workers) worker.changed.notify_all();
    for (Worker& worker : state_->workers) {
        EK_CHECK(worker.thread.get_id() != std::this_thread::get_id(),
                 "a worker cannot wait for itself");
        if (worker.thread.joinable()) worker.thread.join();
    }
}

std::uint32_t usual_workers() {
    return std::max(4U, 2 * std::thread::hardware_concurrency());
}

}  // namespace evenkeel::io::system
