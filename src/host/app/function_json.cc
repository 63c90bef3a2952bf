#include "host/app/function_json.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/text.h"
#include "eventhubs/names.h"
#include "host/app/host_json.h"

namespace evenkeel::host {
namespace {

struct Reader {
    const Settings& settings;
    const HostOptions& options;
    std::vector<std::string>& warnings;

    // A text in which %NAME% stands for a setting.
    Result<std::string> setting_text(const JsonPlace& place) const {
        EK_TRY_ASSIGN(const auto text, place.text());
        auto expanded = settings.expanded(text);
        if (!expanded.ok()) return place.wrong(expanded.error().detail);
        return *expanded;
    }

    Result<Settings::Connection> connection(const JsonPlace& binding) const {
        // `path` is the old name.
        const JsonPlace named =
            binding["eventHubName"].exists() ? binding["eventHubName"] : binding["path"];
        std::string event_hub;
        if (named.exists()) {
            EK_TRY_ASSIGN(event_hub, setting_text(named));
        }
        const JsonPlace place = binding["connection"];
        EK_TRY_ASSIGN(const auto name, setting_text(place));
        auto found = settings.connection(name, event_hub, options.websockets);
        if (!found.ok()) return place.wrong(found.error().detail);
        if (found->was_in_place) {
            warnings.push_back(place.where() +
                               ": should be the name of a setting, not a connection string; it is "
                               "used as it is");
        }
        if (found->event_hub.empty()) {
            return binding["eventHubName"].wrong("must name an event hub");
        }
        if (const auto good = eventhubs::check_event_hub_name(found->event_hub); !good.ok()) {
            return named.wrong(good.error().detail);
        }
        return found;
    }

    Result<> read_trigger(const JsonPlace& binding, Function& function) const {
        EK_TRY_ASSIGN(function.trigger, binding["name"].text());
        EK_TRY_ASSIGN(const auto found, connection(binding));
        function.connection = found.text;
        function.event_hub = found.event_hub;
        if (binding["consumerGroup"].exists()) {
            EK_TRY_ASSIGN(const auto group, setting_text(binding["consumerGroup"]));
            if (!group.empty()) function.consumer_group = group;
        }
        if (const auto good = eventhubs::check_group_name(function.consumer_group); !good.ok()) {
            return binding["consumerGroup"].wrong(good.error().detail);
        }
        if (const JsonPlace cardinality = binding["cardinality"]; cardinality.exists()) {
            EK_TRY_ASSIGN(const auto text, cardinality.text());
            if (!text.empty()) {
                EK_TRY_ASSIGN(const std::size_t word, cardinality.word({"one", "many"}));
                function.cardinality = word == 0 ? Cardinality::one : Cardinality::many;
            }
        }
        if (const JsonPlace type = binding["dataType"]; type.exists()) {
            EK_TRY_ASSIGN(const auto text, type.text());
            if (!text.empty()) {
                EK_TRY_ASSIGN(const std::size_t word,
                              type.word({"undefined", "string", "binary", "stream"}));
                function.data_type = word == 1   ? DataType::text
                                     : word >= 2 ? DataType::binary
                                                 : DataType::automatic;
            }
        }
        return {};
    }

    Result<> read_output(const JsonPlace& binding, Function& function) const {
        EventHubOutput output;
        EK_TRY_ASSIGN(output.name, binding["name"].text());
        EK_TRY_ASSIGN(const auto found, connection(binding));
        output.connection = found.text;
        output.event_hub = found.event_hub;
        if (binding["dataType"].is_text()) {
            EK_TRY_ASSIGN(const auto type, binding["dataType"].text());
            output.is_binary = equal_without_case(type, "binary");
        }
        function.outputs.push_back(std::move(output));
        return {};
    }

    Result<> read_binding(const JsonPlace& binding, Function& function) const {
        EK_TRY_ASSIGN(const auto type, binding["type"].text());
        if (equal_without_case(type, "eventHubTrigger")) return read_trigger(binding, function);
        if (equal_without_case(type, "eventHub")) return read_output(binding, function);
        warnings.push_back(
            fmt::format("{}: a binding of type '{}' is not supported; it is "
                        "always empty, and what is written to it is dropped",
                        binding.where(), shown(type)));
        return {};
    }
};

bool is_of_type(const JsonPlace& binding, std::string_view wanted) {
    const auto type = binding["type"].text();
    return type.ok() && equal_without_case(*type, wanted);
}

// The binding that is an event hub trigger.
std::optional<std::size_t> trigger_of(const JsonPlace& bindings) {
    for (std::size_t i = 0; i < bindings.size(); ++i) {
        if (is_of_type(bindings[i], "eventHubTrigger")) return i;
    }
    return std::nullopt;
}

void warn_of_other_triggers(const std::string& name, const JsonPlace& bindings,
                            std::vector<std::string>& warnings) {
    for (std::size_t i = 0; i < bindings.size(); ++i) {
        const auto type = bindings[i]["type"].text();
        if (!type.ok() || !lower_case(*type).ends_with("trigger")) continue;
        warnings.push_back(
            fmt::format("{}: a trigger of type '{}' is not supported; '{}' is not run",
                        bindings[i].where(), shown(*type), name));
    }
}

// A disabled function for lists: its names as they are written, since its settings may be missing.
Function disabled_function(const std::string& name, const JsonPlace& trigger) {
    Function function;
    function.name = name;
    function.disabled = true;
    const JsonPlace hub =
        trigger["eventHubName"].exists() ? trigger["eventHubName"] : trigger["path"];
    if (const auto text = hub.text(); text.ok()) function.event_hub = *text;
    if (const auto text = trigger["consumerGroup"].text(); text.ok() && !text->empty()) {
        function.consumer_group = *text;
    }
    return function;
}

Result<bool> is_disabled(const std::string& name, const JsonPlace& place, const Reader& reader) {
    const auto setting = reader.settings.find("AzureWebJobs." + name + ".Disabled");
    if (setting && (equal_without_case(*setting, "true") || *setting == "1")) return true;
    if (const auto& only = reader.options.only) {
        const auto is_it = [&](const std::string& each) { return equal_without_case(each, name); };
        if (std::none_of(only->begin(), only->end(), is_it)) return true;
    }
    if (!place["disabled"].exists()) return false;
    return place["disabled"].truth();
}

Result<> read_command(const JsonPlace& ours, Function& function) {
    if (!ours.exists()) return {};
    if (ours["url"].exists()) {
        EK_TRY_ASSIGN(function.url, ours["url"].text());
        if (!function.url.starts_with("http://") && !function.url.starts_with("https://")) {
            return ours["url"].wrong("must be an address such as \"http://localhost:9000/events\"");
        }
        function.kind = Kind::cloud_events;
        return {};
    }
    EK_TRY_ASSIGN(function.command, ours["command"].text());
    if (function.command.empty()) return ours["command"].wrong("must be a shell command");
    function.kind = Kind::command;
    if (!ours["answers"].exists()) return {};
    EK_TRY_ASSIGN(const std::size_t word, ours["answers"].word({"exit", "line"}));
    function.answers_lines = word == 1;
    return {};
}

}  // namespace

Result<std::optional<Function>> parse_function(const std::string& name, const JsonPlace& place,
                                               const Settings& settings, const HostOptions& options,
                                               std::vector<std::string>& warnings) {
    if (!place.is_object()) return place.wrong("must be an object with the member \"bindings\"");
    const JsonPlace bindings = place["bindings"];
    if (bindings.size() == 0) return bindings.wrong("must be a list with at least one binding");
    const auto trigger = trigger_of(bindings);
    if (!trigger) {
        warn_of_other_triggers(name, bindings, warnings);
        return std::optional<Function>();
    }
    const Reader reader{settings, options, warnings};
    EK_TRY_ASSIGN(const bool disabled, is_disabled(name, place, reader));
    if (disabled) return std::optional(disabled_function(name, bindings[*trigger]));
    Function function;
    function.name = name;
    function.cardinality =
        place["evenkeel"]["command"].exists() ? Cardinality::many : Cardinality::one;
    for (std::size_t i = 0; i < bindings.size(); ++i) {
        EK_TRY(reader.read_binding(bindings[i], function));
    }
    EK_TRY_ASSIGN(function.retry, parse_retry(place["retry"]));
    if (!function.retry) function.retry = options.retry;
    EK_TRY(read_command(place["evenkeel"], function));
    if (function.kind == Kind::command && !function.outputs.empty()) {
        warnings.push_back(bindings.where() +
                           ": outputs have no effect, because a command has no way to write to "
                           "them; it can run 'evenkeel send'");
    }
    for (const auto& [member, to] : {std::pair("scriptFile", &function.script_file),
                                     std::pair("entryPoint", &function.entry_point)}) {
        if (!place[member].exists()) continue;
        EK_TRY_ASSIGN(*to, place[member].text());
    }
    function.max_batch = function.cardinality == Cardinality::many ? options.max_batch : 1;
    function.target_unprocessed_threshold = options.target_unprocessed_threshold;
    return std::optional(std::move(function));
}

}  // namespace evenkeel::host
