#include "host/app.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>

#include <unistd.h>

#include <fmt/core.h>

#include "base/text.h"
#include "host/app/function_json.h"
#include "host/app/host_json.h"
#include "host/app/json_file.h"
#include "host/app/settings.h"
#include "host/handler/shim_worker.h"
#include "io/system/files.h"

namespace evenkeel::host {
namespace {

constexpr const char* default_store = "sqlite:evenkeel-progress.db";
// Where Azure Functions keeps the progress of event hub triggers.
constexpr const char* functions_container = "azure-webjobs-eventhub";

Error no_app(const std::string& folder, std::string_view why) {
    return {ErrorCode::not_found, fmt::format("'{}' {}", shown(folder), why)};
}

// Files of the app, and what was found in them so far.
class Loader {
public:
    Loader(std::string folder, const Environment& environment)
        : app_{.folder = std::move(folder)}, settings_(environment) {}

    Result<App> load(const std::string& store) {
        EK_TRY_ASSIGN(entries_, list_folder());
        EK_TRY(read_settings());
        EK_TRY(read_options());
        EK_TRY(read_functions());
        EK_TRY_ASSIGN(app_.store, store_of(store));
        app_.settings = settings_.all();
        return std::move(app_);
    }

private:
    bool has(std::string_view name) const {
        return std::any_of(entries_.begin(), entries_.end(),
                           [&](const io::DirectoryEntry& entry) { return entry.name == name; });
    }
    std::string path(std::string_view name) const {
        return fmt::format("{}/{}", app_.folder, name);
    }

    Result<std::vector<io::DirectoryEntry>> list_folder() {
        auto found = files_.list(app_.folder);
        if (!found.ok()) return no_app(app_.folder, "is not a folder that can be read");
        return found;
    }

    Result<> read_settings() {
        if (!has("local.settings.json")) return {};
        EK_TRY_ASSIGN(const auto file,
                      JsonFile::read(path("local.settings.json"), "local.settings.json"));
        return settings_.add(file);
    }

    Result<> read_options() {
        if (!has("host.json")) {
            return no_app(app_.folder,
                          "is not a Functions app: it has no host.json; 'evenkeel host init' "
                          "writes an app to start from");
        }
        EK_TRY_ASSIGN(auto file, JsonFile::read(path("host.json"), "host.json"));
        for (const auto& [member, value] : settings_.below("AzureFunctionsJobHost")) {
            file.set(member, value);
        }
        EK_TRY_ASSIGN(app_.options, parse_host_json(file, app_.warnings));
        if (auto& custom = app_.options.custom_handler) {
            EK_TRY_ASSIGN(custom->executable, settings_.expanded(custom->executable));
        }
        return {};
    }

    // A function that cannot be used does not keep the others from running.
    Result<> read_functions() {
        for (const auto& entry : entries_) {
            if (!entry.is_directory) continue;
            if (auto read = read_function(entry.name); !read.ok()) failed(read.error());
        }
        const auto is_python = [](const Function& function) {
            return function.kind == Kind::python;
        };
        if (has(python_script()) ||
            std::any_of(app_.functions.begin(), app_.functions.end(), is_python)) {
            EK_TRY(read_code(Kind::python));
        } else if (app_.functions.empty() && has("package.json") && !app_.options.custom_handler) {
            EK_TRY(read_code(Kind::node));
        }
        if (!app_.functions.empty()) return {};
        if (first_failure_) return *first_failure_;
        if (app_.failures.empty()) {
            return no_app(app_.folder, "has no function with an event hub trigger");
        }
        return Error{ErrorCode::invalid_argument, app_.failures[0]};
    }

    Result<> read_function(const std::string& folder) {
        const std::string file = folder + "/function.json";
        auto read = JsonFile::read(path(file), file);
        if (!read.ok() && read.error().code == ErrorCode::not_found) return {};
        if (!read.ok()) return read.error();
        EK_TRY_ASSIGN(auto function,
                      parse_function(folder, read->root(), settings_, app_.options, app_.warnings));
        if (!function) return {};
        function->folder = folder;
        if (!function->disabled) EK_TRY(find_kind(*function));
        app_.functions.push_back(std::move(*function));
        return {};
    }

    void failed(const Error& why) {
        if (!first_failure_) first_failure_ = why;
        app_.failures.push_back(why.detail);
    }

    std::string python_script() const {
        const auto named = settings_.find("PYTHON_SCRIPT_FILE_NAME");
        return named && !named->empty() ? *named : "function_app.py";
    }

    // Has the interpreter load the app. Functions with a function.json stay if they could be
    // loaded; those whose bindings are in code are added.
    Result<> read_code(Kind kind) {
        EK_TRY_ASSIGN(const auto worker, ShimWorker::start(kind, app_.folder, settings_.all()));
        EK_TRY_ASSIGN(const auto found,
                      JsonFile::parse(kind == Kind::python ? python_script() : "package.json",
                                      worker->hello()));
        EK_TRY_ASSIGN(const auto failures, found.root()["failures"].texts());
        app_.failures.insert(app_.failures.end(), failures.begin(), failures.end());
        const JsonPlace listed = found.root()["functions"];
        std::vector<std::string> names;
        for (std::size_t i = 0; i < listed.size(); ++i) {
            EK_TRY_ASSIGN(const auto name, listed[i]["name"].text());
            names.push_back(name);
            if (has_function(name)) continue;
            auto function = parse_function(name, listed[i], settings_, app_.options, app_.warnings);
            if (!function.ok()) {
                failed(function.error());
                continue;
            }
            if (!*function) continue;
            (*function)->kind = kind;
            app_.functions.push_back(std::move(**function));
        }
        std::erase_if(app_.functions, [&](const Function& function) {
            return function.kind == kind &&
                   std::find(names.begin(), names.end(), function.name) == names.end();
        });
        return {};
    }

    bool has_function(std::string_view name) const {
        return std::any_of(app_.functions.begin(), app_.functions.end(),
                           [&](const Function& function) { return function.name == name; });
    }

    Result<> find_kind(Function& function) const {
        if (function.kind == Kind::command || function.kind == Kind::cloud_events) return {};
        if (app_.options.custom_handler) {
            function.kind = Kind::custom_handler;
            return {};
        }
        const std::string script =
            function.script_file.empty() ? "__init__.py" : function.script_file;
        const bool is_there = access(path(function.folder + "/" + script).c_str(), F_OK) == 0;
        if (script.ends_with(".py") && is_there) {
            function.kind = Kind::python;
            return {};
        }
        return Error{
            ErrorCode::unsupported,
            fmt::format(
                "{}/function.json: nothing says what runs this function: host.json has no "
                "\"customHandler\", this file has no \"evenkeel\": {{\"command\": ...}}, and "
                "there is no {}; Node functions must be of version 4, without function.json",
                function.folder, shown(script))};
    }

    // Never another store than the one that Azure Functions uses with the same settings: with a new
    // one the app would handle all events of the retention time again.
    Result<std::string> store_of(const std::string& store) const {
        if (!store.empty()) return store;
        if (!app_.options.store.empty()) return app_.options.store;
        const auto blob = settings_.find("AzureWebJobsStorage");
        if (!blob || blob->empty()) {
            auto identity = settings_.below("AzureWebJobsStorage");
            std::erase_if(identity, [](const auto& setting) { return setting.second.empty(); });
            if (identity.empty()) return std::string(default_store);
            return Error{ErrorCode::invalid_argument,
                         fmt::format("the storage account of the app is an identity (the setting "
                                     "'AzureWebJobsStorage__{}'), which is not supported; to go on "
                                     "where Azure Functions stopped, set 'AzureWebJobsStorage' to "
                                     "the connection string of the account; else name a store with "
                                     "--store, such as --store {}",
                                     shown(identity.front().first.front()), default_store)};
        }
        return fmt::format("azblob:{}{}Container={};Create=true", *blob,
                           blob->ends_with(';') ? "" : ";", functions_container);
    }

    App app_;
    Settings settings_;
    io::system::SystemFiles files_;
    std::vector<io::DirectoryEntry> entries_;
    std::optional<Error> first_failure_;
};

}  // namespace

Result<App> load_app(const std::string& folder, const Environment& environment,
                     const std::string& store) {
    const std::unique_ptr<char, decltype(&std::free)> whole(realpath(folder.c_str(), nullptr),
                                                            &std::free);
    if (!whole) return no_app(folder, "does not exist");
    return Loader(whole.get(), environment).load(store);
}

void limit_memory(App& app, std::uint64_t bytes) {
    bytes = std::max(bytes, memory_floor);
    app.options.memory_max = bytes;
    // A command is run by a shell, which can limit itself.
    for (Function& function : app.functions) {
        if (function.kind != Kind::command) continue;
        function.command = fmt::format("ulimit -d {}\n{}", bytes >> 10, function.command);
    }
}

Environment process_environment() {
    Environment all;
    for (char** variable = environ; *variable != nullptr; ++variable) {
        const std::string_view text(*variable);
        const auto equals = text.find('=');
        if (equals == std::string_view::npos) continue;
        all.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
    return all;
}

std::vector<std::string> variables_of(const Environment& environment) {
    std::vector<std::string> all;
    all.reserve(environment.size());
    for (const auto& [name, value] : environment) all.push_back(fmt::format("{}={}", name, value));
    return all;
}

}  // namespace evenkeel::host
