#include "host/app/settings.h"

#include <fmt/core.h>

#include "base/text.h"
#include "eventhubs/connection_string.h"

namespace evenkeel::host {
namespace {

std::string key_of(std::string_view name) {
    std::string key = lower_case(name);
    for (auto at = key.find("__"); at != std::string::npos; at = key.find("__", at)) {
        key.replace(at, 2, ":");
    }
    return key;
}

bool is_connection_string(std::string_view text) {
    return lower_case(text).find("endpoint=") != std::string::npos || text.starts_with("amqp://") ||
           text.starts_with("amqps://");
}

Error wrong_setting(std::string why) {
    return {ErrorCode::invalid_argument, std::move(why)};
}

// The connection string with its event hub.
std::string for_hub(std::string text, std::string_view event_hub, bool websockets) {
    if (text.starts_with("amqp")) {
        if (text.back() != '/') text += '/';
        return text + std::string(event_hub);
    }
    if (text.back() != ';') text += ';';
    text += fmt::format("EntityPath={}", event_hub);
    if (websockets && lower_case(text).find("transporttype=") == std::string::npos) {
        text += ";TransportType=AmqpWebSockets";
    }
    return text;
}

}  // namespace

Settings::Settings(const Environment& environment) : all_(environment) {
    for (const auto& [name, value] : environment) by_key_[key_of(name)] = value;
}

Result<> Settings::add(const JsonFile& local) {
    const JsonPlace root = local.root();
    if (!root.is_object()) return root.wrong("must be an object with the member \"Values\"");
    if (root["IsEncrypted"].exists()) {
        EK_TRY_ASSIGN(const bool is_encrypted, root["IsEncrypted"].truth());
        if (is_encrypted) {
            return root["IsEncrypted"].wrong(
                "encrypted settings cannot be read here; run 'func settings decrypt' first");
        }
    }
    const auto take = [&](const JsonPlace& place, std::string name) -> Result<> {
        EK_TRY_ASSIGN(auto value, place.text());
        if (!by_key_.try_emplace(key_of(name), value).second) return {};
        all_.emplace(std::move(name), std::move(value));
        return {};
    };
    const JsonPlace values = root["Values"];
    for (const auto& name : values.names()) EK_TRY(take(values[name], name));
    const JsonPlace strings = root["ConnectionStrings"];
    for (const auto& name : strings.names()) {
        const JsonPlace entry = strings[name];
        const JsonPlace text = entry.is_object() ? entry["ConnectionString"] : entry;
        EK_TRY(take(text, "ConnectionStrings:" + name));
    }
    return {};
}

std::optional<std::string> Settings::find(std::string_view name) const {
    if (const auto exact = all_.find(std::string(name)); exact != all_.end()) return exact->second;
    const auto found = by_key_.find(key_of(name));
    if (found == by_key_.end()) return std::nullopt;
    return found->second;
}

Result<std::string> Settings::expanded(std::string_view text) const {
    std::string result;
    while (true) {
        const auto begin = text.find('%');
        const auto end = begin == std::string_view::npos ? begin : text.find('%', begin + 1);
        if (end == std::string_view::npos) return result + std::string(text);
        const std::string_view name = text.substr(begin + 1, end - begin - 1);
        const auto value = find(name);
        if (!value) {
            return wrong_setting(
                fmt::format("the setting '{}' of %{}% is not set; set it in the environment or "
                            "under \"Values\" "
                            "in local.settings.json",
                            shown(name), shown(name)));
        }
        result += std::string(text.substr(0, begin)) + *value;
        text.remove_prefix(end + 1);
    }
}

std::vector<std::pair<std::vector<std::string>, std::string>> Settings::below(
    std::string_view name) const {
    std::vector<std::pair<std::vector<std::string>, std::string>> found;
    const std::string prefix = key_of(name) + ":";
    for (const auto& [key, value] : by_key_) {
        if (!key.starts_with(prefix)) continue;
        std::vector<std::string> path;
        for (std::string_view rest = std::string_view(key).substr(prefix.size()); !rest.empty();) {
            const auto end = std::min(rest.find(':'), rest.size());
            path.emplace_back(rest.substr(0, end));
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
        if (!path.empty()) found.emplace_back(std::move(path), value);
    }
    return found;
}

Result<Settings::Connection> Settings::connection(std::string_view name, std::string_view event_hub,
                                                  bool websockets) const {
    Connection found;
    found.was_in_place = is_connection_string(name);
    if (found.was_in_place) {
        found.text = name;
    } else {
        for (const auto& candidate : {std::string(name), "AzureWebJobs" + std::string(name),
                                      "ConnectionStrings:" + std::string(name)}) {
            if (const auto value = find(candidate); value && !value->empty()) {
                found.text = *value;
                break;
            }
        }
    }
    if (found.text.empty()) {
        if (find(std::string(name) + "__fullyQualifiedNamespace")) {
            return wrong_setting(fmt::format(
                "the connection '{}' is an identity ('{}__fullyQualifiedNamespace'), which is not "
                "supported; set '{}' to a connection string",
                shown(name), shown(name), shown(name)));
        }
        return wrong_setting(
            fmt::format("the setting '{}' is not set; set it to the connection string of the "
                        "namespace, in the environment or under \"Values\" in local.settings.json",
                        shown(name)));
    }
    const auto target = eventhubs::parse_connection_string(found.text);
    if (!target.ok()) {
        return wrong_setting(fmt::format("the connection string of '{}' is not valid: {}",
                                         found.was_in_place ? "connection" : shown(name),
                                         target.error().detail));
    }
    found.event_hub = target->event_hub.empty() ? std::string(event_hub) : target->event_hub;
    if (target->event_hub.empty()) found.text = for_hub(found.text, event_hub, websockets);
    return found;
}

}  // namespace evenkeel::host
