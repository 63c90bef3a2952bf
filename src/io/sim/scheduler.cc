#include "io/sim/scheduler.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/check.h"

namespace evenkeel::io::sim {

namespace {

constexpr Instant start{1'000'000'000'000};
constexpr WallTime wall_start{1'767'225'600'000};  // 2026-01-01T00:00:00Z
constexpr Instant never{std::numeric_limits<std::int64_t>::max()};
// A loop that posts to itself for ever would keep time from moving.
constexpr std::uint64_t steps_at_one_instant_max = 10'000'000;

// FNV-1a, over the bytes of a number or a text.
std::uint64_t hashed(std::uint64_t hash, ByteView bytes) {
    for (const std::byte byte : bytes) {
        hash = (hash ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3;
    }
    return hash;
}

std::uint64_t hashed(std::uint64_t hash, std::uint64_t number) {
    return hashed(hash, ByteView(reinterpret_cast<const std::byte*>(&number), sizeof number));
}

}  // namespace

Scheduler::Scheduler(std::uint64_t seed)
    : random_(seed), choice_(random_.fork()), now_(start), trace_hash_(0xcbf29ce484222325) {}

Scheduler::~Scheduler() {
    EK_CHECK(lanes_.size() == 1, "a loop or executor outlives its scheduler");
    world_.discard();
}

void Scheduler::run_at(Instant when, Task event) {
    world_.timers_.add(when, std::move(event));
}

bool Scheduler::step() {
    EK_CHECK(!in_step_, "the scheduler was stepped from inside a task");
    const Instant next = next_ready();
    if (next == never) return false;
    if (next > now_) {
        now_ = next;
        steps_at_now_ = 0;
    }
    run_one();
    return true;
}

bool Scheduler::run_until_idle(std::uint64_t steps_max) {
    for (std::uint64_t i = 0; i < steps_max; ++i) {
        if (!step()) return true;
    }
    return next_ready() == never;
}

void Scheduler::run_for(Duration duration) {
    const Instant end = now_ + duration;
    while (next_ready() <= end) step();
    now_ = end;
    steps_at_now_ = 0;
}

bool Scheduler::run_until(Callback<bool()> condition, Duration at_most) {
    const Instant end = now_ + at_most;
    while (!condition()) {
        if (next_ready() > end) {
            now_ = end;
            steps_at_now_ = 0;
            return condition();
        }
        step();
    }
    return true;
}

Instant Scheduler::next_ready() const {
    Instant next = never;
    for (const Lane* lane : lanes_) next = std::min(next, lane->next_ready());
    return next;
}

void Scheduler::run_one() {
    EK_CHECK(++steps_at_now_ < steps_at_one_instant_max, "time stands still: tasks without end");
    ready_.clear();
    for (Lane* lane : lanes_) {
        if (lane->next_ready() <= now_) ready_.push_back(lane);
    }
    Lane& lane = *ready_[choice_.below(ready_.size())];
    record(lane);
    in_step_ = true;
    running_ = &lane;
    {
        Task task = lane.take(now_);
        task();
    }
    running_ = nullptr;
    in_step_ = false;
}

void Scheduler::record(const Lane& lane) {
    trace_hash_ = hashed(trace_hash_, ++steps_);
    trace_hash_ = hashed(trace_hash_, static_cast<std::uint64_t>(now_.nanoseconds));
    trace_hash_ = hashed(trace_hash_, as_bytes(lane.name_));
}

WallTime Scheduler::VirtualClock::wall() const {
    return wall_start +
           std::chrono::duration_cast<std::chrono::milliseconds>(scheduler_.now_ - start);
}

Lane::Lane(Scheduler& scheduler, std::string_view name)
    : scheduler_(scheduler),
      name_(name),
      random_(scheduler.random_.fork()),
      paused_until_(scheduler.now_) {
    scheduler_.lanes_.push_back(this);
}

Lane::~Lane() {
    discard();
    std::erase(scheduler_.lanes_, this);
    // Destroyed by its own task: from here on that task is on no loop.
    if (scheduler_.running_ == this) scheduler_.running_ = nullptr;
}

void Lane::pause(Duration duration) {
    paused_until_ = std::max(paused_until_, scheduler_.now_ + duration);
}

void Lane::discard() {
    discarded_ = true;
    // What the tasks hold may post, set timers and cancel while it is destroyed.
    const auto tasks = std::exchange(tasks_, {});
    const auto timers = std::exchange(timers_, {});
}

void Lane::post(Task task) {
    if (discarded_) return;
    const Duration latency{random_.between(latency_min_.count(), latency_max_.count())};
    const Instant begin =
        tasks_.empty() ? scheduler_.now_ : std::max(scheduler_.now_, tasks_.back().ready);
    tasks_.push_back({begin + latency, std::move(task)});
}

Instant Lane::next_ready() const {
    Instant next = tasks_.empty() ? never : tasks_.front().ready;
    next = std::min(next, timers_.next().value_or(never));
    return next == never ? never : std::max(next, paused_until_);
}

Task Lane::take(Instant now) {
    const bool has_task = !tasks_.empty() && tasks_.front().ready <= now;
    const bool has_timer = timers_.next().value_or(never) <= now;
    EK_CHECK(has_task || has_timer, "took from a lane that is not ready");
    // Which of the two comes first on a real loop is open, so it is open here.
    if (has_timer && (!has_task || random_.chance(1, 2))) return timers_.take_due(now);
    Task task = std::move(tasks_.front().task);
    tasks_.pop_front();
    return task;
}

void SimExecutor::set_latency(Duration min, Duration max) {
    EK_CHECK(Duration(0) <= min && min <= max, "a latency range that is none");
    lane_.latency_min_ = min;
    lane_.latency_max_ = max;
}

TimerId SimLoop::run_at(Instant when, Task task) {
    check_here();
    if (lane_.discarded_) return TimerId{0};
    return lane_.timers_.add(when, std::move(task));
}

void SimLoop::cancel(TimerId timer) {
    check_here();
    lane_.timers_.cancel(timer);
}

bool SimLoop::is_here() const {
    return !scheduler_.in_step_ || scheduler_.running_ == &lane_ ||
           scheduler_.running_ == &scheduler_.world_;
}

void SimLoop::set_wall_skew(std::chrono::milliseconds skew, std::int64_t drift_millionths) {
    clock_.skew = skew;
    clock_.drift_millionths = drift_millionths;
    clock_.drift_since = scheduler_.now();
}

WallTime SimLoop::SkewedClock::wall() const {
    const std::int64_t since = (scheduler_.now() - drift_since).count();
    const std::int64_t gained = since / 1'000'000 * drift_millionths / 1'000'000;
    return scheduler_.clock().wall() + skew + std::chrono::milliseconds(gained);
}

}  // namespace evenkeel::io::sim
