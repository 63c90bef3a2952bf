#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/promise.h"
#include "checkpoint/import/source.h"
#include "checkpoint/redis/client.h"
#include "checkpoint/redis/cluster.h"
#include "checkpoint/redis/error.h"
#include "checkpoint/redis/text.h"
#include "io/system/loop.h"
#include "io/system/network.h"

namespace evenkeel::checkpoint {
namespace {

constexpr Duration wait_max = std::chrono::seconds(10);
constexpr std::size_t scans_max = 100'000;
constexpr const char* scan_items = "1000";

// A pattern of Redis' for the text, in which the case of letters does not matter.
std::string any_case(std::string_view text) {
    std::string pattern;
    for (const char c : text) {
        const bool is_lower = c >= 'a' && c <= 'z', is_upper = c >= 'A' && c <= 'Z';
        const char other = static_cast<char>(is_lower ? c - 'a' + 'A' : c - 'A' + 'a');
        if (is_lower || is_upper) {
            pattern += fmt::format("[{}{}]", c, other);
        } else {
            pattern += std::string_view("*?[]\\^").find(c) == std::string_view::npos
                           ? std::string(1, c)
                           : fmt::format("\\{}", c);
        }
    }
    return pattern;
}

// A connection that is asked, and waited for.
class Session {
public:
    explicit Session(const RedisAddress& address, std::shared_ptr<const io::TlsClientContext> tls)
        : shown_(address.shown()),
          client_(loop_, network_,
                  {.address = address,
                   .wait_max = wait_max,
                   .format_key = "",
                   .channel = "",
                   .name = "",
                   .tls = std::move(tls)},
                  [] {}) {}
    ~Session() { loop_.stop(); }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    Result<> start() {
        Promise<Result<>> connected;
        loop_.start();
        loop_.post(
            [&] { client_.start([&](Result<> result) { connected.set(std::move(result)); }); });
        return connected.wait();
    }
    Result<RespValue> ask(RespCommand words) {
        Promise<Result<RedisClient::Replies>> replied;
        loop_.post([&] {
            client_.send({{nullptr, std::move(words)}}, [&](Result<RedisClient::Replies> replies) {
                replied.set(std::move(replies));
            });
        });
        EK_TRY_ASSIGN(auto replies, replied.wait());
        if (replies.at(0).is_error()) return redis_error(shown_, replies[0].text);
        return std::move(replies[0]);
    }

private:
    const std::string shown_;
    io::system::LoopThread loop_{"legacy"};
    io::system::SystemNetwork network_{loop_};
    RedisClient client_;
};

// The keys that match, of any case.
Result<std::vector<std::string>> keys_like(Session& session, const std::string& pattern) {
    std::vector<std::string> keys;
    std::string cursor = "0";
    for (std::size_t scans = 0; scans < scans_max; ++scans) {
        EK_TRY_ASSIGN(const RespValue reply,
                      session.ask({"SCAN", cursor, "MATCH", pattern, "COUNT", scan_items}));
        if (reply.list.size() != 2) return Error{ErrorCode::corrupt, "SCAN answers something else"};
        for (const RespValue& key : reply.list[1].list) keys.push_back(key.text);
        cursor = reply.list[0].text;
        if (cursor != "0") continue;
        std::sort(keys.begin(), keys.end());
        keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
        return keys;
    }
    return Error{ErrorCode::overloaded, "the database has too many keys to look at all of them"};
}

Result<LegacyEntry> entry_of(Session& session, const std::string& key, PartitionId partition,
                             std::int64_t now_ms) {
    const auto checkpoint = session.ask({"HGET", key, "checkpoint"});
    const auto ownership = session.ask({"HGET", key, "partitionOwnership"});
    for (const auto& reply : {std::cref(checkpoint), std::cref(ownership)}) {
        if (!reply.get().ok() && is_retriable(reply.get().error())) return reply.get().error();
    }
    LegacyEntry entry{key, partition, LegacyRecord{}};
    if (!checkpoint.ok()) {
        entry.record = checkpoint.error();  // another kind of key
    } else if (checkpoint->kind == RespValue::Kind::null) {
        entry.record = LegacyRecord{{}, "it has no checkpoint: nothing was handled yet"};
    } else {
        entry.record = jedis_record(partition, checkpoint->text);
    }
    const LegacyOwner owner = ownership.ok() ? jedis_owner(ownership->text) : LegacyOwner{};
    const bool is_alive = std::chrono::milliseconds(now_ms - owner.modified_ms) < legacy_alive_max;
    if (is_alive) entry.owner = owner.owner;
    return entry;
}

// By the path of a group's keys; what is not wanted is only counted.
using Places = std::map<std::string, std::map<PartitionId, std::optional<LegacyEntry>>>;

// Adds what one server has.
Result<> read_server(Session& session, const LegacyQuery& query, Places& places) {
    const GroupName& group = query.group;
    const std::string wanted =
        query.path.empty()
            ? any_case(fmt::format("{}/{}/{}/", group.hub_namespace, group.event_hub, group.group))
            : any_case(query.path);
    EK_TRY_ASSIGN(const auto keys, keys_like(session, wanted + "*"));
    EK_TRY_ASSIGN(const RespValue time, session.ask({"TIME"}));
    const auto now_us =
        time.list.size() == 2 ? redis_time_us(time.list[0].text, time.list[1].text) : std::nullopt;
    const std::int64_t now_ms = now_us.value_or(0) / 1000;
    for (const std::string& key : keys) {
        const auto place = legacy_place(LegacyLayout::jedis, key, group, query.path);
        if (!place) continue;
        auto& entry = places[place->path][place->partition];
        if (!is_wanted(query, place->partition)) continue;
        EK_TRY_ASSIGN(entry, entry_of(session, key, place->partition, now_ms));
    }
    return {};
}

// Each primary of the cluster has keys of its own.
Result<> read_cluster(Session& session, const RedisAddress& address,
                      const std::shared_ptr<const io::TlsClientContext>& tls,
                      const LegacyQuery& query, Places& places) {
    EK_TRY_ASSIGN(const RespValue slots, session.ask({"CLUSTER", "SLOTS"}));
    const auto primaries = cluster_primaries(slots, address.endpoint.host);
    if (!primaries.ok()) {
        return Error{primaries.error().code,
                     fmt::format("{}: {}", address.shown(), primaries.error().detail)};
    }
    for (const io::Endpoint& primary : *primaries) {
        RedisAddress node = address;
        node.endpoint = primary;
        Session asked(node, tls);
        EK_TRY(asked.start());
        EK_TRY(read_server(asked, query, places));
    }
    return {};
}

}  // namespace

Result<LegacyCheckpoints> read_legacy_redis(const LegacyQuery& query) {
    EK_TRY_ASSIGN(const RedisAddress address, RedisAddress::parse(query.address));
    EK_TRY_ASSIGN(const auto tls, redis_tls(address));
    Session session(address, tls);
    EK_TRY(session.start());
    EK_TRY_ASSIGN(const RespValue hello, session.ask({"HELLO", "3"}));
    Places places;
    if (is_of_cluster(hello)) {
        EK_TRY(read_cluster(session, address, tls, query, places));
    } else {
        EK_TRY(read_server(session, query, places));
    }
    std::vector<LegacyPath> paths;
    paths.reserve(places.size());
    for (const auto& [path, partitions] : places) paths.push_back({path, partitions.size()});
    EK_TRY_ASSIGN(const std::string path, only_path(paths, query, {}));
    LegacyCheckpoints result{LegacyLayout::jedis, path, {}};
    for (auto& [partition, entry] : places[path]) {
        if (entry) result.entries.push_back(std::move(*entry));
    }
    return result;
}

}  // namespace evenkeel::checkpoint
