#include "host/handler/shim_worker.h"

#include <utility>
#include <vector>

#include <unistd.h>

#include <boost/json.hpp>
#include <fmt/core.h>

#include "base/log.h"
#include "base/text.h"
#include "host/app/json_file.h"
#include "host/handler/worker_log.h"
#include "host/shim/shims.h"

namespace evenkeel::host {
namespace {

constexpr Duration load_time_max = std::chrono::minutes(2);
constexpr std::string_view hello_begins = "{\"evenkeel\":";
constexpr std::string_view log_begins = "{\"log\":";
constexpr std::string_view answer_begins = "{\"id\":\"";

std::vector<std::string> interpreter(Kind kind, const std::string& folder,
                                     const Environment& settings) {
    const char* const name = kind == Kind::python ? "python" : "node";
    std::string program = kind == Kind::python ? "python3" : "node";
    const std::string local = folder + "/.venv/bin/python";
    if (kind == Kind::python && access(local.c_str(), X_OK) == 0) program = local;
    const auto chosen =
        settings.find(fmt::format("languageWorkers__{}__defaultExecutablePath", name));
    if (chosen != settings.end() && !chosen->second.empty()) program = chosen->second;
    if (kind == Kind::python) return {program, "-c", std::string(python_shim()), folder};
    return {program, "-e", std::string(node_shim()), "--", folder};
}

void log_of_app(std::string_view process, std::string_view line) {
    boost::system::error_code error;
    const auto parsed =
        boost::json::parse(boost::json::string_view(line.data(), line.size()), error);
    if (error || !parsed.is_object()) return;
    const auto& members = parsed.get_object();
    log_app_line(process, text_member(members, "id"), text_member(members, "level"),
                 text_member(members, "log"));
}

}  // namespace

Result<std::shared_ptr<ShimWorker>> ShimWorker::start(Kind kind, const std::string& folder,
                                                      const Environment& settings,
                                                      std::optional<std::uint64_t> memory_max,
                                                      std::stop_token stop) {
    std::shared_ptr<ShimWorker> worker(new ShimWorker());
    ShimWorker* const self = worker.get();
    worker->name_ = kind == Kind::python ? "python" : "node";
    worker->start_end_ = SystemClock().now() + load_time_max;
    worker->stop_start_ = std::move(stop);
    WorkerProcess::Options options;
    options.command = interpreter(kind, folder, settings);
    options.folder = folder;
    options.environment = worker_environment(settings);
    options.has_answers = true;
    options.memory_max = memory_max;
    options.on_line = [self](Stream stream, std::string_view line) { self->on_line(stream, line); };
    options.on_tick = [self] { self->on_tick(); };
    options.on_end = [self](const WorkerEnd& end) { self->on_end(end); };
    EK_TRY_ASSIGN(worker->process_, WorkerProcess::start(std::move(options)));
    EK_TRY_ASSIGN(worker->hello_, worker->greeted_.wait());
    return worker;
}

void ShimWorker::on_line(Stream stream, std::string_view line) {
    if (stream != Stream::answers) return log_worker_line(name_, stream, line);
    if (line.starts_with(answer_begins)) return on_answer(line);
    if (line.starts_with(log_begins)) return log_of_app(name_, line);
    if (line.starts_with(hello_begins)) return greeted_.set(std::string(line));
    trace(TraceLevel::warning, "an answer that is none is ignored", {{"from", name_}});
}

void ShimWorker::on_answer(std::string_view line) {
    const std::string_view rest = line.substr(answer_begins.size());
    const std::string_view id = rest.substr(0, rest.find('"'));
    auto* const answer = state_.with([&](State& state) -> Promise<Result<std::string>>* {
        const auto found = state.waiting.find(id);
        if (found == state.waiting.end()) return nullptr;
        auto* const wanted = found->second.answer;
        state.waiting.erase(found);
        return wanted;
    });
    if (answer) return answer->set(std::string(line));
    trace(TraceLevel::warning, "an answer to an execution that was not asked for is ignored",
          {{"from", name_}, {"invocation", shown(id)}});
}

void ShimWorker::on_end(const WorkerEnd& end) {
    greeted_.set(Error{ErrorCode::unavailable,
                       fmt::format("{} ended before it had loaded the app: {}", name_, end.how)});
    const State last = state_.with([](State& state) {
        State before = std::exchange(state, {});
        state.has_ended = true;
        return before;
    });
    const Error error =
        last.was_killed
            ? Error{ErrorCode::unavailable, name_ + " is started again, for another event"}
            : Error{ErrorCode::handler_failed, fmt::format("{} ended: {}", name_, end.how)};
    for (const auto& entry : last.waiting) entry.second.answer->set(error);
}

Result<std::string> ShimWorker::ask(const std::string& id, std::string line,
                                    std::optional<Duration> timeout) {
    Promise<Result<std::string>> answer;
    std::optional<Instant> end;
    if (timeout) end = SystemClock().now() + *timeout;
    const bool is_waiting = state_.with([&](State& state) {
        if (state.has_ended) return false;
        state.waiting.emplace(id, Waiting{&answer, end});
        return true;
    });
    if (!is_waiting) return Error{ErrorCode::unavailable, name_ + " has ended"};
    process_->write(std::move(line));
    return answer.wait();
}

void ShimWorker::end() {
    state_.with([](State& state) { state.was_killed = true; });
    process_->kill_now();
}

// Ends a process with an execution that takes too long: there is no other way to stop it.
void ShimWorker::on_tick() {
    const Instant now = SystemClock().now();
    std::vector<Promise<Result<std::string>>*> late;
    state_.with([&](State& state) {
        for (auto entry = state.waiting.begin(); entry != state.waiting.end();) {
            if (entry->second.end && now > *entry->second.end) {
                late.push_back(entry->second.answer);
                entry = state.waiting.erase(entry);
                state.was_killed = true;
            } else {
                ++entry;
            }
        }
    });
    for (auto* const answer : late) {
        answer->set(Error{ErrorCode::timed_out,
                          "it ran longer than functionTimeout; its process is started again"});
    }
    if (stop_start_.stop_requested()) {
        greeted_.set(Error{ErrorCode::cancelled, name_ + " is not needed any more"});
    }
    if (!greeted_.is_set() && now > start_end_) {
        greeted_.set(Error{ErrorCode::timed_out, name_ + " did not load the app in two minutes"});
    }
    if (!late.empty()) process_->kill_now();
}

}  // namespace evenkeel::host
