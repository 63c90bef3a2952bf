// tidy: no test: tests/client tests it against a door
#include "client/connection.h"

#include <algorithm>
#include <exception>
#include <utility>

#include <fmt/core.h>

#include "base/check.h"
#include "base/log.h"
#include "eventhubs/sas.h"
#include "eventhubs/wire_names.h"

namespace evenkeel::client {
namespace {

// Of its life, a token has so much behind it when it is renewed.
constexpr std::int64_t renewal_percent = 75;

std::string container_of(const std::string& name, Random& random) {
    return fmt::format("{}-{:08x}", name, random.next() & 0xffffffff);
}

// What the user's function throws is a failure like any other.
Result<Token> call(const Credential& credential, const std::string& audience) {
    try {
        return credential(audience);
    } catch (const std::exception& thrown) {
        return Error{ErrorCode::unavailable, thrown.what()};
    } catch (...) {
        return Error{ErrorCode::unavailable, "it threw something that is not a std::exception"};
    }
}

WallTime wall_time(std::chrono::system_clock::time_point time) {
    using std::chrono::milliseconds;
    return {std::chrono::duration_cast<milliseconds>(time.time_since_epoch()).count()};
}

}  // namespace

Connection::Live::~Live() {
    // The requesters' links are the transport's, and their events must not outlive them.
    if (transport) transport->abandon();
}

Connection::Connection(io::Loop& loop, io::Network& network, ConnectionOptions options)
    : loop_(loop),
      network_(network),
      options_(std::move(options)),
      random_(options_.seed),
      links_(loop, options_.retry, random_,
             {[this] { advance(); },
              [this] {
                  if (is_ready()) authorize();
              }}),
      questions_(loop, options_.retry, random_, [this] { advance(); }) {
    if (options_.credential) {
        token_thread_ = std::make_unique<io::system::WorkerThread>("token/0");
    }
}

Connection::~Connection() = default;

// Does what can be done now: attach, ask, or connect.
void Connection::advance() {
    if (stopping_) return;
    if (!is_ready()) {
        if (links_.has_waiting() || questions_.has_waiting()) connect();
        return;
    }
    links_.attach_waiting();
    for (const auto id : questions_.waiting()) {
        if (questions_.contains(id)) questions_.ask(id, management(), token_);
    }
}

void Connection::connect() {
    if (live_ || connecting_ || pause_timer_.is_pending()) return;
    const Instant now = loop_.clock().now();
    if (now < not_before_) {
        pause_timer_.run_at(not_before_, [this] { advance(); });
        return;
    }
    connecting_ = true;
    const std::uint64_t attempt = ++attempt_;
    attempt_timer_.run_after(options_.retry.try_timeout, [this] {
        fail({{ErrorCode::timed_out, fmt::format("connect to {}: the hub did not answer in time",
                                                 io::to_string(options_.target.endpoint))},
              true,
              {}});
    });
    network_.connect(options_.target.endpoint, options_.retry.try_timeout,
                     lifetime_.guard([this, attempt](Result<std::unique_ptr<io::Socket>> socket) {
                         if (attempt != attempt_ || stopping_) return;
                         if (!socket.ok()) return fail(failure_of(socket.error()));
                         start(std::move(*socket));
                     }));
}

void Connection::start(std::unique_ptr<io::Socket> socket) {
    connecting_ = false;
    if (options_.wrap) socket = options_.wrap(loop_, std::move(socket), options_.target.endpoint);
    amqp::ConnectionOptions options;
    options.is_server = false;
    options.container = container_of(options_.name, random_);
    options.hostname = options_.target.endpoint.host;
    options.idle_timeout = std::chrono::seconds(60);
    options.max_message_bytes = std::uint64_t{32} << 20;
    options.partial_bytes_max = std::uint64_t{64} << 20;
    options.kept_output_bytes_max = std::size_t{16} << 20;
    live_ = std::make_unique<Live>();
    live_->transport = std::make_unique<Transport>(
        loop_, std::move(socket), std::move(options),
        Transport::Events{[this] { authorize(); },
                          [this](const Failure& why) { transport_closed(why); }});
    live_->transport->start();
}

void Connection::authorize() {
    const eventhubs::Target& target = options_.target;
    if (options_.credential) return ask_credential();
    if (target.key.empty() && target.token.empty()) return become_ready();
    if (authorizing_) return;
    const WallTime now = loop_.clock().wall();
    WallTime expires = now + options_.token_life;
    Secret token = target.token;
    if (token.empty()) {
        token =
            Secret(eventhubs::make_sas(target.audience(), target.key_name, target.key, expires));
    } else {
        expires = eventhubs::sas_expiry(token.reveal()).value_or(now);
        if (expires <= now) {
            return fail({{ErrorCode::not_allowed,
                          "the SharedAccessSignature in the connection string has expired"},
                         false,
                         {}});
        }
    }
    show(token, expires);
}

void Connection::ask_credential() {
    if (authorizing_) return;
    authorizing_ = true;
    token_thread_->post([this, asked = ++asked_tokens_] {
        loop_.post(lifetime_.guard(
            [this, asked, token = call(options_.credential, options_.target.audience())] {
                if (asked != asked_tokens_ || !authorizing_ || stopping_) return;
                authorizing_ = false;
                answer_credential(token);
            }));
    });
}

void Connection::answer_credential(const Result<Token>& token) {
    const WallTime now = loop_.clock().wall();
    Error why{ErrorCode::unavailable, "the credential gave a token that has expired"};
    if (token.ok() && !token->value.empty() && wall_time(token->expires) > now) {
        return show(Secret(token->value), wall_time(token->expires));
    }
    if (token.ok() && token->value.empty()) why.detail = "the credential gave an empty token";
    if (!token.ok()) why = {token.error().code, "the credential: " + token.error().detail};
    if (!ready_ || now >= token_expires_) return fail(failure_of(why));
    // The token that the hub has is good for a while yet.
    trace(TraceLevel::warning, "no new token for the hub",
          {{"hub", io::to_string(options_.target.endpoint)}, {"cause", why.detail}});
    renew_after(std::min<Duration>(retry_pause(++renewals_failed_), token_expires_ - now));
}

// To the hub.
void Connection::show(const Secret& token, WallTime expires) {
    if (!live_->cbs) {
        live_->cbs =
            std::make_unique<Requester>(loop_, *live_->transport, std::string(eventhubs::node::cbs),
                                        options_.retry.try_timeout);
    }
    authorizing_ = true;
    live_->cbs->ask(put_token(options_.target.audience(), token, expires),
                    [this, token, expires](const Failure* failure, const NodeReply&) {
                        authorizing_ = false;
                        if (failure) return fail(*failure);
                        authorized(token, expires);
                    });
}

void Connection::authorized(const Secret& token, WallTime expires) {
    token_ = token;
    token_expires_ = expires;
    renewals_failed_ = 0;
    renewal_timer_.cancel();
    if (!options_.target.key.empty() || options_.credential) {
        const Duration life = expires - loop_.clock().wall();
        renew_after(life * renewal_percent / 100);
    }
    become_ready();
}

void Connection::renew_after(Duration pause) {
    renewal_timer_.run_after(pause, [this] {
        if (live_ && live_->transport->is_open()) authorize();
    });
}

void Connection::become_ready() {
    attempt_timer_.cancel();
    failures_ = 0;
    ready_ = true;
    links_.set_transport(live_->transport.get());
    check_state();
    advance();
}

void Connection::fail(const Failure& failure) {
    attempt_timer_.cancel();
    connecting_ = false;
    ++attempt_;
    abandon_live();
    rest(failure);
    links_.lose_attached(failure);
    links_.lose_waiting(failure);
    questions_.lose(failure);
    advance();
}

void Connection::transport_closed(const Failure& failure) {
    if (stopping_) {
        abandon_live();
        if (stopped_) {
            Task done = std::move(stopped_);
            done();
        }
        return;
    }
    if (!ready_) return fail(failure);
    abandon_live();
    rest(failure);
    // Most links have heard of it, and come again by themselves.
    links_.lose_attached(failure);
    advance();
}

// CLIENT-5: a pause before the next attempt.
void Connection::rest(const Failure& failure) {
    ++failures_;
    const Duration pause = std::max(retry_pause(failures_), failure.delay_min);
    not_before_ = loop_.clock().now() + pause;
    trace(TraceLevel::debug, "the connection to the hub failed",
          {{"hub", io::to_string(options_.target.endpoint)}, {"cause", failure.error.detail}});
}

void Connection::abandon_live() {
    ready_ = false;
    authorizing_ = false;
    links_.set_transport(nullptr);
    renewal_timer_.cancel();
    check_state();
    if (!live_) return;
    live_->transport->abandon();
    // We may be inside one of its callbacks.
    loop_.post([dead = std::move(live_)] {});
}

void Connection::stop(Task done) {
    loop_.check_here();
    EK_CHECK(!stopping_, "a connection is stopped once");
    stopping_ = true;
    ++attempt_;
    for (auto* const timer : {&attempt_timer_, &pause_timer_, &renewal_timer_}) timer->cancel();
    const Failure failure{{ErrorCode::cancelled, "the client was closed"}, false, {}};
    links_.end(failure);
    questions_.end(failure.error);
    if (live_ && live_->transport->is_open()) {
        stopped_ = std::move(done);
        return live_->transport->close();
    }
    abandon_live();
    done();
}

void Connection::read_event_hub(Answered done) {
    ask(
        [this](const Secret& token) {
            return client::read_event_hub(options_.target.event_hub, token);
        },
        std::move(done));
}

void Connection::read_partition(std::uint32_t partition, Answered done) {
    ask(
        [this, partition](const Secret& token) {
            return client::read_partition(options_.target.event_hub, partition, token);
        },
        std::move(done));
}

void Connection::ask(Questions::Make make, Answered done) {
    loop_.check_here();
    if (stopping_) return done(Error{ErrorCode::cancelled, "the client was closed"});
    questions_.add(std::move(make), std::move(done));
}

Requester& Connection::management() {
    auto& management = live_->management;
    if (management && !management->is_usable()) {
        loop_.post([dead = std::exchange(management, nullptr)] {});
    }
    if (!management) {
        management = std::make_unique<Requester>(
            loop_, *live_->transport,
            options_.target.event_hub + "/" + std::string(eventhubs::node::management),
            options_.retry.try_timeout);
    }
    return *management;
}

void Connection::check_state() const {
    EK_CHECK(!ready_ || live_, "a connection that is ready has a transport");
    EK_CHECK(!connecting_ || !live_, "one attempt at a time");  // CLIENT-5
}

void Connection::flush_soon() {
    if (live_) live_->transport->flush_soon();
}

}  // namespace evenkeel::client
