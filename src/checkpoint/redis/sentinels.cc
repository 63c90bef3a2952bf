#include "checkpoint/redis/sentinels.h"

#include <utility>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/number.h"

namespace evenkeel::checkpoint {
namespace {

constexpr std::size_t answer_bytes = 4096;

}  // namespace

RedisSentinels::RedisSentinels(io::Loop& loop, io::Network& network, Options options,
                               Callback<void(Result<io::Endpoint>)> done)
    : loop_(loop),
      network_(network),
      options_(std::move(options)),
      done_(std::move(done)),
      last_{ErrorCode::unavailable, "there is no Sentinel to ask"},
      input_(answer_bytes) {
    append_command(question_, {"SENTINEL", "get-master-addr-by-name", options_.primary});
    // Those before Redis 6 know no users.
    if (options_.user.empty()) {
        append_command(login_, {"AUTH", options_.password});
    } else {
        append_command(login_, {"AUTH", options_.user, options_.password});
    }
    loop_.post(lifetime_.guard([this] { ask_next(); }));
}

RedisSentinels::~RedisSentinels() = default;

void RedisSentinels::ask_next() {
    ++life_;
    timer_.cancel();
    socket_.reset();
    reader_ = RespReader();
    if (next_ == options_.sentinels.size()) return done_(last_);
    const io::Endpoint& endpoint = options_.sentinels[next_++];
    timer_.run_after(options_.wait_max, [this] {
        give_up_on({ErrorCode::timed_out, "no answer in time"});
    });
    network_.connect(
        endpoint, options_.wait_max,
        lifetime_.guard([this, life = life_](Result<std::unique_ptr<io::Socket>> connected) {
            if (life_ != life) return;
            if (!connected.ok()) return give_up_on(connected.error());
            greet(std::move(*connected));
        }));
}

void RedisSentinels::greet(std::unique_ptr<io::Socket> socket) {
    socket_ = options_.tls ? io::tls_client(loop_, std::move(socket), *options_.tls,
                                            options_.sentinels[next_ - 1].host)
                           : std::move(socket);
    said_ = Said::question;
    send(question_);
}

// One write at a time: the answer is read when it is done.
void RedisSentinels::send(const std::string& command) {
    socket_->write(as_bytes(command),
                   lifetime_.guard([this, life = life_](const Result<>& written) {
                       if (life_ != life) return;
                       if (!written.ok()) return give_up_on(written.error());
                       read();
                   }));
}

void RedisSentinels::read() {
    socket_->read(input_, lifetime_.guard([this, life = life_](const Result<std::size_t>& got) {
        if (life_ != life) return;
        if (!got.ok()) return give_up_on(got.error());
        if (*got == 0) return give_up_on({ErrorCode::unavailable, "it closed"});
        reader_.receive(as_text(ByteView(input_).first(*got)));
        const auto reply = reader_.next();
        if (!reply.ok()) return give_up_on(reply.error());
        if (!reply->has_value()) return read();
        take(**reply);
    }));
}

void RedisSentinels::take(const RespValue& reply) {
    if (said_ == Said::login) {
        if (reply.is_error()) {
            return give_up_on({ErrorCode::not_allowed,
                               "it refuses user and password; give those of the Sentinels by "
                               "&sentinel_user=USER and &sentinel_password=PASSWORD in the "
                               "address, without which those of the servers count"});
        }
        said_ = Said::question_after_login;
        return send(question_);
    }
    if (said_ == Said::question && wants_login(reply) && !options_.password.empty()) {
        said_ = Said::login;
        return send(login_);
    }
    auto found = primary_in(reply, options_.primary);
    if (!found.ok()) return give_up_on(found.error());
    ++life_;
    timer_.cancel();
    done_(std::move(found));
}

void RedisSentinels::give_up_on(Error why) {
    // That one is not there is not what to report if another one refuses us.
    if (last_.code != ErrorCode::not_allowed || !is_retriable(why)) {
        last_ = {why.code, fmt::format("Sentinel {}: {}", to_string(options_.sentinels[next_ - 1]),
                                       why.detail)};
    }
    ask_next();
}

Result<io::Endpoint> primary_in(const RespValue& reply, const std::string& primary) {
    if (reply.kind == RespValue::Kind::null) {
        return Error{ErrorCode::not_found,
                     fmt::format("it knows no primary named '{}'; check ?sentinel=NAME", primary)};
    }
    if (reply.text.starts_with("NOAUTH") && reply.is_error()) {
        return Error{ErrorCode::not_allowed,
                     "it wants a password; give it by &sentinel_password=PASSWORD in the address"};
    }
    if (reply.text.starts_with("NOPERM") && reply.is_error()) {
        return Error{ErrorCode::not_allowed,
                     "its user may not ask; allow it +sentinel|get-master-addr-by-name (ACL "
                     "SETUSER), or give another by &sentinel_user=USER&sentinel_password=PASSWORD "
                     "in the address"};
    }
    if (reply.is_error()) {
        return Error{ErrorCode::unsupported, fmt::format("it answers '{}'; is this a Sentinel?",
                                                         reply.text.substr(0, 100))};
    }
    std::uint16_t port = 0;
    if (reply.list.size() == 2) {
        port = parse_number<std::uint16_t>(reply.list[1].text).value_or(0);
    }
    if (port == 0) return Error{ErrorCode::corrupt, "a reply of unknown form"};
    return io::Endpoint{reply.list[0].text, port};
}

// NOPERM: those who have not said who they are may do little there.
bool wants_login(const RespValue& reply) {
    return reply.is_error() &&
           (reply.text.starts_with("NOAUTH") || reply.text.starts_with("NOPERM"));
}

}  // namespace evenkeel::checkpoint
