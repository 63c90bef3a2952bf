#include "cli/program.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <sstream>
#include <string_view>
#include <system_error>

#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "base/text.h"
#include "cli/commands/completion.h"
#include "cli/commands/context_options.h"
#include "cli/text/standard_output.h"

namespace evenkeel::cli {
namespace {

const CLI::App* innermost(const CLI::App* app) {
    while (true) {
        const auto chosen = app->get_subcommands();
        if (chosen.empty()) return app;
        app = chosen.front();
    }
}

ExitCode explain(CLI::App& app, const CLI::ParseError& error, const Synonyms& synonyms) {
    if (error.get_exit_code() == 0) {  // --help and --version
        std::ostringstream text;
        app.exit(error, text, text);
        fmt::print("{}", text.str());
        return ExitCode::done;
    }
    const CLI::App& at = *innermost(&app);
    const std::string hint = command_of(at) + " --help";
    const auto extras = at.remaining();
    // What is missing may be what was misspelt.
    const bool may_be_misspelt = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr ||
                                 dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
    if (may_be_misspelt && !extras.empty()) {
        return wrong_usage(explain_unknown(at, extras.front(), synonyms), hint);
    }
    // "Could not convert: --partition = 99999999999"
    constexpr std::string_view not_converted = "Could not convert: ";
    if (const std::string_view said = error.what(); said.starts_with(not_converted)) {
        const std::string_view rest = said.substr(not_converted.size());
        const auto middle = rest.find(" = ");
        return wrong_usage(
            middle == std::string_view::npos
                ? fmt::format("{}: the value is not valid", rest)
                : fmt::format("{}: '{}' is out of range, or not a value of this kind",
                              rest.substr(0, middle), rest.substr(middle + 3)),
            hint);
    }
    const bool lacks_command = at.get_require_subcommand_min() > 0;
    return wrong_usage(lacks_command ? explain_missing(at) : error.what(), hint);
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

ExitCode run_command(const Program& program, int count, char** arguments) {
    Chosen chosen;
    CLI::App app(program.description, program.name);
    if (!program.version.empty()) app.set_version_flag("--version", program.version);
    app.require_subcommand(1);
    app.footer(program.examples);
    set_help_style(app);
    for (const auto& group : program.groups) {
        for (const auto add : group.commands) {
            const std::size_t before = app.get_subcommands({}).size();
            add(app, chosen);
            const auto all = app.get_subcommands({});
            for (std::size_t i = before; i < all.size(); ++i) {
                if (!all[i]->get_group().empty()) all[i]->group(group.title);
            }
        }
    }
    add_aliases(app);
    add_context_option(app);
    refuse_signs(app);
    refuse_empty_places(app);
    std::vector<std::string> words(arguments + 1, arguments + count);
    if (words.empty() && !program.first_steps.empty()) {
        app.footer(program.first_steps);
        fmt::print("{}", app.help());
        return ExitCode::done;
    }
    const std::string first = words.empty() ? "" : words.front();
    // The scripts of 'evenkeel completion' ask with what was typed so far.
    if (first == "__complete") {
        words.erase(words.begin());
        (void)use_context(app, words);  // names come from its hub, or from none
        return print_candidates(app, words);
    }
    if (first == "help") {  // 'help hub ls' is 'hub ls --help'
        words.erase(words.begin());
        words.emplace_back("--help");
    }
    if (const auto unknown = find_unknown(app, words)) {
        if (unknown->owner) {
            return wrong_usage(
                fmt::format("'{}' is an option of '{}': it is written behind the command",
                            printable(unknown->word), command_of(*unknown->owner)),
                command_of(*unknown->owner) + " --help");
        }
        return wrong_usage(explain_unknown(*unknown->parent, unknown->word, program.synonyms),
                           command_of(*unknown->parent) + " --help");
    }
    if (const auto used = use_context(app, words); !used.ok()) {
        return fail("the context cannot be used", used.error(),
                    "'evenkeel context ls' lists the contexts, --hub names a hub without one");
    }
    try {
        keep_brackets(app, words);
        std::ranges::reverse(words);  // as the parser wants them
        app.parse(words);
    } catch (const CLI::ParseError& error) {
        return explain(app, error, program.synonyms);
    }
    return chosen.exit;
}

}  // namespace

ExitCode run(const Program& program, int count, char** arguments) {
    prepare_process();
    ExitCode ended = ExitCode::failed;
    try {
        ended = run_command(program, count, arguments);
    } catch (const std::system_error&) {
        // By fmt::print(), to standard output or to standard error, about which there is nobody
        // left to tell. Everything else reports errors as values.
        if (std::ferror(stdout) == 0 && std::ferror(stderr) == 0) {
            throw;  // tidy: allow throw: not ours; it ends the process as before
        }
    }
    const auto written = flush_output();
    if (written.ok()) return ended;
    if (!output_is_unread() && std::ferror(stderr) == 0) {
        fail("standard output cannot be written", written.error(), "is the disk full?");
    }
    return ExitCode::failed;
}

}  // namespace evenkeel::cli
