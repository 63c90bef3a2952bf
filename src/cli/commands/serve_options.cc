#include <string>

#include <CLI/CLI.hpp>

#include "cli/commands/commands.h"
#include "cli/commands/dev.h"
#include "cli/commands/serve.h"

namespace evenkeel::cli {
namespace {

constexpr const char* dev_examples = R"(
Examples:
  evenkeel dev                                     data in ./.evenkeel, hub eh1 on port 5672
  evenkeel dev --hub orders:8 --hub audit          two hubs, the first with 8 partitions
  evenkeel dev --port 0 --http-port 0 --ready-file ready.json    any free ports, written to a file
  evenkeel dev --config Config.json                the official emulator's file; health on port 5300
  evenkeel dev --watch-store sqlite:progress.db    the dashboard shows the groups of this store
  evenkeel dev --ephemeral                         delete all data on exit

The connection string it prints is the emulator's: for development only. It listens on loopback.)";

constexpr const char* serve_examples = R"(
Examples:
  evenkeel serve --config /etc/evenkeel/evenkeel.toml
  evenkeel serve --config evenkeel.toml --check   only validate; exit code 2 lists all problems
  evenkeel serve --config evenkeel.toml --log text --ready-file ready.json

SIGTERM drains and exits with 0; SIGHUP reloads the file. docs/configuration.md lists all keys.)";

}  // namespace

void add_dev(CLI::App& app, Chosen& chosen) {
    auto& options = chosen.keep<DevOptions>();
    auto* command = app.add_subcommand(
        "dev", "Start a local hub for development; the official Event Hubs SDKs connect to it");
    command->footer(dev_examples);
    command->add_option("--data", options.data, "Data folder of the hub")
        ->type_name("DIR")
        ->capture_default_str();
    command->add_option("--address", options.address, "Address to listen on")
        ->capture_default_str();
    command->add_option("--port", options.port, "AMQP port; 0: any free port")
        ->capture_default_str();
    command
        ->add_option("--http-port", options.http_port,
                     "Port for health, admin and AMQP over WebSocket; 0: any free port")
        ->capture_default_str();
    command->add_option("--tls-port", options.tls_port,
                        "Also listen for AMQP over TLS on this port");
    command->add_option("--https-port", options.https_port,
                        "Also listen for HTTP over TLS on this port");
    command
        ->add_option("--certificate-file", options.certificate_file,
                     "Write the certificate of the TLS ports to this file, for clients to trust")
        ->type_name("FILE");
    command
        ->add_option("--hub", options.event_hubs,
                     "Event hub to create: NAME or NAME:PARTITIONS; repeatable")
        ->take_all();
    command
        ->add_option("--config", options.config,
                     "Create the event hubs in this file, the official emulator's Config.json")
        ->type_name("FILE");
    command->add_option("--health-port", options.health_port,
                        "Also answer /health on this port; 5300 with --config");
    command
        ->add_option("--host-name", options.host_names,
                     "Host name that HTTP clients may use, besides localhost and IP addresses")
        ->type_name("NAME")
        ->take_all();
    command
        ->add_option("--watch-store", options.watch_stores,
                     "Checkpoint store whose groups the dashboard shows; repeatable")
        ->type_name("URL")
        ->take_all();
    command
        ->add_option("--ready-file", options.ready_file,
                     "Write the actual ports to this file when ready")
        ->type_name("FILE");
    command->add_flag("--ephemeral", options.ephemeral, "Delete all data on exit");
    command->add_flag("--accept-any-token", options.accept_any_token,
                      "Accept any JWT without checking it, for tests");
    command->callback([&options, &chosen] { chosen.exit = dev(options); });
}

void add_serve(CLI::App& app, Chosen& chosen) {
    auto& options = chosen.keep<ServeOptions>();
    auto& log = chosen.keep<std::string>();
    auto* command = app.add_subcommand("serve", "Run the server with a configuration file");
    command->footer(serve_examples);
    command->add_option("--config", options.config, "Configuration file (TOML)")
        ->type_name("FILE")
        ->required();
    command->add_flag("--check", options.check, "Only validate the configuration");
    command->add_option("--log", log, "Log format on stderr: auto, text or json")
        ->check(CLI::IsMember({"auto", "text", "json"}));
    command
        ->add_option("--ready-file", options.ready_file,
                     "Write the actual ports to this file when ready")
        ->type_name("FILE");
    command->add_flag(
        "--trust-clock", options.trust_clock,
        "Accept a clock far ahead of the stored data: retention may delete old events");
    command->callback([&options, &log, &chosen] {
        if (log == "auto") options.log_format = server::LogFormat::automatic;
        if (log == "text") options.log_format = server::LogFormat::text;
        if (log == "json") options.log_format = server::LogFormat::json;
        chosen.exit = serve(options);
    });
}

}  // namespace evenkeel::cli
