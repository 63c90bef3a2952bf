// The public Processor (include/evenkeel/processor.h): threads around a Core, and calls that wait.
// tidy: no test: tests/process/processor tests it with real hubs and stores
#include <algorithm>

#include <unistd.h>

#include <fmt/core.h>

#include "base/awaited.h"
#include "base/promise.h"
#include "base/random.h"
#include "checkpoint/open.h"
#include "checkpoint/own/store.h"
#include "eventhubs/names.h"
#include "io/system/stop_signals.h"
#include "io/system/worker_pool.h"
#include "processor/core.h"
#include "processor/metrics.h"
#include "processor/options.h"
#include "processor/ownership/group_home.h"
#include "source/group_check.h"
#include "source/open.h"
#include <evenkeel/processor.h>

namespace evenkeel {
namespace {

using io::system::run_and_wait;
using processor::Core;

std::string here() {
    char host[256] = {};
    gethostname(host, sizeof host - 1);
    return fmt::format("{}:{}", host, getpid());
}

class LocalProcessor final : public Processor {
public:
    explicit LocalProcessor(ProcessorOptions options)
        : options_(std::move(options)),
          workers_("work", options_.workers > 0 ? options_.workers : io::system::usual_workers()) {
        if (options_.id.empty()) options_.id = secure_hex(8);
        if (!options_.on_error) {
            options_.on_error = [](const Failure& failure) {
                fmt::print(stderr, "{}\n", processor::to_text(failure));
            };
        }
    }
    ~LocalProcessor() override {
        if (loop_started_) {
            stop();
            close_source();
        }
        loop_.stop();
        workers_.finish();
        core_.reset();
        letters_.reset();
        outlet_.reset();
        home_.reset();
        store_.reset();
        source_.reset();
    }

    Result<> open(const CallOptions& call) {
        EK_TRY(go_ahead(call.stop));
        const TimeLeft left(call);
        source::OpenOptions place = processor::source_options(options_);
        place.call = call;
        EK_TRY_ASSIGN(source_, source::open_source(place, loop_));
        const source::Name& name = source_->name();
        EK_TRY_ASSIGN(store_, open_entries({name.hub_namespace, name.event_hub, options_.group}));
        EK_TRY(processor::check_store(options_, *store_));
        EK_TRY(open_letters());
        loop_.start();
        loop_started_ = true;
        EK_TRY_ASSIGN(const source::HubProperties hub,
                      asked<source::HubProperties>(left.options(), [this](auto done) {
                          loop_.post([this, done] { source_->properties(done); });
                      }));
        identity_ = hub.identity;
        EK_TRY(check_group(left.options()));
        if (!outlet_) return {};
        const Result<> letters = asked<void>(left.options(), [this](auto done) {
            loop_.post([this, done] { outlet_->open(done); });
        });
        if (letters.ok()) return {};
        return Error{letters.error().code,
                     fmt::format("dead_letter_hub: {}", letters.error().detail)};
    }

    Result<> start(HandlerFactory handlers, const CallOptions& call) override {
        if (!handlers) return Error{ErrorCode::invalid_argument, "there is no handler"};
        if (is_in_callback()) return would_wait_for_itself("start()");
        return asked<void>(call, [&](auto done) {
            loop_.post([this, done, handlers = std::move(handlers)]() mutable {
                if (home_) return done(Error{ErrorCode::conflict, "a processor is started once"});
                find_entries([this, done, handlers = std::move(handlers)](Result<> found) mutable {
                    if (!found.ok()) return done(std::move(found));
                    if (is_stopped_) return done(Error{ErrorCode::cancelled, "it was stopped"});
                    make_core(std::move(handlers));
                    core_->start(done);
                });
            });
        });
    }

    StopReport stop() override {
        if (is_in_callback()) {
            ask_to_stop();
            return {};
        }
        Promise<StopReport> promise;
        loop_.post([&] {
            is_stopped_ = true;
            if (!core_) return promise.set(StopReport{true, {}});
            core_->stop([&](const StopReport& report) { promise.set(report); });
        });
        StopReport report = promise.wait();
        end({});
        return report;
    }

    Result<> wait(const CallOptions& call) override {
        if (is_in_callback() && !ended_.is_set()) return would_wait_for_itself("wait()");
        return ended_.copy(call.timeout, call.stop);
    }
    bool has_ended() override { return ended_.is_set(); }

    ProcessorStatus status() override {
        ProcessorStatus status;
        status.id = options_.id;
        on_loop([&] {
            if (core_) status = core_->status();
        });
        return status;
    }
    std::string explain() override {
        std::string text = "not started";
        on_loop([&] {
            if (core_) text = core_->explain();
        });
        return text;
    }
    std::string metrics() override {
        return processor::metrics_text(status(), source_->name().event_hub, options_.group);
    }
    const ProcessorOptions& options() const override { return options_; }

private:
    // For calls that ask several questions.
    class TimeLeft {
    public:
        explicit TimeLeft(const CallOptions& call)
            : end_(SystemClock().now() +
                   std::clamp(call.timeout, std::chrono::milliseconds(0), forever)),
              stop_(call.stop) {}
        CallOptions options() const {
            const Duration left = std::max(Duration(0), end_ - SystemClock().now());
            return {std::chrono::duration_cast<std::chrono::milliseconds>(left), stop_};
        }

    private:
        const Instant end_;
        const std::stop_token stop_;
    };

    // Called by on_error, on the loop, which cannot wait for itself.
    bool is_in_callback() const { return loop_started_ && loop_.is_here(); }
    static Error would_wait_for_itself(std::string_view call) {
        return {ErrorCode::unsupported,
                fmt::format("{} was called by on_error, whose thread it would wait for", call)};
    }
    void on_loop(Task task) {
        if (is_in_callback()) return task();
        run_and_wait(loop_, std::move(task));
    }
    // Not within a call of what is stopped.
    void ask_to_stop() {
        loop_.post([this] {
            is_stopped_ = true;
            if (!core_) return end({});
            core_->stop([this](const StopReport&) { end({}); });
        });
    }
    Result<> check_group(const CallOptions& call) {
        if (options_.group == eventhubs::default_group) return {};
        return asked<void>(call, [this](auto done) {
            loop_.post([this, done] { source::check_group(*source_, options_.group, done); });
        });
    }
    void end(Result<> result) {
        // Drained, because an operator asked for it: that is no failure.
        if (!result.ok() && result.error().code == ErrorCode::cancelled) result = {};
        ended_.set(std::move(result));
    }
    Result<std::unique_ptr<checkpoint::Store>> open_entries(const checkpoint::GroupName& group) {
        if (options_.own_store) {
            return checkpoint::OwnStore::open(options_.own_store, group, loop_);
        }
        return checkpoint::open_store(options_.store, group, loop_);
    }
    void report(const Failure& failure) {
        Callback<Result<>()> call = [&]() -> Result<> {
            options_.on_error(failure);
            return {};
        };
        (void)processor::call_user(call);  // there is nobody left to tell
    }
    // The store of this hub's entries.
    void find_entries(Callback<void(Result<>)> found) {
        const source::Name& name = source_->name();
        const checkpoint::GroupName group{name.hub_namespace, name.event_hub, options_.group};
        home_ = std::make_unique<processor::GroupHome>(
            processor::GroupHome::Place{
                loop_, [this](const checkpoint::GroupName& other) { return open_entries(other); },
                [this](const Error& error, Duration in) {
                    report({ErrorScope::store, std::nullopt, "look for the hub's entries", error,
                            true, std::chrono::duration_cast<std::chrono::milliseconds>(in)});
                }},
            *store_, group, identity_, Random(secure_number()));
        home_->find([this, found = std::move(found)](Result<checkpoint::Store*> entries) mutable {
            if (!entries.ok()) return found(entries.error());
            entries_ = *entries;
            found({});
        });
    }
    void make_core(HandlerFactory handlers) {
        if (outlet_) {
            letters_ = std::make_unique<processor::HubDeadLetters>(
                *outlet_, *entries_, source_->name().event_hub, options_.group);
        }
        core_ = std::make_unique<Core>(
            processor::CorePlace{loop_, workers_, *entries_, *source_, letters_.get(),
                                 [this] { home_->restore(); }},
            options_, std::move(handlers),
            processor::coordination(options_, entries_->pace(), secure_hex(8), here()),
            Random(secure_number()), [this](const Error& error) { end(error); });
    }
    Result<> open_letters() {
        if (options_.dead_letter_hub.empty()) return {};
        EK_TRY(processor::check_letters(options_, source_->name()));
        EK_TRY_ASSIGN(
            outlet_,
            source::open_outlet(processor::letter_options(options_, source_->hub_here()), loop_));
        return {};
    }
    void close_source() {
        Promise<bool> closed;
        loop_.post([&] { source_->close([&] { closed.set(true); }); });
        closed.wait();
        if (!outlet_) return;
        Promise<bool> letters_closed;
        loop_.post([&] { outlet_->close([&] { letters_closed.set(true); }); });
        letters_closed.wait();
    }

    ProcessorOptions options_;
    io::system::LoopThread loop_{"proc/0"};
    bool loop_started_ = false;
    io::system::WorkerPool workers_;
    std::unique_ptr<source::Source> source_;
    std::unique_ptr<checkpoint::Store> store_;
    std::string identity_;  // of the hub
    std::unique_ptr<processor::GroupHome> home_;
    checkpoint::Store* entries_ = nullptr;    // store_, or one of home_'s
    std::unique_ptr<source::Outlet> outlet_;  // for dead letters; none: the store takes them
    std::unique_ptr<processor::HubDeadLetters> letters_;
    std::unique_ptr<Core> core_;
    bool is_stopped_ = false;  // on the loop
    Awaited<> ended_;
};

// One object for all partitions, which is given each batch.
class SharedHandler final : public PartitionHandler {
public:
    explicit SharedHandler(std::shared_ptr<BatchHandler> handler) : handler_(std::move(handler)) {}
    Result<> on_events(Partition& partition, Events events) override {
        return (*handler_)(partition, events);
    }

private:
    std::shared_ptr<BatchHandler> handler_;
};

}  // namespace

HandlerFactory shared_handler(BatchHandler handler) {
    auto shared = std::make_shared<BatchHandler>(std::move(handler));
    return [shared](std::uint32_t) { return std::make_unique<SharedHandler>(shared); };
}

Result<std::unique_ptr<Processor>> Processor::open(ProcessorOptions options,
                                                   const CallOptions& call) {
    EK_TRY(processor::check(options));
    auto opened = std::make_unique<LocalProcessor>(std::move(options));
    EK_TRY(opened->open(call));
    return std::unique_ptr<Processor>(std::move(opened));
}

Result<> Processor::start(BatchHandler handler, const CallOptions& call) {
    if (!handler) return Error{ErrorCode::invalid_argument, "there is no handler"};
    return start(shared_handler(std::move(handler)), call);
}

namespace {

// What a call returned; nothing if it only ended because we were asked to stop.
Result<> unless_stopped(const Result<>& ended, const std::stop_token& stop) {
    const bool is_cancelled = !ended.ok() && ended.error().code == ErrorCode::cancelled;
    return is_cancelled && stop.stop_requested() ? Result<>() : ended;
}

int run_until(Processor& processor, HandlerFactory handlers, const std::stop_token& stop) {
    const CallOptions call{.stop = stop};
    const Result<> started = unless_stopped(processor.start(std::move(handlers), call), stop);
    if (!started.ok()) {
        fmt::print(stderr, "{}\n", to_string(started.error()));
        return 1;
    }
    const Result<> ended = unless_stopped(processor.wait(call), stop);
    const StopReport report = processor.stop();
    for (const std::uint32_t partition : report.not_drained) {
        fmt::print(stderr, "partition {}: its handler did not end in time\n", partition);
    }
    if (!ended.ok()) fmt::print(stderr, "{}\n", to_string(ended.error()));
    return ended.ok() && report.is_clean ? 0 : 1;
}

}  // namespace

int run(Processor& processor, HandlerFactory handlers, const std::stop_token& stop) {
    io::system::StopSignals signals;
    std::stop_source asked_to_stop;
    const std::stop_callback pass_on(stop, [&] { asked_to_stop.request_stop(); });
    io::system::WorkerThread watch("signals/0");
    watch.post([&] {
        while (!signals.wait(forever)) {
        }
        asked_to_stop.request_stop();
    });
    const int code = run_until(processor, std::move(handlers), asked_to_stop.get_token());
    signals.wake();
    return code;
}

int run(const Result<std::unique_ptr<Processor>>& processor, HandlerFactory handlers,
        const std::stop_token& stop) {
    if (processor.ok()) return run(**processor, std::move(handlers), stop);
    fmt::print(stderr, "{}\n", to_string(processor.error()));
    return processor.error().code == ErrorCode::invalid_argument ? 2 : 1;
}

}  // namespace evenkeel
