// Event processors as real processes that meet in PostgreSQL, Redis or Blob storage: killed,
// stopped, paused beyond their leases, and with their store away; judged as with SQLite
// (fault_test.cc). On Azurite if a script has installed it (tests/interop/interop_blob_processor).
#include <cstdlib>
#include <functional>
#include <memory>

#include <gtest/gtest.h>

#include "checkpoint/blob_server_fixture.h"
#include "lab/lab.h"
#include "support/azurite_server.h"
#include "support/faulty_proxy.h"
#include "support/postgres_server.h"
#include "support/redis_server.h"

namespace evenkeel::lab {
namespace {

using namespace std::chrono_literals;

// A store's server, and how it goes away and comes back.
struct StoreServer {
    std::string address;
    std::function<void()> go_away;
    std::function<void()> come_back;
    std::shared_ptr<void> kept;
};

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

// The processors come through a proxy: what it answered before it ended is what it keeps.
StoreServer azurite(std::string& why) {
    struct Proxied {
        std::unique_ptr<test::AzuriteServer> server;
        std::unique_ptr<test::FaultyProxy> proxy;
    };
    auto kept = std::make_shared<Proxied>();
    kept->server = test::AzuriteServer::start(why);
    if (!kept->server) return {};
    kept->proxy = std::make_unique<test::FaultyProxy>(kept->server->port());
    return {"azblob:" + kept->server->address(kept->proxy->port()),
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

struct Kind {
    const char* name;
    StoreServer (*start)(std::string& why);
    bool must_start = false;
};

class ProcessorStoreFaults : public testing::TestWithParam<Kind> {};

TEST_P(ProcessorStoreFaults, kills_stops_pauses_and_an_outage_lose_nothing) {
    std::string why;
    const StoreServer store = GetParam().start(why);
    ASSERT_TRUE(store.kept || !GetParam().must_start) << why;
    if (!store.kept) GTEST_SKIP() << why;
    Lab lab({.partitions = 4, .rate = 2000, .store = store.address});
    std::vector<std::uint32_t> living = {lab.start_processor(), lab.start_processor()};
    lab.start_producer();
    lab.wait_until("two share", [&] { return lab.is_shared_by(living); });
    const auto replace_first = [&](auto end) {
        end(living.front());
        living.erase(living.begin());
        lab.wait_until("the other has all", [&] { return lab.is_shared_by(living); });
        living.push_back(lab.start_processor());
        lab.wait_until("the new one has its share", [&] { return lab.is_shared_by(living); });
    };

    const bool is_long = std::getenv("EVENKEEL_LONG") != nullptr;
    for (int round = 0; round < (is_long ? 10 : 1); ++round) {
        replace_first([&](std::uint32_t processor) { lab.kill_processor(processor); });
        if (is_long) {
            replace_first([&](std::uint32_t processor) { lab.stop_processor(processor); });
        }

        lab.pause_processor(living[0]);
        lab.wait_until("the other has all", [&] { return lab.is_shared_by({living[1]}); });
        lab.resume_processor(living[0]);
        lab.wait_until("both share again", [&] { return lab.is_shared_by(living); });

        store.go_away();
        lab.pass(is_long ? 20s : 4s);
        store.come_back();
        lab.mark_progress();
        lab.wait_until("all partitions move on", [&] { return lab.has_progressed(50); });
        lab.wait_until("both share after the outage", [&] { return lab.is_shared_by(living); });
    }

    const auto verdict = lab.finish();
    std::printf("ledger: %s", to_json(verdict).c_str());
    EXPECT_GT(verdict.durable, 1000u) << "too little happened to say anything";
    EXPECT_EQ(verdict.lost, 0u);
    EXPECT_EQ(verdict.out_of_order, 0u);
    EXPECT_EQ(verdict.wrong_content, 0u);
    EXPECT_EQ(verdict.past_fence, 0u);
}

INSTANTIATE_TEST_SUITE_P(Stores, ProcessorStoreFaults,
                         testing::Values(Kind{"postgres", postgres}, Kind{"redis", redis},
                                         Kind{"blob", blob}),
                         [](const auto& kind) { return std::string(kind.param.name); });
INSTANTIATE_TEST_SUITE_P(Azurite, ProcessorStoreFaults,
                         testing::ValuesIn(test::AzuriteServer::is_installed()
                                               ? std::vector{Kind{"blob", azurite, true}}
                                               : std::vector<Kind>{}),
                         [](const auto& kind) { return std::string(kind.param.name); });

}  // namespace
}  // namespace evenkeel::lab
