// Calls of a store whose client blocks (SQLite, PostgreSQL): collected on the loop while a batch of
// them is with a thread of the store's own, answered on the loop.
//
//     loop: calls queue up ──▶ store/0: runner.run(calls), many at once
//           answers        ◀──          (more queue up meanwhile, for the next batch)
//
// A Runner has: a type Call, with fail(Error) and answer(); bool run(Calls&), after which every
// call has its result; bool has_changed(); stop(), from any thread, after which run() returns soon.
// run() and has_changed() tell whether others have changed something since one of them last said
// so.
// Threads: pinned to the loop; the runner's calls are on its thread.
#pragma once

#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/clock.h"
#include "base/lifetime.h"
#include "base/result.h"
#include "io/loop.h"
#include "io/system/loop.h"
#include "io/timer.h"

namespace evenkeel::checkpoint {

inline constexpr std::size_t queued_calls_max = 16'384;

template <typename Runner>
class CallQueue {
public:
    using Call = typename Runner::Call;
    using Calls = std::vector<std::unique_ptr<Call>>;

    // `watch_period`: how often it asks for changes while there is a watch.
    CallQueue(io::Loop& loop, std::unique_ptr<Runner> runner, std::size_t batch_max,
              Duration watch_period)
        : loop_(loop),
          batch_max_(batch_max),
          watch_period_(watch_period),
          runner_(std::move(runner)) {}
    ~CallQueue() {
        watch({});
        runner_->stop();
    }
    CallQueue(const CallQueue&) = delete;
    CallQueue& operator=(const CallQueue&) = delete;

    void add(std::unique_ptr<Call> call) {
        loop_.check_here();
        if (waiting_.size() < queued_calls_max) {
            waiting_.push_back(std::move(call));
            return send_soon();
        }
        call->fail({ErrorCode::overloaded,
                    fmt::format("more than {} operations wait for the checkpoint store",
                                queued_calls_max)});
        loop_.post(lifetime_.guard([call = std::move(call)] { call->answer(); }));
    }

    // Answers an error, soon.
    template <typename Done>
    void refuse(Done done, Error error) {
        loop_.check_here();
        loop_.post(lifetime_.guard([done = std::move(done), error = std::move(error)]() mutable {
            done(std::move(error));
        }));
    }

    void watch(std::function<void()> changed) {
        loop_.check_here();
        changed_ = std::move(changed);
        if (!changed_) {
            timer_.cancel();
            is_polling_ = false;
        } else if (!is_polling_) {
            is_polling_ = true;
            poll_later();
        }
    }

private:
    // After the running task: all calls of one task are sent as one batch.
    void send_soon() {
        if (is_running_ || std::exchange(is_sending_soon_, true)) return;
        loop_.post(lifetime_.guard([this] {
            is_sending_soon_ = false;
            send();
        }));
    }

    // One batch at a time is with the runner; what comes meanwhile makes the next one.
    void send() {
        if (is_running_ || waiting_.empty()) return;
        is_running_ = true;
        Calls calls;
        if (waiting_.size() <= batch_max_) {
            calls.swap(waiting_);
        } else {
            const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(batch_max_);
            calls.assign(std::move_iterator(waiting_.begin()), std::move_iterator(end));
            waiting_.erase(waiting_.begin(), end);
        }
        thread_.post([this, calls = std::move(calls)]() mutable {
            const bool has_changed = runner_->run(calls);
            loop_.post(lifetime_.guard(
                [this, calls = std::move(calls), has_changed] { receive(calls, has_changed); }));
        });
    }

    void receive(const Calls& calls, bool has_changed) {
        is_running_ = false;
        send();  // what came meanwhile, before the answers bring more
        const Lifetime::Watch watch = lifetime_.watch();
        for (const auto& call : calls) {
            call->answer();
            if (watch.over()) return;  // by the answer
        }
        if (has_changed) tell();
    }

    void tell() {
        if (!changed_) return;
        const auto changed = changed_;  // it may end the watch, or the store
        changed();
    }

    void poll_later() {
        timer_.run_after(watch_period_, [this] { poll(); });
    }

    void poll() {
        thread_.post([this] {
            const bool has_changed = runner_->has_changed();
            loop_.post(lifetime_.guard([this, has_changed] {
                if (!changed_) return;
                if (!timer_.is_pending()) poll_later();
                if (has_changed) tell();
            }));
        });
    }

    io::Loop& loop_;
    const std::size_t batch_max_;
    const Duration watch_period_;
    Calls waiting_;
    bool is_running_ = false;  // a batch is with the runner
    bool is_sending_soon_ = false;
    std::function<void()> changed_;
    bool is_polling_ = false;  // a poll is with the runner, or its timer is set
    io::Timer timer_{loop_};
    Lifetime lifetime_;
    const std::unique_ptr<Runner> runner_;
    // Ends first, so that no task of it meets what is gone.
    io::system::WorkerThread thread_{"store/0"};
};

}  // namespace evenkeel::checkpoint
