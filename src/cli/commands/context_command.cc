#include "cli/commands/context_command.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <boost/json.hpp>
#include <fmt/core.h>

#include "base/text.h"
#include "eventhubs/connection_string.h"
#include "http/client.h"
#include "io/system/files.h"

namespace evenkeel::cli {
namespace {

namespace json = boost::json;

constexpr const char* ls_hint = "'evenkeel context ls' lists the contexts";

Error unknown(const std::string& name) {
    return {ErrorCode::not_found, fmt::format("there is no context '{}'", printable(name))};
}

// "-" is a line of standard input: what is typed as an argument is in the history of the shell, and
// in the list of processes.
Result<std::string> given(const std::string& word, const char* what) {
    if (word != "-") return word;
    std::string line;
    std::array<char, 4096> buffer{};
    while (!line.ends_with('\n') && std::fgets(buffer.data(), buffer.size(), stdin)) {
        line += buffer.data();
    }
    const std::string_view text = trimmed(line, " \t\r\n");
    if (text.empty()) {
        return Error{ErrorCode::invalid_argument,
                     fmt::format("standard input has no line for {}", what)};
    }
    return std::string(text);
}

std::string absolute(const std::string& path) {
    std::error_code failed;
    const auto whole = std::filesystem::absolute(path, failed);
    return failed ? path : whole.lexically_normal().string();
}

// What was given, complete and checked: it will be used from other folders.
Result<Context> context_of(const ContextCommand& options) {
    Context context = options.context;
    EK_TRY_ASSIGN(context.hub, given(context.hub, "--hub"));
    EK_TRY_ASSIGN(context.store, given(context.store, "--store"));
    if (context.hub.empty() && context.store.empty()) {
        return Error{ErrorCode::invalid_argument, "a context needs --hub, --store or both"};
    }
    if (!context.hub.empty()) EK_TRY(eventhubs::parse_connection_string(context.hub));
    if (!context.url.empty()) EK_TRY(http::url_of(context.url));
    if (!context.url.empty() && context.hub.empty()) {
        return Error{ErrorCode::invalid_argument, "--url belongs to a hub; give --hub as well"};
    }
    if (!context.ca.empty()) {
        context.ca = absolute(context.ca);
        io::system::SystemFiles files;
        EK_TRY(files.open(context.ca, io::OpenMode::read));
    }
    constexpr std::string_view sqlite = "sqlite:";
    if (context.store.starts_with(sqlite)) {
        context.store = std::string(sqlite) + absolute(context.store.substr(sqlite.size()));
    } else if (!context.store.empty() && context.store.find(':') == std::string::npos) {
        return Error{ErrorCode::invalid_argument,
                     "--store is no address of a store; give sqlite:FILE, "
                     "postgresql://HOST/DATABASE, redis://HOST or azblob:..."};
    }
    return context;
}

std::string or_dash(const std::string& text) {
    return text.empty() ? "-" : printable(without_secrets(text));
}

json::value or_null(const std::string& text) {
    if (text.empty()) return nullptr;
    return json::string(without_secrets(text));
}

json::object json_of(const std::string& name, const Context& context, bool is_current) {
    return {{"name", name},
            {"is_current", is_current},
            {"hub", or_null(context.hub)},
            {"url", or_null(context.url)},
            {"ca", or_null(context.ca)},
            {"store", or_null(context.store)}};
}

// What comes before it in this shell.
void warn_of_variables() {
    for (const char* name : {"EVENKEEL_HUB", "EVENTHUB_CONNECTION_STRING", "EVENKEEL_CONTEXT"}) {
        const char* const value = std::getenv(name);
        if (!value || !*value) continue;
        fmt::print(stderr, "note: {} is set in this shell, and comes before it\n", name);
    }
}

}  // namespace

ExitCode context_add(const ContextCommand& options) {
    const std::string what = fmt::format("context '{}' was not added", printable(options.name));
    if (!is_context_name(options.name)) {
        return wrong_usage(fmt::format("'{}' is no name of a context", shown(options.name)),
                           "letters, digits, '.', '_' and '-', at most 64");
    }
    const auto context = context_of(options);
    if (!context.ok()) return fail(what, context.error(), "evenkeel context add --help");
    const auto added = change_contexts([&](Contexts& contexts) -> Result<> {
        if (contexts.all.contains(options.name) && !options.replace) {
            return Error{ErrorCode::already_exists, "there is a context of this name"};
        }
        contexts.all[options.name] = *context;
        if (options.use) contexts.current = options.name;
        return {};
    });
    if (!added.ok()) {
        return fail(what, added.error(),
                    added.error().code == ErrorCode::already_exists ? "--replace replaces it" : "");
    }
    fmt::print(stderr, "added context '{}' to {}\n", options.name, contexts_path());
    if (options.use) {
        warn_of_variables();
    } else {
        fmt::print(stderr, "use it with --context {} or, from now on, 'evenkeel context use {}'\n",
                   options.name, options.name);
    }
    return ExitCode::done;
}

ExitCode context_use(const ContextCommand& options) {
    if (options.name.empty() != options.none) {
        return wrong_usage("name one context, or --none", "evenkeel context use --help");
    }
    const auto used = change_contexts([&](Contexts& contexts) -> Result<> {
        if (!options.none && !contexts.all.contains(options.name)) return unknown(options.name);
        contexts.current = options.name;
        return {};
    });
    if (!used.ok()) {
        return fail("the context was not changed", used.error(),
                    used.error().code == ErrorCode::not_found ? ls_hint : "");
    }
    if (options.none) {
        fmt::print(stderr, "no context is used: commands use the hub of 'evenkeel dev' here\n");
    } else {
        fmt::print(stderr, "context '{}' is used from now on\n", options.name);
    }
    warn_of_variables();
    return ExitCode::done;
}

ExitCode context_ls(const ContextCommand& options) {
    const auto contexts = read_contexts();
    if (!contexts.ok()) {
        return fail("the contexts cannot be listed", contexts.error(),
                    "repair that line, or move the file away");
    }
    Listing listing({{"CONTEXT"}, {"USED"}, {"HUB"}, {"URL"}, {"STORE"}});
    json::array array;
    for (const auto& [name, context] : contexts->all) {
        const bool is_current = name == contexts->current;
        listing.add({name, Cell(is_current ? "*" : "", is_current ? "yes" : "no"),
                     or_dash(context.hub), or_dash(context.url), or_dash(context.store)});
        array.push_back(json_of(name, context, is_current));
        if (options.output == Output::name) fmt::print("{}\n", name);
    }
    if (options.output == Output::json) fmt::print("{}", indented(array));
    if (options.output == Output::table) {
        fmt::print("{}", listing.text(terminal_of(stdout)));
        if (listing.empty()) {
            fmt::print(stderr, "there are no contexts; 'evenkeel context add NAME' makes one\n");
        }
    }
    return ExitCode::done;
}

ExitCode context_show(const ContextCommand& options) {
    const std::string what = "the context cannot be shown";
    ChosenContext chosen{options.name, ""};
    if (options.name.empty()) {
        const auto found = choose_context("", false);
        if (!found.ok()) return fail(what, found.error());
        if (found->name.empty()) {
            return fail(what,
                        {ErrorCode::not_found,
                         "no context is used here: there is none, or a variable names the hub"},
                        ls_hint);
        }
        chosen = *found;
    }
    const auto contexts = read_contexts();
    if (!contexts.ok()) return fail(what, contexts.error());
    const auto found = contexts->all.find(chosen.name);
    if (found == contexts->all.end()) return fail(what, unknown(chosen.name), ls_hint);
    const Context& context = found->second;
    const bool is_current = chosen.name == contexts->current;
    if (options.output == Output::json) {
        fmt::print("{}", indented(json_of(chosen.name, context, is_current)));
        return ExitCode::done;
    }
    Listing listing({{"FIELD"}, {"VALUE"}});
    listing.add({std::string("name"), chosen.name});
    listing.add({std::string("used"), std::string(is_current ? "yes" : "no")});
    listing.add({std::string("hub"), or_dash(context.hub)});
    listing.add({std::string("url"), or_dash(context.url)});
    listing.add({std::string("ca"), or_dash(context.ca)});
    listing.add({std::string("store"), or_dash(context.store)});
    listing.add({std::string("file"), contexts_path()});
    fmt::print("{}", listing.text(terminal_of(stdout)));
    return ExitCode::done;
}

ExitCode context_rm(const ContextCommand& options) {
    const std::string what = fmt::format("context '{}' was not removed", printable(options.name));
    const auto contexts = read_contexts();
    if (!contexts.ok()) return fail(what, contexts.error());
    if (!contexts->all.contains(options.name)) {
        return fail(what, unknown(options.name), ls_hint);
    }
    const auto end = ask_first(
        options.danger,
        fmt::format("This removes context '{}' with the credentials in it; the hub is not touched",
                    options.name));
    if (end) return *end;
    bool was_current = false;
    const auto removed = change_contexts([&](Contexts& all) -> Result<> {
        if (all.all.erase(options.name) == 0) return unknown(options.name);
        was_current = all.current == options.name;
        if (was_current) all.current.clear();
        return {};
    });
    if (!removed.ok()) return fail(what, removed.error());
    fmt::print(stderr, "removed context '{}'{}\n", options.name,
               was_current ? "; no context is used now" : "");
    return ExitCode::done;
}

}  // namespace evenkeel::cli
