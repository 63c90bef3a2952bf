// Asks Redis Sentinels, one after the other, which server is the primary now.
//
//     sentinel 1: not there ──▶ sentinel 2: "SENTINEL get-master-addr-by-name main"
//     ──▶ 10.0.0.7:6379
//
// A Sentinel that requires a password is sent it and asked again; the others never get it.
// What they say may be old for a moment: the server itself refuses writes once it is a replica.
// Threads: pinned to the loop.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/lifetime.h"
#include "base/result.h"
#include "base/task.h"
#include "checkpoint/redis/resp.h"
#include "io/loop.h"
#include "io/socket.h"
#include "io/timer.h"
#include "io/tls.h"

namespace evenkeel::checkpoint {

class RedisSentinels {
public:
    struct Options {
        std::vector<io::Endpoint> sentinels;
        std::string primary;
        Duration wait_max;  // for each of them
        std::string user = {};
        std::string password = {};  // empty: none
        std::shared_ptr<const io::TlsClientContext> tls = {};
    };

    // Begins at once; answers once, later. `not_found` if all that answer know no such primary,
    // `not_allowed` if they refuse the password, `unavailable` if none answers.
    RedisSentinels(io::Loop& loop, io::Network& network, Options options,
                   Callback<void(Result<io::Endpoint>)> done);
    // Answers no more.
    ~RedisSentinels();
    RedisSentinels(const RedisSentinels&) = delete;
    RedisSentinels& operator=(const RedisSentinels&) = delete;

private:
    void ask_next();
    void greet(std::unique_ptr<io::Socket> socket);
    void send(const std::string& command);
    void read();
    void take(const RespValue& reply);
    void give_up_on(Error why);

    io::Loop& loop_;
    io::Network& network_;
    const Options options_;
    Callback<void(Result<io::Endpoint>)> done_;
    std::size_t next_ = 0;
    Error last_;
    std::unique_ptr<io::Socket> socket_;
    std::string question_;
    std::string login_;
    // What the one we ask has heard from us last.
    enum class Said : std::uint8_t { question, login, question_after_login } said_{};
    std::vector<std::byte> input_;
    RespReader reader_;
    io::Timer timer_{loop_};
    std::uint64_t life_ = 0;  // of one question; what belongs to former ones does nothing
    Lifetime lifetime_;
};

// Pure: what a Sentinel's reply says, and whether it wants to know who asks.
Result<io::Endpoint> primary_in(const RespValue& reply, const std::string& primary);
bool wants_login(const RespValue& reply);

}  // namespace evenkeel::checkpoint
