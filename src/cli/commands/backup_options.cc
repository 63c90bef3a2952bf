#include <CLI/CLI.hpp>

#include "cli/commands/commands.h"
#include "cli/commands/hub_backup.h"
#include "cli/commands/shared_options.h"

namespace evenkeel::cli {
namespace {

constexpr const char* backup_examples = R"(
Examples:
  evenkeel hub backup orders orders.backup
  evenkeel hub restore orders.backup --dry-run              check the file, restore nothing
  evenkeel hub restore orders.backup                        to a new event hub of the same name
  evenkeel hub restore orders.backup --as orders-2026
  evenkeel hub copy orders orders-test                      on the same server
  evenkeel hub copy orders orders --to-connection "$OTHER"  to another server

Kept: partitions, order, partition keys, bodies, properties, enqueued times, consumer groups and
settings. Sequence numbers begin at 0 in each partition. Checkpoints are kept in their store: see
docs/backup.md. The key needs the right 'manage'.)";

CLI::App* add_leaf(CLI::App& noun, Chosen& chosen, HubBackup& options, const char* name,
                   const char* what, ExitCode (*act)(const HubBackup&)) {
    auto* command = noun.add_subcommand(name, what);
    command->footer(backup_examples);
    command->callback([&options, &chosen, act] { chosen.exit = act(options); });
    return command;
}

void add_quiet(CLI::App& command, HubBackup& options) {
    command.add_flag("-q,--quiet", options.quiet, "Print neither progress nor a summary");
    add_admin(command, options.remote);
}

}  // namespace

void add_backups(CLI::App& noun, Chosen& chosen) {
    auto& options = chosen.keep<HubBackup>();
    auto* backup = add_leaf(noun, chosen, options, "backup",
                            "Write an event hub and all its events to a file", hub_backup);
    backup->add_option("HUB", options.event_hub, "Name of the event hub")->required();
    backup->add_option("FILE", options.file, "File to write")->required();
    backup->add_flag("--force", options.force, "Replace the file if it exists");
    add_quiet(*backup, options);

    auto* restore = add_leaf(noun, chosen, options, "restore", "Create an event hub from a back-up",
                             hub_restore);
    restore->add_option("FILE", options.file, "File that 'hub backup' wrote")->required();
    restore->add_option("--as", options.event_hub, "Name of the event hub; default: as in the file")
        ->type_name("HUB");
    restore->add_flag("--resume", options.resume, "Go on with a restore that was interrupted");
    restore->add_flag("--dry-run", options.dry_run, "Only check the file");
    add_quiet(*restore, options);

    auto* copy = add_leaf(noun, chosen, options, "copy",
                          "Copy an event hub and all its events to a new one", hub_copy);
    copy->add_option("FROM", options.event_hub, "Name of the event hub")->required();
    copy->add_option("TO", options.to_hub, "Name of the event hub to create")->required();
    copy->add_option("--to-connection", options.to.connection,
                     "Connection string of the other server; default: the same server")
        ->type_name("STRING");
    copy->add_option("--to-url", options.to.url, "URL of the other server's admin interface")
        ->type_name("URL");
    copy->add_option("--to-ca", options.to.ca_file,
                     "PEM file with CA certificates to trust for the other server")
        ->type_name("FILE");
    copy->add_flag("--resume", options.resume, "Go on with a copy that was interrupted");
    add_quiet(*copy, options);
}

}  // namespace evenkeel::cli
