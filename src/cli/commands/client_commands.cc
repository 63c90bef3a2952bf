#include "cli/commands/client_commands.h"

#include <functional>
#include <string>

#include <CLI/CLI.hpp>

#include "cli/commands/check.h"
#include "cli/commands/completion.h"
#include "cli/commands/conn.h"
#include "cli/commands/group_command.h"
#include "cli/commands/hub_command.h"
#include "cli/commands/key_command.h"
#include "cli/commands/read.h"
#include "cli/commands/send.h"

namespace evenkeel::cli {
namespace {

constexpr const char* hub_examples = R"(
Examples:
  evenkeel hub ls
  evenkeel hub create orders --partitions 8 --retention 7d
  evenkeel hub show orders -o json | jq .events
  evenkeel hub alter orders --partitions 16 --retention forever
  evenkeel hub purge orders --before 1000 --dry-run
  evenkeel hub rm orders --yes)";

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
  evenkeel key rm app --yes

A key is a name with two secrets; one is replaced while clients move to the other. Managing keys
needs a key with Manage.)";

constexpr const char* conn_examples = R"x(
Examples:
  evenkeel conn orders                    for the hub of 'evenkeel dev', or of EVENKEEL_HUB
  evenkeel conn orders --key app --test   with the key 'app', and try it
  eval "$(evenkeel conn --env)"           for the programs of this shell

It prints a secret.)x";

constexpr const char* check_examples = R"(
Examples:
  evenkeel check                          the hub of 'evenkeel dev', or of EVENKEEL_HUB
  evenkeel check orders --rights send     and that this key may send to 'orders'
  evenkeel check -o json

The exit code is 0 if all is well, 8 with warnings, 9 if something failed.)";

constexpr const char* completion_examples = R"(
Examples:
  source <(evenkeel completion bash)                      for this shell
  evenkeel completion bash > ~/.local/share/bash-completion/completions/evenkeel
  evenkeel completion zsh > "${fpath[1]}/_evenkeel"
  evenkeel completion fish > ~/.config/fish/completions/evenkeel.fish

Names of event hubs, groups and keys are those of the hub that EVENKEEL_HUB names.)";

constexpr const char* send_examples = R"(
Examples:
  evenkeel send eh1 "hello" "world"                 one event for each argument
  tail -f app.log | evenkeel send eh1               one event for each line, as they come
  evenkeel send eh1 --file orders.ndjson --format ndjson --key-field customerId
  evenkeel send eh1 --file photo.jpg --format file --content-type image/jpeg
  evenkeel send eh1 "tick" --count 1000 --rate 100/s  the same event again and again

The exit code is 7 if some events were sent and some not.)";

constexpr const char* read_examples = R"(
Examples:
  evenkeel read eh1                                 all there is, then it ends
  evenkeel read eh1 --from -15m --follow            the last quarter of an hour, and what comes
  evenkeel read eh1 --from -10                      the last ten of each partition
  evenkeel read eh1 -p 0 --from seq:100 -n 10
  evenkeel read eh1 -f '%p %s %d %k %v\n'           partition, number, time, key and body
  evenkeel read eh1 -o json | jq .body
  evenkeel read eh1 --from -2h --to -1h             an hour, an hour ago
  evenkeel read eh1 --filter 'body.total > 100 and properties.kind == "order"'

Filter: body, key, partition, seq, offset, size, enqueued, content_type, properties.NAME;
body.NAME, body["any name"], body.list[0] in JSON; == != < <= > >= contains; and, or, not, ();
texts and times in quotes. A value alone is met if it is there and not false or null.

Format: %t event hub, %p partition, %s sequence number, %o offset, %k key, %d time,
%d{strftime[%H:%M:%S]}, %v body, %v{hex}, %v{base64}, %V its length, %h properties,
%c content type, %% and \n \t \r \\.)";

void add_remote(CLI::App& command, RemoteOptions& options) {
    constexpr const char* group = "Hub";
    command
        .add_option("--hub,--connection", options.connection,
                    "Connection string of the hub [EVENKEEL_HUB; that of 'evenkeel dev']")
        ->type_name("STRING")
        ->group(group);
    command
        .add_option("--ca", options.ca_file,
                    "Trust the certificates in this PEM file [EVENKEEL_CA; those of the system]")
        ->type_name("FILE")
        ->group(group);
    command.add_option("--timeout", options.timeout, "Wait so long for the hub")
        ->type_name("TIME")
        ->capture_default_str()
        ->group(group);
}

void add_admin(CLI::App& command, RemoteOptions& options) {
    add_remote(command, options);
    command
        .add_option("--url", options.url,
                    "Address of its admin interface [EVENKEEL_URL; port 8080, or 443 with TLS]")
        ->type_name("URL")
        ->group("Hub");
}

void add_output(CLI::App& command, std::string& output, const std::vector<std::string>& words) {
    command.add_option("-o,--output", output, "How results are shown")
        ->check(CLI::IsMember(words))
        ->capture_default_str();
}

Output output_of(const std::string& word) {
    if (word == "json") return Output::json;
    return word == "name" ? Output::name : Output::table;
}

void add_danger(CLI::App& command, Danger& danger) {
    command.add_flag("-y,--yes", danger.yes, "Do not ask");
    command.add_flag("--dry-run", danger.dry_run, "Only say what would happen");
}

}  // namespace

struct ClientCommands::State {
    HubCommand hub;
    GroupCommand group;
    KeyCommand key;
    ConnCommand conn;
    CheckCommand check;
    SendOptions send;
    ReadOptions read;
    std::string shell;
    std::string output = "table";
    std::string rate = "0";
    ExitCode* exit = nullptr;

    // A command below a noun that runs `act` with the noun's options.
    template <typename Options>
    CLI::App* leaf(CLI::App& noun, const char* name, const char* what, Options& options,
                   ExitCode (*act)(const Options&)) {
        auto* command = noun.add_subcommand(name, what);
        command->footer(noun.get_footer());
        command->callback([this, &options, act] {
            options.output = output_of(output);
            *exit = act(options);
        });
        add_admin(*command, options.remote);
        return command;
    }

    CLI::App& noun(CLI::App& app, const char* name, const char* what, const char* examples) {
        auto* command = app.add_subcommand(name, what);
        command->require_subcommand(1);
        command->footer(examples);
        return *command;
    }

    void add_settings(CLI::App& command) {
        command
            .add_option("--partitions", hub.partitions, "Partitions; more can be added, never less")
            ->check(CLI::Range(1, 2048));
        command.add_option("--retention", hub.retention, "Keep events so long: 12h, 7d, forever")
            ->type_name("TIME");
        command
            .add_option("--partition-bytes-max", hub.partition_bytes_max,
                        "Oldest events go above this size of a partition: 10GiB, unlimited")
            ->type_name("SIZE");
    }

    void add_hub(CLI::App& app) {
        auto& hubs =
            noun(app, "hub", "Event hubs: list, create, show, alter, purge, remove", hub_examples);
        const auto named = [this](CLI::App* command) {
            command->add_option("HUB", hub.name, "Name of the event hub")->required();
            return command;
        };
        add_output(*leaf(hubs, "ls", "What there is", hub, hub_ls), output,
                   {"table", "json", "name"});
        auto* create = named(leaf(hubs, "create", "Make an event hub", hub, hub_create));
        add_settings(*create);
        create->add_option("--group", hub.groups, "A consumer group to make with it")
            ->take_all()
            ->allow_extra_args(false);
        create->add_flag("--if-not-exists", hub.if_not_exists, "Leave it if it is there");
        add_output(*create, output, {"table", "json"});
        add_output(
            *named(leaf(hubs, "show", "One event hub, partition by partition", hub, hub_show)),
            output, {"table", "json"});
        auto* alter = named(leaf(hubs, "alter", "Change its settings", hub, hub_alter));
        add_settings(*alter);
        add_output(*alter, output, {"table", "json"});
        auto* purge = named(leaf(hubs, "purge", "Remove its events; it stays", hub, hub_purge));
        purge->add_option("-p,--partition", hub.partition, "Only of this partition");
        purge->add_option("--before", hub.before, "Only events before this sequence number")
            ->check(CLI::NonNegativeNumber);
        add_danger(*purge, hub.danger);
        auto* rm = named(leaf(hubs, "rm", "Remove it with all its events", hub, hub_rm));
        add_danger(*rm, hub.danger);
    }

    void add_group(CLI::App& app) {
        auto& groups = noun(app, "group", "Consumer groups: list, create, remove", group_examples);
        const auto of_hub = [this](CLI::App* command) {
            command->add_option("HUB", group.event_hub, "Name of the event hub")->required();
            return command;
        };
        const auto named = [&](CLI::App* command) {
            of_hub(command)->add_option("GROUP", group.name, "Name of the group")->required();
            return command;
        };
        add_output(*of_hub(leaf(groups, "ls", "The groups of an event hub", group, group_ls)),
                   output, {"table", "json", "name"});
        auto* create = named(leaf(groups, "create", "Make a group", group, group_create));
        create->add_flag("--if-not-exists", group.if_not_exists, "Leave it if it is there");
        add_output(*create, output, {"table", "json"});
        add_danger(*named(leaf(groups, "rm", "Remove a group; events stay", group, group_rm)),
                   group.danger);
    }

    void add_key(CLI::App& app) {
        auto& keys =
            noun(app, "key", "Keys and what they allow: list, show, create, rotate, remove",
                 key_examples);
        const auto of_hub = [this](CLI::App* command) {
            command
                ->add_option("--event-hub", key.event_hub,
                             "A key of this event hub only; without it, of the whole namespace")
                ->type_name("HUB");
            return command;
        };
        const auto named = [&](CLI::App* command) {
            of_hub(command)->add_option("KEY", key.name, "Name of the key")->required();
            return command;
        };
        add_output(*of_hub(leaf(keys, "ls", "Names and rights, without secrets", key, key_ls)),
                   output, {"table", "json", "name"});
        add_output(*named(leaf(keys, "show", "One key with its secrets", key, key_show)), output,
                   {"table", "json"});
        auto* create = named(leaf(keys, "create", "Make a key, and show it", key, key_create));
        create->add_option("--rights", key.rights, "send, listen, manage; with commas between")
            ->delimiter(',')
            ->allow_extra_args(false)
            ->required();
        add_output(*create, output, {"table", "json"});
        auto* rotate =
            named(leaf(keys, "rotate", "Replace one of its two secrets", key, key_rotate));
        rotate->add_option("--key", key.which, "Which of the two is replaced")
            ->check(CLI::IsMember({"primary", "secondary"}))
            ->required();
        add_output(*rotate, output, {"table", "json"});
        add_danger(*named(leaf(keys, "rm", "Remove a key", key, key_rm)), key.danger);
    }

    void add_conn(CLI::App& app) {
        auto* command =
            app.add_subcommand("conn", "Print a connection string for other programs, and try it");
        command->footer(conn_examples);
        command->add_option("HUB", conn.event_hub, "Name of the event hub");
        command->add_option("--key", conn.key, "With this key; needs Manage")->type_name("KEY");
        command->add_option("--for", conn.way, "AMQP, or AMQP over WebSocket")
            ->check(CLI::IsMember({"amqp", "ws"}))
            ->capture_default_str();
        command->add_flag("--env", conn.as_environment, "As lines for a shell");
        command->add_flag("--test", conn.test, "Try it, and say so on stderr");
        add_output(*command, output, {"table", "json"});
        add_admin(*command, conn.remote);
        command->callback([this] {
            conn.output = output_of(output);
            *exit = cli::conn(conn);
        });
    }

    void add_check(CLI::App& app) {
        auto* command = app.add_subcommand(
            "check", "Can the hub be reached and used? Each check with a remedy");
        command->footer(check_examples);
        command->add_option("HUB", check.event_hub, "Name of an event hub");
        command->add_option("--rights", check.rights, "These are needed: send, listen, manage")
            ->delimiter(',')
            ->allow_extra_args(false)
            ->check(CLI::IsMember({"send", "listen", "manage"}));
        add_output(*command, output, {"table", "json"});
        add_admin(*command, check.remote);
        command->callback([this] {
            check.output = output_of(output);
            *exit = cli::check(check);
        });
    }

    void add_send(CLI::App& app) {
        auto* command = app.add_subcommand("send", "Send events to an event hub");
        command->footer(send_examples);
        command->add_option("HUB", send.event_hub, "Name of the event hub")->required();
        command->add_option("BODY", send.bodies, "Events; without any, those of --file");
        command->add_option("--file", send.files, "Read events from there; -: standard input")
            ->type_name("FILE")
            ->take_all()
            ->allow_extra_args(false);
        command
            ->add_option("--format", send.format, "What an event is: a line, a JSON line, a file")
            ->check(CLI::IsMember({"lines", "ndjson", "file"}))
            ->capture_default_str();
        command->add_flag_callback(
            "--ndjson", [this] { send.format = "ndjson"; }, "The same as --format ndjson");
        auto* one_key = command->add_option("--key", send.key, "Partition key of all events");
        auto* field = command->add_option("--key-field", send.key_field,
                                          "Field of each JSON line that holds its partition key");
        auto* partition =
            command->add_option("-p,--partition", send.partition, "Partition to send to");
        one_key->excludes(field)->excludes(partition);
        field->excludes(partition);
        command->add_option("-P,--property", send.properties, "Property of all events: NAME=VALUE")
            ->type_name("NAME=VALUE")
            ->take_all()
            ->allow_extra_args(false);
        command->add_option("--content-type", send.content_type, "Content type of all events");
        command->add_option("--count", send.count,
                            "Stop after so many; repeats the BODY arguments");
        command->add_option("--rate", rate, "Events a second, or 600/m; 0: as fast as it goes")
            ->capture_default_str();
        command->add_flag("--progress", send.progress,
                          "Say how far it is, where no terminal is too");
        command->add_flag("-q,--quiet", send.quiet, "Say nothing at the end");
        add_remote(*command, send.remote);
        command->callback([this] {
            send.rate = rate;
            *exit = cli::send(send);
        });
    }

    void add_read(CLI::App& app) {
        auto* command = app.add_subcommand("read", "Read events of an event hub");
        command->footer(read_examples);
        command->add_option("HUB", read.event_hub, "Name of the event hub")->required();
        command->add_option("--group", read.group, "Consumer group")->capture_default_str();
        command->add_option("-p,--partition", read.partitions, "Partition; all without it")
            ->take_all()
            ->allow_extra_args(false);
        command
            ->add_option("--from", read.from,
                         "start, end, seq:N, offset:N, a time, -15m ago, last -N")
            ->type_name("PLACE")
            ->capture_default_str();
        auto* to = command->add_option("--to", read.to, "Only what lies before this place");
        to->type_name("PLACE");
        command->add_option("--filter", read.filter, "Only events that meet this, see below")
            ->type_name("CONDITION");
        command->add_option("-n,--count", read.count, "Stop after so many events");
        auto* follow = command->add_flag("--follow", read.follow, "Wait for more at the end");
        follow->excludes(to);
        command->add_flag("-e,--exit", read.exit_at_end, "Stop at the end, as it does anyway")
            ->excludes(follow);
        command->add_option("-f,--format", read.format, "How an event is shown, see below");
        command->add_option("--epoch", read.epoch, "Read alone, with this owner level");
        command->add_option("-o,--output", read.output, "text, or a JSON object a line")
            ->check(CLI::IsMember({"text", "json"}))
            ->capture_default_str();
        command->add_flag("-q,--quiet", read.quiet, "Only events, no word about them");
        add_remote(*command, read.remote);
        command->callback([this] { *exit = cli::read(read); });
    }

    void add_completion(CLI::App& app) {
        auto* command = app.add_subcommand("completion", "Print the completion of a shell");
        command->footer(completion_examples);
        command->add_option("SHELL", shell, "bash, zsh or fish")
            ->required()
            ->check(CLI::IsMember({"bash", "zsh", "fish"}));
        command->callback([this] { *exit = print_completion(shell); });
    }
};

ClientCommands::ClientCommands() : state_(std::make_unique<State>()) {}

ClientCommands::~ClientCommands() = default;

void ClientCommands::add_to(CLI::App& app, ExitCode& exit) {
    state_->exit = &exit;
    state_->add_send(app);
    state_->add_read(app);
    state_->add_hub(app);
    state_->add_group(app);
    state_->add_key(app);
    state_->add_conn(app);
    state_->add_check(app);
    state_->add_completion(app);
}

}  // namespace evenkeel::cli
