#include "io/system/worker_pool.h"

#include <algorithm>
#include <deque>
#include <string>
#include <thread>
#include <utility>
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

// Whoever went idle last is called first: its caches are warm. If none is idle, another thread is
// started, up to the limit. One call is under way at a time; whoever comes and finds more to do
// calls the next, so that short tasks do not wake everybody, and one that blocks delays nobody.
// Each waits for a condition of its own: signalling one that others are just leaving may wait for
// them.
struct WorkerPool::State {
    State(std::string_view given_name, std::uint32_t threads)
        : name(given_name), threads_max(threads) {
        const Lock lock(mutex);
        if (threads_max > 0) add();
    }

    void run(Worker& self) {
        bool is_new = true;
        while (true) {
            Task task;
            Worker* next = nullptr;
            {
                Lock lock(mutex);
                if (std::exchange(is_new, false)) is_calling = false;
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
        if (self.is_called) {
            is_calling = false;
        } else {
            std::erase(idle, &self);
        }
        self.is_called = false;
    }
    // To be notified without the lock. Null if there is nobody to notify.
    Worker* call() EK_REQUIRES(mutex) {
        if (is_calling) return nullptr;
        if (idle.empty()) {
            if (workers.size() < threads_max) add();
            return nullptr;
        }
        Worker* const worker = idle.back();
        idle.pop_back();
        is_calling = true;
        worker->is_called = true;
        return worker;
    }
    // Comes as if it had been called.
    void add() EK_REQUIRES(mutex) {
        const std::string shown = name + "/" + std::to_string(workers.size());
        Worker& worker = workers.emplace_back();
        is_calling = true;
        worker.thread = std::thread([this, &worker, shown] {
            pthread_setname_np(pthread_self(), shown.substr(0, 15).c_str());
            run(worker);
        });
    }

    const std::string name;
    const std::size_t threads_max;
    Mutex mutex;
    std::deque<Task> tasks EK_GUARDED_BY(mutex);
    std::vector<Worker*> idle EK_GUARDED_BY(mutex);
    bool is_calling EK_GUARDED_BY(mutex) = false;  // one was called and has not come yet
    bool finishing EK_GUARDED_BY(mutex) = false;
    std::deque<Worker> workers EK_GUARDED_BY(mutex);
};

WorkerPool::WorkerPool(std::string_view name, std::uint32_t threads)
    : state_(std::make_unique<State>(name, threads)) {}

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
        for (Worker& worker : state_->workers) worker.changed.notify_all();
    }
    // What is queued may still need more threads: each is started by one that is waited for.
    for (std::size_t i = 0;; ++i) {
        Worker* worker = nullptr;
        {
            Lock lock(state_->mutex);
            if (i < state_->workers.size()) worker = &state_->workers[i];
        }
        if (!worker) return;
        EK_CHECK(worker->thread.get_id() != std::this_thread::get_id(),
                 "a worker cannot wait for itself");
        if (worker->thread.joinable()) worker->thread.join();
    }
}

std::uint32_t usual_workers() {
    return std::max(4U, 2 * std::thread::hardware_concurrency());
}

}  // namespace evenkeel::io::system
