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

}  // namespace

void add_dev(CLI::App& app, Chosen& chosen) {
    auto& options = chosen.keep<DevOptions>();
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
    command->callback([&options, &chosen] { chosen.exit = dev(options); });
}

void add_serve(CLI::App& app, Chosen& chosen) {
    auto& options = chosen.keep<ServeOptions>();
    auto& log = chosen.keep<std::string>();
    auto* command = app.add_subcommand("serve", "The server, by a configuration file");
    command->footer(serve_examples);
    command->add_option("--config", options.config, "Configuration, in TOML")
        ->type_name("FILE")
        ->required();
    command->add_flag("--check", options.check, "Only look whether the configuration is good");
    command->add_option("--log", log, "Lines on stderr: auto, text or json")
        ->check(CLI::IsMember({"auto", "text", "json"}));
    command->add_option("--ready-file", options.ready_file, "Write the real ports there when ready")
        ->type_name("FILE");
    command->add_flag("--trust-clock", options.trust_clock,
                      "The clock is right, however far ahead of the data: old events may go");
    command->callback([&options, &log, &chosen] {
        if (log == "auto") options.log_format = server::LogFormat::automatic;
        if (log == "text") options.log_format = server::LogFormat::text;
        if (log == "json") options.log_format = server::LogFormat::json;
        chosen.exit = serve(options);
    });
}

}  // namespace evenkeel::cli
