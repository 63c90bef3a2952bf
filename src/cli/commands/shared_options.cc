#include "cli/commands/shared_options.h"

#include <CLI/CLI.hpp>

#include "cli/text/duration.h"

namespace evenkeel::cli {

void add_remote(CLI::App& command, RemoteOptions& options) {
    constexpr const char* group = "Hub";
    command
        .add_option("--hub,--connection", options.connection,
                    "Connection string of the hub [EVENKEEL_HUB; that of 'evenkeel dev']")
        ->type_name("STRING")
        ->group(group);
    command
        .add_option("--ca", options.ca_file,
                    "PEM file with CA certificates to trust [EVENKEEL_CA; those of the system]")
        ->type_name("FILE")
        ->group(group);
    command.add_option("--timeout", options.timeout, "Timeout of a connection and of an answer")
        ->type_name("TIME")
        ->capture_default_str()
        ->group(group);
}

void add_admin(CLI::App& command, RemoteOptions& options) {
    add_remote(command, options);
    command
        .add_option("--url", options.url,
                    "URL of the admin interface [EVENKEEL_URL; the one that the hub names]")
        ->type_name("URL")
        ->group("Hub");
}

void add_store(CLI::App& command, std::string& group, std::string& store, const char* names) {
    command.add_option("-g,--group", group, "Consumer group")->capture_default_str();
    // The parser reads the environment for all commands, also for those beside the chosen one that
    // share its variable. An option that was given must not be replaced by that.
    const auto take = [&command, &store](const std::string& given) {
        if (command.parsed()) store = given;
    };
    command
        .add_option_function<std::string>(
            names, take,
            "Checkpoint store: sqlite:FILE, postgresql://HOST/DATABASE, redis://HOST, "
            "azblob:...")
        ->type_name("STORE")
        ->envname("EVENKEEL_STORE")
        ->default_str(store);
}

void add_letter_hub(CLI::App& command, std::string& letter_hub, const char* what) {
    command.add_option("--dead-letter", letter_hub, what)->type_name("HUB")->capture_default_str();
}

void add_output(CLI::App& command, std::string& output, const std::vector<std::string>& words) {
    command.add_option("-o,--output", output, "Output format")
        ->check(CLI::IsMember(words))
        ->capture_default_str();
}

Output output_of(const std::string& word) {
    if (word == "json") return Output::json;
    return word == "name" ? Output::name : Output::table;
}

void add_watch(CLI::App& command, Watch& watch) {
    command.add_flag("--watch{2s}", watch.interval,
                     "Show it again every 2 seconds, or --watch=10s; q or Ctrl-C ends it");
}

void add_danger(CLI::App& command, Danger& danger) {
    command.add_flag("-y,--yes", danger.yes, "Do not ask for confirmation");
    command.add_flag("--dry-run", danger.dry_run, "Only print what would change");
}

std::string check_duration(const std::string& text) {
    if (parse_duration(text)) return {};
    return "'" + text + "' is not a time such as 500ms, 30s, 2m or 1h";
}

}  // namespace evenkeel::cli
