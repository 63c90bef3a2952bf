#include "hub/catalogue.h"

#include <boost/json.hpp>
#include <fmt/core.h>

#include "base/format_version.h"
#include "base/hex.h"
#include "base/number.h"
#include "io/twin_file.h"

namespace evenkeel::hub {
namespace {

namespace json = boost::json;

constexpr std::uint64_t catalogue_bytes_max = std::uint64_t{256} << 20;

Error damaged_catalogue(std::string_view why) {
    return {ErrorCode::corrupt, fmt::format("not a good catalogue: {}", why)};
}

template <typename T>
bool take(const json::object& object, std::string_view key, T& to) {
    const json::value* value = object.if_contains(key);
    if (!value) return false;
    boost::system::error_code error;
    to = value->to_number<T>(error);
    return !error;
}

bool take_text(const json::object& object, std::string_view key, std::string& to) {
    const json::value* value = object.if_contains(key);
    if (!value || !value->is_string()) return false;
    to = std::string(value->get_string());
    return true;
}

bool take_incarnation(const json::value& value, commitlog::Incarnation& to) {
    if (!value.is_string()) return false;
    const auto parsed = parse_incarnation(std::string(value.get_string()));
    if (parsed) to = *parsed;
    return parsed.has_value();
}

io::TwinFile twin_file(io::FileSystem& files, const std::string& directory) {
    return {
        files,
        {.directory = directory, .name = catalogue_file_name, .bytes_max = catalogue_bytes_max}};
}

Result<EventHubRecord> decode_event_hub(const json::value& value) {
    if (!value.is_object()) return damaged_catalogue("an event hub is not an object");
    const json::object& object = value.get_object();
    EventHubRecord hub;
    std::int64_t retention = 0;
    const json::value* incarnation = object.if_contains("incarnation");
    const json::value* creating = object.if_contains("creating");
    const json::value* groups = object.if_contains("groups");
    const bool complete = take_text(object, "name", hub.name) && incarnation &&
                          take_incarnation(*incarnation, hub.incarnation) &&
                          take(object, "partitions", hub.partitions) &&
                          take(object, "retention_ms", retention) &&
                          take(object, "partition_bytes_max", hub.partition_bytes_max) &&
                          take(object, "created_ms", hub.created.milliseconds) && creating &&
                          creating->is_bool() && groups && groups->is_array();
    if (!complete) return damaged_catalogue("an event hub lacks a field");
    hub.retention = std::chrono::milliseconds(retention);
    hub.creating = creating->get_bool();
    for (const auto& group : groups->get_array()) {
        if (!group.is_string()) return damaged_catalogue("a consumer group is not a string");
        hub.groups.emplace_back(group.get_string());
    }
    return hub;
}

}  // namespace

std::string to_text(const commitlog::Incarnation& incarnation) {
    return to_hex(incarnation);
}

std::optional<commitlog::Incarnation> parse_incarnation(std::string_view text) {
    commitlog::Incarnation incarnation{};
    if (text.size() != incarnation.size() * 2) return std::nullopt;
    for (std::size_t i = 0; i < incarnation.size(); ++i) {
        const auto value = parse_number<std::uint8_t>(text.substr(2 * i, 2), 16);
        if (!value) return std::nullopt;
        incarnation[i] = static_cast<std::byte>(*value);
    }
    // One name for each: no capitals.
    if (to_text(incarnation) != text) return std::nullopt;
    return incarnation;
}

std::string encode(const Catalogue& catalogue) {
    json::array hubs;
    for (const auto& hub : catalogue.event_hubs) {
        json::array groups;
        for (const auto& group : hub.groups) groups.emplace_back(group);
        hubs.push_back(json::object{{"name", hub.name},
                                    {"incarnation", to_text(hub.incarnation)},
                                    {"partitions", hub.partitions},
                                    {"retention_ms", hub.retention.count()},
                                    {"partition_bytes_max", hub.partition_bytes_max},
                                    {"created_ms", hub.created.milliseconds},
                                    {"creating", hub.creating},
                                    {"groups", std::move(groups)}});
    }
    json::array removing;
    for (const auto& incarnation : catalogue.removing) removing.emplace_back(to_text(incarnation));
    json::object body{{"generation", catalogue.generation},
                      {"identity", to_text(catalogue.identity)},
                      {"event_hubs", std::move(hubs)},
                      {"removing", std::move(removing)}};
    if (catalogue.journals) body["journals"] = true;
    // A program that knows nothing of journals can read what was closed without any.
    return format::framed("catalogue", catalogue.journals ? format::catalogue : 1,
                          json::serialize(body));
}

Result<Catalogue> decode_catalogue(std::string_view text) {
    EK_TRY_ASSIGN(const std::string_view body,
                  format::unframed(text, "catalogue", format::catalogue, "catalogue"));
    boost::system::error_code error;
    const json::value value = json::parse(json::string_view(body.data(), body.size()), error);
    if (error || !value.is_object()) return damaged_catalogue("it is not a JSON object");
    const json::object& object = value.get_object();
    Catalogue catalogue;
    const json::value* hubs = object.if_contains("event_hubs");
    const json::value* removing = object.if_contains("removing");
    if (!take(object, "generation", catalogue.generation) || !hubs || !hubs->is_array() ||
        !removing || !removing->is_array()) {
        return damaged_catalogue("it lacks a field");
    }
    const json::value* identity = object.if_contains("identity");
    if (identity && !take_incarnation(*identity, catalogue.identity)) {
        return damaged_catalogue("its identity is none");
    }
    if (const json::value* journals = object.if_contains("journals")) {
        if (!journals->is_bool())
            return damaged_catalogue("it does not say whether it has journals");
        catalogue.journals = journals->get_bool();
    }
    for (const auto& hub : hubs->get_array()) {
        EK_TRY_ASSIGN(auto record, decode_event_hub(hub));
        catalogue.event_hubs.push_back(std::move(record));
    }
    for (const auto& entry : removing->get_array()) {
        commitlog::Incarnation incarnation;
        if (!take_incarnation(entry, incarnation))
            return damaged_catalogue("a folder to remove is unnamed");
        catalogue.removing.push_back(incarnation);
    }
    return catalogue;
}

Result<std::optional<LoadedCatalogue>> load_catalogue(io::FileSystem& files,
                                                      const std::string& directory) {
    EK_TRY_ASSIGN(auto loaded, twin_file(files, directory).load(&decode_catalogue));
    if (!loaded) return std::optional<LoadedCatalogue>();
    return std::optional(LoadedCatalogue{std::move(loaded->content), loaded->is_whole});
}

Result<> save_catalogue(io::FileSystem& files, const std::string& directory,
                        const Catalogue& catalogue) {
    return twin_file(files, directory).save(encode(catalogue));
}

}  // namespace evenkeel::hub
