#include <CLI/CLI.hpp>

#include "cli/commands/checkpoint.h"
#include "cli/commands/commands.h"
#include "cli/commands/shared_options.h"

namespace evenkeel::cli {
namespace {

constexpr const char* checkpoint_examples = R"(
Examples:
  evenkeel checkpoint ls homes --store sqlite:progress.db
  evenkeel checkpoint set homes --store sqlite:progress.db --to -1h --dry-run  repeat an hour?
  evenkeel checkpoint set homes --store sqlite:progress.db --to seq:500 --partition 3
  evenkeel checkpoint rewind homes --store sqlite:progress.db --by 1000
  evenkeel checkpoint export homes --store sqlite:progress.db > progress.ndjson
  evenkeel checkpoint copy homes --store sqlite:progress.db --to-group test

A partition that is owned by a running processor is not changed. --force changes it, and fences the
owner: it cannot store checkpoints any more. The store can also be set by EVENKEEL_STORE.)";

constexpr const char* import_examples = R"(
Examples:
  evenkeel checkpoint import homes --file progress.ndjson --to sqlite:progress.db
  evenkeel checkpoint import homes --namespace myns.servicebus.windows.net --dry-run
      --from 'azblob:AccountName=a;AccountKey=...;Container=checkpoints' --to sqlite:progress.db
  evenkeel checkpoint import homes --namespace myns.servicebus.windows.net --group billing
      --from redis://redis.example.org --to postgresql://db.example.org/progress

Layouts: metadata (current SDKs, Functions extension 5 and later), functions (JSON in blobs, up to
extension 4), lease (EventProcessorHost), jedis (Java, in Redis). If a record is invalid, it is
reported and nothing is imported. Without --force, positions never move backwards, partitions with a
running owner are not changed, and nothing is imported while the old processors still run.)";

// What the subcommands have in common.
CLI::App* add(CLI::App& parent, CheckpointOptions& options, Chosen& chosen, const char* name,
              const char* what, ExitCode (*run)(const CheckpointOptions&)) {
    auto* command = parent.add_subcommand(name, what);
    command->footer(checkpoint_examples);
    command->add_option("HUB", options.event_hub, "Name of the event hub")->required();
    add_store(*command, options.group, options.store,
              std::string_view(name) == "import" ? "--to,--store" : "--store");
    command->add_option("--namespace", options.hub_namespace,
                        "Host name of the hub; default: that of the connection string");
    add_remote(*command, options.remote);
    command->add_option("-p,--partition", options.partitions, "Partition; default: all")
        ->take_all();
    command->add_option("-o,--output", options.output, "Output format")
        ->check(CLI::IsMember({"table", "json"}))
        ->capture_default_str();
    auto& watch = chosen.keep<Watch>();
    if (std::string_view(name) == "ls") add_watch(*command, watch);
    command->callback([&options, &chosen, &watch, run] {
        chosen.exit =
            watched(watch, options.output == "json", [&options, run] { return run(options); });
    });
    return command;
}

}  // namespace

void add_checkpoint(CLI::App& app, Chosen& chosen) {
    auto& options = chosen.keep<CheckpointOptions>();
    auto* parent = app.add_subcommand(
        "checkpoint", "Show, set, copy and import the checkpoints of a consumer group");
    parent->footer(checkpoint_examples);
    parent->require_subcommand(1);
    const auto add_one = [&](const char* name, const char* what,
                             ExitCode (*run)(const CheckpointOptions&)) {
        return add(*parent, options, chosen, name, what, run);
    };
    add_one("ls", "List positions and owners", &checkpoint_ls);
    auto* set = add_one("set", "Set the position at which processing continues", &checkpoint_set);
    set->add_option("--to", options.to, "start, end, seq:N, offset:N, a time, -15m, or -10")
        ->required();
    auto* rewind =
        add_one("rewind", "Move positions back by a number of events", &checkpoint_rewind);
    rewind->add_option("--by", options.by, "Number of events per partition")->required();
    add_one("export", "Write positions as JSON lines", &checkpoint_export);
    auto* import =
        add_one("import", "Set positions from a file or from another program's checkpoints",
                &checkpoint_import);
    import->footer(import_examples);
    import->add_option("--file", options.file, "File written by 'checkpoint export'");
    import->add_option("--from", options.from,
                       "Other programs' checkpoints: azblob:... (as --store), redis://HOST");
    import
        ->add_option("--layout", options.layout,
                     "Layout of those checkpoints; default: the first that is found")
        ->check(CLI::IsMember({"auto", "metadata", "functions", "lease", "jedis"}))
        ->capture_default_str();
    import->add_option("--path", options.path,
                       "Prefix of their names, if not that of namespace, hub and "
                       "group: 'old$Default/'");
    auto* copy = add_one("copy", "Copy positions to another group or store", &checkpoint_copy);
    copy->add_option("--to", options.to_store, "Store to copy to; default: the same store");
    copy->add_option("--to-group", options.to_group, "Group to copy to; default: the same group");
    add_one("adopt", "Keep the checkpoints for a new hub of the same name", &checkpoint_adopt);
    for (auto* command : {set, rewind, import, copy}) {
        command->add_flag("--dry-run", options.is_dry_run, "Only print what would change");
        command->add_flag("--force", options.is_forced,
                          command == import
                              ? "Also move backwards, and where a processor is running"
                              : "Also change partitions owned by a running processor");
    }
}

}  // namespace evenkeel::cli
