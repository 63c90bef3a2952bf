#include <CLI/CLI.hpp>

#include "cli/commands/commands.h"
#include "cli/commands/process.h"
#include "cli/commands/processors.h"
#include "cli/commands/scale.h"
#include "cli/commands/shared_options.h"
#include "cli/commands/status.h"
#include "cli/commands/top.h"
#include "cli/text/duration.h"

namespace evenkeel::cli {
namespace {

constexpr const char* process_examples = R"(
Examples:
  evenkeel process eh1                                   print events; instances share them
  evenkeel process eh1 --group billing --create-group    the group is created if it does not exist
  evenkeel process eh1 --exec './bill'                   a batch as NDJSON on stdin; exit 0 = done
  evenkeel process eh1 --exec './bill' --ack line        one process per partition; answers each
                                                         event with a line, "error ..." if it failed
  evenkeel process eh1 --exec './bill' --ack batch       the same for batches, which end with an
                                                         empty line; answers with an empty line
  evenkeel process eh1 -o json -n 100                    100 events, then checkpoint and stop
  evenkeel process eh1 --store sqlite:a.db --into events each event exactly once in a table of a.db
  evenkeel process eh1 --exec './bill' --dead-letter failed   dead-letter to the hub 'failed'

Start as many instances as you like with the same --store: they share the partitions, take over from
each other and continue after the last checkpoint. Ctrl-C drains before it stops.

Exit code 0 of the command means that the batch is done, whether or not it has read all of it. Exit
codes 126 and 127 (the shell cannot run it) are no failure of the event: the instance stops if its
first command cannot be run, and later waits until it can; no attempt is counted. When
the partition moves or the instance stops, the command has --drain-max to finish. Then it gets
SIGTERM, and SIGKILL 3 s later; this is not a failed attempt. The command does not inherit
EVENKEEL_HUB, EVENTHUB_CONNECTION_STRING and EVENKEEL_STORE, which hold secrets; --pass-env
EVENKEEL_HUB passes one of them.)";

constexpr const char* top_examples = R"(
Examples:
  evenkeel top eh1                          processors that use the default store
  evenkeel top homes --group aggregator --store redis://localhost
  evenkeel top eh1 > now.txt                where stdout is no terminal: once, as plain text)";

constexpr const char* status_examples = R"(
Examples:
  evenkeel status eh1                                    processors that use the default store
  evenkeel status eh1 --watch                            redraw it every 2 seconds
  evenkeel status eh1 --group billing --store sqlite:/var/lib/billing/progress.db
  evenkeel status eh1 --dead-letter failed               count those in the event hub 'failed' too
  evenkeel status eh1 -o json | jq '.partitions[] | select(.lag_events > 1000)')";

constexpr const char* scale_examples = R"(
Examples:
  evenkeel scale eh1                                     the wanted count, and why
  evenkeel scale eh1 --target 500 --min 1 --max 8        one instance for 500 unread events
  evenkeel scale eh1 --group billing -o json | jq .wanted
  count=$(evenkeel scale eh1 -o count) && start_instances "$count"

wanted = unread events / target, rounded up to a count that divides the partitions evenly. The
command has no memory: who calls it again and again shrinks only after the count was lower for a
while. If the hub or the store cannot be read it prints 'hold' and fails: then change nothing.)";

constexpr const char* processor_examples = R"(
Examples:
  evenkeel processor ls eh1
  evenkeel processor history eh1 --last 10m
  evenkeel processor drain eh1 worker-3        before its machine is shut down
  evenkeel processor pause eh1 --partition 2   the owner keeps the partition, and waits
  evenkeel processor resume eh1

These commands write to the checkpoint store. Running instances read it every few seconds; instances
that start later also follow it.)";

// -o, whose word is kept by `chosen`.
std::string& add_table_or_json(CLI::App& command, Chosen& chosen) {
    auto& output = chosen.keep<std::string>();
    output = "table";
    command.add_option("-o,--output", output, "table or json")
        ->check(CLI::IsMember({"table", "json"}))
        ->capture_default_str();
    return output;
}

void add_membership(CLI::App& command, ProcessOptions& options) {
    add_store(command, options.group, options.store);
    command.add_flag("--create-group", options.create_group,
                     "Create the consumer group if it does not exist; needs the Manage right");
    command.add_option("--id", options.id, "Name of this instance; default: random");
    command.add_option("--profile", options.profile, "How soon failed instances are replaced")
        ->check(CLI::IsMember({"standard", "fast"}))
        ->capture_default_str();
    command
        .add_option(
            "--strategy", options.strategy,
            "How a new instance claims free partitions: in steps, or its full share at once")
        ->check(CLI::IsMember({"balanced", "greedy"}))
        ->capture_default_str();
    command.add_flag("--by-load", options.by_load,
                     "Balance by events per second; set it for all instances of a group");
    command
        .add_option("--delivery", options.delivery,
                    "Delivery guarantee; the default is at-least-once, and "
                    "exactly-once with --into")
        ->check(CLI::IsMember({"at-least-once", "at-most-once", "exactly-once"}));
    command.add_option("--from", options.from, "Start position without a checkpoint, see 'read'")
        ->capture_default_str();
}

void add_failures(CLI::App& command, ProcessOptions& options) {
    command.add_option("--attempts", options.attempts, "Attempts for a failing event")
        ->check(CLI::Range(1, 1'000'000))
        ->capture_default_str();
    command
        .add_option("--poison", options.poison, "What to do with an event after the last attempt")
        ->check(CLI::IsMember({"dead-letter", "skip", "park", "stop"}))
        ->capture_default_str();
    command
        .add_option("--poison-in-row-max", options.poison_in_row_max,
                    "Park the partition after this many dead letters in a row; 0: never")
        ->check(CLI::Range(0, 1'000'000'000))
        ->capture_default_str();
    command
        .add_option("--dead-letter", options.dead_letter,
                    "Destination of dead-lettered events: an event hub, or 'store'")
        ->type_name("HUB")
        ->capture_default_str();
}

// Options of `process` as they are typed.
struct Words {
    std::string ack = "exit";
    std::string output = "text";
    std::string interval;
    std::string drain = "30s";
};

CLI::Option* add_exec(CLI::App& command, ProcessOptions& options, Words& words) {
    auto* exec = command.add_option("--exec", options.command, "Pass events to this shell command");
    command
        .add_option(
            "--ack", words.ack,
            "How the command acknowledges: by its exit code, or by a line for each event or "
            "batch")
        ->check(CLI::IsMember({"exit", "line", "batch"}))
        ->needs(exec)
        ->capture_default_str();
    command
        .add_option("--pass-env", options.pass_env,
                    "Pass this secret variable to the command; repeatable")
        ->type_name("NAME")
        ->allow_extra_args(false)
        ->needs(exec);
    command
        .add_option("--drain-max", words.drain,
                    "Time for running handlers to finish when a partition moves or on exit")
        ->check(check_duration)
        ->capture_default_str();
    return exec;
}

CLI::App* add_one(CLI::App& parent, ProcessorsOptions& options, Chosen& chosen, const char* name,
                  const char* what, ExitCode (*run)(const ProcessorsOptions&)) {
    auto* command = parent.add_subcommand(name, what);
    command->footer(processor_examples);
    command->add_option("HUB", options.event_hub, "Name of the event hub")->required();
    add_remote(*command, options.remote);
    command->add_option("--namespace", options.hub_namespace,
                        "Host name of the hub; default: that of the connection string");
    add_store(*command, options.group, options.store);
    auto& output = add_table_or_json(*command, chosen);
    auto& watch = chosen.keep<Watch>();
    if (std::string_view(name) == "ls" || std::string_view(name) == "history") {
        add_watch(*command, watch);
    }
    command->callback([&options, &output, &watch, run, &chosen] {
        options.json = output == "json";
        chosen.exit = watched(watch, options.json, [&options, run] { return run(options); });
    });
    return command;
}

}  // namespace

void add_process(CLI::App& app, Chosen& chosen) {
    auto& options = chosen.keep<ProcessOptions>();
    auto& words = chosen.keep<Words>();
    auto* command =
        app.add_subcommand("process", "Run an instance of an event processor on an event hub");
    command->footer(process_examples);
    command->add_option("HUB", options.event_hub, "Name of the event hub")->required();
    add_remote(*command, options.remote);
    add_membership(*command, options);
    auto* exec = add_exec(*command, options, words);
    command->add_flag("--print", options.print, "Print the events; the default without --exec")
        ->excludes(exec);
    command->add_flag("-q,--quiet", options.quiet, "Do not print events")->excludes(exec);
    command
        ->add_option("--into", options.into,
                     "Write events into this table of the store's SQLite file, exactly once")
        ->type_name("TABLE")
        ->excludes(exec);
    command->add_option("-f,--format", options.format, "Output format of an event, see 'read'");
    command->add_option("-o,--output", words.output, "text or json")
        ->check(CLI::IsMember({"text", "json"}))
        ->capture_default_str();
    command->add_option("-n,--count", options.count, "Stop after this many events");
    command
        ->add_option(
            "--batch", options.batch_events_max,
            "Maximum events per batch; default: 256, and with --exec up to 2048 while they "
            "take less than 0.1 s")
        ->check(CLI::Range(1, 100'000));
    command->add_flag("--accept-store-loss", options.accept_store_loss,
                      "Start although the store lost data or was restored from a backup");
    command
        ->add_option("--workers", options.workers, "Handler threads; 0: two per core, at least 4")
        ->check(CLI::Range(0, 1024));
    command
        ->add_option("--checkpoint-every", options.checkpoint_events,
                     "Store a checkpoint after this many events")
        ->check(CLI::Range(1, 1'000'000'000))
        ->capture_default_str();
    command
        ->add_option("--checkpoint-interval", words.interval,
                     "Store a checkpoint after this time, such as 1s")
        ->check(check_duration);
    add_failures(*command, options);
    command->callback([&options, &words, &chosen] {
        options.ack = words.ack == "line"    ? host::CommandAck::line
                      : words.ack == "batch" ? host::CommandAck::batch
                                             : host::CommandAck::exit_code;
        options.drain_max = parse_duration(words.drain).value_or(options.drain_max);
        options.json = words.output == "json";
        if (!words.interval.empty()) options.checkpoint_interval = parse_duration(words.interval);
        chosen.exit = process(options);
    });
}

void add_status(CLI::App& app, Chosen& chosen) {
    auto& options = chosen.keep<StatusOptions>();
    auto* command = app.add_subcommand(
        "status", "Show the owner and the lag of each partition of an event hub");
    command->footer(status_examples);
    command->add_option("HUB", options.event_hub, "Name of the event hub")->required();
    add_remote(*command, options.remote);
    add_store(*command, options.group, options.store);
    add_letter_hub(*command, options.letter_hub,
                   "Also count dead letters in this event hub; 'store': only those in the store");
    auto& output = add_table_or_json(*command, chosen);
    auto& watch = chosen.keep<Watch>();
    add_watch(*command, watch);
    command->callback([&options, &output, &watch, &chosen] {
        options.json = output == "json";
        chosen.exit = watched(watch, options.json, [&options] { return status(options); });
    });
}

void add_top(CLI::App& app, Chosen& chosen) {
    auto& options = chosen.keep<TopOptions>();
    auto* command = app.add_subcommand(
        "top", "Show owners, lag, rates and moves live in the terminal; q ends it");
    command->footer(top_examples);
    command->add_option("HUB", options.event_hub, "Name of the event hub")->required();
    add_remote(*command, options.remote);
    add_store(*command, options.group, options.store);
    command->add_option("--interval", options.interval, "Time between two looks, at least 100ms")
        ->type_name("TIME")
        ->capture_default_str()
        ->check([](const std::string& text) -> std::string {
            const auto interval = parse_duration(text);
            return interval && *interval >= std::chrono::milliseconds(100)
                       ? ""
                       : "'" + text + "' is not a time of 100ms or more, such as 1s";
        });
    command->callback([&options, &chosen] { chosen.exit = top(options); });
}

void add_scale(CLI::App& app, Chosen& chosen) {
    auto& options = chosen.keep<ScaleOptions>();
    auto& output = chosen.keep<std::string>() = "text";
    auto* command = app.add_subcommand(
        "scale", "Print how many instances the lag of a group needs now, and why");
    command->footer(scale_examples);
    command->add_option("HUB", options.event_hub, "Name of the event hub")->required();
    add_remote(*command, options.remote);
    add_store(*command, options.group, options.store);
    command->add_option("--target", options.policy.target, "Unread events for one instance")
        ->capture_default_str();
    command->add_option("--min", options.policy.min, "Fewest instances")->capture_default_str();
    command
        ->add_option("--max", options.policy.max,
                     "Most instances; 0: one for each partition, and the standby")
        ->capture_default_str();
    command
        ->add_option("--standby", options.policy.standby,
                     "Instances beyond what the lag needs, ready to take over")
        ->capture_default_str();
    command->add_flag("--from-start", options.from_start,
                      "Partitions without a checkpoint count with all their events; default: as "
                      "one event each");
    add_output(*command, output, {"text", "json", "count"});
    command->callback([&options, &output, &chosen] {
        options.output = output;
        chosen.exit = scale(options);
    });
}

void add_processor(CLI::App& app, Chosen& chosen) {
    auto& options = chosen.keep<ProcessorsOptions>();
    auto* parent =
        app.add_subcommand("processor", "Running processors: list, history, drain, pause, resume");
    parent->footer(processor_examples);
    parent->require_subcommand(1);
    const auto add_partitions = [&](CLI::App* command) {
        command->add_option("-p,--partition", options.partitions, "Partition; default: all")
            ->take_all();
    };
    add_one(*parent, options, chosen, "ls", "List the instances of a group", &processor_ls);
    auto* history = add_one(*parent, options, chosen, "history",
                            "Show recent ownership changes of each partition, with reasons",
                            &processor_history);
    add_partitions(history);
    history->add_option("--last", options.last, "Only changes within this time, such as 10m");
    auto* drain = add_one(*parent, options, chosen, "drain",
                          "Let an instance hand over its partitions and stop", &processor_drain);
    drain->add_option("ID", options.id, "Name of the instance, as 'ls' shows it")->required();
    drain->add_option("--wait", options.wait, "How long to wait until it has stopped")
        ->capture_default_str();
    add_partitions(add_one(*parent, options, chosen, "pause",
                           "Stop passing events to handlers; owners keep their partitions",
                           &processor_pause));
    add_partitions(
        add_one(*parent, options, chosen, "resume", "Resume paused partitions", &processor_resume));
}

}  // namespace evenkeel::cli
