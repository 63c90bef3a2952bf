#include "cli/usage.h"

#include <algorithm>
#include <sstream>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "base/spelling.h"
#include "base/text.h"
#include "cli/text/duration.h"

namespace evenkeel::cli {
namespace {

class HelpStyle final : public CLI::Formatter {
public:
    std::string make_subcommand(const CLI::App* command) const override {
        std::stringstream out;
        CLI::detail::format_help(out, command->get_display_name(), command->get_description(),
                                 get_column_width());
        return out.str();
    }
};

std::vector<const CLI::App*> commands_below(const CLI::App& app) {
    return app.get_subcommands([](const CLI::App*) { return true; });
}

void alias_if_free(CLI::App& parent, CLI::App& command, const char* alias) {
    if (!find_command(parent, alias)) command.alias(alias);
}

// An option if it looks like one, else a command; empty if none is near.
std::string meant(const CLI::App& app, const std::string& word, const Synonyms& synonyms) {
    std::vector<std::string> words;
    if (word.starts_with('-')) {
        for (const CLI::Option* option : app.get_options()) {
            if (option->get_group().empty()) continue;
            for (const auto& name : option->get_lnames()) words.push_back("--" + name);
        }
    } else {
        for (const CLI::App* command : commands_below(app)) {
            if (command->get_group().empty()) continue;
            words.push_back(command->get_name());
            for (const auto& alias : command->get_aliases()) words.push_back(alias);
        }
        for (const auto& [other, ours] : synonyms) {
            if (other == word && find_command(app, ours)) return ours;
        }
    }
    if (auto near = nearest(word, words); !near.empty()) return near;
    const auto longer = std::ranges::find_if(
        words, [&](const std::string& one) { return word.size() > 2 && one.starts_with(word); });
    return longer == words.end() ? std::string() : *longer;
}

}  // namespace

void set_help_style(CLI::App& app) {
    app.formatter(std::make_shared<HelpStyle>());
}

void add_aliases(CLI::App& app) {
    for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
        const std::string name = command->get_name();
        if (name == "ls") alias_if_free(app, *command, "list");
        if (name == "show") alias_if_free(app, *command, "describe");
        if (name == "rm") {
            alias_if_free(app, *command, "delete");
            alias_if_free(app, *command, "remove");
        }
        add_aliases(*command);
    }
}

void refuse_signs(CLI::App& app) {
    for (CLI::Option* option : app.get_options()) {
        if (!option->get_type_name().starts_with("UINT")) continue;
        option->check([](const std::string& text) -> std::string {
            if (!text.empty() && text.front() >= '0' && text.front() <= '9') return {};
            return fmt::format("'{}' is not a whole number of 0 or more", text);
        });
    }
    for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
        refuse_signs(*command);
    }
}

void refuse_empty_places(CLI::App& app) {
    for (const char* name : {"--hub", "--context", "--url", "--ca", "--store", "--namespace",
                             "--group", "--to-connection", "--to-url", "--to-ca", "--to-group"}) {
        CLI::Option* const option = app.get_option_no_throw(name);
        if (!option || !takes_value(*option)) continue;
        option->check([](const std::string& text) -> std::string {
            return text.empty() ? "the value is empty: is a variable not set?" : "";
        });
    }
    for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
        refuse_empty_places(*command);
    }
}

namespace {

// No argument of a program has it at its end: the shell cannot pass it on.
constexpr char bracket_mark = '\0';

void remove_marks(CLI::App& app) {
    for (CLI::Option* option : app.get_options()) {
        if (!takes_value(*option)) continue;
        option->transform([](std::string text) {
            if (!text.empty() && text.back() == bracket_mark) text.pop_back();
            return text;
        });
    }
    for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
        remove_marks(*command);
    }
}

}  // namespace

void keep_brackets(CLI::App& app, std::vector<std::string>& words) {
    remove_marks(app);
    for (std::string& word : words) {
        // Also in --property=[1,2]: what counts is how the value ends.
        if (word.ends_with(']')) word += bracket_mark;
    }
}

const CLI::App* find_command(const CLI::App& app, const std::string& word) {
    for (const CLI::App* command : commands_below(app)) {
        if (command->check_name(word)) return command;
    }
    return nullptr;
}

const CLI::Option* find_option(const CLI::App& app, const std::string& word) {
    const std::string name = word.substr(0, word.find('='));
    for (const CLI::Option* option : app.get_options()) {
        for (const auto& known : option->get_lnames()) {
            if (name == "--" + known) return option;
        }
        for (const auto& known : option->get_snames()) {
            if (name == "-" + known) return option;
        }
    }
    return nullptr;
}

bool takes_value(const CLI::Option& option) {
    return option.get_items_expected_max() > 0;
}

std::string command_of(const CLI::App& app) {
    const CLI::App* parent = app.get_parent();
    return parent ? command_of(*parent) + " " + app.get_name() : app.get_name();
}

namespace {

// The command that an unknown option stands before, if it has such an option; none else.
const CLI::App* find_below(const CLI::App& app, const std::vector<std::string>& words,
                           std::size_t begin) {
    const std::string& option = words[begin - 1];
    const CLI::App* at = &app;
    for (std::size_t i = begin; i < words.size(); ++i) {
        if (const CLI::App* const command = find_command(*at, words[i])) at = command;
    }
    return at != &app && find_option(*at, option) ? at : nullptr;
}

}  // namespace

std::optional<UnknownCommand> find_unknown(const CLI::App& app,
                                           const std::vector<std::string>& words) {
    const CLI::App* at = &app;
    for (std::size_t i = 0; i < words.size() && at->get_require_subcommand_min() > 0; ++i) {
        const std::string& word = words[i];
        if (word.starts_with('-')) {
            if (word == "--") return std::nullopt;
            const CLI::Option* const option = find_option(*at, word);
            if (!option) return UnknownCommand{at, word, find_below(*at, words, i + 1)};
            if (takes_value(*option) && word.find('=') == std::string::npos) ++i;
            continue;
        }
        const CLI::App* const command = find_command(*at, word);
        if (!command) return UnknownCommand{at, word};
        at = command;
    }
    return std::nullopt;
}

std::string explain_unknown(const CLI::App& parent, const std::string& word,
                            const Synonyms& synonyms) {
    const bool is_option = word.starts_with('-');
    if (!is_option && parent.get_require_subcommand_min() == 0) {
        // The parser takes no value for it but behind '='.
        const CLI::Option* const watch = find_option(parent, "--watch");
        if (watch && watch->count() > 0 && parse_duration(word)) {
            return fmt::format("unexpected argument '{0}' of '{1}'; did you mean '--watch={0}'?",
                               printable(word), command_of(parent));
        }
    }
    const std::string_view kind = is_option                                  ? "unknown option"
                                  : parent.get_require_subcommand_min() == 0 ? "unexpected argument"
                                                                             : "unknown command";
    std::string text = fmt::format("{} '{}'", kind, printable(word.substr(0, word.find('='))));
    if (parent.get_parent()) text += fmt::format(" of '{}'", command_of(parent));
    const std::string near = meant(parent, word.substr(0, word.find('=')), synonyms);
    return near.empty() ? text : fmt::format("{}; did you mean '{}'?", text, near);
}

std::string explain_missing(const CLI::App& parent) {
    std::vector<std::string> names;
    for (const CLI::App* command : commands_below(parent)) {
        if (!command->get_group().empty()) names.push_back(command->get_name());
    }
    std::string text = command_of(parent) + " needs a command";
    for (std::size_t i = 0; i < names.size(); ++i) {
        text += (i == 0 ? ": " : i + 1 == names.size() ? " or " : ", ") + names[i];
    }
    return text;
}

}  // namespace evenkeel::cli
