#include "demo/options.h"

#include <string>

#include <CLI/CLI.hpp>

#include "base/random.h"
#include "cli/commands/shared_options.h"
#include "cli/text/duration.h"
#include "demo/demo.h"
#include "demo/homes.h"
#include "demo/member.h"
#include "demo/producer.h"

namespace evenkeel::demo {
namespace {

constexpr const char* examples = R"(
Examples:
  evenkeel demo --for 30s
  evenkeel demo --for 10s --rate 0 --producers 8      no rate limit
  evenkeel demo --for 1m --data ./data --json v.json  keep the data, write the verdict as JSON
  evenkeel demo --for 1m --programs build/homes       the homes of examples/home-security

The exit code is 0 only if every acknowledged event was handled, in order, unchanged, by one owner
at a time, and only as many events were repeated after the kill as the checkpoint policy allows.

With --programs and without --for nothing is played: you add, stop, kill and pause aggregators and
switch the new sensor on, by keys or by the buttons of the dashboard.)";

// A store that is kept has the entries of earlier runs, whose hubs are gone.
std::string homes_name(const CLI::App& command) {
    const bool is_new_hub_in_kept_store =
        command.count("--store") > 0 && command.count("--data") == 0;
    return is_new_hub_in_kept_store ? "homes-" + secure_hex(3) : "homes";
}

}  // namespace

void add_demo(CLI::App& app, cli::Chosen& chosen) {
    auto& options = chosen.keep<Options>();
    auto& duration = chosen.keep<std::string>();
    auto* command =
        app.add_subcommand("demo",
                           "Send a stream through a hub to event processors: balancing, failover, "
                           "scale-out, and a verdict");
    command->footer(examples);
    command->add_option("--for", duration, "Stop after this time; default: on Ctrl-C")
        ->check(cli::check_duration, "TIME");
    command
        ->add_option("--data", options.data,
                     "Keep the hub's data in this folder; default: a temporary folder")
        ->type_name("DIR");
    command->add_option("--hub", options.event_hub, "Name of the event hub")->capture_default_str();
    command->add_option("--partitions", options.partitions, "Partitions of the event hub")
        ->check(CLI::Range(1, 1024))
        ->capture_default_str();
    command
        ->add_option("--producers", options.producers,
                     "Number of producers, each with its own connection")
        ->check(CLI::Range(1, 256))
        ->capture_default_str();
    command->add_option("--event-bytes", options.event_bytes, "Size of an event")
        ->check(CLI::Range(32, 1'000'000))
        ->capture_default_str();
    command->add_option("--batch", options.batch_events, "Events per batch")
        ->check(CLI::Range(1, 10'000))
        ->capture_default_str();
    command
        ->add_option("--rate", options.rate,
                     "Events per second of all producers together; 0: no limit")
        ->check(CLI::Range(0, 1'000'000'000))
        ->capture_default_str();
    command
        ->add_option("--store", options.store,
                     "Checkpoint store of the processors; default: a temporary file")
        ->type_name("STORE");
    command
        ->add_option("--programs", options.programs,
                     "Folder with the programs of examples/home-security: they take the places of "
                     "producer and processors")
        ->type_name("DIR")
        ->check(CLI::ExistingDirectory);
    command->add_option("--homes", options.homes, "Homes that report, with --programs")
        ->check(CLI::Range(1, 10'000'000))
        ->capture_default_str();
    command
        ->add_option(
            "--aggregates", options.aggregates,
            "Where their aggregates go: a folder, or azblob:...; default: a temporary folder")
        ->envname("HOME_AGGREGATES")
        ->type_name("WHERE");
    command->add_option("--json", options.json_file, "Write the verdict to this file; -: to stdout")
        ->type_name("FILE");
    command->callback([&options, &duration, &chosen, command] {
        if (!duration.empty()) options.duration = cli::parse_duration(duration);
        if (!options.programs.empty()) {
            if (command->count("--hub") == 0) options.event_hub = homes_name(*command);
            if (command->count("--partitions") == 0) options.partitions = homes_partitions;
        }
        chosen.exit = run(options);
    });
}

// Started by `demo` only, so the help does not show it.
void add_producer(CLI::App& app, cli::Chosen& chosen) {
    auto& options = chosen.keep<StreamProducerOptions>();
    auto* command = app.add_subcommand("demo-producer")->group("");
    command->add_option("--hub", options.event_hub)->required();
    command->add_option("--run", options.run);
    command->add_option("--partitions", options.partitions);
    command->add_option("--producers", options.producers);
    command->add_option("--event-bytes", options.event_bytes);
    command->add_option("--batch", options.batch_events);
    command->add_option("--rate", options.rate);
    command->callback([&] { chosen.exit = run_producer(options); });
}

// The same: becomes a program of examples/home-security.
void add_program(CLI::App& app, cli::Chosen& chosen) {
    auto* command = app.add_subcommand("demo-program")->group("")->prefix_command();
    command->callback([&chosen, command] { chosen.exit = run_program(command->remaining()); });
}

// The same.
void add_member(CLI::App& app, cli::Chosen& chosen) {
    auto& options = chosen.keep<MemberOptions>();
    auto* command = app.add_subcommand("demo-member")->group("");
    command->add_option("--hub", options.event_hub)->required();
    command->add_option("--group", options.group);
    command->add_option("--store", options.store)->envname("EVENKEEL_STORE");
    command->add_option("--id", options.id);
    command->add_option("--profile", options.profile)->check(CLI::IsMember({"standard", "fast"}));
    command->add_option("--checkpoint-every", options.checkpoint_events);
    command->add_option("--batch", options.batch_events_max);
    command->add_option("--run", options.run);
    command->add_option("--producers", options.producers);
    command->add_option("--start-of", options.start_of)->take_all();
    command->callback([&] { chosen.exit = run_member(options); });
}

}  // namespace evenkeel::demo
