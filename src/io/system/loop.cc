#include "io/system/loop.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <thread>
#include <utility>
#include <vector>

#include <pthread.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>

#include "base/check.h"
#include "base/mutex.h"
#include "io/timer_queue.h"

namespace evenkeel::io::system {

namespace asio = boost::asio;

namespace {

void name_this_thread(const std::string& name) {
    pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
}

int boot_time_timer() {
    const int descriptor = timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
    EK_CHECK(descriptor >= 0, "the system has no descriptor left for a timer");
    return descriptor;
}

enum class Phase { made, running, stopped };

}  // namespace

struct LoopThread::State {
    explicit State(std::string_view name_) : name(name_), timer(context, boot_time_timer()) {}

    void run();
    void wake();
    void run_posted();
    void wait_for_timer();
    void run_timers();
    void set_alarm();

    const std::string name;
    const SystemClock clock;

    Mutex mutex;
    std::vector<Task> posted EK_GUARDED_BY(mutex);
    bool woken EK_GUARDED_BY(mutex) = false;  // a run_posted() is on its way
    std::atomic<Phase> phase{Phase::made};
    std::atomic<std::thread::id> thread_id;

    // The hint says that one thread runs it; others may still post.
    asio::io_context context{1};
    asio::posix::stream_descriptor timer;  // a timerfd, set to `alarm`
    TimerQueue timers;
    Instant alarm;              // 0 if the timerfd is not set
    std::vector<Task> running;  // what run_posted() took; keeps its memory for the next time
    std::thread thread;
};

LoopThread::LoopThread(std::string_view name) : state_(std::make_unique<State>(name)) {}

LoopThread::~LoopThread() {
    stop();
}

void LoopThread::start() {
    EK_CHECK(state_->phase == Phase::made, "a loop starts once");
    state_->wait_for_timer();
    state_->phase = Phase::running;
    state_->thread = std::thread([state = state_.get()] { state->run(); });
}

void LoopThread::stop() {
    EK_CHECK(state_->phase != Phase::running || !is_here(), "a loop cannot wait for itself");
    std::vector<Task> unrun;
    {
        Lock lock(state_->mutex);
        state_->phase = Phase::stopped;  // under the lock, so that no post() comes after the swap
        unrun.swap(state_->posted);
    }
    state_->context.stop();
    if (state_->thread.joinable()) state_->thread.join();
    unrun.clear();
    // What a task holds may cancel timers while it is destroyed.
    const TimerQueue timers = std::exchange(state_->timers, {});
}

void LoopThread::post(Task task) {
    bool wake = false;
    {
        Lock lock(state_->mutex);
        if (state_->phase == Phase::stopped) return;
        state_->posted.push_back(std::move(task));
        wake = !std::exchange(state_->woken, true);
    }
    if (wake) state_->wake();
}

TimerId LoopThread::run_at(Instant when, Task task) {
    check_here();
    if (state_->phase == Phase::stopped) return TimerId{0};
    const TimerId id = state_->timers.add(when, std::move(task));
    state_->set_alarm();
    return id;
}

void LoopThread::cancel(TimerId timer) {
    check_here();
    // The alarm stays as it is: an early wakeup that finds nothing costs less than setting it.
    state_->timers.cancel(timer);
}

bool LoopThread::is_here() const {
    return state_->phase != Phase::running || state_->thread_id == std::this_thread::get_id();
}

asio::io_context& LoopThread::context() {
    return state_->context;
}

void LoopThread::State::run() {
    thread_id = std::this_thread::get_id();
    name_this_thread(name);
    const auto keep_running = asio::make_work_guard(context);
    context.run();
}

void LoopThread::State::wake() {
    asio::post(context, [this] { run_posted(); });
}

// One batch, then back to Asio, so that tasks which post more tasks do not starve sockets.
void LoopThread::State::run_posted() {
    {
        Lock lock(mutex);
        running.swap(posted);
        woken = false;
    }
    for (Task& task : running) {
        if (phase == Phase::stopped) break;
        task();
        task = nullptr;
    }
    running.clear();
}

void LoopThread::State::wait_for_timer() {
    timer.async_wait(asio::posix::stream_descriptor::wait_read,
                     [this](const boost::system::error_code& error) {
                         if (error) return;
                         std::uint64_t expirations = 0;
                         (void)!::read(timer.native_handle(), &expirations, sizeof expirations);
                         run_timers();
                         wait_for_timer();
                     });
}

void LoopThread::State::run_timers() {
    alarm = {};
    const Instant now = clock.now();
    // As many as there are now, so that timers which set due timers do not starve sockets.
    for (std::size_t left = timers.size(); left > 0 && phase != Phase::stopped; --left) {
        Task task = timers.take_due(now);
        if (!task) break;
        task();
    }
    set_alarm();
}

void LoopThread::State::set_alarm() {
    const auto next = timers.next();
    if (!next || (alarm != Instant{} && alarm <= *next)) return;
    alarm = std::max(*next, Instant{1});  // 0 would unset the timerfd; the past fires at once
    itimerspec when{};
    when.it_value.tv_sec = alarm.nanoseconds / 1'000'000'000;
    when.it_value.tv_nsec = alarm.nanoseconds % 1'000'000'000;
    const int failed = timerfd_settime(timer.native_handle(), TFD_TIMER_ABSTIME, &when, nullptr);
    EK_CHECK(failed == 0, "a timer could not be set");
}

struct WorkerThread::State {
    explicit State(std::string_view name_) : name(name_) {}

    void run();

    const std::string name;
    Mutex mutex;
    Condition changed;
    std::deque<Task> tasks EK_GUARDED_BY(mutex);
    bool finishing EK_GUARDED_BY(mutex) = false;
    std::atomic<std::thread::id> thread_id;
    std::thread thread;
};

WorkerThread::WorkerThread(std::string_view name) : state_(std::make_unique<State>(name)) {
    state_->thread = std::thread([state = state_.get()] { state->run(); });
}

WorkerThread::~WorkerThread() {
    finish();
}

void WorkerThread::post(Task task) {
    {
        Lock lock(state_->mutex);
        if (state_->finishing) return;
        state_->tasks.push_back(std::move(task));
    }
    state_->changed.notify_one();
}

void WorkerThread::finish() {
    EK_CHECK(!is_here(), "a worker cannot wait for itself");
    {
        Lock lock(state_->mutex);
        state_->finishing = true;
    }
    state_->changed.notify_one();
    if (state_->thread.joinable()) state_->thread.join();
}

bool WorkerThread::is_here() const {
    return state_->thread_id == std::this_thread::get_id();
}

void WorkerThread::State::run() {
    thread_id = std::this_thread::get_id();
    name_this_thread(name);
    for (;;) {
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

namespace {

struct Done {
    Mutex mutex;
    Condition changed;
    bool value EK_GUARDED_BY(mutex) = false;

    void set() {
        Lock lock(mutex);
        value = true;
        changed.notify_one();  // under the lock: the waiter destroys us as soon as it can
    }
    void wait() {
        Lock lock(mutex);
        while (!value) changed.wait(mutex);
    }
};

// Says so when it goes, whether its task ran or was dropped.
class Notice {
public:
    explicit Notice(Done& done) : done_(&done) {}
    Notice(Notice&& other) noexcept : done_(std::exchange(other.done_, nullptr)) {}
    Notice& operator=(Notice&&) = delete;
    ~Notice() {
        if (done_) done_->set();
    }

private:
    Done* done_;
};

struct Waited {
    Notice notice;  // first, so that all the task holds is gone when it speaks
    Task task;
    void operator()() { task(); }
};

}  // namespace

void run_and_wait(Executor& executor, Task task) {
    if (const auto* worker = dynamic_cast<const WorkerThread*>(&executor)) {
        EK_CHECK(!worker->is_here(), "a worker cannot wait for itself");
    }
    if (const auto* loop = dynamic_cast<const LoopThread*>(&executor)) {
        const auto& state = *loop->state_;
        EK_CHECK(state.phase != Phase::made, "waited for a loop that was not started");
        EK_CHECK(state.thread_id != std::this_thread::get_id(), "a loop cannot wait for itself");
    }
    Done done;
    executor.post(Waited{Notice(done), std::move(task)});
    done.wait();
}

}  // namespace evenkeel::io::system
