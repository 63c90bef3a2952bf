// The worlds of io/socket_contract.h, real and simulated, with a layer over each of their streams,
// for the tests of TLS and WebSocket.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "io/sim/network.h"
#include "io/sim/scheduler.h"
#include "io/socket_contract.h"
#include "io/system/loop.h"
#include "io/system/network.h"

namespace evenkeel::io {

// What puts a layer over a stream, at either end.
struct Wraps {
    virtual ~Wraps() = default;
    virtual void accept(Loop& loop, std::unique_ptr<Socket> socket,
                        Callback<void(Result<std::unique_ptr<Socket>>)> done) = 0;
    virtual void connect(Loop& loop, std::unique_ptr<Socket> socket, const std::string& host,
                         Callback<void(Result<std::unique_ptr<Socket>>)> done) = 0;
};

class WrappedListener final : public Listener {
public:
    WrappedListener(Loop& loop, std::unique_ptr<Listener> inner, Wraps& wraps)
        : loop_(loop), inner_(std::move(inner)), wraps_(wraps) {}
    void accept(Callback<void(Result<std::unique_ptr<Socket>>)> done) override {
        inner_->accept([this, done = std::move(done)](auto accepted) mutable {
            if (!accepted) return done(std::move(accepted));
            wraps_.accept(loop_, std::move(*accepted), std::move(done));
        });
    }
    Endpoint local() const override { return inner_->local(); }

private:
    Loop& loop_;
    std::unique_ptr<Listener> inner_;
    Wraps& wraps_;
};

class WrappedNetwork final : public Network {
public:
    WrappedNetwork(Loop& loop, Network& inner, Wraps& wraps)
        : loop_(loop), inner_(inner), wraps_(wraps) {}
    Result<std::unique_ptr<Listener>> listen(const Endpoint& endpoint) override {
        EK_TRY_ASSIGN(auto listener, inner_.listen(endpoint));
        return std::unique_ptr<Listener>(
            std::make_unique<WrappedListener>(loop_, std::move(listener), wraps_));
    }
    void connect(const Endpoint& endpoint, Duration timeout,
                 Callback<void(Result<std::unique_ptr<Socket>>)> done) override {
        inner_.connect(endpoint, timeout,
                       [this, host = endpoint.host, done = std::move(done)](auto socket) mutable {
                           if (!socket) return done(std::move(socket));
                           wraps_.connect(loop_, std::move(*socket), host, std::move(done));
                       });
    }

private:
    Loop& loop_;
    Network& inner_;
    Wraps& wraps_;
};

class LayeredSystemWorld final : public NetworkWorld {
public:
    explicit LayeredSystemWorld(std::unique_ptr<Wraps> wraps) : wraps_(std::move(wraps)) {
        loop_.start();
    }
    ~LayeredSystemWorld() override {
        run([this] { wraps_.reset(); });
        loop_.stop();
    }
    Network& server() override { return wrapped_; }
    Network& client() override { return wrapped_; }
    std::string server_host() const override { return "127.0.0.1"; }
    void run(Task task) override { system::run_and_wait(loop_, std::move(task)); }
    bool run_until(Callback<bool()> condition) override {
        const SystemClock clock;
        const Instant end = clock.now() + std::chrono::seconds(30);
        for (bool holds = false; clock.now() < end; std::this_thread::yield()) {
            run([&] { holds = condition(); });
            if (holds) return true;
        }
        return false;
    }

private:
    std::unique_ptr<Wraps> wraps_;
    system::LoopThread loop_{"loop/0"};
    system::SystemNetwork network_{loop_};
    WrappedNetwork wrapped_{loop_, network_, *wraps_};
};

class LayeredSimWorld final : public NetworkWorld {
public:
    LayeredSimWorld(std::uint64_t seed, std::unique_ptr<Wraps> wraps)
        : wraps_(std::move(wraps)), scheduler_(seed) {}
    ~LayeredSimWorld() override { wraps_.reset(); }

    Network& server() override { return server_; }
    Network& client() override { return client_; }
    std::string server_host() const override { return "server"; }
    void run(Task task) override { task(); }
    bool run_until(Callback<bool()> condition) override {
        return scheduler_.run_until(std::move(condition), std::chrono::hours(1));
    }

    sim::Scheduler& scheduler() { return scheduler_; }
    sim::SimNetwork& network() { return network_; }
    sim::SimLoop& server_loop() { return server_loop_; }
    sim::SimLoop& client_loop() { return client_loop_; }
    // Without the layer.
    Network& plain_server() { return network_.host("server", server_loop_); }
    Network& plain_client() { return network_.host("client", client_loop_); }

private:
    std::unique_ptr<Wraps> wraps_;
    sim::Scheduler scheduler_;
    sim::SimLoop server_loop_{scheduler_, "server"};
    sim::SimLoop client_loop_{scheduler_, "client"};
    sim::SimNetwork network_{scheduler_};
    WrappedNetwork server_{server_loop_, network_.host("server", server_loop_), *wraps_};
    WrappedNetwork client_{client_loop_, network_.host("client", client_loop_), *wraps_};
};

}  // namespace evenkeel::io
