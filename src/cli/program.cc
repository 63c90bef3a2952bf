#include "cli/program.h"

#include <csignal>
#include <string_view>

#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "base/spelling.h"
#include "cli/commands/completion.h"

namespace evenkeel::cli {
namespace {

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

// "--seconds" for a word that is almost an option or command of `app`; empty if none is.
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
        const std::string_view kind = extras.front().starts_with('-') ? "an option" : "a command";
        if (lacks_command) {
            what = fmt::format("'{}' is not {} of {}", extras.front(), kind, command_of(at));
        }
        if (const auto word = suggestion(at, extras.front()); !word.empty()) {
            hint = fmt::format("{} (did you mean {}?)", hint, word);
        }
    }
    return wrong_usage(what, hint);
}

// A file that grows beyond the user's limit is an error for its writer, not the end of the process.
void prepare_process() {
    rlimit files{};
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    std::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace

ExitCode run(const Program& program, int count, char** arguments) {
    prepare_process();
    Chosen chosen;
    CLI::App app(program.description, program.name);
    if (!program.version.empty()) app.set_version_flag("--version", program.version);
    app.require_subcommand(1);
    app.footer(program.examples);
    for (const auto add : program.commands) add(app, chosen);
    const std::string_view first = count > 1 ? arguments[1] : "";
    // The scripts of 'evenkeel completion' ask with what was typed so far.
    if (first == "__complete") return print_candidates(app, {arguments + 2, arguments + count});
    std::vector<char*> words(arguments, arguments + count);
    std::string help = "--help";
    if (first == "help") {  // 'help hub ls' is 'hub ls --help'
        words.erase(words.begin() + 1);
        words.push_back(help.data());
    }
    try {
        app.parse(static_cast<int>(words.size()), words.data());
    } catch (const CLI::ParseError& error) {
        return explain(app, error);
    }
    return chosen.exit;
}

}  // namespace evenkeel::cli
