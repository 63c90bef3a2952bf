#include <string>

#include <CLI/CLI.hpp>

#include "cli/commands/check.h"
#include "cli/commands/commands.h"
#include "cli/commands/conn.h"
#include "cli/commands/group_command.h"
#include "cli/commands/hub_command.h"
#include "cli/commands/key_command.h"
#include "cli/commands/shared_options.h"

namespace evenkeel::cli {
namespace {

constexpr const char* hub_examples = R"(
Examples:
  evenkeel hub ls
  evenkeel hub ls --watch                  redraw it every 2 seconds
  evenkeel hub create orders --partitions 8 --retention 7d
  evenkeel hub show orders -o json | jq .events
  evenkeel hub alter orders --partitions 16 --retention forever
  evenkeel hub purge orders --before 1000 --dry-run
  evenkeel hub rm orders --yes
  evenkeel hub backup orders orders.backup)";

constexpr const char* group_examples = R"(
Examples:
  evenkeel group ls orders
  evenkeel group create orders billing
  evenkeel group rm orders billing --yes)";

constexpr const char* key_examples = R"(
Examples:
  evenkeel key ls
  evenkeel key create app --rights send,listen
  evenkeel key create sensor --rights send --event-hub orders
  evenkeel key rotate app --key secondary
  evenkeel key token --event-hub orders --lifetime 30m    a SAS token, for tools such as curl
  evenkeel key rm app --yes

A key is a name with two secrets. To rotate without downtime, move clients to one secret and replace
the other. Managing keys needs a key with the right 'manage'.)";

constexpr const char* conn_examples = R"x(
Examples:
  evenkeel conn orders                    for the hub of 'evenkeel dev', or of EVENKEEL_HUB
  evenkeel conn orders --key app --test   with the key 'app', and test it
  evenkeel conn --config evenkeel.toml    the first key of 'evenkeel serve' on this machine
  eval "$(evenkeel conn --env)"           for the programs of this shell

The output contains a secret.)x";

constexpr const char* check_examples = R"(
Examples:
  evenkeel check                          the hub of 'evenkeel dev', or of EVENKEEL_HUB
  evenkeel check orders --rights send     also that this key may send to 'orders'
  evenkeel check -o json

The exit code is 0 if all checks pass, 8 with warnings, 9 if a check failed.)";

// The options of a noun such as `hub`, and how its commands show their result.
template <typename Options>
struct Noun {
    CLI::App* app = nullptr;
    Chosen* chosen = nullptr;
    Options options;
    std::string output = "table";
    Watch watch;

    // A command below the noun that runs `act` with the noun's options.
    CLI::App* leaf(const char* name, const char* what, ExitCode (*act)(const Options&)) {
        auto* command = app->add_subcommand(name, what);
        command->footer(app->get_footer());
        command->callback([this, act] {
            options.output = output_of(output);
            chosen->exit = watched(watch, options.output == Output::json,
                                   [this, act] { return act(options); });
        });
        add_admin(*command, options.remote);
        return command;
    }
    // The same with --watch, for one that only looks.
    CLI::App* list(const char* name, const char* what, ExitCode (*act)(const Options&)) {
        auto* command = leaf(name, what, act);
        add_watch(*command, watch);
        return command;
    }
};

template <typename Options>
Noun<Options>& add_noun(CLI::App& app, Chosen& chosen, const char* name, const char* what,
                        const char* examples) {
    auto& noun = chosen.keep<Noun<Options>>();
    noun.app = app.add_subcommand(name, what);
    noun.app->require_subcommand(1);
    noun.app->footer(examples);
    noun.chosen = &chosen;
    return noun;
}

void add_settings(CLI::App& command, HubCommand& hub) {
    command
        .add_option("--partitions", hub.partitions,
                    "Number of partitions; can be increased later, never decreased")
        ->check(CLI::Range(1, 2048));
    command.add_option("--retention", hub.retention, "How long events are kept: 12h, 7d, forever")
        ->type_name("TIME");
    command
        .add_option("--partition-bytes-max", hub.partition_bytes_max,
                    "Delete the oldest events above this partition size: 10GiB, unlimited")
        ->type_name("SIZE");
}

}  // namespace

void add_hub(CLI::App& app, Chosen& chosen) {
    auto& hubs = add_noun<HubCommand>(
        app, chosen, "hub", "Event hubs: list, create, show, alter, purge, remove, back up",
        hub_examples);
    auto& hub = hubs.options;
    auto& output = hubs.output;
    const auto named = [&](CLI::App* command) {
        command->add_option("HUB", hub.name, "Name of the event hub")->required();
        return command;
    };
    add_output(*hubs.list("ls", "List event hubs", hub_ls), output, {"table", "json", "name"});
    auto* create = named(hubs.leaf("create", "Create an event hub", hub_create));
    add_settings(*create, hub);
    create->add_option("--group", hub.groups, "Consumer group to create with it; repeatable")
        ->take_all()
        ->allow_extra_args(false);
    create->add_flag("--if-not-exists", hub.if_not_exists, "Do nothing if it exists");
    add_output(*create, output, {"table", "json"});
    add_output(*named(hubs.list("show", "Show an event hub and its partitions", hub_show)), output,
               {"table", "json"});
    auto* alter = named(hubs.leaf("alter", "Change the settings of an event hub", hub_alter));
    add_settings(*alter, hub);
    add_output(*alter, output, {"table", "json"});
    auto* purge =
        named(hubs.leaf("purge", "Delete the events of an event hub, but not the hub", hub_purge));
    purge->add_option("-p,--partition", hub.partition, "Only this partition");
    purge->add_option("--before", hub.before, "Only events before this sequence number")
        ->check([](const std::string& text) -> std::string {
            const bool is_number =
                !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
            return is_number ? "" : "'" + text + "' is not a sequence number: 0 or more";
        });
    add_danger(*purge, hub.danger);
    auto* rm = named(hubs.leaf("rm", "Delete an event hub and all its events", hub_rm));
    add_danger(*rm, hub.danger);
    add_backups(*hubs.app, chosen);
}

void add_group(CLI::App& app, Chosen& chosen) {
    auto& groups = add_noun<GroupCommand>(app, chosen, "group",
                                          "Consumer groups: list, create, remove", group_examples);
    auto& group = groups.options;
    auto& output = groups.output;
    const auto of_hub = [&](CLI::App* command) {
        command->add_option("HUB", group.event_hub, "Name of the event hub")->required();
        return command;
    };
    const auto named = [&](CLI::App* command) {
        of_hub(command)->add_option("GROUP", group.name, "Name of the consumer group")->required();
        return command;
    };
    add_output(*of_hub(groups.list("ls", "List the consumer groups of an event hub", group_ls)),
               output, {"table", "json", "name"});
    auto* create = named(groups.leaf("create", "Create a consumer group", group_create));
    create->add_flag("--if-not-exists", group.if_not_exists, "Do nothing if it exists");
    add_output(*create, output, {"table", "json"});
    add_danger(*named(groups.leaf("rm", "Delete a consumer group; events are kept", group_rm)),
               group.danger);
}

void add_key(CLI::App& app, Chosen& chosen) {
    auto& keys = add_noun<KeyCommand>(
        app, chosen, "key",
        "Access keys and their rights: list, show, create, rotate, remove; tokens", key_examples);
    auto& key = keys.options;
    auto& output = keys.output;
    const auto of_hub = [&](CLI::App* command) {
        command
            ->add_option("--event-hub", key.event_hub,
                         "Event hub of the key; default: the whole namespace")
            ->type_name("HUB");
        return command;
    };
    const auto named = [&](CLI::App* command) {
        of_hub(command)->add_option("KEY", key.name, "Name of the key")->required();
        return command;
    };
    add_output(*of_hub(keys.list("ls", "List names and rights, without secrets", key_ls)), output,
               {"table", "json", "name"});
    add_output(*named(keys.leaf("show", "Show a key and its secrets", key_show)), output,
               {"table", "json"});
    auto* create = named(keys.leaf("create", "Create a key and show it", key_create));
    create->add_option("--rights", key.rights, "Comma-separated: send, listen, manage")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->required();
    add_output(*create, output, {"table", "json"});
    auto* rotate =
        named(keys.leaf("rotate", "Replace one of the two secrets of a key", key_rotate));
    rotate->add_option("--key", key.which, "Which secret to replace")
        ->check(CLI::IsMember({"primary", "secondary"}))
        ->required();
    add_output(*rotate, output, {"table", "json"});
    auto* token = of_hub(keys.leaf(
        "token", "Print a SAS token, made of the connection string's key without asking the hub",
        key_token));
    auto* lifetime = token->add_option("--lifetime", key.lifetime, "How long the token is valid");
    lifetime->type_name("TIME")->capture_default_str();
    token->add_option("--expires", key.expires, "Until when it is valid: 2026-03-02T09:14:00Z")
        ->type_name("TIME")
        ->excludes(lifetime);
    add_output(*token, output, {"table", "json"});
    add_danger(*named(keys.leaf("rm", "Delete a key", key_rm)), key.danger);
}

void add_conn(CLI::App& app, Chosen& chosen) {
    auto& options = chosen.keep<ConnCommand>();
    auto& output = chosen.keep<std::string>();
    output = "table";
    auto* command = app.add_subcommand(
        "conn", "Print a connection string for other programs, and optionally test it");
    command->footer(conn_examples);
    command->add_option("HUB", options.event_hub, "Name of the event hub");
    command->add_option("--key", options.key, "Use this key; needs the right 'manage'")
        ->type_name("KEY");
    command
        ->add_option("--config", options.config,
                     "Read the key from the data folder of the server with this configuration")
        ->type_name("FILE");
    command->add_option("--for", options.way, "AMQP, or AMQP over WebSocket")
        ->check(CLI::IsMember({"amqp", "ws"}))
        ->capture_default_str();
    command->add_flag("--env", options.as_environment, "Print shell assignments");
    command->add_flag("--test", options.test, "Connect with it, and report the result on stderr");
    add_output(*command, output, {"table", "json"});
    add_admin(*command, options.remote);
    command->callback([&options, &output, &chosen] {
        options.output = output_of(output);
        chosen.exit = conn(options);
    });
}

void add_check(CLI::App& app, Chosen& chosen) {
    auto& options = chosen.keep<CheckCommand>();
    auto& output = chosen.keep<std::string>();
    output = "table";
    auto* command = app.add_subcommand(
        "check", "Check that the hub can be reached and used, with a remedy for each problem");
    command->footer(check_examples);
    command->add_option("HUB", options.event_hub, "Name of an event hub");
    command
        ->add_option("--rights", options.rights,
                     "Rights that must be granted: send, listen, manage")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(CLI::IsMember({"send", "listen", "manage"}));
    auto& watch = chosen.keep<Watch>();
    add_watch(*command, watch);
    add_output(*command, output, {"table", "json"});
    add_admin(*command, options.remote);
    command->callback([&options, &output, &watch, &chosen] {
        options.output = output_of(output);
        chosen.exit =
            watched(watch, options.output == Output::json, [&options] { return check(options); });
    });
}

}  // namespace evenkeel::cli
