#include "checkpoint/open.h"

#include <map>
#include <string>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/guarded.h"
#include "checkpoint/blob/store.h"
#include "checkpoint/memory/store.h"
#include "checkpoint/postgres/store.h"
#include "checkpoint/redis/store.h"
#include "checkpoint/sqlite/store.h"

namespace evenkeel::checkpoint {

namespace {

// The process's stores in memory, by name; they last as long as it does.
MemoryServer& memory_server(const std::string& name) {
    struct Servers {
        SystemClock clock;
        Guarded<std::map<std::string, std::unique_ptr<MemoryServer>>> by_name;
    };
    static Servers& servers = *new Servers;  // never destroyed: threads may outlive main()
    return *servers.by_name.with([&](auto& by_name) {
        auto& server = by_name[name];
        if (!server) server = std::make_unique<MemoryServer>(servers.clock);
        return server.get();
    });
}

}  // namespace

Result<std::unique_ptr<Store>> open_store(std::string_view url, const GroupName& group,
                                          io::Loop& loop, const OpenOptions& options) {
    const bool may_create = options.may_create;
    const std::size_t colon = url.find(':');
    const std::string_view scheme = url.substr(0, colon == url.npos ? 0 : colon);
    const std::string rest(url.substr(colon == url.npos ? 0 : colon + 1));
    if (scheme == "memory") {
        return std::unique_ptr<Store>(new MemoryStore(loop, memory_server(rest), group));
    }
    if (scheme == "sqlite") {
        EK_TRY_ASSIGN(auto store, SqliteStore::open(rest, group, loop, {.may_create = may_create}));
        return std::unique_ptr<Store>(std::move(store));
    }
    if (scheme == "postgresql" || scheme == "postgres") {
        EK_TRY_ASSIGN(auto store, PostgresStore::open(std::string(url), group, loop,
                                                      {.may_create = may_create}));
        return std::unique_ptr<Store>(std::move(store));
    }
    if (scheme == "redis" || scheme == "rediss") {
        EK_TRY_ASSIGN(auto store,
                      RedisStore::open(std::string(url), group, loop, {.may_create = may_create}));
        return std::unique_ptr<Store>(std::move(store));
    }
    if (scheme == "azblob") {
        EK_TRY_ASSIGN(auto store, BlobStore::open(rest, group, loop, {.may_create = may_create}));
        return std::unique_ptr<Store>(std::move(store));
    }
    // Only the scheme is shown: behind it there may be a password.
    return Error{
        ErrorCode::invalid_argument,
        fmt::format("{}; a checkpoint store is one of: sqlite:FILE, "
                    "postgresql://HOST/DATABASE, redis://HOST, "
                    "azblob:CONNECTION-STRING;Container=NAME, memory:NAME",
                    url.empty() ? std::string("no checkpoint store given")
                    : scheme.empty()
                        ? std::string("the checkpoint store does not begin with its kind and ':'")
                        : fmt::format("unknown kind of checkpoint store '{}'", scheme))};
}

}  // namespace evenkeel::checkpoint
