#include "cli/remote/admin_client.h"

#include <ctime>

#include <boost/json.hpp>
#include <fmt/core.h>

#include "base/percent.h"
#include "base/text.h"
#include "base/time_point.h"
#include "client/options.h"
#include "door/admin/admin.h"
#include "eventhubs/sas.h"

namespace evenkeel::cli {
namespace {

namespace json = boost::json;

constexpr auto token_life = std::chrono::minutes(5);

json::string_view text(std::string_view view) {
    return {view.data(), view.size()};
}

Result<json::value> parsed(const std::string& body) {
    boost::system::error_code error;
    json::value value = json::parse(text(body), error);
    if (error) return Error{ErrorCode::unavailable, "the hub's answer is not JSON"};
    return value;
}

// What a member of an object is; the default if it is missing or something else.
std::string text_in(const json::value& value, std::string_view key) {
    const auto* const object = value.if_object();
    const auto* const member = object ? object->if_contains(text(key)) : nullptr;
    const auto* const string = member ? member->if_string() : nullptr;
    return string ? std::string(*string) : std::string();
}

std::int64_t number_in(const json::value& value, std::string_view key, std::int64_t otherwise) {
    const auto* const object = value.if_object();
    const auto* const member = object ? object->if_contains(text(key)) : nullptr;
    if (!member) return otherwise;
    if (const auto* const number = member->if_int64()) return *number;
    if (const auto* const number = member->if_uint64()) return static_cast<std::int64_t>(*number);
    return otherwise;
}

double fraction_in(const json::value& value, std::string_view key) {
    const auto* const object = value.if_object();
    const auto* const member = object ? object->if_contains(text(key)) : nullptr;
    return member && member->is_number() ? member->to_number<double>() : 0;
}

bool flag_in(const json::value& value, std::string_view key) {
    const auto* const object = value.if_object();
    const auto* const member = object ? object->if_contains(text(key)) : nullptr;
    const auto* const flag = member ? member->if_bool() : nullptr;
    return flag && *flag;
}

std::vector<std::string> texts_in(const json::value& value, std::string_view key) {
    std::vector<std::string> texts;
    const auto* const object = value.if_object();
    const auto* const member = object ? object->if_contains(text(key)) : nullptr;
    const auto* const array = member ? member->if_array() : nullptr;
    if (!array) return texts;
    for (const auto& item : *array) {
        if (const auto* const string = item.if_string()) texts.emplace_back(*string);
    }
    return texts;
}

// Each object of the answer's array, made into something.
template <typename T>
Result<std::vector<T>> list_of(const std::string& body, std::string_view key,
                               T (*make)(const json::value&)) {
    EK_TRY_ASSIGN(const auto value, parsed(body));
    const auto* const object = value.if_object();
    const auto* const member = object ? object->if_contains(text(key)) : nullptr;
    const auto* const array = member ? member->if_array() : nullptr;
    if (!array) {
        return Error{ErrorCode::unavailable, fmt::format("the hub's answer has no list '{}'", key)};
    }
    std::vector<T> items;
    for (const auto& item : *array) items.push_back(make(item));
    return items;
}

// "2026-03-02T09:14:00.123Z"; 0 for what is no time.
std::int64_t unix_ms(const std::string& time) {
    std::tm parts{};
    const char* const rest = strptime(time.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
    if (!rest) return 0;
    std::int64_t milliseconds = 0;
    if (rest[0] == '.' && std::string_view(rest).size() >= 4) {
        for (int i = 1; i <= 3; ++i) milliseconds = 10 * milliseconds + (rest[i] - '0');
    }
    return std::int64_t{timegm(&parts)} * 1000 + milliseconds;
}

EventHubInfo hub_of(const json::value& value) {
    EventHubInfo info;
    info.name = text_in(value, "name");
    info.options.partitions = static_cast<std::uint32_t>(number_in(value, "partitions", 0));
    info.options.retention = std::chrono::milliseconds(number_in(value, "retention_ms", 0));
    info.options.partition_bytes_max =
        static_cast<std::uint64_t>(number_in(value, "partition_bytes_max", 0));
    info.created_time = time_point({unix_ms(text_in(value, "created_at"))});
    info.groups = texts_in(value, "groups");
    return info;
}

PartitionState partition_of(const json::value& value) {
    PartitionState info;
    info.partition = static_cast<std::uint32_t>(number_in(value, "partition", 0));
    info.begin_sequence_number = number_in(value, "begin_sequence_number", -1);
    info.last_enqueued_sequence_number = number_in(value, "last_sequence_number", -1);
    info.last_enqueued_offset = number_in(value, "last_offset", -1);
    info.last_enqueued_time = time_point({unix_ms(text_in(value, "last_enqueued_at"))});
    info.bytes = static_cast<std::uint64_t>(number_in(value, "size_bytes", 0));
    info.readers = static_cast<std::uint32_t>(number_in(value, "readers", 0));
    info.events_in_per_second = fraction_in(value, "events_in_per_second");
    info.events_out_per_second = fraction_in(value, "events_out_per_second");
    info.oldest_enqueued_time = time_point({unix_ms(text_in(value, "oldest_enqueued_at"))});
    if (auto problem = text_in(value, "error"); !problem.empty()) {
        info.problems.push_back(std::move(problem));
    } else {
        info.is_empty = flag_in(value, "is_empty");
        info.problems = texts_in(value, "problems");
    }
    return info;
}

KeyInfo key_of(const json::value& value) {
    return {text_in(value, "name"),
            text_in(value, "hub"),
            texts_in(value, "rights"),
            flag_in(value, "fixed"),
            Secret(text_in(value, "primary_key")),
            Secret(text_in(value, "secondary_key"))};
}

json::object change_of(const EventHubChange& change) {
    json::object object;
    if (change.partitions) object["partitions"] = *change.partitions;
    if (change.retention) object["retention_ms"] = change.retention->count();
    if (change.partition_bytes_max) object["partition_bytes_max"] = *change.partition_bytes_max;
    return object;
}

std::string hub_path(std::string_view name) {
    return "/api/v1/hubs/" + percent_encoded(name);
}

std::string keys_path(std::string_view event_hub) {
    return event_hub.empty() ? "/api/v1/keys" : hub_path(event_hub) + "/keys";
}

std::string key_path(std::string_view event_hub, std::string_view name) {
    return keys_path(event_hub) + "/" + percent_encoded(name);
}

constexpr ErrorCode all_codes[] = {
    ErrorCode::invalid_argument, ErrorCode::not_found,   ErrorCode::already_exists,
    ErrorCode::not_allowed,      ErrorCode::unsupported, ErrorCode::conflict,
    ErrorCode::fenced,           ErrorCode::overloaded,  ErrorCode::unavailable,
    ErrorCode::timed_out,        ErrorCode::cancelled,   ErrorCode::handler_failed,
    ErrorCode::corrupt};

// {"error":{"code":"not_found","message":"..."}}, or an answer of another server.
Error error_of(const http::ClientResponse& response, const http::Url& url) {
    boost::system::error_code malformed;
    const json::value value = json::parse(text(response.body), malformed);
    const auto* const object = malformed ? nullptr : value.if_object();
    const auto* const error = object ? object->if_contains("error") : nullptr;
    if (!error || text_in(*error, "code").empty()) {
        return {ErrorCode::unavailable,
                fmt::format("{} answers with status {}, and not as Evenkeel's admin interface does",
                            http::to_string(url), response.status)};
    }
    const std::string code = text_in(*error, "code");
    Error result{ErrorCode::handler_failed, text_in(*error, "message")};
    for (const ErrorCode known : all_codes) {
        if (to_string(known) == code) result.code = known;
    }
    if (response.status == 401 || response.status == 403) result.code = ErrorCode::not_allowed;
    return result;
}

}  // namespace

AdminClient::AdminClient(const Remote& remote) : remote_(remote), dialer_(remote.ca_pem) {}

const Result<eventhubs::Greeting>& AdminClient::greeting() {
    if (greeting_) return *greeting_;
    const eventhubs::Target& target = remote_.target;
    // Which event hub does not matter.
    auto options = client::connection_options(client_options(
        remote_, target.event_hub.empty() ? "any" : target.event_hub, "evenkeel", Patience::none));
    greeting_ = options.ok() ? dialer_.greet(*options, remote_.timeout)
                             : Result<eventhubs::Greeting>(options.error());
    return *greeting_;
}

Result<http::Url> AdminClient::url() {
    if (remote_.admin) return *remote_.admin;
    const auto& said = greeting();
    if (!said.ok()) return said.error();
    const eventhubs::Target& target = remote_.target;
    if (target.websocket) return http::Url{target.endpoint, target.tls};
    const std::string where = io::to_string(target.endpoint);
    if (said->identity.empty()) {
        return Error{ErrorCode::unavailable,
                     fmt::format("{} does not say where its admin interface is; it is no Evenkeel, "
                                 "or an older one. --url names the address",
                                 where)};
    }
    // A token does not go in clear text to another machine if its events do not.
    const bool takes_plain = !target.tls || io::is_loopback(target.endpoint.host);
    const bool tls = said->https_port != 0 && (target.tls || said->http_port == 0);
    const std::uint16_t port = tls ? said->https_port : takes_plain ? said->http_port : 0;
    if (port == 0) {
        return Error{ErrorCode::unavailable,
                     fmt::format("the hub at {} has no admin interface{}; --url names one of "
                                 "another address",
                                 where, target.tls ? " with TLS" : "")};
    }
    return http::Url{{target.endpoint.host, port}, tls};
}

Result<> AdminClient::meet() {
    if (is_met_) return {};
    EK_TRY_ASSIGN(const auto address, url());
    // A URL without a hub names the hub by itself.
    if (remote_.admin && !remote_.is_named) {
        is_met_ = true;
        return {};
    }
    EK_TRY_ASSIGN(const auto there, health());
    const std::string hub = io::to_string(remote_.target.endpoint);
    const auto name = [](const std::string& identity) {
        return identity.empty() ? std::string("unknown") : shown(identity);
    };
    const auto& said = greeting();
    if (!said.ok() || said->identity.empty()) {
        unknown_ = fmt::format(
            "whether {} belongs to the hub at {} cannot be checked: {}", http::to_string(address),
            hub, said.ok() ? "the hub does not tell its identity" : said.error().detail);
    } else if (said->identity != there.identity) {
        return Error{
            ErrorCode::conflict,
            fmt::format("{} is the admin interface of another hub than {} (their "
                        "identities are {} and {}); {}",
                        http::to_string(address), hub, name(there.identity), name(said->identity),
                        remote_.admin ? "leave out --url and EVENKEEL_URL, or name its "
                                        "own hub with --hub"
                                      : "--url names the right address")};
    } else {
        identity_ = said->identity;
    }
    is_met_ = true;
    return {};
}

Result<std::string> AdminClient::call(std::string_view method, const std::string& path,
                                      std::string body) {
    EK_TRY(meet());
    if (method != "GET" && !unknown_.empty()) return Error{ErrorCode::unavailable, unknown_};
    EK_TRY_ASSIGN(const auto address, url());
    http::ClientRequest request{std::string(method), path, {}, std::move(body)};
    const eventhubs::Target& target = remote_.target;
    Secret token = target.token;
    if (!target.key.empty()) {
        const std::string everything = "sb://" + address.endpoint.host + "/";
        token = Secret(eventhubs::make_sas(everything, target.key_name, target.key,
                                           SystemClock().wall() + token_life));
    }
    if (!token.empty()) request.fields.push_back({"Authorization", token.reveal()});
    if (!identity_.empty()) request.fields.push_back({door::Admin::hub_field, identity_});
    if (method != "GET" && method != "DELETE") {
        request.fields.push_back({"Content-Type", "application/json"});
        if (request.body.empty()) request.body = "{}";
    }
    // A change may make or remove the folders of a thousand partitions.
    const auto timeout = method == "GET" ? remote_.timeout : 12 * remote_.timeout;
    EK_TRY_ASSIGN(auto response, dialer_.ask(address, request, timeout));
    if (response.status >= 200 && response.status < 300) return std::move(response.body);
    return error_of(response, address);
}

Result<AdminClient::Health> AdminClient::health() {
    EK_TRY_ASSIGN(const auto address, url());
    EK_TRY_ASSIGN(const auto response, dialer_.ask(address, {.path = "/health"}, remote_.timeout));
    const auto value = parsed(response.body);
    const std::string status = value.ok() ? text_in(*value, "status") : "";
    if (status.empty()) return error_of(response, address);
    return Health{status == "healthy", text_in(*value, "message"),
                  http::parse_date(response.field("Date")), text_in(*value, "identity")};
}

Result<std::vector<EventHubInfo>> AdminClient::hubs() {
    EK_TRY_ASSIGN(const auto body, call("GET", "/api/v1/hubs"));
    return list_of(body, "hubs", hub_of);
}

Result<EventHubInfo> AdminClient::hub(std::string_view name) {
    EK_TRY_ASSIGN(const auto body, call("GET", hub_path(name)));
    EK_TRY_ASSIGN(const auto value, parsed(body));
    return hub_of(value);
}

Result<std::vector<PartitionState>> AdminClient::partitions(std::string_view name) {
    EK_TRY_ASSIGN(const auto body, call("GET", hub_path(name) + "/partitions"));
    return list_of(body, "partitions", partition_of);
}

Result<EventHubInfo> AdminClient::create(std::string_view name, const EventHubChange& wanted) {
    json::object object = change_of(wanted);
    object["name"] = text(name);
    EK_TRY_ASSIGN(const auto body, call("POST", "/api/v1/hubs", json::serialize(object)));
    EK_TRY_ASSIGN(const auto value, parsed(body));
    return hub_of(value);
}

Result<EventHubInfo> AdminClient::alter(std::string_view name, const EventHubChange& change) {
    EK_TRY_ASSIGN(const auto body,
                  call("PATCH", hub_path(name), json::serialize(change_of(change))));
    EK_TRY_ASSIGN(const auto value, parsed(body));
    return hub_of(value);
}

Result<> AdminClient::purge(std::string_view name, std::optional<std::uint32_t> partition,
                            std::optional<std::int64_t> before_sequence_number) {
    json::object object;
    if (partition) object["partition"] = *partition;
    if (before_sequence_number) object["before_sequence_number"] = *before_sequence_number;
    EK_TRY(call("POST", hub_path(name) + "/purge", json::serialize(object)));
    return {};
}

Result<> AdminClient::remove(std::string_view name) {
    EK_TRY(call("DELETE", hub_path(name)));
    return {};
}

Result<> AdminClient::create_group(std::string_view event_hub, std::string_view group) {
    EK_TRY(call("POST", hub_path(event_hub) + "/groups",
                json::serialize(json::object{{"name", text(group)}})));
    return {};
}

Result<> AdminClient::remove_group(std::string_view event_hub, std::string_view group) {
    EK_TRY(call("DELETE", hub_path(event_hub) + "/groups/" + percent_encoded(group)));
    return {};
}

Result<std::vector<KeyInfo>> AdminClient::keys(std::string_view event_hub) {
    EK_TRY_ASSIGN(const auto body, call("GET", keys_path(event_hub)));
    return list_of(body, "keys", key_of);
}

Result<KeyInfo> AdminClient::key(std::string_view event_hub, std::string_view name) {
    EK_TRY_ASSIGN(const auto body, call("GET", key_path(event_hub, name)));
    EK_TRY_ASSIGN(const auto value, parsed(body));
    return key_of(value);
}

Result<KeyInfo> AdminClient::create_key(std::string_view event_hub, std::string_view name,
                                        const std::vector<std::string>& rights) {
    json::array names;
    for (const auto& right : rights) names.emplace_back(text(right));
    const json::object object{{"name", text(name)}, {"rights", std::move(names)}};
    EK_TRY_ASSIGN(const auto body, call("POST", keys_path(event_hub), json::serialize(object)));
    EK_TRY_ASSIGN(const auto value, parsed(body));
    return key_of(value);
}

Result<KeyInfo> AdminClient::rotate_key(std::string_view event_hub, std::string_view name,
                                        std::string_view which) {
    EK_TRY_ASSIGN(const auto body, call("POST", key_path(event_hub, name) + "/rotate",
                                        json::serialize(json::object{{"key", text(which)}})));
    EK_TRY_ASSIGN(const auto value, parsed(body));
    return key_of(value);
}

Result<> AdminClient::remove_key(std::string_view event_hub, std::string_view name) {
    EK_TRY(call("DELETE", key_path(event_hub, name)));
    return {};
}

}  // namespace evenkeel::cli
