#include "host/handler/command_handler.h"

#include <map>
#include <utility>
#include <vector>

#include "base/guarded.h"
#include "base/result.h"
#include "host/handler/closing_wish.h"
#include "host/handler/command_runner.h"
#include "host/handler/worker_process.h"

namespace evenkeel::host {
namespace {

class CommandHandler final : public Handler {
public:
    CommandHandler(const App& app, EventLine event_line, Duration drain_max)
        : app_(app), event_line_(std::move(event_line)), drain_max_(drain_max) {}

    Result<Outcome> invoke(const Invocation& invocation) override {
        auto runner = take(invocation.function, invocation.partition);
        if (!runner) runner = std::make_unique<CommandRunner>(options_of(invocation));
        const Instant began = SystemClock().now();
        const auto timeout = app_.options.function_timeout;
        ClosingWish closing(drain_max_);
        bool is_late = false;
        const auto wish = [&] {
            const Instant now = SystemClock().now();
            is_late = is_late || (timeout && now > began + *timeout);
            return is_late ? CommandChild::Wish::kill : closing.at(invocation.closing(), now);
        };
        const auto add_line = [&](const Event& event, std::string& to) {
            to += event_line_(invocation.function.event_hub, invocation.partition, event);
            to += '\n';
        };
        // By exit code all events are one batch: the execution says whether it is done.
        const auto done = [&](const Event& last, std::size_t) {
            if (invocation.function.answers_lines) invocation.done(last);
        };
        const auto result =
            runner->run(invocation.events, {.add_line = add_line, .wish = wish, .done = done});
        runners_.with([&](Runners& all) {
            all[key(invocation.function, invocation.partition)] = std::move(runner);
        });
        if (is_late && !result.ok()) {
            return Error{ErrorCode::timed_out, "the command ran longer than functionTimeout"};
        }
        EK_TRY(result);
        return Outcome{};
    }

    void release(const Function& function, std::uint32_t partition) override {
        if (const auto runner = take(function, partition)) {
            const Instant began = SystemClock().now();
            ClosingWish closing(drain_max_);
            static_cast<void>(closing.at(Closed::handed_over, began));
            runner->close([&] { return closing.at(Closed::handed_over, SystemClock().now()); });
        }
    }

private:
    using Key = std::pair<std::string, std::uint32_t>;
    using Runners = std::map<Key, std::unique_ptr<CommandRunner>>;

    static Key key(const Function& function, std::uint32_t partition) {
        return {function.name, partition};
    }
    // One execution of a partition runs at a time, so that nobody else wants it meanwhile.
    std::unique_ptr<CommandRunner> take(const Function& function, std::uint32_t partition) {
        return runners_.with([&](Runners& all) {
            const auto found = all.find(key(function, partition));
            return found == all.end() ? nullptr : std::move(found->second);
        });
    }
    CommandOptions options_of(const Invocation& invocation) const {
        const Function& function = invocation.function;
        return {.child = {.command = function.command,
                          .pass_env = {"EVENTHUB_CONNECTION_STRING"},  // if so, of the app
                          .folder = app_.folder + "/" + function.folder,
                          .environment = variables_of(worker_environment(app_.settings))},
                .ack = function.answers_lines ? CommandAck::line : CommandAck::exit_code};
    }

    const App& app_;
    const EventLine event_line_;
    const Duration drain_max_;
    Guarded<Runners> runners_;
};

}  // namespace

std::unique_ptr<Handler> make_command_handler(const App& app, EventLine event_line,
                                              Duration drain_max) {
    return std::make_unique<CommandHandler>(app, std::move(event_line), drain_max);
}

}  // namespace evenkeel::host
