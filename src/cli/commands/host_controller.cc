#include "cli/commands/host_controller.h"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <unistd.h>

#include <fmt/core.h>
#include <poll.h>

#include "base/guarded.h"
#include "base/log.h"
#include "base/random.h"
#include "base/text.h"
#include "cli/child.h"
#include "cli/host_status.h"
#include "cli/interrupt.h"
#include "cli/remote/group_watch.h"
#include "cli/text/listing.h"
#include "host/scale/explain_scale.h"
#include "host/scale/scale_controller.h"
#include "io/system/files.h"
#include "io/system/worker_pool.h"

namespace evenkeel::cli {
namespace {

constexpr Duration step = std::chrono::milliseconds(50);
constexpr int settling_part = 4;
constexpr int reads_max = 16;  // of one instance in a step
constexpr std::size_t line_bytes_max = std::size_t{1} << 20;
constexpr std::size_t notes_max = 20;
constexpr std::size_t lookers_max = 32;                 // functions that are looked at side by side
constexpr Duration look_max = std::chrono::seconds(5);  // then the others decide

bool has_input(int descriptor) {
    pollfd one{descriptor, POLLIN, 0};
    return poll(&one, 1, 0) > 0;
}

host::ScalePolicy policy_of(const HostScaleOptions& options, const host::App& app,
                            const host::Function& function) {
    host::ScalePolicy policy;
    policy.min = options.min;
    policy.max = options.max;
    policy.standby = options.standby;
    policy.in_after = options.in_after;
    policy.idle_after = options.idle_after;
    // As Azure Functions does: the threshold, else the events of a batch.
    const auto named = function.target_unprocessed_threshold.value_or(app.options.max_batch);
    policy.target = options.target != 0
                        ? options.target
                        : static_cast<std::int64_t>(std::min<std::uint64_t>(
                              named, static_cast<std::uint64_t>(host::ScalePolicy::target_max)));
    return policy;
}

// A function whose group is looked at.
struct Looked {
    const host::Function* function;
    std::unique_ptr<GroupWatch> watch;
    std::optional<GroupLook> last = {};  // that succeeded
    bool was_unknown = true;
    bool is_asked = false;  // a look is under way,
    bool is_late = false;   // and was not waited for
};

class Supervisor {
public:
    Supervisor(const HostCommandOptions& options, const host::App& app, std::string status_file,
               std::vector<Looked> looked, host::ControllerOptions controller)
        : options_(options),
          app_(app),
          status_file_(std::move(status_file)),
          looked_(std::move(looked)),
          controller_(std::move(controller)),
          answers_(Answers(looked_.size())),
          lookers_("look", static_cast<std::uint32_t>(std::min(looked_.size(), lookers_max))) {}

    ExitCode run(Interrupt& interrupt) {
        carry_out(decided());  // the fewest, before anything is read
        while (!controller_.is_stopped()) {
            await(interrupt);
            if (interrupt.requested() && !controller_.is_stopping()) {
                note("stops: all instances drain");
                carry_out(controller_.stop(clock_.now()));
            }
            listen();
            if (!controller_.is_stopping()) watch();
            carry_out(controller_.tick(clock_.now()));
            write();
        }
        lookers_.finish();
        io::system::SystemFiles files;
        if (!status_file_.empty()) static_cast<void>(files.remove(status_file_));
        return is_clean_ ? ExitCode::done : ExitCode::failed;
    }

private:
    using Answers = std::vector<std::optional<Result<GroupLook>>>;

    // Looks at all groups every now and then. Decides once all have answered, but does not wait for
    // a hub or a store that says nothing: its lag is not known meanwhile.
    void watch() {
        const Instant now = clock_.now();
        if (!is_looking_) {
            if (now < next_look_) return;
            is_looking_ = true;
            next_look_ = now + options_.scale.every;
            looks_end_ = now + look_max;
            for (std::size_t i = 0; i < looked_.size(); ++i) look(i);
            return;
        }
        take_answers();
        const bool is_waiting = std::ranges::any_of(
            looked_, [](const Looked& each) { return each.is_asked && !each.is_late; });
        if (is_waiting && now < looks_end_) return;
        is_looking_ = false;
        has_looked_ = true;
        for (std::size_t i = 0; i < looked_.size(); ++i) {
            if (!looked_[i].is_asked) continue;
            looked_[i].is_late = true;
            take(i, Error{ErrorCode::timed_out, "its hub or its store does not answer"});
        }
        controller_.note_owned(owned_by_instance());
        carry_out(decided());
        // A burst is not to wait for the next look at each step.
        if (controller_.is_settling()) {
            next_look_ = std::min(next_look_, clock_.now() + options_.scale.every / settling_part);
        }
        is_changed_ = true;
    }

    // One look at a time at each: one that is late goes on.
    void look(std::size_t i) {
        if (std::exchange(looked_[i].is_asked, true)) return;
        lookers_.post([this, i] {
            auto answer = looked_[i].watch->look();
            answers_.with([&](Answers& all) { all[i] = std::move(answer); });
        });
    }

    void take_answers() {
        auto all = answers_.with(
            [&](Answers& answers) { return std::exchange(answers, Answers(looked_.size())); });
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (!all[i]) continue;
            looked_[i].is_asked = looked_[i].is_late = false;
            take(i, std::move(*all[i]));
        }
    }

    void take(std::size_t i, Result<GroupLook> answer) {
        Looked& looked = looked_[i];
        const auto load = answer.ok() ? answer->load() : Result<host::GroupLoad>(answer.error());
        const bool is_unknown = !load.ok();
        if (is_unknown) {
            const std::string why = printable(without_secrets(to_string(load.error())));
            if (!looked.was_unknown) {
                note(fmt::format("{}: hold: the lag is not known: {}", looked.function->name, why));
            }
            controller_.note_unknown(i, why);
        } else {
            looked.last = std::move(*answer);
            controller_.note(i, *load, clock_.now());
        }
        looked.was_unknown = is_unknown;
    }

    host::ControllerActions decided() {
        auto actions = controller_.decide(clock_.now());
        if (actions.empty()) return actions;
        const std::size_t leader = controller_.leader();
        if (!has_looked_) {
            note(fmt::format("{} before the lag is known: the fewest",
                             plural(controller_.wanted(), "instance")));
            return actions;
        }
        const auto& function = controller_.functions()[leader];
        note(fmt::format("{}: {}", function.name,
                         scale_line(controller_.decisions()[leader], function.policy)));
        return actions;
    }

    void carry_out(const host::ControllerActions& actions) {
        for (const auto& action : actions) {
            is_changed_ = true;
            switch (action.kind) {
                case host::ControllerAction::Kind::start: start(action.name); break;
                case host::ControllerAction::Kind::drain:
                    if (const auto child = children_.find(action.name); child != children_.end()) {
                        child->second.close_input();
                    }
                    break;
                case host::ControllerAction::Kind::kill:
                    note(fmt::format("{} did not end in time and is killed", action.name));
                    is_clean_ = false;
                    if (const auto child = children_.find(action.name); child != children_.end()) {
                        child->second.end();
                    }
                    break;
            }
        }
    }

    void start(const std::string& name) {
        std::vector<std::string> words = {
            "host",
            app_.folder,
            "--instance",
            name,
            "--supervised",
            "--profile",
            options_.profile,
            "--drain-max",
            fmt::format("{}ms", options_.drain_max / std::chrono::milliseconds(1))};
        if (options_.memory_max > 0) {
            words.insert(words.end(), {"--memory-max", std::to_string(options_.memory_max)});
        }
        if (!options_.store.empty()) words.insert(words.end(), {"--store", options_.store});
        // Who accepted a loss once did not accept all that come later.
        if (options_.accept_store_loss && !std::exchange(has_accepted_, true)) {
            words.emplace_back("--accept-store-loss");
        }
        auto child = Child::start(words);
        if (child.ok()) {
            children_.emplace(name, std::move(*child));
            return;
        }
        ended(name, child.error().detail);
    }

    // A step, or less if an instance has something to say.
    void await(Interrupt& interrupt) const {
        std::vector<int> outputs;
        for (const auto& [name, process] : children_) outputs.push_back(process.output());
        interrupt.wait_for_input(outputs, step);
    }

    void listen() {
        for (auto child = children_.begin(); child != children_.end();) {
            auto& [name, process] = *child;
            read(name, process);
            const auto how = process.take_end();
            if (!how) {
                ++child;
                continue;
            }
            read(name, process);  // what was still in the pipe
            if (!process.rest().empty()) fmt::print("{}\n", visible(process.rest()));
            const std::string gone = name;
            child = children_.erase(child);
            ended(gone, *how);
        }
        std::fflush(stdout);
    }

    // What the instance and its commands say, a part of it in each step: who writes without end
    // keeps neither the other instances nor the decisions waiting.
    void read(const std::string& name, Child& process) {
        for (int reads = 0; reads < reads_max && has_input(process.output()); ++reads) {
            static_cast<void>(process.fill());
            while (const auto line = process.line(line_bytes_max)) {
                if (*line == ready_word) {
                    controller_.is_ready(name, clock_.now());
                    is_changed_ = true;
                } else {
                    fmt::print("{}\n", visible(*line));
                }
            }
        }
    }

    void ended(const std::string& name, const std::string& how) {
        const auto& slots = controller_.slots();
        const auto slot = std::ranges::find(slots, name, &host::InstanceSlot::name);
        const bool is_asked = slot != slots.end() && slot->state == host::InstanceState::draining;
        if (is_asked && slot->has_run && how != "exit code 0") is_clean_ = false;
        controller_.has_ended(name, how, clock_.now());
        const char* const what = !is_asked              ? "ended by itself"
                                 : how == "exit code 0" ? "has drained"
                                                        : "was to drain, but ended";
        note(fmt::format("{} {} ({}){}", name, what, how,
                         is_asked ? "" : "; another one is started"));
        is_changed_ = true;
    }

    void note(const std::string& text) {
        trace(TraceLevel::info, text, {{"app", app_.folder}});
        notes_.push_back({clock_.wall(), text});
        if (notes_.size() > notes_max) notes_.pop_front();
        is_changed_ = true;
    }

    // An instance is a member of each function's group by its own name, or by that and the
    // function's if functions share a group.
    static bool is_member(const std::string& owner, const std::string& instance) {
        return owner == instance || owner.starts_with(instance + "-");
    }

    std::vector<HostStatus::Owned> owned_of(const std::string& instance) const {
        std::vector<HostStatus::Owned> all;
        for (const Looked& looked : looked_) {
            if (!looked.last) continue;
            HostStatus::Owned owned{looked.function->name, {}};
            for (const auto& row : looked.last->rows) {
                if (is_member(row.ownership.owner, instance)) {
                    owned.partitions.push_back(row.ownership.partition.value);
                }
            }
            if (!owned.partitions.empty()) all.push_back(std::move(owned));
        }
        return all;
    }

    std::map<std::string, std::uint32_t> owned_by_instance() const {
        std::map<std::string, std::uint32_t> counts;
        for (const auto& slot : controller_.slots()) {
            for (const auto& owned : owned_of(slot.name)) {
                counts[slot.name] += static_cast<std::uint32_t>(owned.partitions.size());
            }
        }
        return counts;
    }

    void write() {
        if (!std::exchange(is_changed_, false) || status_file_.empty()) return;
        HostStatus status{.app = app_.folder, .process = getpid()};
        status.at = clock_.wall();
        status.now = clock_.now();
        for (const Looked& looked : looked_) {
            status.groups.push_back({looked.function->event_hub, looked.function->consumer_group});
        }
        for (const auto& slot : controller_.slots()) {
            const auto child = children_.find(slot.name);
            status.instances.push_back(
                {child == children_.end() ? 0 : child->second.id(), owned_of(slot.name)});
        }
        status.notes = notes_;
        const auto written = write_status(status_file_, status_json(status, controller_));
        if (written.ok()) return;
        fmt::print(stderr, "warning: there is no status of this host: {}\n",
                   written.error().detail);
        status_file_.clear();
    }

    const HostCommandOptions& options_;
    const host::App& app_;
    std::string status_file_;  // empty: none
    const SystemClock clock_;
    std::vector<Looked> looked_;
    host::ScaleController controller_;
    std::map<std::string, Child> children_;
    std::deque<HostStatus::Note> notes_;
    bool is_looking_ = false;
    bool has_looked_ = false;  // once at least
    Instant next_look_{};
    Instant looks_end_{};
    bool has_accepted_ = false;
    bool is_changed_ = true;
    bool is_clean_ = true;
    Guarded<Answers> answers_;
    io::system::WorkerPool lookers_;  // goes first: its tasks use all else
};

std::string range_text(const HostScaleOptions& options) {
    if (options.min == options.max) return plural(options.max, "instance");
    return options.max == 0
               ? fmt::format("{} or more instances, by the lag", options.min)
               : fmt::format("{} to {} instances, by the lag", options.min, options.max);
}

Result<Looked> looked_at(const host::App& app, const host::Function& function) {
    // Not the hub of `evenkeel dev`, nor that of a context: the app's own.
    RemoteOptions named;
    named.connection = function.connection;
    EK_TRY_ASSIGN(auto remote, remote_of(named));
    return Looked{
        .function = &function,
        .watch = std::make_unique<GroupWatch>(
            std::move(remote), GroupPlace{function.event_hub, function.consumer_group, app.store},
            "evenkeel host")};
}

}  // namespace

ExitCode run_scaled(const HostCommandOptions& options, const host::App& app) {
    const std::string what = fmt::format("cannot run the app '{}'", options.folder);
    if (app.store.starts_with("memory:")) {
        return wrong_usage("instances are processes, which cannot share a store in memory",
                           "--store sqlite:FILE, or --instance NAME for one instance");
    }
    std::vector<Looked> looked;
    host::ControllerOptions controller{.functions = {},
                                       .name = "host-" + secure_hex(2),
                                       .drain_max = options.drain_max,
                                       .seed = secure_number()};
    for (const auto& function : app.functions) {
        if (function.disabled) continue;
        const auto policy = policy_of(options.scale, app, function);
        if (const auto checked = check_policy(policy); !checked.ok()) {
            return wrong_usage(checked.error().detail);
        }
        auto each = looked_at(app, function);
        if (!each.ok()) return fail(what, each.error());
        looked.push_back(std::move(*each));
        controller.functions.push_back(
            {function.name, policy,
             options.scale.from_start ? host::NeverRead::all_events : host::NeverRead::one_event});
    }
    if (looked.empty()) {
        return fail(what, {ErrorCode::invalid_argument, "all its functions are disabled"});
    }
    std::string status_file = options.status_file;
    if (!status_file.empty()) {
        // It is written by a rename, which would remove a device or a pipe.
        const auto checked = io::system::is_replaceable(status_file);
        if (!checked.ok()) return fail(what, checked.error(), "another --status-file");
    } else {
        const auto usual = status_file_of(app.folder);
        if (usual.ok()) status_file = *usual;
        if (!usual.ok()) {
            fmt::print(stderr, "warning: there is no status of this host: {}\n",
                       usual.error().detail);
        }
    }
    Interrupt interrupt;
    print_app(app, fmt::format("Host of {}, {}", app.folder, range_text(options.scale)));
    fmt::print(
        "Running. Ctrl-C stops after the executions that run now. 'evenkeel host status {}' "
        "explains.\n",
        options.folder);
    std::fflush(stdout);
    return Supervisor(options, app, std::move(status_file), std::move(looked),
                      std::move(controller))
        .run(interrupt);
}

}  // namespace evenkeel::cli
