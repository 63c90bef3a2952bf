#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "base/number.h"
#include "cli/commands/commands.h"
#include "cli/commands/host.h"
#include "cli/commands/host_init.h"
#include "cli/commands/host_status.h"
#include "cli/commands/shared_options.h"
#include "cli/text/duration.h"
#include "cli/text/units.h"
#include "host/app.h"
#include "host/scale/decide.h"

namespace evenkeel::cli {
namespace {

constexpr const char* host_examples = R"(
Examples:
  evenkeel host init python ./app            write a small app to start from
  evenkeel host ./app                        run it, in as many instances as its lag needs
  evenkeel host ./app --instances 0..4       none while nothing is to do, at most four
  evenkeel host status ./app                 in another terminal: how many, and why
  evenkeel host ./app --instance worker-1    one instance in this process, with this name
  evenkeel host ./app --store postgresql://db/progress

An app is a folder as Azure Functions has it: host.json, local.settings.json, and functions in
Python (v1, v2), in Node (v4), behind a custom handler, or as shell commands ("evenkeel":
{"command": ...} in function.json). Functions with an event hub trigger are run; warnings name what
is not supported. The app's settings are the environment and the Values of local.settings.json.
Instances with the same store share the partitions.

Instances are processes, as many as the unread events of the app's functions need: the greatest
count that a function wants, see docs/scaling.md. More are started at once; surplus ones finish what
they run, store their checkpoints and end, so that no event is repeated. One that dies is replaced.
With --instance this process is one instance, for orchestrators that count themselves. See
docs/functions.md.)";

constexpr const char* host_status_examples = R"(
Examples:
  evenkeel host status ./app                 unread events, instances, reasons, last decisions
  evenkeel host status ./app -o json | jq .wanted

The host writes its status into a folder of the user's (XDG_RUNTIME_DIR, else the one for temporary
files), so run this as the same user. The exit code is 3 if no host of the app runs.)";

constexpr const char* init_examples = R"(
Examples:
  evenkeel host init python ./app     function_app.py, for azure-functions
  evenkeel host init node ./app       src/functions/show.js, for @azure/functions
  evenkeel host init cpp ./app        show/show.cc, a program that answers each event with a line
  evenkeel host init exec ./app       a shell command that gets events as JSON lines)";

void add_init(CLI::App& host, Chosen& chosen) {
    auto& options = chosen.keep<HostInitOptions>();
    auto* command = host.add_subcommand("init", "Write a small app to start from");
    command->footer(init_examples);
    command->add_option("KIND", options.kind, "What the function is: python, node, cpp or exec")
        ->required()
        ->check(CLI::IsMember({"python", "node", "cpp", "exec"}));
    command->add_option("APP", options.folder, "Folder of the app, which must not exist")
        ->required();
    command->callback([&options, &chosen] { chosen.exit = host_init(options); });
}

void add_status_of_host(CLI::App& host, Chosen& chosen) {
    auto& options = chosen.keep<HostStatusOptions>();
    auto* command = host.add_subcommand("status", "Show how many instances run, and why");
    command->footer(host_status_examples);
    command->add_option("APP", options.folder, "Folder of the app")->required();
    command->add_option("--status-file", options.file, "The file that the host was given");
    add_output(*command, options.output, {"text", "json"});
    command->callback([&options, &chosen] { chosen.exit = host_status(options); });
}

// "4", "0..8", "2.."; what is wrong with it, else empty.
std::string take_range(const std::string& text, HostScaleOptions& options) {
    const auto dots = text.find("..");
    const auto number = [](const std::string& digits) -> std::optional<std::uint32_t> {
        const auto value = parse_number<std::uint32_t>(digits);
        return value && *value <= host::ScalePolicy::instances_max ? value : std::nullopt;
    };
    const auto least = number(text.substr(0, dots));
    const bool is_open = dots != std::string::npos && dots + 2 == text.size();
    const auto most = dots == std::string::npos ? least
                      : is_open                 ? std::optional<std::uint32_t>(0)
                                                : number(text.substr(dots + 2));
    if (!least || !most || (!is_open && (*most == 0 || *most < *least))) {
        return fmt::format("'{}' is no count of instances such as 4, 0..8 or 2.., up to {}", text,
                           host::ScalePolicy::instances_max);
    }
    options.min = *least;
    options.max = *most;
    return {};
}

std::string check_memory(const std::string& text) {
    const auto bytes = parse_bytes(text);
    if (bytes && *bytes >= host::memory_floor) return {};
    return "'" + text + "' is not an amount of at least 16MiB, such as 512MiB or 2GiB";
}

struct HostWords {
    std::string drain = "30s";
    std::string instances = "1..";
    std::string memory = {};
    std::string every = "2s";
    std::string in_after = "60s";
    std::string idle_after = "120s";
};

void add_time(CLI::App& command, const char* name, std::string& text, const char* what) {
    command.add_option(name, text, what)->check(check_duration)->capture_default_str();
}

void add_scaling(CLI::App& command, HostCommandOptions& options, HostWords& words) {
    command
        .add_option("--instances", words.instances,
                    "How many instances: a count, or MIN..MAX by the lag; without MAX one for "
                    "each partition, at most 16")
        ->check([](const std::string& text) {
            HostScaleOptions ignored;
            return take_range(text, ignored);
        })
        ->excludes("--instance")
        ->capture_default_str();
    command
        .add_option("--standby", options.scale.standby,
                    "Instances beyond what the lag needs, ready to take over")
        ->check(CLI::Range(0u, host::ScalePolicy::instances_max))
        ->capture_default_str();
    command
        .add_option("--target", options.scale.target,
                    "Unread events for one instance; default: targetUnprocessedEventThreshold, "
                    "else maxEventBatchSize")
        ->check(CLI::Range(std::int64_t{1}, host::ScalePolicy::target_max));
    command.add_flag("--from-start", options.scale.from_start,
                     "Partitions without a checkpoint count with all their events; default: as "
                     "one event each");
    add_time(command, "--scale-every", words.every, "Time between two looks at the lag");
    add_time(command, "--scale-in-after", words.in_after,
             "Fewer instances only if no load of this time needed more");
    add_time(command, "--idle-after", words.idle_after,
             "No instance only after this time without an unread event");
    command.add_option("--status-file", options.status_file,
                       "Where the status is written; default: where 'host status' finds it");
}

void take_words(const HostWords& words, HostCommandOptions& options) {
    static_cast<void>(take_range(words.instances, options.scale));
    options.drain_max = parse_duration(words.drain).value_or(options.drain_max);
    options.memory_max = parse_bytes(words.memory).value_or(0);
    options.scale.every = parse_duration(words.every).value_or(options.scale.every);
    options.scale.in_after = parse_duration(words.in_after).value_or(options.scale.in_after);
    options.scale.idle_after = parse_duration(words.idle_after).value_or(options.scale.idle_after);
}

}  // namespace

void add_host(CLI::App& app, Chosen& chosen) {
    auto& options = chosen.keep<HostCommandOptions>();
    auto& words = chosen.keep<HostWords>();
    auto* command = app.add_subcommand("host", "Run the functions of an Azure Functions app");
    command->footer(host_examples);
    command->add_option("APP", options.folder, "Folder of the app");
    command->add_option("--instance", options.instance,
                        "Run one instance with this name, in this process");
    command->add_option("--store", options.store,
                        "Checkpoint store; default: that of the app, else SQLite");
    add_time(*command, "--drain-max", words.drain,
             "Time for running executions to finish when a partition moves or on exit");
    command->add_option("--profile", options.profile, "How soon failed instances are replaced")
        ->check(CLI::IsMember({"standard", "fast"}))
        ->capture_default_str();
    command->add_flag("--accept-store-loss", options.accept_store_loss,
                      "Start although the store lost data or was restored from a backup");
    command
        ->add_option("--memory-max", words.memory,
                     "Memory of each process that runs functions, such as 512MiB; at least 16MiB")
        ->check(check_memory);
    add_scaling(*command, options, words);
    command->add_flag("--supervised", options.is_supervised)->group("");
    add_init(*command, chosen);
    add_status_of_host(*command, chosen);
    command->callback([command, &options, &words, &chosen] {
        if (!command->get_subcommands().empty()) return;
        take_words(words, options);
        chosen.exit = options.folder.empty()
                          ? wrong_usage("APP is required", "evenkeel host --help")
                          : host_app(options);
    });
}

}  // namespace evenkeel::cli
