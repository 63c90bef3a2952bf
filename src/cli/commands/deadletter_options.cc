#include <CLI/CLI.hpp>

#include "cli/commands/commands.h"
#include "cli/commands/deadletter.h"
#include "cli/commands/shared_options.h"

namespace evenkeel::cli {
namespace {

constexpr const char* deadletter_examples = R"(
Examples:
  evenkeel deadletter ls homes --store sqlite:progress.db       those of all partitions
  evenkeel deadletter ls homes --cause timeout -o json
  evenkeel deadletter show homes 3/17                           all of one, with its body
  evenkeel deadletter replay homes 3/17                         send it again
  evenkeel deadletter replay homes --cause timeout --to repair  to another event hub
  evenkeel deadletter rm homes --partition 3 --yes
  evenkeel deadletter export homes > dead.ndjson                for 'send homes --ndjson'
  evenkeel deadletter ls homes --dead-letter failed             those in the event hub 'failed'

A dead letter is named PARTITION/SEQUENCE: where the event was when it failed. The store can also be
set by EVENKEEL_STORE. A dead-letter hub keeps every event until retention deletes it; there, rm and
replay add an event that marks the dead letter as removed.)";

constexpr const char* replay_examples = R"(
Examples:
  evenkeel deadletter replay homes 3/17
  evenkeel deadletter replay homes --all
  evenkeel deadletter replay homes --cause timeout --to repair

The event is sent with its body and its properties as they were, to the partition of its key. One
without a key goes to the partition that it came from, if the event hub has it. It gets a new
sequence number: it comes after newer events of its partition, and all consumer groups read it.

A dead letter is removed only after the hub has acknowledged the event. If the command ends in
between, by a crash or a lost connection, the dead letter is still there and a second replay sends
it again: an event can be stored twice, and none is lost.)";

struct Subcommand {
    const char* name;
    const char* what;
    ExitCode (*run)(const DeadLetterOptions&);
};

// What the subcommands have in common.
CLI::App* add_one_of(CLI::App& parent, DeadLetterOptions& options, Chosen& chosen,
                     const Subcommand& wanted) {
    auto* command = parent.add_subcommand(wanted.name, wanted.what);
    command->footer(deadletter_examples);
    command->add_option("HUB", options.event_hub, "Name of the event hub that was processed")
        ->required();
    add_remote(*command, options.remote);
    add_store(*command, options.group, options.store);
    command->add_option("--namespace", options.hub_namespace,
                        "Host name of the hub; default: that of the connection string");
    add_letter_hub(*command, options.letter_hub,
                   "Where 'process --dead-letter' put them: an event hub, or 'store'");
    auto& watch = chosen.keep<Watch>();
    if (std::string_view(wanted.name) == "ls") add_watch(*command, watch);
    command->callback([&options, &chosen, &watch, run = wanted.run] {
        chosen.exit =
            watched(watch, options.output == "json", [&options, run] { return run(options); });
    });
    return command;
}

void add_filters(CLI::App& command, DeadLetterOptions& options) {
    command.add_option("-p,--partition", options.partitions, "Only of this partition; repeatable")
        ->take_all()
        ->allow_extra_args(false);
    command.add_option("--cause", options.cause, "Only those whose cause contains this text")
        ->type_name("TEXT");
}

}  // namespace

void add_deadletter(CLI::App& app, Chosen& chosen) {
    auto& options = chosen.keep<DeadLetterOptions>();
    auto* parent = app.add_subcommand(
        "deadletter", "Events that could not be handled: list, show, replay, remove, export");
    parent->alias("dead-letter");
    parent->alias("dlq");
    parent->footer(deadletter_examples);
    parent->require_subcommand(1);
    const auto add = [&](const Subcommand& wanted) {
        return add_one_of(*parent, options, chosen, wanted);
    };
    auto* ls = add({"ls", "List dead letters", &deadletter_ls});
    auto* show = add({"show", "Show a dead letter with its body", &deadletter_show});
    auto* replay = add({"replay", "Send dead letters again, then remove them", &deadletter_replay});
    auto* rm = add({"rm", "Remove dead letters", &deadletter_rm});
    auto* exported = add({"export", "Write dead letters as JSON lines", &deadletter_export});
    replay->footer(replay_examples);
    show->add_option("ID", options.ids, "Dead letter: PARTITION/SEQUENCE")->required()->expected(1);
    for (auto* command : {replay, rm, exported}) {
        command->add_option("ID", options.ids, "Dead letters: PARTITION/SEQUENCE");
    }
    for (auto* command : {ls, replay, rm, exported}) add_filters(*command, options);
    for (auto* command : {replay, rm}) {
        command->add_flag("--all", options.all, "All dead letters of the group");
    }
    replay->add_option("--to", options.to, "Event hub to send to; default: HUB")->type_name("HUB");
    replay->add_flag("--dry-run", options.danger.dry_run, "Only print what would be sent");
    add_danger(*rm, options.danger);
    for (auto* command : {ls, replay}) add_output(*command, options.output, {"table", "json"});
    show->add_option("-o,--output", options.output, "table, raw body, or one JSON object")
        ->check(CLI::IsMember({"table", "raw", "json"}))
        ->capture_default_str();
}

}  // namespace evenkeel::cli
