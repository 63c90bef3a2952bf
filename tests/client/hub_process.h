// A hub with its door on loopback, with threads of its own, in this process: what `evenkeel serve`
// is made of. stop() and start() are a restart on the same port.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/metrics.h"
#include "base/promise.h"
#include "door/door.h"
#include "http/server.h"
#include "hub/namespace.h"
#include "io/system/files.h"
#include "io/system/loop.h"
#include "io/system/network.h"
#include "io/tls.h"
#include "support/temporary_directory.h"

namespace evenkeel::test {

inline const std::string key_name = "app";
inline const std::string key = "c2VjcmV0";

inline door::AccessRules rules_for_tests() {
    return door::AccessRules({{key_name, "", Secret(key), Secret(), {true, true, true}},
                              {"reader", "", Secret(key), Secret(), {false, true, false}}});
}

class HubProcess {
public:
    // 0: as large as usual.
    explicit HubProcess(std::uint64_t segment_bytes_max = 0)
        : segment_bytes_max_(segment_bytes_max) {
        start();
    }
    ~HubProcess() { stop(); }

    void start() {
        HubOptions options;
        options.directory = folder_.path() + "/data";
        options.sync_to_disk = false;
        if (segment_bytes_max_ != 0) options.segment_bytes_max = segment_bytes_max_;
        node_ = std::make_unique<Node>();
        Node& node = *node_;
        node.hubs =
            hub::Namespace::open(
                {node.files, node.loop, {&node.disk}, node.metadata, node.log_metrics}, options)
                .value();
        node.hubs->start();
        node.network = std::make_unique<io::system::SystemNetwork>(node.loop);
        node.door = std::make_unique<door::Door>(node.loop, node.reads, *node.network, *node.hubs,
                                                 rules_for_tests(), door_options);
        const auto endpoint = node.door->listen({"127.0.0.1", port_});
        EXPECT_TRUE(endpoint.ok()) << endpoint.error().detail;
        port_ = endpoint->port;
        listen_encrypted(node);
        node.loop.start();
    }

    void stop() {
        if (!node_) return;
        Node& node = *node_;
        io::system::run_and_wait(node.loop, [&] {
            node.tls_listener.reset();
            node.http.reset();
        });
        wait([&](auto done) { node.door->stop(std::move(done)); });
        wait([&](auto done) { node.hubs->close(std::move(done)); });
        node.metadata.finish();
        node.reads.finish();
        node.disk.finish();
        node.loop.stop();
        node_.reset();
    }
    std::string data_folder() const { return folder_.path() + "/data"; }
    void restart() {
        stop();
        start();
    }

    Result<> create(std::string_view name, std::uint32_t partitions) {
        Promise<Result<>> promise;
        node_->loop.post([&] {
            node_->hubs->create(name, {.partitions = partitions},
                                [&](Result<> done) { promise.set(std::move(done)); });
        });
        return promise.wait();
    }

    std::string connection_string(std::string_view hub, std::string_view rule = key_name,
                                  std::string_view secret = key) const {
        return "Endpoint=sb://127.0.0.1:" + std::to_string(port_) +
               ";SharedAccessKeyName=" + std::string(rule) +
               ";SharedAccessKey=" + std::string(secret) + ";EntityPath=" + std::string(hub) +
               ";UseDevelopmentEmulator=true";
    }

    // Over TLS, or in a WebSocket in TLS, with a certificate that only ca_pem() vouches for.
    std::string encrypted_connection_string(std::string_view hub, bool websocket) const {
        return "Endpoint=sb://localhost:" +
               std::to_string(websocket ? node_->wss_port : node_->tls_port) +
               ";SharedAccessKeyName=" + key_name + ";SharedAccessKey=" + key +
               ";EntityPath=" + std::string(hub) +
               (websocket ? ";TransportType=AmqpWebSockets" : "");
    }
    std::uint16_t port() const { return port_; }
    const std::string& ca_pem() const { return identity_.certificate_pem; }

    std::size_t connection_count() {
        std::size_t count = 0;
        io::system::run_and_wait(node_->loop, [&] { count = node_->door->connection_count(); });
        return count;
    }

    door::DoorOptions door_options;

private:
    struct Node {
        io::system::SystemFiles files;
        Metrics metrics;
        commitlog::LogMetrics log_metrics{metrics};
        io::system::LoopThread loop{"loop/0"};
        io::system::WorkerThread disk{"disk/0"};
        io::system::WorkerThread reads{"read/0"};
        io::system::WorkerThread metadata{"meta/0"};
        std::unique_ptr<hub::Namespace> hubs;
        std::unique_ptr<io::system::SystemNetwork> network;
        std::unique_ptr<door::Door> door;
        std::unique_ptr<io::TlsServerContext> tls;
        std::unique_ptr<io::Listener> tls_listener;
        std::unique_ptr<http::Server> http;
        std::uint16_t tls_port = 0, wss_port = 0;
    };

    void listen_encrypted(Node& node) {
        node.tls = io::TlsServerContext::make(identity_).value();
        auto listener = node.network->listen({"127.0.0.1", 0}).value();
        node.tls_port = listener->local().port;
        node.tls_listener = io::tls_listener(node.loop, std::move(listener), *node.tls);
        accept(node);
        auto second = node.network->listen({"127.0.0.1", 0}).value();
        node.wss_port = second->local().port;
        node.http = std::make_unique<http::Server>(
            node.loop, http::ServerOptions{}, [](http::Request, auto answer) { answer({}); },
            [&node](const std::string&, const std::string&, std::unique_ptr<io::Socket> socket) {
                node.door->adopt(std::move(socket));
            });
        node.http->serve(io::tls_listener(node.loop, std::move(second), *node.tls));
    }
    static void accept(Node& node) {
        node.tls_listener->accept([&node](Result<std::unique_ptr<io::Socket>> socket) {
            if (socket.ok()) node.door->adopt(std::move(*socket));
            accept(node);
        });
    }

    template <typename Start>
    void wait(Start begin) {
        Promise<bool> promise;
        node_->loop.post([&] { begin([&] { promise.set(true); }); });
        promise.wait();
    }

    const std::uint64_t segment_bytes_max_;
    TemporaryDirectory folder_;
    const io::TlsIdentity identity_ = io::make_self_signed().value();
    std::uint16_t port_ = 0;
    std::unique_ptr<Node> node_;
};

}  // namespace evenkeel::test
