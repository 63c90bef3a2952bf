#include "cli/commands/completion.h"

#include <map>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "base/text.h"
#include "cli/commands/bench.h"
#include "cli/commands/commands.h"
#include "cli/contexts.h"
#include "cli/remote/admin_client.h"
#include "cli/text/listing.h"
#include "cli/usage.h"

namespace evenkeel::cli {
namespace {

constexpr const char* completion_examples = R"(
Examples:
  source <(evenkeel completion bash)                      for this shell
  evenkeel completion bash > ~/.local/share/bash-completion/completions/evenkeel
  evenkeel completion zsh > "${fpath[1]}/_evenkeel"
  evenkeel completion fish > ~/.config/fish/completions/evenkeel.fish

Names of event hubs, groups and keys are those of the hub that EVENKEEL_HUB names.)";

constexpr const char* bash_script =
    R"(# Completion of evenkeel for bash: source <(evenkeel completion bash)
_evenkeel() {
    local line
    COMPREPLY=()
    while IFS= read -r line; do
        printf -v line %q "${line%%$'\t'*}"
        COMPREPLY+=("$line")
    done < <("$1" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _evenkeel evenkeel
)";

constexpr const char* zsh_script = R"(#compdef evenkeel
# Completion of evenkeel for zsh: source <(evenkeel completion zsh)
_evenkeel() {
    local line
    local -a names texts
    while IFS= read -r line; do
        names+=("${line%%$'\t'*}")
        texts+=("${line/$'\t'/  -- }")
    done < <("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)
    if (( ${#names} )); then
        compadd -l -d texts -a names
    else
        _files
    fi
}
if [[ ${funcstack[1]} == _evenkeel ]]; then
    _evenkeel "$@"
else
    compdef _evenkeel evenkeel
fi
)";

constexpr const char* fish_script =
    R"(# Completion of evenkeel for fish: evenkeel completion fish | source
function __evenkeel_complete
    set -l words (commandline -opc) (commandline -ct)
    $words[1] __complete $words[2..-1] 2>/dev/null
end
complete -c evenkeel -f -a '(__evenkeel_complete)'
for option in file ca data config ready-file certificate-file json
    complete -c evenkeel -l $option -r -F
end
)";

constexpr const char* live_timeout = "700ms";

// A command line as far as it was typed.
struct Typed {
    const CLI::App* command = nullptr;
    const CLI::Option* waiting = nullptr;  // for its value
    std::vector<std::string> positionals;
    std::map<std::string, std::string> values;  // of options, by their long name
};

// All but the last word, which is being typed.
Typed read_words(const CLI::App& app, const std::vector<std::string>& words) {
    Typed typed{&app, nullptr, {}, {}};
    const auto keep = [&](const CLI::Option& option, const std::string& value) {
        for (const auto& name : option.get_lnames()) typed.values[name] = value;
    };
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
        const std::string& word = words[i];
        if (typed.waiting) {
            keep(*typed.waiting, word);
            typed.waiting = nullptr;
        } else if (word.size() > 1 && word.starts_with('-')) {
            const CLI::Option* const option = find_option(*typed.command, word);
            if (!option || !takes_value(*option)) continue;
            const auto equals = word.find('=');
            if (equals == std::string::npos) {
                typed.waiting = option;
            } else {
                keep(*option, word.substr(equals + 1));
            }
        } else if (const auto* const command = find_command(*typed.command, word)) {
            typed.command = command;
        } else {
            typed.positionals.push_back(word);
        }
    }
    return typed;
}

// The words of "TEXT:{bash,zsh,fish}".
std::vector<Candidate> choices_of(const CLI::Option& option) {
    std::vector<Candidate> choices;
    const std::string type = option.get_type_name();
    const auto begin = type.find('{');
    const auto end = type.find('}');
    if (begin == std::string::npos || end == std::string::npos) return choices;
    std::string word;
    for (std::size_t i = begin + 1; i <= end; ++i) {
        if (type[i] == ',' || type[i] == '}') {
            choices.push_back({word});
            word.clear();
        } else {
            word += type[i];
        }
    }
    return choices;
}

std::vector<Candidate> context_names() {
    std::vector<Candidate> names;
    const auto contexts = read_contexts();
    if (!contexts.ok()) return names;
    for (const auto& [name, context] : contexts->all) names.push_back({name, "context"});
    return names;
}

// What the hub has of that kind: HUB, GROUP or KEY; or CONTEXT. Nothing if it cannot be asked now.
std::vector<Candidate> live_names(const std::string& kind, const Typed& typed) {
    if (kind == "CONTEXT") return context_names();
    std::vector<Candidate> names;
    const auto value = [&](const char* name) {
        const auto found = typed.values.find(name);
        return found == typed.values.end() ? std::string() : found->second;
    };
    const auto remote = remote_of({value("hub"), value("url"), value("ca"), live_timeout});
    if (!remote.ok()) return names;
    AdminClient admin(*remote);
    if (kind == "KEY") {
        const auto keys = admin.keys(value("event-hub"));
        if (!keys.ok()) return names;
        for (const auto& key : *keys) names.push_back({printable(key.name), "key"});
        return names;
    }
    const auto hubs = admin.hubs();
    if (!hubs.ok()) return names;
    for (const auto& hub : *hubs) {
        if (kind == "HUB") {
            names.push_back({printable(hub.name), plural(hub.options.partitions, "partition")});
        } else if (!typed.positionals.empty() && hub.name == typed.positionals.front()) {
            for (const auto& group : hub.groups) names.push_back({printable(group), "group"});
        }
    }
    return names;
}

std::vector<Candidate> values_of(const CLI::Option& option, const Typed& typed) {
    if (auto choices = choices_of(option); !choices.empty()) return choices;
    if (option.check_name("--context")) return live_names("CONTEXT", typed);
    if (option.check_name("--event-hub") || option.get_type_name() == "HUB") {
        return live_names("HUB", typed);
    }
    if (option.check_name("--group")) return live_names("GROUP", typed);
    if (option.check_name("--key") && option.get_type_name() == "KEY") {
        return live_names("KEY", typed);
    }
    return {};
}

std::vector<Candidate> names_of(const CLI::App& app) {
    std::vector<Candidate> names;
    for (const CLI::Option* option : app.get_options()) {
        if (option->get_group().empty()) continue;
        for (const auto& name : option->get_lnames()) {
            names.push_back({"--" + name, option->get_description()});
        }
        for (const auto& name : option->get_snames()) {
            names.push_back({"-" + name, option->get_description()});
        }
    }
    return names;
}

// Aliases are offered to those who have begun to type one.
std::vector<Candidate> words_of(const Typed& typed, bool has_begun) {
    std::vector<Candidate> words;
    if (typed.positionals.empty()) {
        const auto all = typed.command->get_subcommands([](const CLI::App*) { return true; });
        for (const CLI::App* command : all) {
            if (command->get_group().empty()) continue;
            words.push_back({command->get_name(), command->get_description()});
            if (!has_begun) continue;
            for (const auto& alias : command->get_aliases()) {
                words.push_back({alias, command->get_description()});
            }
        }
    }
    std::size_t place = 0;
    for (const CLI::Option* option : typed.command->get_options()) {
        if (!option->get_positional() || option->get_group().empty()) continue;
        if (place++ != typed.positionals.size()) continue;
        const std::string name = option->get_single_name();
        const bool is_live = name == "HUB" || name == "GROUP" || name == "KEY" || name == "CONTEXT";
        const auto more = is_live ? live_names(name, typed) : choices_of(*option);
        words.insert(words.end(), more.begin(), more.end());
    }
    return words;
}

}  // namespace

void add_completion(CLI::App& app, Chosen& chosen) {
    auto& shell = chosen.keep<std::string>();
    auto* command = app.add_subcommand("completion", "Print the completion script for a shell");
    command->footer(completion_examples);
    command->add_option("SHELL", shell, "bash, zsh or fish")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh", "fish"}));
    command->callback([&shell, &chosen] { chosen.exit = print_completion(shell); });
}

ExitCode print_completion(std::string_view shell) {
    fmt::print("{}", shell == "bash" ? bash_script : shell == "zsh" ? zsh_script : fish_script);
    return ExitCode::done;
}

std::vector<Candidate> candidates(const CLI::App& app, const std::vector<std::string>& words) {
    const Typed typed = read_words(app, words);
    const std::string last = words.empty() ? std::string() : words.back();
    std::vector<Candidate> all;
    if (typed.waiting) {
        all = values_of(*typed.waiting, typed);
    } else if (last.starts_with('-')) {
        all = names_of(*typed.command);
    } else {
        all = words_of(typed, !last.empty());
    }
    std::erase_if(all, [&](const Candidate& one) { return !one.text.starts_with(last); });
    return all;
}

ExitCode print_candidates(const CLI::App& app, const std::vector<std::string>& words) {
    if (const auto* const command = words.size() > 1 ? find_command(app, words.front()) : nullptr;
        command && command->get_prefix_command()) {  // 'bench': that program knows what may follow
        std::vector<std::string> rest{"__complete"};
        rest.insert(rest.end(), words.begin() + 1, words.end());
        return bench(rest);
    }
    for (const auto& candidate : candidates(app, words)) {
        fmt::print("{}\t{}\n", candidate.text, printable(candidate.what));
    }
    return ExitCode::done;
}

}  // namespace evenkeel::cli
