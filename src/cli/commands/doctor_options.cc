#include <CLI/CLI.hpp>

#include "cli/commands/commands.h"
#include "cli/commands/doctor.h"
#include "cli/commands/shared_options.h"

namespace evenkeel::cli {
namespace {

constexpr const char* doctor_examples = R"(
Examples:
  evenkeel doctor                                        problems of hub and machine, with remedies
  evenkeel doctor --store sqlite:progress.db --folder /var/lib/evenkeel
  evenkeel doctor --bundle report.tar.gz --config evenkeel.toml --log evenkeel.log

The bundle is for bug reports. It has mode 0600. Keys, tokens and passwords in it are replaced by
***, and it holds no events. Look through it before you send it.

The exit code is 0 if all is well, 8 with warnings, 9 if something failed; with --bundle 0 if it was
written.)";

}  // namespace

void add_doctor(CLI::App& app, Chosen& chosen) {
    auto& options = chosen.keep<DoctorCommand>();
    auto& output = chosen.keep<std::string>();
    output = "table";
    auto* command = app.add_subcommand(
        "doctor", "Find problems of hub and machine; write a bundle for a bug report");
    command->footer(doctor_examples);
    command->add_option("HUB", options.check.event_hub, "Name of an event hub");
    command->add_option("--folder", options.folder, "Folder whose disk is measured")
        ->type_name("DIR")
        ->capture_default_str();
    command->add_option("--store", options.store, "Checkpoint store to look at")
        ->envname("EVENKEEL_STORE");
    auto* bundle = command->add_option("--bundle", options.bundle,
                                       "Write everything, without secrets, to this .tar.gz");
    bundle->type_name("FILE");
    command->add_option("--config", options.config, "Configuration of the server, for the bundle")
        ->type_name("FILE")
        ->needs(bundle);
    command->add_option("--log", options.log, "Log of the server, for the bundle: its last lines")
        ->type_name("FILE")
        ->needs(bundle);
    add_output(*command, output, {"table", "json"});
    add_admin(*command, options.check.remote);
    command->callback([&options, &output, &chosen] {
        options.check.output = output_of(output);
        chosen.exit = doctor(options);
    });
}

}  // namespace evenkeel::cli
