// The store on a Redis with TLS, and on a Redis Cluster.
#include <chrono>

#include <gtest/gtest.h>
#include <poll.h>

#include "checkpoint/contract/blocking_client_fixture.h"
#include "checkpoint/redis/cluster_fixture.h"
#include "checkpoint/redis/store.h"
#include "io/system/files.h"
#include "io/tls.h"
#include "support/redis_server.h"

namespace evenkeel::checkpoint {
namespace {

using namespace std::chrono_literals;

Result<std::unique_ptr<RedisStore>> open(const std::string& url, io::Loop& loop) {
    return RedisStore::open(url, {"localhost", "homes", "g"}, loop, {.wait_max = 60s});
}

std::unique_ptr<BlockingClient> a_client(const std::string& url) {
    return std::make_unique<BlockingClient>([&](io::Loop& loop) {
        auto store = open(url, loop);
        // A cluster that has just become one may go away once more.
        for (int i = 0; i < 100 && !store.ok() && is_retriable(store.error()); ++i) {
            ::poll(nullptr, 0, 100);  // tidy: allow sleep: between two attempts
            store = open(url, loop);
        }
        EXPECT_TRUE(store) << to_string(store.error());
        return std::unique_ptr<Store>(std::move(*store));
    });
}

TEST(RedisTls, is_spoken_and_whoever_is_not_trusted_is_refused) {
    const test::TemporaryDirectory folder;
    io::system::SystemFiles files;
    const auto identity = io::make_self_signed();
    ASSERT_TRUE(identity);
    const std::string certificate = folder.path() + "/cert.pem", key = folder.path() + "/key.pem";
    ASSERT_TRUE(io::replace_file(files, certificate, as_bytes(identity->certificate_pem)));
    ASSERT_TRUE(io::replace_file(files, key, as_bytes(identity->key_pem)));
    const std::uint16_t port = test::free_port();
    std::string why;
    const auto server = test::RedisServer::start(
        why, {"--tls-port", std::to_string(port), "--tls-cert-file", certificate, "--tls-key-file",
              key, "--tls-auth-clients", "no"});
    if (!server) GTEST_SKIP() << why;
    const std::string url = "rediss://127.0.0.1:" + std::to_string(port);

    const auto trusted = a_client(url + "?ca=" + certificate);
    const auto careless = a_client(url + "?insecure=1");
    io::system::LoopThread loop("client");
    const auto stranger = open(url, loop);
    const auto no_file = open(url + "?ca=/no/where.pem", loop);

    EXPECT_TRUE(trusted->write(Checkpoint{.partition = {0}, .sequence = {7}, .epoch = {1}}));
    EXPECT_EQ(careless->checkpoints()->at(0).sequence, SequenceNumber{7});
    ASSERT_FALSE(stranger);
    EXPECT_NE(stranger.error().detail.find("certificate"), std::string::npos)
        << stranger.error().detail;
    ASSERT_FALSE(no_file);
    EXPECT_EQ(no_file.error().code, ErrorCode::not_found) << no_file.error().detail;
}

TEST(RedisCluster, the_node_that_has_the_group_is_found_and_followed) {
    std::string why;
    const RedisNodes nodes = a_cluster({{}, {0, 16'383}}, why);
    if (nodes.empty()) GTEST_SKIP() << why;
    const auto &a = nodes[0], &b = nodes[1];

    const auto store = a_client(a->url());

    ASSERT_TRUE(store->write(Checkpoint{.partition = {0}, .sequence = {7}, .epoch = {1}}));
    EXPECT_NE(b->answer({"DBSIZE"}).find('2'), std::string::npos) << b->answer({"DBSIZE"});
    const auto again = a_client(b->url());
    EXPECT_EQ(again->checkpoints()->at(0).sequence, SequenceNumber{7});
}

}  // namespace
}  // namespace evenkeel::checkpoint
