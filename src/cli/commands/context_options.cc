#include "cli/commands/context_options.h"

#include <CLI/CLI.hpp>

#include "cli/commands/commands.h"
#include "cli/commands/context_command.h"
#include "cli/commands/shared_options.h"
#include "cli/contexts.h"
#include "cli/usage.h"

namespace evenkeel::cli {
namespace {

constexpr const char* context_examples = R"x(
Examples:
  evenkeel context add local --hub "$(evenkeel conn)" --use
  evenkeel context add prod --hub - < connection.txt    not in the history of the shell
  evenkeel context add prod --replace --hub - --store postgresql://db/progress --ca ca.pem
  evenkeel hub ls --context prod                        only here
  evenkeel context use prod                             from now on
  evenkeel context use --none                           the hub of 'evenkeel dev' again

The file has mode 0600. 'ls' and 'show' never print a secret.)x";

bool takes_hub(const CLI::App& command) {
    return find_option(command, "--connection") != nullptr;
}

bool takes_context(const CLI::App& command) {
    return find_option(command, "--context") != nullptr;
}

void add_to(CLI::App& command) {
    command
        .add_option_function<std::string>(
            "--context", [](const std::string&) { /* use_context() has read it */ },
            "Use the hub and the store of this context, see 'evenkeel context'")
        ->type_name("CONTEXT")
        ->group("Hub");
}

void add_below(CLI::App& parent) {
    for (CLI::App* command : parent.get_subcommands([](CLI::App*) { return true; })) {
        if (takes_hub(*command)) add_to(*command);
        add_below(*command);
    }
}

// The value of an option in `words`; the last one counts. "--" ends the options.
std::string value_of(const std::vector<std::string>& words, const std::string& name) {
    std::string value;
    for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
        if (words[i] == name && i + 1 < words.size()) value = words[i + 1];
        if (words[i].starts_with(name + "=")) value = words[i].substr(name.size() + 1);
    }
    return value;
}

// The command that the words name, as far as they do.
const CLI::App& named_by(const CLI::App& app, const std::vector<std::string>& words) {
    const CLI::App* at = &app;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (words[i].starts_with('-')) {
            const CLI::Option* const option = find_option(*at, words[i]);
            if (option && takes_value(*option) && words[i].find('=') == std::string::npos) ++i;
        } else if (const CLI::App* const command = find_command(*at, words[i])) {
            at = command;
        } else {
            break;
        }
    }
    return *at;
}

}  // namespace

void add_context_option(CLI::App& app) {
    add_below(app);
    add_to(app);
}

Result<> use_context(const CLI::App& app, const std::vector<std::string>& words) {
    const CLI::App& command = named_by(app, words);
    if (&command == &app || !takes_context(command)) return {};
    for (const auto& word : words) {
        if (word == "--") break;
        if (word == "--help" || word == "-h") return {};
    }
    const bool has_hub = takes_hub(command) && (!value_of(words, "--hub").empty() ||
                                                !value_of(words, "--connection").empty());
    const auto chosen = choose_context(value_of(words, "--context"), has_hub);
    // It reports a damaged file among its findings.
    if (!chosen.ok() && command.get_name() == "doctor") return {};
    if (!chosen.ok()) return chosen.error();
    return apply_context(*chosen);
}

void add_context(CLI::App& app, Chosen& chosen) {
    auto& options = chosen.keep<ContextCommand>();
    auto& output = chosen.keep<std::string>();
    output = "table";
    auto* parent = app.add_subcommand(
        "context", "Named hubs and stores with their credentials: add, use, list, show, remove");
    parent->require_subcommand(1);
    parent->footer(context_examples);
    const auto leaf = [&](const char* name, const char* what,
                          ExitCode (*act)(const ContextCommand&)) {
        auto* command = parent->add_subcommand(name, what);
        command->footer(context_examples);
        command->callback([&options, &output, &chosen, act] {
            options.output = output_of(output);
            chosen.exit = act(options);
        });
        return command;
    };
    const auto named = [&](CLI::App* command) {
        return command->add_option("CONTEXT", options.name, "Name of the context");
    };
    auto* add = leaf("add", "Add a context, or replace one", context_add);
    named(add)->required();
    add->add_option("--hub", options.context.hub, "Connection string; -: a line of standard input")
        ->type_name("STRING");
    add->add_option("--store", options.context.store,
                    "Checkpoint store; -: a line of standard input")
        ->type_name("STORE");
    add->add_option("--url", options.context.url,
                    "URL of the admin interface; default: that of the hub")
        ->type_name("URL");
    add->add_option("--ca", options.context.ca, "PEM file with CA certificates to trust")
        ->type_name("FILE");
    add->add_flag("--use", options.use, "Use it from now on");
    add->add_flag("--replace", options.replace, "Replace a context of this name");
    auto* use = leaf("use", "Use a context from now on", context_use);
    named(use);
    use->add_flag("--none", options.none, "Use none: the hub of 'evenkeel dev' on this machine");
    add_output(*leaf("ls", "List contexts, without secrets", context_ls), output,
               {"table", "json", "name"});
    auto* show =
        leaf("show", "Show a context, without secrets; default: the one in use", context_show);
    named(show);
    add_output(*show, output, {"table", "json"});
    auto* rm = leaf("rm", "Remove a context and its credentials", context_rm);
    named(rm)->required();
    add_danger(*rm, options.danger);
}

}  // namespace evenkeel::cli
