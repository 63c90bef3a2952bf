// tidy: no test: the tests of the function host in tests/process run instances with real hubs
#include "host/instance.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/core.h>
#include <poll.h>

#include "base/log.h"
#include "base/text.h"
#include "eventhubs/connection_string.h"
#include "eventhubs/names.h"
#include "host/handler/cloud_handler.h"
#include "host/handler/custom_handler.h"
#include "host/handler/keeper.h"
#include "host/handler/shim_handler.h"
#include "io/system/worker_pool.h"

namespace evenkeel::host {
namespace {

// Executions of one function at a time, one for each partition: they wait most of the time.
constexpr std::uint32_t executions_max = 16;
// Until an execution that did not end in time is ended, and a little more.
constexpr Duration end_margin = std::chrono::seconds(5);
// Functions that are started at a time: each may wait for a hub that does not answer.
constexpr std::size_t starts_max = 8;
// Less than a scale controller waits for an instance.
constexpr Duration first_start_max = std::chrono::seconds(90);
constexpr int start_poll_ms = 10;
// A function that ran for so long was well: the next pause is the short one again.
constexpr Duration healthy = std::chrono::minutes(1);

Error of_function(const Function& function, const Error& error) {
    return {error.code, fmt::format("function '{}': {}", function.name, error.detail)};
}

bool share_a_group(const Function& a, const Function& b) {
    return &a != &b && !a.disabled && !b.disabled &&
           eventhubs::folded(a.event_hub) == eventhubs::folded(b.event_hub) &&
           eventhubs::folded(a.consumer_group) == eventhubs::folded(b.consumer_group);
}

void log_failure(const std::string& function, const Failure& failure) {
    // The log has it already, with the execution (function_run.cc).
    const ErrorCode code = failure.error.code;
    const bool has_run = code == ErrorCode::handler_failed || code == ErrorCode::timed_out;
    if (failure.scope == ErrorScope::handler && failure.is_retried && has_run) return;
    trace(failure.is_retried ? TraceLevel::warning : TraceLevel::error, failure.error.detail,
          {{"function", function},
           {"partition", failure.partition ? fmt::format("{}", *failure.partition) : "-"},
           {"at", failure.operation},
           {"again_in", failure.is_retried ? fmt::format("{} ms", failure.retried_in.count())
                                           : std::string("-")}});
}

}  // namespace

Instance::Instance(const App& app, InstanceOptions options)
    : app_(app),
      options_(std::move(options)),
      send_outputs_([this](const Function& function, Outcome& outcome) {
          return outputs_.send(function, outcome);
      }),
      random_(secure_number()),
      starter_("start", static_cast<std::uint32_t>(
                            std::clamp<std::size_t>(app.functions.size(), 1, starts_max))) {}

Instance::~Instance() {
    static_cast<void>(stop());
}

Result<std::unique_ptr<Instance>> Instance::start(const App& app, InstanceOptions options) {
    std::unique_ptr<Instance> instance(new Instance(app, std::move(options)));
    instance->make_handlers();
    for (const Function& function : app.functions) {
        if (!function.disabled) instance->running_.push_back({.function = &function});
    }
    instance->start_due();
    if (auto none = instance->wait_for_first()) return *none;
    return instance;
}

// Until one function runs, or none can be started, or too much time has gone.
std::optional<Error> Instance::wait_for_first() {
    const Instant end = clock_.now() + first_start_max;
    while (clock_.now() < end) {
        take_started();
        if (auto none = error_if_none_runs()) return none;
        const bool has_one = std::ranges::any_of(
            running_, [](const Running& running) { return running.processor != nullptr; });
        if (has_one || running_.empty()) break;
        poll(nullptr, 0, start_poll_ms);
    }
    return std::nullopt;
}

void Instance::make_handlers() {
    const auto has = [&](Kind kind) {
        return std::any_of(
            app_.functions.begin(), app_.functions.end(),
            [&](const Function& function) { return function.kind == kind && !function.disabled; });
    };
    const auto stop = stopping_.get_token();
    if (has(Kind::command)) {
        commands_ = make_command_handler(app_, options_.event_line, options_.drain_max);
    }
    if (has(Kind::custom_handler)) custom_ = make_custom_handler(app_, stop);
    if (has(Kind::python)) python_ = make_shim_handler(app_, Kind::python, stop);
    if (has(Kind::node)) node_ = make_shim_handler(app_, Kind::node, stop);
    if (has(Kind::cloud_events)) cloud_ = make_cloud_handler(app_);
}

void Instance::end_handlers() const {
    for (const auto* handler : {&commands_, &custom_, &python_, &node_, &cloud_}) {
        if (*handler) (*handler)->end();
    }
}

Handler& Instance::handler_of(const Function& function) const {
    switch (function.kind) {
        case Kind::command: return *commands_;
        case Kind::custom_handler: return *custom_;
        case Kind::python: return *python_;
        case Kind::node: return *node_;
        case Kind::cloud_events: return *cloud_;
    }
    return *commands_;
}

Result<ProcessorOptions> Instance::processor_options(const Function& function) const {
    const HostOptions& host = app_.options;
    ProcessorOptions wanted;
    wanted.hub = function.connection;
    wanted.group = function.consumer_group;
    wanted.store = app_.store;
    const bool is_shared =
        std::any_of(app_.functions.begin(), app_.functions.end(),
                    [&](const Function& other) { return share_a_group(function, other); });
    wanted.id = is_shared ? options_.name + "-" + function.name : options_.name;
    wanted.profile = options_.profile;
    wanted.strategy = Strategy::greedy;
    wanted.accept_store_loss = options_.accept_store_loss;
    const bool is_many = function.cardinality == Cardinality::many;
    wanted.batch_events_max = is_many ? host.max_batch : 1;
    if (is_many && host.min_batch > 1) {
        wanted.batch_events_min = host.min_batch;
        wanted.max_wait = host.max_wait;
    }
    wanted.prefetch_events = std::max(1u, host.prefetch_events);
    if (host.prefetch_bytes) {
        wanted.prefetch_bytes = static_cast<std::size_t>(std::max<std::uint64_t>(
            1, std::min<std::uint64_t>(*host.prefetch_bytes, std::size_t{1} << 30)));
    }
    wanted.track_end = host.track_end;
    wanted.start = host.start;
    wanted.checkpoints.manual = !host.writes_checkpoints;
    wanted.checkpoints.every_events =
        host.checkpoint_every_batches == 1
            ? 1
            : std::uint64_t{host.checkpoint_every_batches} * wanted.batch_events_max;
    // The function's own policy has been used up when the processor hears of a failure.
    if (function.retry) wanted.retry.attempts_max = 1;
    wanted.dead_letter_hub = host.dead_letter_hub;
    wanted.workers = executions_max;
    wanted.handler_slow = std::chrono::milliseconds(0);
    wanted.drain_max =
        std::chrono::duration_cast<std::chrono::milliseconds>(options_.drain_max + end_margin);
    wanted.on_error = [name = function.name](const Failure& failure) {
        log_failure(name, failure);
    };
    return wanted;
}

// Threads: any.
Result<std::unique_ptr<Processor>> Instance::started(const Function& function) const {
    if (stopping_.stop_requested()) return Error{ErrorCode::cancelled, "the host stops"};
    EK_TRY(handler_of(function).begin());
    const CallOptions call{.stop = stopping_.get_token()};
    EK_TRY_ASSIGN(const auto target, eventhubs::parse_connection_string(function.connection));
    EK_TRY_ASSIGN(auto wanted, processor_options(function));
    EK_TRY_ASSIGN(auto processor, Processor::open(std::move(wanted), call));
    const FunctionPlace place{.function = function,
                              .rule = app_.options.checkpoint_rule,
                              .host_name = target.endpoint.host,
                              .handler = handler_of(function),
                              .outputs = send_outputs_,
                              .counts = counts_};
    const auto handlers = [place](std::uint32_t) {
        return std::unique_ptr<PartitionHandler>(std::make_unique<FunctionRun>(place));
    };
    EK_TRY(processor->start(handlers, call));
    return processor;
}

void Instance::failed(Running& running, const Error& why) {
    if (stopping_.stop_requested()) return;  // what was being started is not wanted any more
    const Instant now = clock_.now();
    running.ends = running.processor && now - running.began > healthy ? 1 : running.ends + 1;
    running.why = why;
    const Duration pause = restart_pause(running.ends, random_);
    running.not_before = now + pause;
    trace(TraceLevel::error, "the function does not run; it is started again",
          {{"function", running.function->name},
           {"why", why.detail},
           {"in", fmt::format("{} ms", pause / std::chrono::milliseconds(1))}});
}

std::optional<Error> Instance::look() {
    take_started();
    take_ended();
    if (auto none = error_if_none_runs()) return none;
    start_due();
    return std::nullopt;
}

std::optional<Error> Instance::error_if_none_runs() const {
    const bool has_one = std::ranges::any_of(running_, [](const Running& running) {
        return running.processor != nullptr || running.is_starting;
    });
    if (has_one || running_.empty()) return std::nullopt;
    return of_function(*running_.front().function, running_.front().why);
}

void Instance::take_started() {
    Starts all = starts_.with([](Starts& starts) { return std::exchange(starts, {}); });
    for (auto& [place, processor] : all) {
        Running& running = running_[place];
        running.is_starting = false;
        if (!processor.ok()) {
            failed(running, processor.error());
            continue;
        }
        running.processor = std::move(*processor);
        running.began = clock_.now();
        if (running.ends == 0) continue;
        trace(TraceLevel::info, "the function runs", {{"function", running.function->name}});
    }
}

void Instance::take_ended() {
    for (Running& running : running_) {
        if (!running.processor || !running.processor->has_ended()) continue;
        const auto ended = running.processor->wait();
        failed(running, ended.ok() ? Error{ErrorCode::unavailable, "its processor has ended"}
                                   : ended.error());
        // Executions that still run may take their time, and keep nothing else waiting.
        ++ending_;
        ender_.post([this, gone = std::move(running.processor)]() mutable {
            gone.reset();
            --ending_;
        });
    }
}

void Instance::start_due() {
    const Instant now = clock_.now();
    for (std::size_t place = 0; place < running_.size(); ++place) {
        Running& running = running_[place];
        if (running.processor || running.is_starting || now < running.not_before) continue;
        running.is_starting = true;
        starter_.post([this, place, &function = *running.function] {
            auto processor = started(function);
            starts_.with([&](Starts& all) { all.emplace_back(place, std::move(processor)); });
        });
    }
}

InstanceReport Instance::stop() {
    InstanceReport total{.is_clean = true};
    stopping_.request_stop();
    starter_.finish();
    take_started();
    std::erase_if(running_, [](const Running& running) { return !running.processor; });
    if (!running_.empty()) {
        // All at once: one that drains for long does not keep the others waiting.
        io::system::WorkerPool pool("stop", static_cast<std::uint32_t>(running_.size()));
        std::vector<StopReport> reports(running_.size());
        for (std::size_t i = 0; i < running_.size(); ++i) {
            pool.post([this, i, &reports] { reports[i] = running_[i].processor->stop(); });
        }
        pool.finish();
        for (const auto& stopped : reports) total.is_clean = total.is_clean && stopped.is_clean;
    }
    // What still runs has been given up, and may never end by itself.
    if (!total.is_clean || ending_ > 0) end_handlers();
    running_.clear();
    ender_.finish();
    commands_.reset();
    custom_.reset();
    python_.reset();
    node_.reset();
    cloud_.reset();
    const bool is_clean = total.is_clean;
    total = report();
    total.is_clean = is_clean;
    return total;
}

InstanceReport Instance::report() const {
    return {.executions = counts_.executions,
            .failures = counts_.failures,
            .events = counts_.events,
            .not_json = counts_.not_json};
}

}  // namespace evenkeel::host
