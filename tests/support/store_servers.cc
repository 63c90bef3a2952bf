#include "support/store_servers.h"

#include <gtest/gtest.h>

#include "checkpoint/blob/server_fixture.h"
#include "support/azurite_server.h"
#include "support/faulty_proxy.h"
#include "support/postgres_server.h"
#include "support/redis_server.h"

namespace evenkeel::lab {
namespace {

StoreServer postgres(std::string& why) {
    const std::shared_ptr<test::PostgresServer> server = test::PostgresServer::start(why);
    if (!server) return {};
    return {server->url(), [server] { server->kill(); },
            [server] { EXPECT_TRUE(server->start_again()); }, server};
}

StoreServer redis(std::string& why) {
    const std::shared_ptr<test::RedisServer> server =
        test::RedisServer::start(why, {"--appendonly", "yes", "--appendfsync", "always"});
    if (!server) return {};
    return {server->url(), [server] { server->kill(); },
            [server] { EXPECT_TRUE(server->start_again()); }, server};
}

StoreServer blob(std::string&) {
    auto server = std::make_shared<checkpoint::BlobServer>();
    using Fault = checkpoint::BlobServer::Fault;
    return {"azblob:" + server->address(),
            [server] { server->set_fault([](const http::Request&) { return Fault::busy; }); },
            [server] { server->set_fault({}); }, server};
}

StoreServer azurite(std::string& why) {
    struct Proxied {
        std::unique_ptr<test::AzuriteServer> server;
        std::unique_ptr<test::FaultyProxy> proxy;
    };
    auto kept = std::make_shared<Proxied>();
    kept->server = test::AzuriteServer::start(why);
    if (!kept->server) return {};
    kept->proxy = std::make_unique<test::FaultyProxy>(kept->server->port());
    return {"azblob:" + kept->server->address("lab", kept->proxy->port()),
            [kept] {
                kept->proxy->refuse_and_wait();
                kept->server->end();
            },
            [kept] {
                EXPECT_TRUE(kept->server->start_again());
                kept->proxy->refuse(false);
            },
            kept};
}

}  // namespace

std::vector<StoreKind> store_kinds() {
    return {{"postgres", postgres}, {"redis", redis}, {"blob", blob}};
}

std::vector<StoreKind> azurite_kinds() {
    if (!test::AzuriteServer::is_installed()) return {};
    return {{"blob", azurite, true}};
}

std::string name_of(const StoreKind& kind) {
    return kind.name;
}

}  // namespace evenkeel::lab
