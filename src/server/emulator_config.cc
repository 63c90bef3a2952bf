#include "server/emulator_config.h"

#include <algorithm>

#include <boost/json.hpp>
#include <fmt/core.h>

#include "base/number.h"
#include "base/text.h"
#include "eventhubs/names.h"

namespace evenkeel::server {
namespace {

namespace json = boost::json;

constexpr std::size_t emulator_file_bytes_max = std::size_t{1} << 20;
constexpr std::size_t hubs_max = 10;
constexpr std::uint32_t partitions_max = 32;
constexpr std::size_t groups_max = 20;

Error wrong(std::string_view place, std::string_view why) {
    return {ErrorCode::invalid_argument, fmt::format("{}: {}", place, why)};
}

// A value and where it is.
struct Place {
    const json::value* value = nullptr;  // none: it is missing
    std::string path;

    Place operator[](std::string_view key) const {
        const json::object* const object = value ? value->if_object() : nullptr;
        const std::string inner = path.empty() ? std::string(key) : path + "." + std::string(key);
        return {object ? object->if_contains(json::string_view(key.data(), key.size())) : nullptr,
                inner};
    }
    Result<std::string> text() const {
        if (!value || !value->is_string()) return wrong(path, "must be a string");
        return std::string(value->get_string());
    }
    Result<std::vector<Place>> list(std::size_t min, std::size_t max) const {
        if (!value || !value->is_array()) return wrong(path, "must be a list");
        const json::array& array = value->get_array();
        if (array.size() < min || array.size() > max) {
            return wrong(path, min == max ? fmt::format("exactly {} entry is allowed", min)
                                          : fmt::format("{} to {} entries are allowed, not {}", min,
                                                        max, array.size()));
        }
        std::vector<Place> places;
        for (std::size_t i = 0; i < array.size(); ++i) {
            places.push_back({&array[i], fmt::format("{}[{}]", path, i)});
        }
        return places;
    }
};

Result<> must_be(const Place& place, std::initializer_list<std::string_view> allowed) {
    EK_TRY_ASSIGN(const std::string text, place.text());
    if (std::find(allowed.begin(), allowed.end(), text) != allowed.end()) return {};
    std::string names;
    for (const auto name : allowed)
        names += (names.empty() ? "'" : ", '") + std::string(name) + "'";
    return wrong(place.path, fmt::format("{} is allowed, not '{}'", names, shown(text)));
}

// A number, or a text that is one.
Result<std::uint32_t> partitions_of(const Place& place) {
    std::uint32_t count = 0;
    boost::system::error_code error;
    if (place.value && place.value->is_string()) {
        const auto& text = place.value->get_string();
        count = parse_number<std::uint32_t>({text.data(), text.size()}).value_or(0);
    } else if (place.value && place.value->is_number()) {
        count = place.value->to_number<std::uint32_t>(error);
        if (error) count = 0;
    }
    if (count >= 1 && count <= partitions_max) return count;
    return wrong(place.path, fmt::format("must be a number from 1 to {}", partitions_max));
}

Result<EmulatorHub> hub_of(const Place& place) {
    EmulatorHub hub;
    EK_TRY_ASSIGN(hub.name, place["Name"].text());
    if (const auto good = eventhubs::check_event_hub_name(hub.name); !good.ok()) {
        return wrong(place["Name"].path, good.error().detail);
    }
    EK_TRY_ASSIGN(hub.partitions, partitions_of(place["PartitionCount"]));
    EK_TRY_ASSIGN(const auto groups, place["ConsumerGroups"].list(1, groups_max));
    for (const auto& entry : groups) {
        const Place at = entry["Name"];
        EK_TRY_ASSIGN(const std::string name, at.text());
        if (eventhubs::folded(name) == eventhubs::folded(eventhubs::default_group)) {
            return wrong(at.path, "$default always exists and must not be listed");
        }
        if (const auto good = eventhubs::check_group_name(name); !good.ok()) {
            return wrong(at.path, good.error().detail);
        }
        for (const auto& other : hub.groups) {
            if (eventhubs::folded(other) == eventhubs::folded(name)) {
                return wrong(at.path, fmt::format("'{}' is listed twice", shown(name)));
            }
        }
        hub.groups.push_back(name);
    }
    return hub;
}

}  // namespace

Result<std::vector<EmulatorHub>> parse_emulator_config(std::string_view text) {
    if (text.size() > emulator_file_bytes_max)
        return wrong("Config.json", "it is larger than 1 MiB");
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // editors leave a mark there
    boost::system::error_code error;
    const json::value document = json::parse(json::string_view(text.data(), text.size()), error);
    if (error) return wrong("Config.json", "it is not JSON: " + error.message());
    const Place user = Place{&document, ""}["UserConfig"];
    EK_TRY_ASSIGN(const auto namespaces, user["NamespaceConfig"].list(1, 1));
    EK_TRY(must_be(namespaces[0]["Type"], {"EventHub"}));
    EK_TRY(must_be(namespaces[0]["Name"], {"emulatorNs1"}));
    EK_TRY_ASSIGN(const auto entities, namespaces[0]["Entities"].list(1, hubs_max));
    std::vector<EmulatorHub> hubs;
    for (const auto& entity : entities) {
        EK_TRY_ASSIGN(auto hub, hub_of(entity));
        for (const auto& other : hubs) {
            if (eventhubs::folded(other.name) == eventhubs::folded(hub.name)) {
                return wrong(entity["Name"].path,
                             fmt::format("'{}' is listed twice", shown(hub.name)));
            }
        }
        hubs.push_back(std::move(hub));
    }
    if (user["LoggingConfig"].value) {
        EK_TRY(must_be(user["LoggingConfig"]["Type"],
                       {"File", "Console", "File,Console", "Console,File"}));
    }
    return hubs;
}

}  // namespace evenkeel::server
