// A Redis Cluster of a test's own, on free ports of 127.0.0.1.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <poll.h>

#include "base/clock.h"
#include "support/redis_server.h"

namespace evenkeel::checkpoint {

struct RedisSlots {
    int first = 0;
    int last = -1;  // before the first: none
};
using RedisNodes = std::vector<std::unique_ptr<test::RedisServer>>;

inline std::unique_ptr<test::RedisServer> a_cluster_node(std::string& why) {
    for (int attempt = 0; attempt < 3; ++attempt) {  // the bus's port may be taken meanwhile
        auto node = test::RedisServer::start(
            why, {"--cluster-enabled", "yes", "--cluster-port", std::to_string(test::free_port()),
                  "--cluster-node-timeout", "60000"});  // a slow machine is no failure
        if (node) return node;
    }
    return nullptr;
}

// "ID 127.0.0.1:PORT@BUS,HOST myself,..."
inline std::string cluster_bus_of(const test::RedisServer& node) {
    const std::string nodes = node.answer({"CLUSTER", "NODES"});
    const std::size_t at = nodes.find('@') + 1;
    return nodes.substr(at, nodes.find_first_of(", ", at) - at);
}

// Tries again for a minute: a cluster that has just become one may go away once more.
template <typename Condition>
bool cluster_comes_to(Condition condition) {
    const SystemClock clock;
    const Instant deadline = clock.now() + std::chrono::seconds(60);
    while (!condition()) {
        if (clock.now() >= deadline) return false;
        ::poll(nullptr, 0, 50);  // tidy: allow sleep: between two looks
    }
    return true;
}

// A node for each of the ranges, when all of them say that the cluster works. Empty, and `why` says
// so, if Redis is not installed.
inline RedisNodes a_cluster(const std::vector<RedisSlots>& ranges, std::string& why) {
    RedisNodes nodes;
    for (const RedisSlots& slots : ranges) {
        nodes.push_back(a_cluster_node(why));
        if (!nodes.back()) return {};
        const test::RedisServer& node = *nodes.back();
        EXPECT_TRUE(node.run({"CLUSTER", "SET-CONFIG-EPOCH", std::to_string(nodes.size())}));
        if (slots.last < slots.first) continue;
        EXPECT_TRUE(node.run(
            {"CLUSTER", "ADDSLOTSRANGE", std::to_string(slots.first), std::to_string(slots.last)}));
    }
    const std::string bus = cluster_bus_of(*nodes[0]), port = std::to_string(nodes[0]->port());
    for (std::size_t i = 1; i < nodes.size(); ++i) {
        EXPECT_TRUE(nodes[i]->run({"CLUSTER", "MEET", "127.0.0.1", port, bus}));
    }
    for (const auto& node : nodes) {
        EXPECT_TRUE(cluster_comes_to([&] {
            return node->answer({"CLUSTER", "INFO"}).find("cluster_state:ok") != std::string::npos;
        })) << node->answer({"CLUSTER", "INFO"});
    }
    return nodes;
}

}  // namespace evenkeel::checkpoint
