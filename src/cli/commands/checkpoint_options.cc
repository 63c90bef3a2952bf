#include <CLI/CLI.hpp>

#include "cli/commands/checkpoint.h"
#include "cli/commands/commands.h"

namespace evenkeel::cli {
namespace {

constexpr const char* checkpoint_examples = R"(
Examples:
  evenkeel checkpoint ls homes --store sqlite:progress.db
  evenkeel checkpoint set homes --store sqlite:progress.db --to -1h --dry-run  an hour again?
  evenkeel checkpoint set homes --store sqlite:progress.db --to seq:500 --partition 3
  evenkeel checkpoint rewind homes --store sqlite:progress.db --by 1000
  evenkeel checkpoint export homes --store sqlite:progress.db > progress.ndjson
  evenkeel checkpoint copy homes --store sqlite:progress.db --to-group test

A partition that a live processor owns is left alone, unless --force takes it away from it: then the
owner can store nothing any more. The store may also be given in EVENKEEL_STORE.)";

constexpr const char* import_examples = R"(
Examples:
  evenkeel checkpoint import homes --file progress.ndjson --to sqlite:progress.db
  evenkeel checkpoint import homes --namespace myns.servicebus.windows.net --dry-run
      --from 'azblob:AccountName=a;AccountKey=...;Container=checkpoints' --to sqlite:progress.db
  evenkeel checkpoint import homes --namespace myns.servicebus.windows.net --group billing
      --from redis://redis.example.org --to postgresql://db.example.org/progress

Layouts: metadata (the SDKs of today, Functions' extension from 5 on), functions (JSON in blobs,
extension up to 4), lease (EventProcessorHost), jedis (Java in Redis). A record that cannot be used
is named, and then nothing is imported. A position is never set back, a live owner's never taken,
and a group whose old processors still run is left alone, but with --force.)";

// What the subcommands have in common.
CLI::App* add(CLI::App& parent, CheckpointOptions& options, Chosen& chosen, const char* name,
              const char* what, ExitCode (*run)(const CheckpointOptions&)) {
    auto* command = parent.add_subcommand(name, what);
    command->footer(checkpoint_examples);
    command->add_option("HUB", options.event_hub, "Name of the event hub")->required();
    command
        ->add_option(
            std::string_view(name) == "import" ? "--to,--store" : "--store", options.store,
            "Checkpoint store: sqlite:FILE, postgresql://HOST/DATABASE, redis://HOST, azblob:...")
        ->envname("EVENKEEL_STORE")
        ->required();
    command->add_option("-g,--group", options.group, "Consumer group")->capture_default_str();
    command->add_option("--namespace", options.hub_namespace,
                        "Host of the hub; that of the connection string without it");
    command->add_option("--hub,--connection", options.remote.connection,
                        "Connection string of the hub [EVENKEEL_HUB; that of 'evenkeel dev']");
    command->add_option("-p,--partition", options.partitions, "Partition; all without it")
        ->take_all();
    command->add_option("-o,--output", options.output, "How results are shown")
        ->check(CLI::IsMember({"table", "json"}))
        ->capture_default_str();
    command->callback([&options, &chosen, run] { chosen.exit = run(options); });
    return command;
}

}  // namespace

void add_checkpoint(CLI::App& app, Chosen& chosen) {
    auto& options = chosen.keep<CheckpointOptions>();
    auto* parent = app.add_subcommand("checkpoint", "Look at the progress of a group, and set it");
    parent->footer(checkpoint_examples);
    parent->require_subcommand(1);
    const auto add_one = [&](const char* name, const char* what,
                             ExitCode (*run)(const CheckpointOptions&)) {
        return add(*parent, options, chosen, name, what, run);
    };
    add_one("ls", "Positions and owners", &checkpoint_ls);
    auto* set = add_one("set", "Handle events from a position on", &checkpoint_set);
    set->add_option("--to", options.to, "start, end, seq:N, offset:N, a time, -15m, or -10")
        ->required();
    auto* rewind = add_one("rewind", "Go back by some events", &checkpoint_rewind);
    rewind->add_option("--by", options.by, "How many events of each partition")->required();
    add_one("export", "Write positions as JSON lines", &checkpoint_export);
    auto* import = add_one("import", "Set positions from a file, or as another program has them",
                           &checkpoint_import);
    import->footer(import_examples);
    import->add_option("--file", options.file, "A file of export");
    import->add_option("--from", options.from,
                       "Other programs' checkpoints: azblob:... (as --store), redis://HOST");
    import
        ->add_option("--layout", options.layout,
                     "How they lie there; the first that is found without it")
        ->check(CLI::IsMember({"auto", "metadata", "functions", "lease", "jedis"}))
        ->capture_default_str();
    import->add_option("--path", options.path,
                       "What their names begin with, if not with those of namespace, hub and "
                       "group: 'old$Default/'");
    auto* copy =
        add_one("copy", "Set positions as another group or store has them", &checkpoint_copy);
    copy->add_option("--to", options.to_store, "Store to copy to; the same one without it");
    copy->add_option("--to-group", options.to_group, "Group to copy to; the same one without it");
    add_one("adopt", "Let a new hub of that name go on with another's entries", &checkpoint_adopt);
    for (auto* command : {set, rewind, import, copy}) {
        command->add_flag("--dry-run", options.is_dry_run, "Only say what would happen");
        command->add_flag("--force", options.is_forced,
                          command == import ? "Also backwards, and where a processor is at work"
                                            : "Also where a live processor is the owner");
    }
}

}  // namespace evenkeel::cli
