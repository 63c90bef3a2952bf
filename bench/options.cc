#include "bench/options.h"

#include <cstdint>
#include <string>

#include <CLI/CLI.hpp>

#include "bench/against.h"
#include "bench/bench.h"
#include "bench/hub.h"
#include "bench/member.h"

namespace evenkeel::bench {

const char* const examples = R"(
Examples:
  evenkeel bench log --data /mnt/disk          measure this device
  evenkeel bench log --only cached --seconds 5
  evenkeel bench amqp --only deliver           how fast events reach a receiver
  evenkeel bench processor --only noop         how fast a processor reads a backlog
  evenkeel bench processor --full              25 kills per profile, 200 hand-overs: 10 minutes
  evenkeel bench restart --gib 10 -o json
  evenkeel bench --against redis               the same load on a Redis that is started for it
  evenkeel bench hub "$EVENKEEL_HUB"           a running hub, with an event hub of its own)";

namespace {

// What all benchmarks have. `options` has `data` and `json`.
template <typename Options>
CLI::App* add_benchmark(CLI::App& app, cli::Chosen& chosen, Options& options, const char* name,
                        const char* what, cli::ExitCode (*measure)(const Options&)) {
    auto& output = chosen.keep<std::string>();
    output = "table";
    auto* command = app.add_subcommand(name, what);
    command->footer(examples);
    command->add_option("-o,--output", output, "Output format")
        ->check(CLI::IsMember({"table", "json"}))
        ->capture_default_str();
    command->add_option("--data", options.data, "Create the temporary folder in this folder")
        ->type_name("DIR");
    command->callback([&options, &output, &chosen, measure] {
        options.json = output == "json";
        chosen.exit = measure(options);
    });
    return command;
}

void add_rounds(CLI::App& command, double& seconds, int& rounds, const char* what) {
    command.add_option("--seconds", seconds, what)
        ->check(CLI::Range(0.1, 600.0))
        ->capture_default_str();
    command.add_option("--rounds", rounds, "Number of rounds; the median is reported")
        ->check(CLI::Range(1, 100))
        ->capture_default_str();
}

void add_only(CLI::App& command, std::string& only) {
    command.add_option("--only", only, "Only benchmarks whose name contains this");
}

void add_child(CLI::App& app, cli::Chosen& chosen, const char* name,
               cli::ExitCode (*start)(const ChildOptions&)) {
    auto& options = chosen.keep<ChildOptions>();
    auto* command = app.add_subcommand(name)->group("");
    command->add_option("--data", options.data);
    command->add_option("--bytes", options.bytes);
    command->add_option("--partitions", options.partitions);
    command->callback([&options, &chosen, start] { chosen.exit = start(options); });
}

}  // namespace

void add_log(CLI::App& app, cli::Chosen& chosen) {
    auto& options = chosen.keep<LogOptions>();
    auto* command = add_benchmark(
        app, chosen, options, "log",
        "Commit log throughput, compared with plain writes and reads of the same device",
        measure_log);
    add_rounds(*command, options.seconds, options.rounds, "Duration of one round");
    add_only(*command, options.only);
}

void add_amqp(CLI::App& app, cli::Chosen& chosen) {
    auto& options = chosen.keep<AmqpOptions>();
    auto* command = add_benchmark(
        app, chosen, options, "amqp",
        "AMQP throughput of the hub, compared with a bare socket and with its commit log",
        measure_amqp);
    add_rounds(*command, options.seconds, options.rounds, "Duration of one round");
    command->add_option("--connections", options.connections, "Idle connections")
        ->check(CLI::Range(1, 10'000))
        ->capture_default_str();
    command->add_option("--slow-links", options.slow_links, "Consumers that never read")
        ->check(CLI::Range(1, 10'000))
        ->capture_default_str();
    add_only(*command, options.only);
}

void add_restart(CLI::App& app, cli::Chosen& chosen) {
    auto& options = chosen.keep<RestartOptions>();
    auto* command =
        add_benchmark(app, chosen, options, "restart",
                      "Recovery time after SIGKILL, and memory of an idle hub", measure_restart);
    command->add_option("--gib", options.gib, "Size of the data before the kill")
        ->check(CLI::Range(0.01, 10'000.0))
        ->capture_default_str();
    command->add_option("--partitions", options.partitions, "Partitions")
        ->check(CLI::Range(1, 1024))
        ->capture_default_str();
}

void add_processor(CLI::App& app, cli::Chosen& chosen) {
    auto& options = chosen.keep<ProcessorBenchOptions>();
    auto* command = add_benchmark(
        app, chosen, options, "processor",
        "Event processor throughput, latency, failover, hand-over and start", measure_processor);
    add_rounds(*command, options.seconds, options.rounds, "Duration of one latency round");
    command->add_option("--events", options.events, "Backlog that one round reads")
        ->check(CLI::Range(std::uint64_t{1000}, std::uint64_t{1'000'000'000}))
        ->capture_default_str();
    command->add_flag("--full", options.full,
                      "25 kills per profile and 200 hand-overs, not 3 and 24");
    add_only(*command, options.only);
}

void add_against(CLI::App& app, cli::Chosen& chosen) {
    auto& options = chosen.keep<AgainstOptions>();
    auto* command = add_benchmark(
        app, chosen, options, "against",
        "The same load on another server, started for it, and on this hub; also: bench --against",
        measure_against);
    command->add_option("SERVER", options.server, "Which server, if it is installed")
        ->required()
        ->check(CLI::IsMember({"redis", "postgresql", "kafka", "nats"}));
    add_rounds(*command, options.seconds, options.rounds, "Duration of one latency round");
}

void add_remote_hub(CLI::App& app, cli::Chosen& chosen) {
    auto& options = chosen.keep<RemoteHubOptions>();
    auto& output = chosen.keep<std::string>();
    output = "table";
    auto* command = app.add_subcommand(
        "hub", "A running hub: events stored per second, and latency from sender to reader");
    command->footer(examples);
    command
        ->add_option("CONNECTION", options.connection,
                     "Connection string of the hub [EVENKEEL_HUB; that of 'evenkeel dev']")
        ->type_name("STRING");
    command->add_option("--url", options.url, "URL of its admin interface")->type_name("URL");
    command->add_option("--ca", options.ca_file, "PEM file with CA certificates to trust")
        ->type_name("FILE");
    auto* named = command->add_option(
        "--event-hub", options.event_hub,
        "Send to this event hub, which keeps the events; default: create one and remove it");
    command->add_option("--group", options.group, "Consumer group to read in")
        ->capture_default_str();
    command->add_option("--partitions", options.partitions, "Partitions of the created event hub")
        ->check(CLI::Range(1, 64))
        ->capture_default_str()
        ->excludes(named);
    add_rounds(*command, options.seconds, options.rounds, "Duration of one round");
    command->add_option("--rate", options.rate, "Events per second while the latency is measured")
        ->check(CLI::Range(1.0, 100'000.0))
        ->capture_default_str();
    command->add_option("--event-bytes", options.event_bytes, "Size of an event's body")
        ->check(CLI::Range(16, 100'000))
        ->capture_default_str();
    command->add_option("--events-max", options.events_max, "Stop the ingest after this many")
        ->check(CLI::Range(std::uint64_t{1000}, std::uint64_t{1'000'000'000}))
        ->capture_default_str();
    command->add_flag("-y,--yes", options.yes, "Also if the hub is not on this machine");
    command->add_option("-o,--output", output, "Output format")
        ->check(CLI::IsMember({"table", "json"}))
        ->capture_default_str();
    command->callback([&options, &output, &chosen] {
        options.json = output == "json";
        chosen.exit = measure_remote_hub(options);
    });
}

void add_children(CLI::App& app, cli::Chosen& chosen) {
    auto& member = chosen.keep<MemberOptions>();
    auto* member_command = app.add_subcommand("member-child")->group("");
    member_command->add_option("--mode", member.mode)->required();
    member_command->add_option("--store", member.store)->required();
    member_command->add_option("--events", member.events);
    member_command->add_option("--partitions", member.partitions);
    member_command->add_flag("--fast", member.fast);
    member_command->callback([&] { chosen.exit = run_member_child(member); });

    auto& hub = chosen.keep<HubProcessOptions>();
    auto* hub_command = app.add_subcommand("hub-child")->group("");
    hub_command->add_option("--data", hub.data)->required();
    hub_command->add_option("--hub", hub.event_hub);
    hub_command->add_option("--partitions", hub.partitions);
    hub_command->add_option("--groups", hub.groups);
    hub_command->callback([&] { chosen.exit = run_hub_child(hub); });

    auto& rival = chosen.keep<RivalReaderOptions>();
    auto* rival_command = app.add_subcommand("rival-reader-child")->group("");
    rival_command->add_option("--server", rival.server)->required();
    rival_command->add_option("--port", rival.port)->required();
    rival_command->add_option("--partitions", rival.partitions);
    rival_command->callback([&] { chosen.exit = run_rival_reader_child(rival); });

    add_child(app, chosen, "fill-child", run_fill_child);
    add_child(app, chosen, "idle-child", run_idle_child);
    add_child(app, chosen, "bare-child", run_bare_child);
}

}  // namespace evenkeel::bench
