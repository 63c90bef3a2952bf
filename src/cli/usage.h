// What users are shown of the declared commands: other names of commands, the help, and what was
// probably meant by a word that is neither a command nor an option.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own name
class App;
class Option;
}  // namespace CLI

namespace evenkeel::cli {

// Words of other tools, and our word for it: {"topic", "hub"}.
using Synonyms = std::vector<std::pair<std::string, std::string>>;

// Before commands are declared: their help does not list aliases.
void set_help_style(CLI::App& app);
// After that: `list` for each `ls`, `delete` and `remove` for `rm`, `describe` for `show`, wherever
// the name is free.
void add_aliases(CLI::App& app);

// After all options are declared: a number that cannot be negative refuses a sign, since the parser
// would take -1 for the largest number.
void refuse_signs(CLI::App& app);
// The same for options that name a hub, a store or a group: an empty value is a variable that was
// not set, and the default would be another hub than the one that was meant.
void refuse_empty_places(CLI::App& app);

// After them, right before parsing: the parser would take the body "[1,2]" for two values, "1" and
// "2", where several may be given. Values keep their brackets.
void keep_brackets(CLI::App& app, std::vector<std::string>& words);

// The command below `app` that has this name or alias; none if there is none.
const CLI::App* find_command(const CLI::App& app, const std::string& word);
// The option of `app` that a word such as --output=json or -o names; none if there is none.
const CLI::Option* find_option(const CLI::App& app, const std::string& word);
bool takes_value(const CLI::Option& option);

// "evenkeel hub ls"
std::string command_of(const CLI::App& app);

// A word where a command was expected, and the command that has none of that name; also an option
// that it does not have.
struct UnknownCommand {
    const CLI::App* parent;
    std::string word;
    // It is an option of this command, which comes behind it; null: it is not.
    const CLI::App* owner = nullptr;
};
// `words` without the program's name.
std::optional<UnknownCommand> find_unknown(const CLI::App& app,
                                           const std::vector<std::string>& words);
// "unknown command 'hbu'; did you mean 'hub'?"
std::string explain_unknown(const CLI::App& parent, const std::string& word,
                            const Synonyms& synonyms);
// "evenkeel hub needs a command: ls, create or rm"
std::string explain_missing(const CLI::App& parent);

}  // namespace evenkeel::cli
