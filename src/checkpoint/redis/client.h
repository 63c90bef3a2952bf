// A connection to Redis that comes back: requests go out at once, one behind the other, and
// replies come in that order. What was not sent `wait_max` after it was asked for fails with
// `unavailable`, and what was sent has as long again; then the connection is given up.
//
//     send ──▶ [waiting] ── connected ──▶ [under way] ──▶ replies
//                  └── too late: `unavailable`   └── connection lost: `unavailable`, unknown
//
// Threads: pinned to the loop.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/lifetime.h"
#include "base/random.h"
#include "base/result.h"
#include "base/task.h"
#include "checkpoint/redis/address.h"
#include "checkpoint/redis/resp.h"
#include "checkpoint/redis/scripts.h"
#include "checkpoint/redis/sentinels.h"
#include "io/loop.h"
#include "io/socket.h"
#include "io/timer.h"
#include "io/tls.h"

namespace evenkeel::checkpoint {

// A command, or with a script its number of keys, keys and arguments.
struct RedisCommand {
    const RedisScript* script = nullptr;
    RespCommand words = {};
};

// As the address wants it; none without TLS. Reads its file of certificates.
Result<std::shared_ptr<const io::TlsClientContext>> redis_tls(const RedisAddress& address);

class RedisClient {
public:
    using Replies = std::vector<RespValue>;
    // One reply for each command. If only some are known, the others are errors "EVENKEEL LOST".
    using Done = Callback<void(Result<Replies>)>;

    struct Options {
        RedisAddress address;
        Duration wait_max;
        // Holds the format's number, which must be 1. Empty: what is there is not ours, and is only
        // looked at; then there are no scripts and no channel.
        std::string format_key;
        std::string channel;  // where changes are published
        std::string name;     // ours: what we tell ourselves is no news
        std::shared_ptr<const io::TlsClientContext> tls = {};
    };

    // `told`: others have told a change, or may have while we were not connected.
    RedisClient(io::Loop& loop, io::Network& network, Options options, std::function<void()> told);
    // Drops what is under way, unanswered.
    ~RedisClient();
    RedisClient(const RedisClient&) = delete;
    RedisClient& operator=(const RedisClient&) = delete;

    // Once, with what became of the first attempt to connect; after a failure it does no more.
    void start(Callback<void(Result<>)> first);
    void send(std::vector<RedisCommand> commands, Done done);

private:
    struct Request {
        std::vector<RedisCommand> commands;
        Done done;
        Instant deadline;
        Replies replies = {};
        std::vector<bool> is_known = {};
        std::size_t left = 0;
        bool is_greeting = false;
        bool is_source_sent = false;  // whole scripts, since the server did not know their names
    };
    struct Flight {
        std::shared_ptr<Request> request;
        std::size_t index;
    };

    void connect();
    void connect_to(const io::Endpoint& endpoint);
    void ask_sentinels();
    void greet(std::unique_ptr<io::Socket> socket);
    Result<> check_greeting(const Request& request);
    void transmit(const std::shared_ptr<Request>& request);
    void encode(const Request& request, std::size_t index);
    void flush();
    void read();
    void take_replies();
    void take_reply(RespValue value);
    void complete(const std::shared_ptr<Request>& request);
    void go_to(const io::Endpoint& endpoint);
    void disconnect();
    void lose(const Error& why);
    void give_up_waiting(const Error& why);
    void look_later();
    void look();

    io::Loop& loop_;
    io::Network& network_;
    const Options options_;
    const std::function<void()> told_;
    Random random_;
    Callback<void(Result<>)> first_;
    io::Endpoint endpoint_;
    int redirects_ = 0;
    std::unique_ptr<RedisSentinels> sentinels_;  // while they are asked

    std::unique_ptr<io::Socket> socket_;
    std::uint64_t life_ = 0;  // of the connection; callbacks of former ones do nothing
    bool is_connecting_ = false;
    bool is_ready_ = false;
    bool was_ready_ = false;
    RespReader reader_;
    std::vector<std::byte> input_;
    std::string output_;
    std::string writing_;
    bool is_writing_ = false;
    std::map<const RedisScript*, std::string> names_;  // of scripts, as the server gave them
    std::deque<std::shared_ptr<Request>> waiting_;
    std::deque<Flight> flights_;
    Duration pause_{0};
    Instant next_try_{};
    io::Timer timer_{loop_};
    Lifetime lifetime_;
};

}  // namespace evenkeel::checkpoint
