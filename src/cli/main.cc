// Declares the commands and their options; the work is in the file of each command.
#include <csignal>
#include <cstdio>
#include <string>

#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "base/spelling.h"
#include "bench/bench.h"
#include "bench/hub.h"
#include "bench/member.h"
#include "cli/commands/checkpoint_commands.h"
#include "cli/commands/client_commands.h"
#include "cli/commands/completion.h"
#include "cli/commands/dev.h"
#include "cli/commands/processor_commands.h"
#include "cli/commands/serve.h"
#include "cli/exit_code.h"
#include "cli/text/duration.h"
#include "demo/demo.h"
#include "demo/producer.h"

namespace evenkeel::cli {
namespace {

constexpr const char* examples = R"(
Examples:
  evenkeel dev                         a hub for work on this machine, for any Event Hubs SDK
  evenkeel serve --config evenkeel.toml   the server
  evenkeel send eh1 "hello"            an event to the hub of 'evenkeel dev'
  evenkeel read eh1 -o json            all events of a hub, a JSON object a line
  evenkeel hub create orders --partitions 8   an event hub more; 'hub ls' lists them
  evenkeel conn orders --test          a connection string for other programs, tried
  evenkeel check                       what is wrong, if something is
  evenkeel process eh1 --exec ./handle an instance of an event processor; start as many as you like
  evenkeel status eh1                  who owns which partition, and how far it is behind
  evenkeel demo --for 30s              processors share a stream, one is killed, two more start
  evenkeel demo --data ./data --rate 0 as fast as it goes, and keep the data
  evenkeel checkpoint ls homes --store sqlite:progress.db    how far a group's processors are
  evenkeel bench log                   how fast the commit log is on this machine
  evenkeel bench log -o json | jq .    the same for programs

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not found, 4 not allowed, 5 cannot reach,
6 conflict, 7 partly done, 8 check: warning, 9 check: failed, 10 dry run: would change something,
130 interrupted. docs/cli.md says more.)";

constexpr const char* demo_examples = R"(
Examples:
  evenkeel demo --for 30s
  evenkeel demo --for 10s --rate 0 --producers 8      as fast as it goes
  evenkeel demo --for 1m --data ./data --json v.json  keep the data, write the verdict as JSON

The exit code is 0 only if every acknowledged event was handled, in order, unchanged, by one owner
at a time, and none was handled twice but for what the checkpoint policy allows after the kill.)";

constexpr const char* dev_examples = R"(
Examples:
  evenkeel dev                                     data in ./.evenkeel, hub eh1 on port 5672
  evenkeel dev --hub orders:8 --hub audit          two hubs, the first with 8 partitions
  evenkeel dev --port 0 --http-port 0 --ready-file ready.json    free ports, told in a file
  evenkeel dev --config Config.json                the official emulator's file; health on port 5300
  evenkeel dev --ephemeral                         forget everything at the end

The connection string it prints is the emulator's: for development only. It listens on loopback.)";

constexpr const char* serve_examples = R"(
Examples:
  evenkeel serve --config /etc/evenkeel/evenkeel.toml
  evenkeel serve --config evenkeel.toml --check   is the file good? 0, or 2 with each problem
  evenkeel serve --config evenkeel.toml --log text --ready-file ready.json

SIGTERM drains and ends with 0; SIGHUP loads the file again. docs/configuration.md has all keys.)";

constexpr const char* bench_examples = R"(
Examples:
  evenkeel bench log --data /mnt/disk          the device that counts
  evenkeel bench log --only cached --seconds 5
  evenkeel bench amqp --only deliver           how fast events reach a receiver
  evenkeel bench processor --only noop         how fast a processor reads a backlog
  evenkeel bench processor --full              25 kills a profile and 200 hand-overs: 10 minutes
  evenkeel bench restart --gib 10 -o json)";

const CLI::App* innermost(const CLI::App* app) {
    while (true) {
        const auto chosen = app->get_subcommands();
        if (chosen.empty()) return app;
        app = chosen.front();
    }
}

std::string command_of(const CLI::App* app) {
    const CLI::App* parent = app->get_parent();
    return parent ? command_of(parent) + " " + app->get_name() : app->get_name();
}

// "did you mean --seconds?" for a word that is almost an option or command of `app`; empty if none.
std::string suggestion(const CLI::App* app, const std::string& word) {
    std::vector<std::string> words;
    for (const CLI::Option* option : app->get_options()) {
        for (const auto& name : option->get_lnames()) words.push_back("--" + name);
    }
    for (const CLI::App* command : app->get_subcommands([](const CLI::App*) { return true; })) {
        if (!command->get_group().empty()) words.push_back(command->get_name());
    }
    return nearest(word, words);
}

ExitCode explain(CLI::App& app, const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help and --version
        app.exit(error);
        return ExitCode::done;
    }
    const CLI::App* at = innermost(&app);
    const bool lacks_command = at->get_require_subcommand_min() > 0;
    std::string what = lacks_command ? command_of(at) + " needs a command" : error.what();
    std::string hint = command_of(at) + " --help";
    if (const auto extras = at->remaining(); !extras.empty()) {
        const std::string_view kind = extras.front().starts_with('-') ? "option" : "command";
        if (lacks_command) {
            what = fmt::format("'{}' is no {} of {}", extras.front(), kind, command_of(at));
        }
        if (const auto word = suggestion(at, extras.front()); !word.empty()) {
            hint = fmt::format("{} (did you mean {}?)", hint, word);
        }
    }
    return wrong_usage(what, hint);
}

const CLI::Validator a_duration(
    [](std::string& text) -> std::string {
        if (parse_duration(text)) return {};
        return "'" + text + "' is not a time such as 500ms, 30s, 2m or 1h";
    },
    "TIME");

struct Commands {
    DemoOptions demo;
    std::string demo_for;
    DemoProducerOptions demo_producer;
    DevOptions dev;
    ClientCommands client;
    CheckpointCommands checkpoint;
    ServeOptions serve;
    std::string serve_log;
    BenchLogOptions bench_log;
    BenchAmqpOptions bench_amqp;
    BenchHubOptions bench_hub;
    BenchProcessorOptions bench_processor;
    BenchMemberOptions bench_member;
    BenchRestartOptions bench_restart;
    BenchChildOptions bench_child;
    std::string bench_output = "table";
    ExitCode exit = ExitCode::done;
};

void add_demo(CLI::App& app, Commands& commands) {
    auto& options = commands.demo;
    auto* command = app.add_subcommand("demo",
                                       "A stream through a hub to event processors: shares, a "
                                       "take-over, hand-overs, and a verdict");
    command->footer(demo_examples);
    command->add_option("--for", commands.demo_for, "Stop after this time; without it, with Ctrl-C")
        ->check(a_duration);
    command
        ->add_option("--data", options.data,
                     "Keep the hub's data in this folder; without it, in a temporary one")
        ->type_name("DIR");
    command->add_option("--hub", options.event_hub, "Name of the event hub")->capture_default_str();
    command->add_option("--partitions", options.partitions, "Partitions of the event hub")
        ->check(CLI::Range(1, 1024))
        ->capture_default_str();
    command
        ->add_option("--producers", options.producers,
                     "Producers, each with a connection of its own")
        ->check(CLI::Range(1, 256))
        ->capture_default_str();
    command->add_option("--event-bytes", options.event_bytes, "Size of an event")
        ->check(CLI::Range(32, 1'000'000))
        ->capture_default_str();
    command->add_option("--batch", options.batch_events, "Events a producer sends at a time")
        ->check(CLI::Range(1, 10'000))
        ->capture_default_str();
    command
        ->add_option("--rate", options.rate,
                     "Events a second of all producers together; 0: as fast as it goes")
        ->check(CLI::Range(0, 1'000'000'000))
        ->capture_default_str();
    command
        ->add_option("--store", options.store,
                     "Checkpoint store of the processors; without it, a temporary file")
        ->type_name("STORE");
    command->add_option("--json", options.json_file, "Write the verdict to this file; -: to stdout")
        ->type_name("FILE");
    command->callback([&commands] {
        if (!commands.demo_for.empty()) commands.demo.duration = parse_duration(commands.demo_for);
        commands.exit = demo(commands.demo);
    });
}

// Started by `demo`; not for people, so not shown.
void add_demo_children(CLI::App& app, Commands& commands) {
    auto& producer = commands.demo_producer;
    auto* produce = app.add_subcommand("demo-producer")->group("");
    produce->add_option("--hub", producer.event_hub)->required();
    produce->add_option("--run", producer.run);
    produce->add_option("--partitions", producer.partitions);
    produce->add_option("--producers", producer.producers);
    produce->add_option("--event-bytes", producer.event_bytes);
    produce->add_option("--batch", producer.batch_events);
    produce->add_option("--rate", producer.rate);
    produce->callback([&] { commands.exit = demo_producer_child(commands.demo_producer); });
}

void add_dev(CLI::App& app, Commands& commands) {
    auto& options = commands.dev;
    auto* command = app.add_subcommand(
        "dev", "A hub for work on this machine; the official Event Hubs SDKs connect to it");
    command->footer(dev_examples);
    command->add_option("--data", options.data, "Folder of the hub's data")
        ->type_name("DIR")
        ->capture_default_str();
    command->add_option("--address", options.address, "Address to listen on")
        ->capture_default_str();
    command->add_option("--port", options.port, "AMQP port; 0: a free one")->capture_default_str();
    command
        ->add_option("--http-port", options.http_port,
                     "Port of health, admin and AMQP over WebSocket; 0: a free one")
        ->capture_default_str();
    command->add_option("--tls-port", options.tls_port, "AMQP over TLS on this port too");
    command->add_option("--https-port", options.https_port, "HTTP over TLS on this port too");
    command
        ->add_option("--certificate-file", options.certificate_file,
                     "Write the certificate of the TLS ports there, for clients to trust")
        ->type_name("FILE");
    command
        ->add_option("--hub", options.event_hubs, "An event hub to have: NAME or NAME:PARTITIONS")
        ->take_all();
    command
        ->add_option("--config", options.config,
                     "Have the event hubs of this file, the official emulator's Config.json")
        ->type_name("FILE");
    command->add_option("--health-port", options.health_port,
                        "Answer /health on this port too; with --config it is 5300");
    command
        ->add_option("--host-name", options.host_names,
                     "A name that clients call it by over HTTP, beside localhost and addresses")
        ->type_name("NAME")
        ->take_all();
    command->add_option("--ready-file", options.ready_file, "Write the real ports there when ready")
        ->type_name("FILE");
    command->add_flag("--ephemeral", options.ephemeral, "Keep nothing when it ends");
    command->add_flag("--accept-any-token", options.accept_any_token,
                      "Take tokens of type jwt unchecked, for tests");
    command->callback([&commands] { commands.exit = dev(commands.dev); });
}

void add_serve(CLI::App& app, Commands& commands) {
    auto& options = commands.serve;
    auto* command = app.add_subcommand("serve", "The server, by a configuration file");
    command->footer(serve_examples);
    command->add_option("--config", options.config, "Configuration, in TOML")
        ->type_name("FILE")
        ->required();
    command->add_flag("--check", options.check, "Only look whether the configuration is good");
    command->add_option("--log", commands.serve_log, "Lines on stderr: auto, text or json")
        ->check(CLI::IsMember({"auto", "text", "json"}));
    command->add_option("--ready-file", options.ready_file, "Write the real ports there when ready")
        ->type_name("FILE");
    command->add_flag("--trust-clock", options.trust_clock,
                      "The clock is right, however far ahead of the data: old events may go");
    command->callback([&commands] {
        const std::string& log = commands.serve_log;
        if (log == "auto") commands.serve.log_format = server::LogFormat::automatic;
        if (log == "text") commands.serve.log_format = server::LogFormat::text;
        if (log == "json") commands.serve.log_format = server::LogFormat::json;
        commands.exit = serve(commands.serve);
    });
}

void add_output(CLI::App& app, Commands& commands) {
    app.add_option("-o,--output", commands.bench_output, "How results are shown")
        ->check(CLI::IsMember({"table", "json"}))
        ->capture_default_str();
}

void add_bench_processor(CLI::App& bench, Commands& commands) {
    auto& options = commands.bench_processor;
    auto* command = bench.add_subcommand(
        "processor", "Processors: speed, latency, failover, hand-over, balance after start");
    add_output(*command, commands);
    command->add_option("--data", options.data, "Make the temporary folder in this one")
        ->type_name("DIR");
    command->add_option("--seconds", options.seconds, "Length of one round of the latency")
        ->check(CLI::Range(0.1, 600.0))
        ->capture_default_str();
    command->add_option("--rounds", options.rounds, "Rounds, of which the median counts")
        ->check(CLI::Range(1, 100))
        ->capture_default_str();
    command->add_option("--events", options.events, "Backlog that a round reads")
        ->check(CLI::Range(std::uint64_t{1000}, std::uint64_t{1'000'000'000}))
        ->capture_default_str();
    command->add_flag("--full", options.full,
                      "25 kills a profile and 200 hand-overs instead of 3 and 24");
    command->add_option("--only", options.only, "Only lines whose name contains this");
    command->footer(bench_examples);
    command->callback([&commands] {
        commands.bench_processor.json = commands.bench_output == "json";
        commands.exit = bench_processor(commands.bench_processor);
    });

    auto& member = commands.bench_member;
    auto* child = bench.add_subcommand("member-child")->group("");
    child->add_option("--mode", member.mode)->required();
    child->add_option("--store", member.store)->required();
    child->add_option("--events", member.events);
    child->add_option("--partitions", member.partitions);
    child->add_flag("--fast", member.fast);
    child->callback([&commands] { commands.exit = bench_member_child(commands.bench_member); });
}

void add_bench_amqp(CLI::App& bench, Commands& commands) {
    auto* amqp = bench.add_subcommand(
        "amqp", "The hub by AMQP against a bare socket and against its own log");
    add_output(*amqp, commands);
    amqp->add_option("--data", commands.bench_amqp.data, "Make the temporary folder in this one")
        ->type_name("DIR");
    amqp->add_option("--seconds", commands.bench_amqp.seconds, "Length of one round")
        ->check(CLI::Range(0.1, 600.0))
        ->capture_default_str();
    amqp->add_option("--rounds", commands.bench_amqp.rounds, "Rounds, of which the median counts")
        ->check(CLI::Range(1, 100))
        ->capture_default_str();
    amqp->add_option("--connections", commands.bench_amqp.connections, "Idle connections")
        ->check(CLI::Range(1, 10'000))
        ->capture_default_str();
    amqp->add_option("--slow-links", commands.bench_amqp.slow_links, "Consumers that never read")
        ->check(CLI::Range(1, 10'000))
        ->capture_default_str();
    amqp->add_option("--only", commands.bench_amqp.only, "Only lines whose name contains this");
    amqp->footer(bench_examples);
    amqp->callback([&commands] {
        commands.bench_amqp.json = commands.bench_output == "json";
        commands.exit = bench_amqp(commands.bench_amqp);
    });
}

void add_bench(CLI::App& app, Commands& commands) {
    auto* bench = app.add_subcommand("bench", "Measure this build on this machine");
    bench->require_subcommand(1);
    bench->footer(bench_examples);

    auto* log = bench->add_subcommand(
        "log", "The commit log against plain writes and reads of the same device");
    add_output(*log, commands);
    log->add_option("--data", commands.bench_log.data, "Make the temporary folder in this one")
        ->type_name("DIR");
    log->add_option("--seconds", commands.bench_log.seconds, "Length of one round")
        ->check(CLI::Range(0.1, 600.0))
        ->capture_default_str();
    log->add_option("--rounds", commands.bench_log.rounds, "Rounds, of which the median counts")
        ->check(CLI::Range(1, 100))
        ->capture_default_str();
    log->add_option("--only", commands.bench_log.only, "Only lines whose name contains this");
    log->footer(bench_examples);
    log->callback([&commands] {
        commands.bench_log.json = commands.bench_output == "json";
        commands.exit = bench_log(commands.bench_log);
    });

    add_bench_amqp(*bench, commands);

    auto* restart = bench->add_subcommand(
        "restart", "Time to be ready again after SIGKILL, and what an idle hub takes");
    add_output(*restart, commands);
    restart->add_option("--data", commands.bench_restart.data, "Make the temporary folder here")
        ->type_name("DIR");
    restart->add_option("--gib", commands.bench_restart.gib, "Size of the data before the kill")
        ->check(CLI::Range(0.01, 10'000.0))
        ->capture_default_str();
    restart->add_option("--partitions", commands.bench_restart.partitions, "Partitions")
        ->check(CLI::Range(1, 1024))
        ->capture_default_str();
    restart->footer(bench_examples);
    restart->callback([&commands] {
        commands.bench_restart.json = commands.bench_output == "json";
        commands.exit = bench_restart(commands.bench_restart);
    });

    add_bench_processor(*bench, commands);

    // Started by benchmarks; not for people, so not shown.
    auto* hub = bench->add_subcommand("hub-child")->group("");
    hub->add_option("--data", commands.bench_hub.data)->required();
    hub->add_option("--hub", commands.bench_hub.event_hub);
    hub->add_option("--partitions", commands.bench_hub.partitions);
    hub->add_option("--groups", commands.bench_hub.groups);
    hub->callback([&commands] { commands.exit = bench_hub_child(commands.bench_hub); });
    for (const auto& [name, run] :
         {std::pair{"fill-child", &bench_fill_child}, std::pair{"idle-child", &bench_idle_child},
          std::pair{"bare-child", &bench_bare_child}}) {
        auto* child = bench->add_subcommand(name)->group("");
        child->add_option("--data", commands.bench_child.data);
        child->add_option("--bytes", commands.bench_child.bytes);
        child->add_option("--partitions", commands.bench_child.partitions);
        child->callback([&commands, start = run] { commands.exit = start(commands.bench_child); });
    }
}

// A hub of a thousand partitions has three files open for each. A file that grows beyond a limit of
// the user's is an error for whoever writes it, not the end of the process.
void prepare_process() {
    rlimit files{};
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    std::signal(SIGXFSZ, SIG_IGN);
}

ExitCode run(int count, char** arguments) {
    Commands commands;
    CLI::App app("Evenkeel: partitioned, durable event streams.", "evenkeel");
    app.set_version_flag("--version", "evenkeel " EVENKEEL_VERSION);
    app.require_subcommand(1);
    app.footer(examples);
    add_dev(app, commands);
    commands.client.add_to(app, commands.exit);
    commands.checkpoint.add_to(app, commands.exit);
    add_serve(app, commands);
    add_processor_commands(app, commands.exit);
    add_demo(app, commands);
    add_demo_children(app, commands);
    add_bench(app, commands);
    // The scripts of 'evenkeel completion' ask with what was typed so far.
    if (count > 1 && std::string_view(arguments[1]) == "__complete") {
        return print_candidates(app, {arguments + 2, arguments + count});
    }
    std::vector<char*> words(arguments, arguments + count);
    std::string help = "--help";
    if (count > 1 &&
        std::string_view(arguments[1]) == "help") {  // 'help hub ls' is 'hub ls --help'
        words.erase(words.begin() + 1);
        words.push_back(help.data());
    }
    try {
        app.parse(static_cast<int>(words.size()), words.data());
    } catch (const CLI::ParseError& error) {
        return explain(app, error);
    }
    return commands.exit;
}

}  // namespace
}  // namespace evenkeel::cli

int main(int count, char** arguments) {
    evenkeel::cli::prepare_process();
    return static_cast<int>(evenkeel::cli::run(count, arguments));
}
