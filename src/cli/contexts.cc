#include "cli/contexts.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/core.h>

#include "base/text.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "io/system/files.h"
#include "server/toml_section.h"

namespace evenkeel::cli {
namespace {

constexpr std::uint64_t file_bytes_max = std::uint64_t{4} << 20;
constexpr std::size_t context_name_bytes_max = 64;
constexpr auto lock_wait_max = std::chrono::seconds(10);
constexpr auto lock_period = std::chrono::milliseconds(10);

std::string value_in_environment(const char* name) {
    const char* const value = std::getenv(name);
    return value ? value : "";
}

std::string settings_folder(const std::string& path) {
    return path.substr(0, path.rfind('/'));
}

// mkdir -p
Result<> make_folders(io::FileSystem& files, const std::string& path) {
    for (std::size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
        auto made = files.make_directory(path.substr(0, slash));
        std::error_code ignored;
        const bool is_there = std::filesystem::is_directory(path.substr(0, slash), ignored);
        if (!made.ok() && !is_there) return made;
        if (slash == std::string::npos) return {};
    }
}

// The file belongs to us, and nobody else can read it: that is repaired if need be.
Result<> keep_private(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) < 0) return {};  // opening it says why
    if (status.st_uid != ::geteuid()) {
        return Error{ErrorCode::not_allowed,
                     fmt::format("{} belongs to another user (id {}); it may hold keys, so it must "
                                 "be yours",
                                 path, status.st_uid)};
    }
    if ((status.st_mode & 077u) == 0) return {};
    if (::chmod(path.c_str(), 0600) < 0) {
        return Error{ErrorCode::not_allowed,
                     fmt::format("other users can access {} (mode {:o}), and that cannot be "
                                 "changed; run: chmod 600 {}",
                                 path, status.st_mode & 0777u, path)};
    }
    fmt::print(stderr,
               "warning: other users could access {} (mode {:o}); its mode is 600 now. Replace the "
               "keys in it if somebody may have read them.\n",
               path, status.st_mode & 0777u);
    return {};
}

// Waits while another process holds it.
Result<std::unique_ptr<io::FileLock>> lock_of(io::FileSystem& files, const std::string& path) {
    const SystemClock clock;
    const Instant end = clock.now() + lock_wait_max;
    Interrupt interrupt;
    while (true) {
        auto lock = files.lock(path);
        if (lock.ok() || lock.error().code != ErrorCode::conflict || clock.now() > end) return lock;
        if (interrupt.wait(lock_period)) return Error{ErrorCode::cancelled, "interrupted"};
    }
}

std::string toml_text(std::string_view text) {
    std::string literal = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            literal += '\\';
            literal += c;
        } else if (byte < 0x20 || byte == 0x7f) {
            literal += fmt::format("\\u{:04x}", byte);
        } else {
            literal += c;
        }
    }
    return literal + "\"";
}

Result<Contexts> read_from(const std::string& path) {
    io::system::SystemFiles files;
    EK_TRY(keep_private(path));
    auto bytes = io::read_file(files, path, file_bytes_max);
    if (!bytes.ok() && bytes.error().code == ErrorCode::not_found) return Contexts();
    if (!bytes.ok()) return bytes.error();
    return parse_contexts(as_text(*bytes), path);
}

// Before any thread is started.
void set(const char* name, const std::string& value) {
    if (value.empty()) {
        ::unsetenv(name);  // NOLINT(concurrency-mt-unsafe)
    } else {
        ::setenv(name, value.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
    }
}

}  // namespace

std::string contexts_path() {
    const std::string config = value_in_environment("XDG_CONFIG_HOME");
    const std::string home = value_in_environment("HOME");
    // The rule of XDG: one that is not absolute does not count.
    if (config.starts_with('/')) return config + "/evenkeel/contexts.toml";
    return home.starts_with('/') ? home + "/.config/evenkeel/contexts.toml" : "";
}

bool is_context_name(std::string_view name) {
    const auto is_word = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    };
    return !name.empty() && name.size() <= context_name_bytes_max && is_word(name.front()) &&
           std::ranges::all_of(
               name, [&](char c) { return is_word(c) || c == '.' || c == '_' || c == '-'; });
}

Result<Contexts> parse_contexts(std::string_view text, const std::string& file) {
    const auto parsed = server::TomlFile::parse(text, file);
    if (!parsed.ok()) return Error{ErrorCode::corrupt, parsed.error().detail};
    server::TomlFile& toml = **parsed;
    Contexts contexts;
    {
        server::TomlSection top(toml);
        top.text("current", contexts.current);
        for (auto& section : top.tables("context")) {
            std::string name;
            Context context;
            section.text("name", name);
            section.secret("hub", context.hub);
            section.secret("store", context.store);
            section.text("url", context.url);
            section.text("ca", context.ca);
            if (!is_context_name(name)) {
                section.problem("name", "a context needs a name of letters, digits, '.', '_', '-'");
            } else if (context.hub.empty() && context.store.empty()) {
                section.problem("name", "this context has neither a hub nor a store");
            } else if (!contexts.all.emplace(name, std::move(context)).second) {
                section.problem("name", "there are two contexts of this name");
            }
        }
    }
    if (const std::string problems = toml.problems(); !problems.empty()) {
        return Error{ErrorCode::corrupt, problems};
    }
    return contexts;
}

std::string to_toml(const Contexts& contexts) {
    std::string text =
        "# Written by 'evenkeel context'. It may hold keys: keep its mode at 0600.\n";
    if (!contexts.current.empty()) text += "current = " + toml_text(contexts.current) + "\n";
    for (const auto& [name, context] : contexts.all) {
        text += "\n[[context]]\nname = " + toml_text(name) + "\n";
        const auto add = [&](const char* key, const std::string& value) {
            if (!value.empty()) text += std::string(key) + " = " + toml_text(value) + "\n";
        };
        add("hub", context.hub);
        add("store", context.store);
        add("url", context.url);
        add("ca", context.ca);
    }
    return text;
}

Result<Contexts> read_contexts() {
    const std::string path = contexts_path();
    if (path.empty()) return Contexts();
    return read_from(path);
}

Result<> change_contexts(const std::function<Result<>(Contexts&)>& change) {
    std::string path = contexts_path();
    if (path.empty()) {
        return Error{ErrorCode::invalid_argument,
                     "there is no place for contexts: neither XDG_CONFIG_HOME nor HOME is set to "
                     "an absolute path"};
    }
    io::system::SystemFiles files;
    EK_TRY(make_folders(files, settings_folder(path)));
    // A link stays one: what it leads to is replaced.
    std::error_code is_new;
    const auto real = std::filesystem::canonical(path, is_new);
    if (!is_new) path = real.string();
    EK_TRY_ASSIGN(const auto lock, lock_of(files, path + ".lock"));
    EK_TRY_ASSIGN(Contexts contexts, read_from(path));
    EK_TRY(change(contexts));
    const std::string text = to_toml(contexts);
    // What cannot be read back would lock the user out of all of them.
    EK_TRY(parse_contexts(text, path));
    return io::replace_file(files, path, as_bytes(text), io::OpenMode::create_private);
}

Result<ChosenContext> choose_context(const std::string& named, bool has_hub) {
    if (!named.empty()) {
        if (has_hub) {
            return Error{ErrorCode::invalid_argument,
                         "--context and --hub both name a hub; give one of them"};
        }
        return ChosenContext{named, "--context"};
    }
    const bool is_named = has_hub || !value_in_environment("EVENKEEL_HUB").empty() ||
                          !value_in_environment("EVENTHUB_CONNECTION_STRING").empty();
    if (is_named) return ChosenContext{};
    if (const std::string name = value_in_environment("EVENKEEL_CONTEXT"); !name.empty()) {
        return ChosenContext{name, "EVENKEEL_CONTEXT"};
    }
    EK_TRY_ASSIGN(const Contexts contexts, read_contexts());
    if (contexts.current.empty()) return ChosenContext{};
    return ChosenContext{contexts.current, "context use"};
}

Result<> apply_context(const ChosenContext& chosen) {
    if (chosen.name.empty()) return {};
    EK_TRY_ASSIGN(const Contexts contexts, read_contexts());
    const auto found = contexts.all.find(chosen.name);
    if (found == contexts.all.end()) {
        return Error{
            ErrorCode::not_found,
            fmt::format("there is no context '{}', which {} names", printable(chosen.name),
                        chosen.origin == "context use" ? "'evenkeel context use'" : chosen.origin)};
    }
    const Context& context = found->second;
    const bool is_asked_for = chosen.origin == "--context";
    const auto may_set = [&](const char* name) {
        return is_asked_for || value_in_environment(name).empty();
    };
    if (!context.hub.empty()) {
        set("EVENTHUB_CONNECTION_STRING", "");
        set("EVENKEEL_HUB", context.hub);
        set("EVENKEEL_URL", context.url);  // never the address of another hub
        if (!context.ca.empty() && may_set("EVENKEEL_CA")) set("EVENKEEL_CA", context.ca);
    }
    if (!context.store.empty() && may_set("EVENKEEL_STORE")) set("EVENKEEL_STORE", context.store);
    set("EVENKEEL_CONTEXT", chosen.name);
    return {};
}

}  // namespace evenkeel::cli
