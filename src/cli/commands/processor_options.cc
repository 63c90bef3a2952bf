#include <CLI/CLI.hpp>

#include "cli/commands/commands.h"
#include "cli/commands/process.h"
#include "cli/commands/processors.h"
#include "cli/commands/shared_options.h"
#include "cli/commands/status.h"
#include "cli/text/duration.h"

namespace evenkeel::cli {
namespace {

constexpr const char* process_examples = R"(
Examples:
  evenkeel process eh1                                   print events, share with other instances
  evenkeel process eh1 --group billing --exec './bill'   a batch as NDJSON on stdin; exit 0 = done
  evenkeel process eh1 --exec './bill' --ack line        one process a partition; a line for each
                                                         event it has done, "error ..." if it failed
  evenkeel process eh1 -o json -n 100                    100 events, then store progress and stop
  evenkeel process eh1 --store sqlite:a.db --into events each event exactly once in a table of a.db
  evenkeel process eh1 --exec './bill' --dead-letter failed   what fails for good goes to a hub

Start it as often as you like, on one machine with the same --store: the instances share the
partitions, take over from each other and go on behind the stored progress. Ctrl-C drains first.

A command's exit code 0 means done, whether or not it has read all. When its partition moves or we
stop it has --drain-max to finish; only then it gets SIGTERM, and SIGKILL 3 s later. What ends it on
the way is no attempt. It does not inherit EVENKEEL_HUB, EVENTHUB_CONNECTION_STRING and
EVENKEEL_STORE, which hold keys: --pass-env EVENKEEL_HUB gives it one of them.)";

constexpr const char* status_examples = R"(
Examples:
  evenkeel status eh1                                    of the processors on this machine
  evenkeel status eh1 --group billing --store sqlite:/var/lib/billing/progress.db
  evenkeel status eh1 -o json | jq '.partitions[] | select(.lag_events > 1000)')";

constexpr const char* processor_examples = R"(
Examples:
  evenkeel processor ls eh1
  evenkeel processor history eh1 --last 10m
  evenkeel processor drain eh1 worker-3        before its machine is switched off
  evenkeel processor pause eh1 --partition 2   its owner keeps it, and waits
  evenkeel processor resume eh1

They act through the checkpoint store: running instances look there every few seconds, and those
that start later obey too.)";

void add_connection(CLI::App& command, RemoteOptions& options) {
    command.add_option("--connection", options.connection, "Connection string of the hub");
    command.add_option("--ca", options.ca_file, "Certificates to trust, as PEM")->type_name("FILE");
    command.add_option("--timeout", options.timeout, "Wait so long for the hub")
        ->capture_default_str();
}

void add_membership(CLI::App& command, ProcessOptions& options) {
    command.add_option("--group", options.group, "Consumer group")->capture_default_str();
    command.add_option("--store", options.store, "Where instances meet and progress is kept")
        ->envname("EVENKEEL_STORE")
        ->capture_default_str();
    command.add_option("--id", options.id, "Name of this instance; made up without it");
    command.add_option("--profile", options.profile, "How fast the dead are replaced")
        ->check(CLI::IsMember({"standard", "fast"}))
        ->capture_default_str();
    command
        .add_option("--strategy", options.strategy,
                    "How a newcomer takes what is free: in steps, "
                    "or all it is due at once")
        ->check(CLI::IsMember({"balanced", "greedy"}))
        ->capture_default_str();
    command.add_flag("--by-load", options.by_load,
                     "Share by events a second; the same for all instances of a group");
    command
        .add_option("--delivery", options.delivery,
                    "What a crash may do to an event; the default is at-least-once, and "
                    "exactly-once with --into")
        ->check(CLI::IsMember({"at-least-once", "at-most-once", "exactly-once"}));
    command.add_option("--from", options.from, "Where to begin without a checkpoint; see 'read'")
        ->capture_default_str();
}

void add_failures(CLI::App& command, ProcessOptions& options) {
    command.add_option("--attempts", options.attempts, "How often a failing event is tried")
        ->check(CLI::Range(1, 1'000'000))
        ->capture_default_str();
    command.add_option("--poison", options.poison, "What becomes of it after that")
        ->check(CLI::IsMember({"dead-letter", "skip", "park", "stop"}))
        ->capture_default_str();
    command
        .add_option("--dead-letter", options.dead_letter,
                    "Where dead letters go: an event hub, or store")
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
    auto* exec = command.add_option("--exec", options.command, "Hand events to this shell command");
    command.add_option("--ack", words.ack, "The command says 'done' by its exit code, or by lines")
        ->check(CLI::IsMember({"exit", "line"}))
        ->needs(exec)
        ->capture_default_str();
    command
        .add_option("--pass-env", options.pass_env,
                    "Variable with a secret that the command gets all the same; several times")
        ->type_name("NAME")
        ->allow_extra_args(false)
        ->needs(exec);
    command
        .add_option("--drain-max", words.drain,
                    "Time for what is being handled when a partition moves or we stop")
        ->check(check_duration)
        ->capture_default_str();
    return exec;
}

CLI::App* add_one(CLI::App& parent, ProcessorsOptions& options, Chosen& chosen, const char* name,
                  const char* what, ExitCode (*run)(const ProcessorsOptions&)) {
    auto& output = chosen.keep<std::string>();
    output = "table";
    auto* command = parent.add_subcommand(name, what);
    command->footer(processor_examples);
    command->add_option("HUB", options.event_hub, "Name of the event hub")->required();
    add_connection(*command, options.remote);
    command->add_option("--namespace", options.hub_namespace,
                        "Host of the hub; that of the connection string without it");
    command->add_option("--group", options.group, "Consumer group")->capture_default_str();
    command->add_option("--store", options.store, "Where instances meet and progress is kept")
        ->envname("EVENKEEL_STORE")
        ->capture_default_str();
    command->add_option("-o,--output", output, "table or json")
        ->check(CLI::IsMember({"table", "json"}))
        ->capture_default_str();
    command->callback([&options, &output, run, &chosen] {
        options.json = output == "json";
        chosen.exit = run(options);
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
    add_connection(*command, options.remote);
    add_membership(*command, options);
    auto* exec = add_exec(*command, options, words);
    command->add_flag("--print", options.print, "Print the events; the default without --exec")
        ->excludes(exec);
    command->add_flag("-q,--quiet", options.quiet, "Neither print nor execute")->excludes(exec);
    command
        ->add_option("--into", options.into,
                     "Write events into this table of the store's SQLite file, exactly once")
        ->type_name("TABLE")
        ->excludes(exec);
    command->add_option("-f,--format", options.format, "How an event is shown; see 'read'");
    command->add_option("-o,--output", words.output, "text or json")
        ->check(CLI::IsMember({"text", "json"}))
        ->capture_default_str();
    command->add_option("-n,--count", options.count, "Stop after so many events");
    command->add_option("--batch", options.batch_events_max, "Events in one call of the handler")
        ->check(CLI::Range(1, 100'000))
        ->capture_default_str();
    command->add_flag("--accept-store-loss", options.accept_store_loss,
                      "Begin although the store was emptied or set back");
    command->add_option("--workers", options.workers, "Threads for handlers; 0: by the processors")
        ->check(CLI::Range(0, 1024));
    command
        ->add_option("--checkpoint-every", options.checkpoint_events,
                     "Store progress after so many events")
        ->check(CLI::Range(1, 1'000'000'000))
        ->capture_default_str();
    command
        ->add_option("--checkpoint-interval", words.interval, "Store progress after this time: 1s")
        ->check(check_duration);
    add_failures(*command, options);
    command->callback([&options, &words, &chosen] {
        options.ack_lines = words.ack == "line";
        options.drain_max = parse_duration(words.drain).value_or(options.drain_max);
        options.json = words.output == "json";
        if (!words.interval.empty()) options.checkpoint_interval = parse_duration(words.interval);
        chosen.exit = process(options);
    });
}

void add_status(CLI::App& app, Chosen& chosen) {
    auto& options = chosen.keep<StatusOptions>();
    auto& output = chosen.keep<std::string>();
    output = "table";
    auto* command = app.add_subcommand(
        "status", "Who owns which partition of an event hub, and how far each is behind");
    command->footer(status_examples);
    command->add_option("HUB", options.event_hub, "Name of the event hub")->required();
    add_connection(*command, options.remote);
    command->add_option("--group", options.group, "Consumer group")->capture_default_str();
    command->add_option("--store", options.store, "Where instances meet and progress is kept")
        ->envname("EVENKEEL_STORE")
        ->capture_default_str();
    command->add_option("-o,--output", output, "table or json")
        ->check(CLI::IsMember({"table", "json"}))
        ->capture_default_str();
    command->callback([&options, &output, &chosen] {
        options.json = output == "json";
        chosen.exit = status(options);
    });
}

void add_processor(CLI::App& app, Chosen& chosen) {
    auto& options = chosen.keep<ProcessorsOptions>();
    auto* parent = app.add_subcommand("processor", "Running processors: who, why, drain, pause");
    parent->footer(processor_examples);
    parent->require_subcommand(1);
    const auto add_partitions = [&](CLI::App* command) {
        command->add_option("-p,--partition", options.partitions, "Partition; all without it")
            ->take_all();
    };
    add_one(*parent, options, chosen, "ls", "The instances of a group", &processor_ls);
    auto* history = add_one(*parent, options, chosen, "history",
                            "The last moves of each partition, and why", &processor_history);
    add_partitions(history);
    history->add_option("--last", options.last, "Only what happened within this time: 10m");
    auto* drain = add_one(*parent, options, chosen, "drain",
                          "Have an instance hand everything over and stop", &processor_drain);
    drain->add_option("ID", options.id, "Name of the instance, as 'ls' shows it")->required();
    drain->add_option("--wait", options.wait, "Wait so long for it")->capture_default_str();
    add_partitions(add_one(*parent, options, chosen, "pause",
                           "Hand no more events to handlers; partitions stay with their owners",
                           &processor_pause));
    add_partitions(
        add_one(*parent, options, chosen, "resume", "Take a pause back", &processor_resume));
}

}  // namespace evenkeel::cli
