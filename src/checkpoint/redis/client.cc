// tidy: no test: redis_store_test.cc and the contract of stores test it on a server
#include "checkpoint/redis/client.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/log.h"
#include "base/random.h"
#include "checkpoint/reconnect.h"
#include "checkpoint/redis/error.h"
#include "io/system/files.h"

namespace evenkeel::checkpoint {

namespace {

using namespace std::chrono_literals;

constexpr Duration look_period = 20ms;
constexpr std::size_t input_bytes = std::size_t{64} << 10;
constexpr std::size_t requests_max = 16'384;
constexpr int redirects_max = 5;
constexpr std::string_view known_format = "1";
constexpr std::uint64_t ca_bytes_max = 1 << 20;

const RedisScript* const scripts[] = {&write_entry_script, &write_checkpoint_script};

}  // namespace

Result<std::shared_ptr<const io::TlsClientContext>> redis_tls(const RedisAddress& address) {
    if (!address.is_tls) return std::shared_ptr<const io::TlsClientContext>();
    io::TlsClientOptions options{.verify = address.verify};
    if (!address.ca_file.empty()) {
        io::system::SystemFiles files;
        EK_TRY_ASSIGN(const auto pem, io::read_file(files, address.ca_file, ca_bytes_max));
        options.ca_pem = as_text(pem);
    }
    EK_TRY_ASSIGN(auto context, io::TlsClientContext::make(options));
    return std::shared_ptr<const io::TlsClientContext>(std::move(context));
}

RedisClient::RedisClient(io::Loop& loop, io::Network& network, Options options,
                         std::function<void()> told)
    : loop_(loop),
      network_(network),
      options_(std::move(options)),
      told_(std::move(told)),
      random_(secure_number()),
      endpoint_(options_.address.endpoint),
      input_(input_bytes) {}

RedisClient::~RedisClient() = default;

void RedisClient::start(Callback<void(Result<>)> first) {
    loop_.check_here();
    first_ = std::move(first);
    connect();
    look_later();
}

void RedisClient::send(std::vector<RedisCommand> commands, Done done) {
    loop_.check_here();
    auto request = std::make_shared<Request>();
    request->commands = std::move(commands);
    request->done = std::move(done);
    request->deadline = loop_.clock().now() + options_.wait_max;
    if (request->commands.empty()) return request->done(Replies());
    if (waiting_.size() + flights_.size() >= requests_max) {
        return request->done(Error{
            ErrorCode::overloaded,
            fmt::format("more than {} operations wait for the checkpoint store", requests_max)});
    }
    if (is_ready_) {
        transmit(request);
        flush();
    } else {
        waiting_.push_back(std::move(request));
    }
}

void RedisClient::connect() {
    if (is_connecting_ || socket_) return;
    is_connecting_ = true;
    if (options_.address.sentinels.empty() || redirects_ > 0) return connect_to(endpoint_);
    ask_sentinels();
}

// Which server is the primary now.
void RedisClient::ask_sentinels() {
    const RedisAddress& address = options_.address;
    const bool has_own = !address.sentinel_password.empty();
    sentinels_ = std::make_unique<RedisSentinels>(
        loop_, network_,
        RedisSentinels::Options{.sentinels = address.sentinels,
                                .primary = address.primary,
                                .wait_max = options_.wait_max,
                                .user = has_own ? address.sentinel_user : address.user,
                                .password = has_own ? address.sentinel_password : address.password,
                                .tls = options_.tls},
        [this](Result<io::Endpoint> found) {
            // It goes when it has returned.
            loop_.post(lifetime_.guard([this, found = std::move(found)] {
                sentinels_.reset();
                if (found.ok()) return connect_to(*found);
                is_connecting_ = false;
                lose(found.error());
            }));
        });
}

void RedisClient::connect_to(const io::Endpoint& endpoint) {
    endpoint_ = endpoint;
    network_.connect(endpoint_, options_.wait_max,
                     lifetime_.guard([this](Result<std::unique_ptr<io::Socket>> connected) {
                         is_connecting_ = false;
                         if (!connected.ok()) return lose(connected.error());
                         greet(std::move(*connected));
                     }));
}

void RedisClient::greet(std::unique_ptr<io::Socket> socket) {
    const RedisAddress& address = options_.address;
    socket_ = options_.tls ? io::tls_client(loop_, std::move(socket), *options_.tls, endpoint_.host)
                           : std::move(socket);
    ++life_;
    auto greeting = std::make_shared<Request>();
    greeting->is_greeting = true;
    greeting->deadline = loop_.clock().now() + options_.wait_max;
    RespCommand hello = {"HELLO", "3"};
    if (!address.password.empty()) {
        hello.insert(hello.end(),
                     {"AUTH", address.user.empty() ? "default" : address.user, address.password});
    }
    hello.insert(hello.end(), {"SETNAME", "evenkeel"});
    greeting->commands.push_back({nullptr, std::move(hello)});
    if (address.database != 0) {
        greeting->commands.push_back({nullptr, {"SELECT", std::to_string(address.database)}});
    }
    const bool is_ours = !options_.format_key.empty();
    if (is_ours) {
        greeting->commands.push_back({nullptr, {"SET", options_.format_key, "1", "NX"}});
        greeting->commands.push_back({nullptr, {"GET", options_.format_key}});
        for (const RedisScript* script : scripts) {
            greeting->commands.push_back({nullptr, {"SCRIPT", "LOAD", script->source}});
        }
    }
    transmit(greeting);
    if (is_ours) append_command(output_, {"SUBSCRIBE", options_.channel});  // answered by a push
    flush();
    read();
}

Result<> RedisClient::check_greeting(const Request& request) {
    const std::string shown = options_.address.shown();
    for (const RespValue& reply : request.replies) {
        if (reply.is_error()) return redis_error(shown, reply.text);
    }
    if (options_.format_key.empty()) return {};
    const std::size_t first_script = request.replies.size() - std::size(scripts);
    const std::string& format = request.replies[first_script - 1].text;
    if (format != known_format) {
        return Error{
            ErrorCode::unsupported,
            fmt::format("{}: made by another version of Evenkeel (its format is '{}', this "
                        "program knows {}); use that version, or another database",
                        shown, format, known_format)};
    }
    for (std::size_t i = 0; i < std::size(scripts); ++i) {
        names_[scripts[i]] = request.replies[first_script + i].text;
    }
    return {};
}

void RedisClient::transmit(const std::shared_ptr<Request>& request) {
    const std::size_t count = request->commands.size();
    request->replies.resize(count);
    request->is_known.assign(count, false);
    request->left = count;
    request->deadline = loop_.clock().now() + options_.wait_max;
    for (std::size_t i = 0; i < count; ++i) {
        encode(*request, i);
        flights_.push_back({request, i});
    }
}

void RedisClient::encode(const Request& request, std::size_t index) {
    const RedisCommand& command = request.commands[index];
    if (command.script == nullptr) return append_command(output_, command.words);
    RespCommand words;
    words.reserve(command.words.size() + 2);
    words.emplace_back(request.is_source_sent ? "EVAL" : "EVALSHA");
    words.push_back(request.is_source_sent ? command.script->source : names_[command.script]);
    words.insert(words.end(), command.words.begin(), command.words.end());
    append_command(output_, words);
}

void RedisClient::flush() {
    if (is_writing_ || output_.empty() || !socket_) return;
    is_writing_ = true;
    writing_.clear();
    writing_.swap(output_);
    socket_->write(as_bytes(writing_),
                   lifetime_.guard([this, life = life_](const Result<>& written) {
                       if (life_ != life) return;
                       is_writing_ = false;
                       if (!written.ok()) return lose(written.error());
                       flush();
                   }));
}

void RedisClient::read() {
    socket_->read(input_, lifetime_.guard([this, life = life_](const Result<std::size_t>& got) {
        if (life_ != life) return;
        if (!got.ok()) return lose(got.error());
        if (*got == 0) return lose({ErrorCode::unavailable, "the server closed it"});
        reader_.receive(as_text(ByteView(input_).first(*got)));
        take_replies();
        if (life_ == life && socket_) read();
    }));
}

void RedisClient::take_replies() {
    const std::uint64_t life = life_;
    while (life_ == life && socket_) {
        auto value = reader_.next();
        if (!value.ok()) return lose(value.error());
        if (!value->has_value()) break;
        take_reply(std::move(**value));
    }
    flush();
}

void RedisClient::take_reply(RespValue value) {
    if (value.kind == RespValue::Kind::push) {
        const bool is_message = value.list.size() == 3 && value.list[0].text == "message";
        if (is_message && value.list[2].text != options_.name) told_();
        return;
    }
    if (flights_.empty()) return lose({ErrorCode::corrupt, "a reply that nobody asked for"});
    const Flight flight = std::move(flights_.front());
    flights_.pop_front();
    Request& request = *flight.request;
    request.replies[flight.index] = std::move(value);
    request.is_known[flight.index] = true;
    if (--request.left == 0) complete(flight.request);
}

void RedisClient::complete(const std::shared_ptr<Request>& request) {
    if (request->is_greeting) {
        for (const RespValue& reply : request->replies) {
            const auto moved =
                reply.is_error() ? redis_moved_to(reply.text, endpoint_.host) : std::nullopt;
            if (moved && ++redirects_ <= redirects_max) return go_to(*moved);
        }
        const Result<> checked = check_greeting(*request);
        if (!checked.ok()) return lose(checked.error());
        is_ready_ = true;
        pause_ = Duration(0);
        redirects_ = 0;
        const bool is_back = std::exchange(was_ready_, true);
        if (first_) std::exchange(first_, nullptr)({});
        for (const auto& each : waiting_) transmit(each);
        waiting_.clear();
        flush();
        if (is_back) {
            trace(TraceLevel::info, "connected to the checkpoint store again",
                  {{"store", options_.address.shown()}});
            told_();
        }
        return;
    }
    // A server that has forgotten our scripts has not run them.
    if (!request->is_source_sent) {
        for (std::size_t i = 0; i < request->replies.size(); ++i) {
            if (!request->replies[i].text.starts_with("NOSCRIPT")) continue;
            if (!std::exchange(request->is_source_sent, true)) request->left = 0;
            ++request->left;
            request->is_known[i] = false;
            encode(*request, i);
            flights_.push_back({request, i});
        }
        if (request->left > 0) return flush();
    }
    const RespValue* ends = nullptr;
    for (const RespValue& reply : request->replies) {
        if (reply.is_error() && redis_ends_connection(reply.text)) ends = &reply;
    }
    const std::string why = ends == nullptr ? "" : ends->text;
    request->done(std::move(request->replies));
    // A cluster that has moved our keys tells the new place again when we greet it.
    if (!why.empty()) lose(redis_error(options_.address.shown(), why));
}

// A node of a cluster has sent us to another one, before anything was asked of it.
void RedisClient::go_to(const io::Endpoint& endpoint) {
    disconnect();
    flights_.clear();
    endpoint_ = endpoint;
    connect();
}

void RedisClient::disconnect() {
    ++life_;
    socket_.reset();
    is_ready_ = is_writing_ = false;
    output_.clear();
    reader_ = RespReader();
}

void RedisClient::lose(const Error& why) {
    const std::string shown = options_.address.shown();
    const Error error{is_retriable(why) || !was_ready_ ? why.code : ErrorCode::unavailable,
                      why.detail.starts_with(shown) ? why.detail : shown + ": " + why.detail};
    if (is_ready_) {
        trace(TraceLevel::warning, "the checkpoint store is not reachable",
              {{"store", shown}, {"error", to_string(error)}});
    }
    disconnect();
    endpoint_ = options_.address.endpoint;  // where a cluster has sent us may be gone
    redirects_ = 0;
    pause_ = std::clamp(pause_ * 2, reconnect_pause_min, reconnect_pause_max);
    const auto half = static_cast<std::uint64_t>(pause_.count() / 2);
    next_try_ = loop_.clock().now() + pause_ / 2 + Duration(random_.below(half));
    const auto lost = std::exchange(flights_, {});
    for (const Flight& flight : lost) {
        Request& request = *flight.request;
        if (request.is_greeting || !request.done) continue;
        const bool is_some_known = std::find(request.is_known.begin(), request.is_known.end(),
                                             true) != request.is_known.end();
        if (!is_some_known) {
            std::exchange(request.done, nullptr)(Error{ErrorCode::unavailable, error.detail});
            continue;
        }
        for (std::size_t i = 0; i < request.replies.size(); ++i) {
            if (request.is_known[i]) continue;
            request.replies[i] = {.kind = RespValue::Kind::error,
                                  .text = "EVENKEEL LOST the connection"};
        }
        std::exchange(request.done, nullptr)(std::move(request.replies));
    }
    if (first_) {
        std::exchange(first_, nullptr)(error);
    } else if (!is_retriable(why) && why.code != ErrorCode::not_found) {
        give_up_waiting(error);  // a wrong password does not get better by waiting
    }
}

void RedisClient::give_up_waiting(const Error& why) {
    const auto given_up = std::exchange(waiting_, {});
    for (const auto& request : given_up) request->done(why);
}

void RedisClient::look_later() {
    timer_.run_after(look_period, [this] { look(); });
}

void RedisClient::look() {
    look_later();
    const Instant now = loop_.clock().now();
    if (!flights_.empty() && flights_.front().request->deadline <= now) {
        lose({ErrorCode::timed_out, "no answer in time"});
    }
    while (!waiting_.empty() && waiting_.front()->deadline <= now) {
        const auto late = std::move(waiting_.front());
        waiting_.pop_front();
        late->done(Error{ErrorCode::unavailable,
                         options_.address.shown() + ": no connection; it is tried again"});
    }
    if (was_ready_ && !socket_ && !is_connecting_ && now >= next_try_) connect();
}

}  // namespace evenkeel::checkpoint
