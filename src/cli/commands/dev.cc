// tidy: no test: run as a process by the interop tests
#include "cli/commands/dev.h"

#include <fmt/core.h>

#include "base/clock.h"
#include "base/number.h"
#include "cli/interrupt.h"
#include "cli/temporary_folder.h"
#include "cli/text/event_filter.h"
#include "cli/text/listing.h"
#include "cli/text/standard_output.h"
#include "cli/text/terminal.h"
#include "io/system/files.h"
#include "server/emulator_config.h"
#include "server/server.h"

namespace evenkeel::cli {
namespace {

// The emulator's, known to every tutorial: for development only.
constexpr const char* key_name = "RootManageSharedAccessKey";
constexpr const char* key_value = "SAS_KEY_VALUE";

constexpr std::uint64_t config_bytes_max = std::uint64_t{1} << 20;

Result<server::EventHubWish> parse_wish(const std::string& text) {
    server::EventHubWish wish;
    const auto colon = text.rfind(':');
    wish.name = text.substr(0, colon);
    if (colon != std::string::npos) {
        if (!read_number(std::string_view(text).substr(colon + 1), wish.options.partitions)) {
            return Error{ErrorCode::invalid_argument,
                         fmt::format("'{}' is not NAME or NAME:PARTITIONS", text)};
        }
    }
    return wish;
}

// The emulator's file, the command's wishes, or what the emulator has first.
Result<std::vector<server::EventHubWish>> wishes_of(const DevOptions& options) {
    std::vector<server::EventHubWish> wishes;
    if (!options.config.empty()) {
        io::system::SystemFiles files;
        EK_TRY_ASSIGN(const auto bytes, io::read_file(files, options.config, config_bytes_max));
        auto hubs = server::parse_emulator_config(as_text(bytes));
        if (!hubs.ok()) {
            return Error{hubs.error().code, options.config + ": " + hubs.error().detail};
        }
        for (auto& hub : *hubs) {
            wishes.push_back({hub.name, {.partitions = hub.partitions}, std::move(hub.groups)});
        }
    }
    for (const auto& text : options.event_hubs) {
        EK_TRY_ASSIGN(auto wish, parse_wish(text));
        wishes.push_back(std::move(wish));
    }
    if (wishes.empty()) wishes.push_back({"eh1", {.partitions = 2}, {}});
    return wishes;
}

std::optional<std::uint16_t> health_port(const DevOptions& options) {
    constexpr std::uint16_t emulator_health_port = 5300;
    if (options.health_port) return options.health_port;
    if (options.config.empty()) return std::nullopt;
    return emulator_health_port;
}

// What --hub NAME:PARTITIONS asks for; none if it leaves that open.
std::optional<std::uint32_t> asked_partitions(const DevOptions& options, const std::string& name) {
    for (const auto& text : options.event_hubs) {
        const auto wish = parse_wish(text);
        if (wish.ok() && wish->name == name && text != name) return wish->options.partitions;
    }
    return std::nullopt;
}

// What to do about a hub that did not start.
std::string start_hint(const Error& error) {
    if (error.detail.starts_with("listen on ")) {
        return "choose other ports with --port, --http-port, --tls-port and --health-port; 0: any";
    }
    switch (error.code) {
        case ErrorCode::invalid_argument: return "evenkeel dev --help";
        case ErrorCode::conflict:
        case ErrorCode::already_exists:
            return "stop the other process, or choose another folder with --data";
        case ErrorCode::corrupt: return "restore the folder, or choose another with --data";
        case ErrorCode::overloaded: return "free some space, or choose another folder with --data";
        case ErrorCode::not_found:
        case ErrorCode::not_allowed:
        case ErrorCode::unsupported:
        case ErrorCode::fenced:
        case ErrorCode::unavailable:
        case ErrorCode::timed_out:
        case ErrorCode::cancelled:
        case ErrorCode::handler_failed: break;
    }
    return "choose a folder that you may write to with --data";
}

void show(server::Server& server, const DevOptions& options, const std::string& data,
          std::int64_t ready_ms) {
    const Terminal terminal = terminal_of(stdout);
    const server::Server::Ports& ports = server.ports();
    const auto port = ports.amqp;
    const std::string endpoint = port == 5672 ? "localhost" : fmt::format("localhost:{}", port);
    fmt::print("{}   data {} ({})   ready in {} ms\n\n",
               painted(terminal, Paint::strong, "Evenkeel " EVENKEEL_VERSION), data,
               options.ephemeral ? "deleted on exit" : "kept", ready_ms);
    fmt::print("  AMQP        amqp://{}   plain; SDKs with UseDevelopmentEmulator=true\n",
               endpoint);
    if (ports.amqps) fmt::print("  AMQP + TLS  amqps://localhost:{}\n", ports.amqps);
    fmt::print("  WebSocket   ws://localhost:{}/$servicebus/websocket\n", ports.http);
    if (ports.https) {
        fmt::print("              wss://localhost:{}/$servicebus/websocket\n", ports.https);
    }
    fmt::print("  Admin       http://localhost:{}   found by the commands through the hub\n",
               ports.http);
    fmt::print(
        "  Dashboard   http://localhost:{}/ui/{}\n", ports.http,
        options.watch_stores.empty() ? "   --watch-store URL shows the processors of a store" : "");
    fmt::print("  Health      http://localhost:{}/health\n\n",
               ports.health ? ports.health : ports.http);
    fmt::print("  Connection string\n");
    fmt::print(
        "  Endpoint=sb://{};SharedAccessKeyName={};SharedAccessKey={};"
        "UseDevelopmentEmulator=true;\n\n",
        endpoint, key_name, key_value);
    for (const auto& info : server.event_hubs()) {
        std::string groups;
        for (const auto& group : info.groups) groups += (groups.empty() ? "" : ", ") + group;
        const std::string partitions = plural(info.options.partitions, "partition");
        fmt::print("  Hub         {} ({})   groups {}\n", info.name, partitions, groups);
        const auto asked = asked_partitions(options, info.name);
        if (!asked || *asked == info.options.partitions) continue;
        fmt::print("              it existed and keeps its {}, not {}; {}\n", partitions, *asked,
                   *asked > info.options.partitions
                       ? fmt::format("'evenkeel hub alter {} --partitions {}' adds some", info.name,
                                     *asked)
                       : "partitions cannot be removed");
    }
    if (options.accept_any_token) {
        fmt::print(
            "\n  {}  JWTs are NOT checked (--accept-any-token): any token "
            "grants all rights.\n",
            painted(terminal, Paint::bad, "WARNING"));
    }
    if (!io::is_loopback(options.address)) {
        fmt::print("\n  {}  {} is reachable from other machines, and the key above is public.\n",
                   painted(terminal, Paint::bad, "WARNING"), options.address);
    }
    fmt::print(
        "\nCtrl-C stops.{}\n",
        options.ephemeral ? "" : " Events are kept; use --ephemeral to delete them on exit.");
}

// They are written by a rename, which would remove a device or a pipe.
Result<> check_files(const DevOptions& options) {
    for (const std::string& file : {options.certificate_file, options.ready_file}) {
        if (!file.empty()) EK_TRY(io::system::is_replaceable(file));
    }
    return {};
}

}  // namespace

ExitCode dev(const DevOptions& options) {
    ignore_closed_pipes();
    if (const auto checked = check_files(options); !checked.ok()) {
        return fail("the hub did not start", checked.error(), "name a file");
    }
    Interrupt interrupt;
    const SystemClock clock;
    const Instant started = clock.now();
    std::unique_ptr<TemporaryFolder> temporary;
    server::ServerOptions wanted;
    wanted.hub.directory = options.data;
    if (options.ephemeral) {
        auto made = TemporaryFolder::make("", "dev");
        if (!made.ok()) return fail("cannot create a temporary folder", made.error());
        temporary = std::move(*made);
        wanted.hub.directory = temporary->path() + "/hub";
    }
    wanted.amqp = {{options.address, options.port}};
    wanted.http = {{options.address, options.http_port}};
    if (const auto port = health_port(options)) wanted.health = {options.address, *port};
    if (options.tls_port || options.https_port) {
        auto identity = io::make_self_signed();
        if (!identity.ok()) return fail("cannot create a certificate", identity.error());
        if (options.tls_port) wanted.amqps = {{options.address, *options.tls_port}};
        if (options.https_port) wanted.https = {{options.address, *options.https_port}};
        if (!options.certificate_file.empty()) {
            io::system::SystemFiles files;
            const auto written = io::replace_file(files, options.certificate_file,
                                                  as_bytes(identity->certificate_pem));
            if (!written.ok()) return fail("cannot write the certificate", written.error());
        }
        wanted.identity = std::move(*identity);
    }
    wanted.rules = {{key_name, "", door::Secret(key_value), {}, {true, true, true}}};
    wanted.trust_this_host = true;
    for (const auto& name : options.host_names) {
        if (http::is_host_name(name)) continue;
        return fail("--host-name", Error{ErrorCode::invalid_argument,
                                         fmt::format("'{}' is not a host name", name)});
    }
    wanted.site.names = options.host_names;
    wanted.door.accept_any_token = options.accept_any_token;
    auto wishes = wishes_of(options);
    if (!wishes.ok()) {
        const bool is_missing = wishes.error().code == ErrorCode::not_found;
        return fail(
            is_missing ? "the file of --config cannot be read" : "invalid list of event hubs",
            wishes.error(), "evenkeel dev --help");
    }
    wanted.event_hubs = std::move(*wishes);
    wanted.groups.stores = options.watch_stores;
    wanted.event_filter = &parse_filter_of_server;
    auto server = server::Server::open(wanted);
    if (!server.ok()) {
        return fail("the hub did not start", server.error(), start_hint(server.error()));
    }
    const auto ready = std::chrono::duration_cast<std::chrono::milliseconds>(clock.now() - started);
    if (!options.ready_file.empty()) {
        io::system::SystemFiles files;
        const auto written =
            io::replace_file(files, options.ready_file, as_bytes((*server)->ready_text()));
        if (!written.ok()) return fail("cannot write the ready file", written.error());
    }
    show(**server, options, options.ephemeral ? "temporary" : options.data, ready.count());
    if (!flush_output().ok()) return ExitCode::failed;  // cli::run() says why
    while (!interrupt.wait(std::chrono::hours(1))) {
    }
    return ExitCode::done;
}

}  // namespace evenkeel::cli
