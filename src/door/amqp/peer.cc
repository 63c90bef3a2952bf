#include "door/amqp/peer.h"

#include <algorithm>
#include <limits>

#include <fmt/core.h>

#include "door/amqp/conditions.h"
#include "door/amqp/links.h"

namespace evenkeel::door {
namespace {

// A client that is quiet costs little; one that is busy gets room for many frames at once.
constexpr std::size_t input_bytes_min = std::size_t{4} << 10;
constexpr std::size_t input_bytes_max = std::size_t{256} << 10;
constexpr std::size_t input_growth = 8;
constexpr std::uint32_t small_reads_max = 64;  // then the large buffer is given back
// Of events, then the log waits. With what the kernel takes (io/system/network.h) a client that
// does not read holds 128 KiB at most, and one that never did 96 KiB.
constexpr std::size_t output_bytes_min = std::size_t{16} << 10;
constexpr std::size_t output_bytes_max = std::size_t{48} << 10;  // of a client that keeps up
// More than the kernel of a client that does not read takes for it.
constexpr std::uint64_t trusted_after_bytes = std::uint64_t{8} << 20;
constexpr std::size_t answer_bytes_max = std::size_t{512} << 10;      // then the client waits
constexpr std::uint64_t waiting_bytes_max = std::uint64_t{16} << 20;  // then the socket waits
constexpr std::uint32_t idle_ms_min = 200;     // of a client; a shorter one cannot be kept
constexpr std::uint32_t idle_ms_tick = 8'000;  // up to here tick() comes too seldom

amqp::ConnectionOptions options_for(const PeerContext& context) {
    amqp::ConnectionOptions options;
    options.container = "evenkeel";
    options.max_message_bytes = context.message_bytes_max;
    options.idle_timeout = context.times.keep_alive;
    return options;
}

}  // namespace

Peer::Peer(const PeerContext& context, Crowd::Id id, std::unique_ptr<io::Socket> socket, Task gone)
    : context_(context),
      id_(id),
      socket_(std::move(socket)),
      gone_(std::move(gone)),
      visitor_{socket_->peer()},
      connection_(options_for(context), *this, context.loop.clock().now()),
      cut_at_(context.loop.clock().now() + context.times.open),
      unused_since_(context.loop.clock().now()),
      rules_generation_(context.rules.generation()) {
    input_.resize(input_bytes_min);
}

Peer::~Peer() {
    for (const amqp::Link* const link : links_) {
        context_.activity.link_closed(link->role() == amqp::Role::receiver);
    }
}

void Peer::start() {
    read();
}

bool Peer::wants_input() const {
    if (reading_ || finished_) return false;
    if (connection_.is_closed()) return our_side_ended_;  // to see the client end its own
    return !closing_ && waiting_bytes_ <= waiting_bytes_max &&
           connection_.output_bytes() <= answer_bytes_max;
}

void Peer::read() {
    if (!wants_input()) return;
    reading_ = true;
    socket_->read(input_, [this](Result<std::size_t> got) {
        reading_ = false;
        if (!got.ok() || *got == 0) {
            end_because(got.ok() ? "the client ended the connection" : got.error().detail);
            connection_.lost();
            return finish();
        }
        if (!connection_.is_closed()) take_input(*got);
        read();
    });
}

void Peer::take_input(std::size_t bytes) {
    connection_.receive(ByteView(input_).first(bytes), context_.loop.clock().now());
    small_reads_ = bytes < input_bytes_min ? small_reads_ + 1 : 0;
    if (bytes == input_.size() && input_.size() < input_bytes_max) {
        input_.resize(std::min(input_.size() * input_growth, input_bytes_max));
    } else if (small_reads_ > small_reads_max && input_.size() > input_bytes_min) {
        input_ = std::vector<std::byte>(input_bytes_min);
    }
    flush();
}

void Peer::flush_soon() {
    if (flush_posted_) return;
    flush_posted_ = true;
    context_.loop.post([this, alive = std::weak_ptr<Peer>(alive_)] {
        if (alive.expired()) return;
        flush_posted_ = false;
        flush();
        read();
    });
}

void Peer::flush() {
    if (writing_ || finished_) return;
    if (connection_.output_bytes() == 0) {
        if (connection_.is_closed()) end_our_side();
        return;
    }
    connection_.take_output(sending_);
    writing_ = true;
    ++writes_;
    socket_->write(sending_, [this](const Result<>& written) {
        writing_ = false;
        if (!written.ok()) {
            end_because(written.error().detail);
            connection_.lost();
            return finish();
        }
        taken_bytes_ += sending_.size();
        // There is room again: let the links go on before the next write.
        give_room();
        flush();
        read();
    });
}

std::size_t Peer::room() const {
    const std::size_t used = connection_.output_bytes();
    const std::size_t all = keeps_up() ? output_bytes_max : output_bytes_min;
    return writing_ || used >= all ? 0 : all - used;
}

bool Peer::keeps_up() const {
    return taken_bytes_ > trusted_after_bytes;
}

void Peer::wait_for_room(amqp::Link& link) {
    if (std::find(blocked_.begin(), blocked_.end(), &link) == blocked_.end()) {
        blocked_.push_back(&link);
    }
}

// In the order in which they ran out of it, each once.
void Peer::give_room() {
    for (std::size_t left = blocked_.size(); left > 0 && !blocked_.empty() && has_room(); --left) {
        amqp::Link& link = *blocked_.front();
        blocked_.pop_front();
        if (link.user) static_cast<PeerLink&>(*link.user).on_room();
    }
}

void Peer::add(amqp::Link& link, std::unique_ptr<PeerLink> user) {
    link.user = std::move(user);
    links_.push_back(&link);
    context_.activity.link_opened(link.role() == amqp::Role::receiver);
}

void Peer::forget(amqp::Link& link) {
    if (std::erase(links_, &link) > 0) {
        context_.activity.link_closed(link.role() == amqp::Role::receiver);
    }
    std::erase(blocked_, &link);
    if (links_.empty()) unused_since_ = context_.loop.clock().now();
}

void Peer::drop(amqp::Link& link, const amqp::Condition& why) {
    forget(link);
    link.detach(why);
    flush_soon();
}

void Peer::end_our_side() {
    if (our_side_ended_) return;
    our_side_ended_ = true;
    const Instant latest = context_.loop.clock().now() + context_.times.linger;
    cut_at_ = std::min(cut_at_.value_or(latest), latest);
    socket_->finish();
    read();
}

void Peer::finish() {
    if (finished_) return;
    finished_ = true;
    context_.activity.disconnected(visitor_, ended_because_);
    socket_->close();
    if (gone_) context_.loop.post(std::move(gone_));
}

void Peer::close(const amqp::Condition& why) {
    if (finished_ || leaving_ || connection_.is_closed()) return;
    leaving_ = true;
    end_because(why.name + ": " + why.description);
    closing_ = why;
    cut_at_ = context_.loop.clock().now() + context_.times.settle;
    settled(0);
}

// What was taken from the client is durable, or refused.
void Peer::settled(std::uint64_t bytes) {
    waiting_bytes_ -= bytes;
    if (closing_ && waiting_bytes_ == 0) {
        cut_at_ = context_.loop.clock().now() + context_.times.close;
        const amqp::Condition why = std::move(*closing_);
        closing_.reset();
        // Not inside the append's own answer, which has still to be written.
        context_.loop.post([this, why, alive = std::weak_ptr<Peer>(alive_)] {
            if (alive.expired()) return;
            connection_.close(why);
            flush_soon();
        });
    }
    flush_soon();
}

bool Peer::tick(Instant now) {
    if (finished_) return false;
    connection_.tick(now);
    if (connection_.is_closed() && !cut_at_) cut_at_ = now + context_.times.linger;
    if (!connection_.is_closed()) {
        check_claims();
        check_login(now);
        check_idle(now);
    }
    flush();
    const bool let_go = check_stall();
    if (cut_at_ && now >= *cut_at_) cut();
    return let_go;
}

void Peer::cut() {
    end_because(opened_ ? "it did not answer in time" : "it did not open in time");
    connection_.lost();
    finish();
}

// A client that takes nothing from one tick to the next holds no more than what must be sent.
bool Peer::check_stall() {
    const bool stalled = writing_ && writes_ == writes_at_tick_;
    writes_at_tick_ = writes_;
    if (!writing_) sending_ = {};
    if (!stalled) return false;
    taken_bytes_ = 0;
    bool let_go = false;
    for (amqp::Link* const link : links_) {
        let_go = static_cast<PeerLink&>(*link->user).on_stall() || let_go;
    }
    return let_go;
}

// A link whose token ended, or whose key was removed, does not outlive it.
void Peer::check_claims() {
    const WallTime now = context_.loop.clock().wall();
    const bool changed = rules_generation_ != context_.rules.generation();
    if (!changed && now < claims_good_until_) return;
    rules_generation_ = context_.rules.generation();
    std::erase_if(claims_, [&](Claim& claim) {
        return claim.expires <= now || !context_.rules.refresh(claim);
    });
    claims_changed();
    claims_good_until_ = WallTime{std::numeric_limits<std::int64_t>::max()};
    for (const auto& claim : claims_) {
        claims_good_until_ = std::min(claims_good_until_, claim.expires);
    }
    std::vector<amqp::Link*> ending;
    for (amqp::Link* const link : links_) {
        const auto& need = static_cast<PeerLink&>(*link->user).need;
        if (need && !is_allowed(claims_, need->right, need->entity, now)) ending.push_back(link);
    }
    for (amqp::Link* const link : ending) {
        const std::string path = static_cast<PeerLink&>(*link->user).need->entity.path;
        link->user.reset();
        drop(*link,
             tracked({std::string(amqp::condition::unauthorized),
                      changed ? "InvalidSignature: The key of this link's token is no longer "
                                "valid, or lacks the right."
                              : "ExpiredToken: The token of this link has expired."},
                     path));
    }
}

void Peer::end_because(std::string why) {
    if (ended_because_.empty()) ended_because_ = std::move(why);
}

void Peer::refuse(amqp::Link& link, const amqp::Condition& why, std::string_view entity) {
    const Refusal reason = why.name == amqp::condition::unauthorized ? Refusal::right
                           : why.name == amqp::condition::not_found  ? Refusal::unknown_hub
                                                                     : Refusal::link;
    context_.activity.refused(reason, visitor_, entity, why.description);
    link.refuse(tracked(why, entity));
}

void Peer::logged_in(const Claim& claim) {
    context_.activity.logged_in(visitor_, who_of(claim));
    login_by_.reset();
    context_.crowd.log_in(id_);
}

void Peer::check_login(Instant now) {
    if (!opened_ || leaving_) return;
    if (!login_by_ && claims_.empty()) {
        login_by_ = now + context_.times.login;
        context_.crowd.log_out(id_, now);
    }
    if (!login_by_ || now < *login_by_) return;
    const auto seconds =
        std::chrono::duration_cast<std::chrono::seconds>(context_.times.login).count();
    const std::string why =
        fmt::format("No valid token came within {} s; send one to $cbs.", seconds);
    context_.activity.refused(Refusal::no_login, visitor_, "connection", why);
    close({std::string(amqp::condition::unauthorized), why});
}

void Peer::check_idle(Instant now) {
    if (opened_ && !cut_at_ && links_.empty() && now - unused_since_ >= context_.times.unused) {
        const auto milliseconds =
            std::chrono::duration_cast<std::chrono::milliseconds>(context_.times.unused).count();
        return close({std::string(amqp::condition::connection_forced),
                      "The connection was inactive for more than the allowed " +
                          std::to_string(milliseconds) + " milliseconds and is closed."});
    }
    std::vector<amqp::Link*> ending;
    for (amqp::Link* const link : links_) {
        const auto& used = static_cast<PeerLink&>(*link->user).used;
        if (used && now - *used >= context_.times.idle_sender) ending.push_back(link);
    }
    for (amqp::Link* const link : ending) {
        link->user.reset();
        const auto seconds =
            std::chrono::duration_cast<std::chrono::seconds>(context_.times.idle_sender).count();
        drop(*link, tracked({std::string(amqp::condition::detach_forced),
                             "The link '" + printable(link->peer().name) +
                                 "' is force detached by the broker because it did not send for " +
                                 std::to_string(seconds) + " seconds (IdleTimerExpired)."},
                            link->peer().target.address));
    }
}

bool Peer::on_sasl(const amqp::SaslInit& init) {
    sasl_host_ = init.hostname;
    if (init.mechanism != "PLAIN") return true;
    // authorization id NUL key name NUL key
    const std::string_view response = init.response;
    const auto first = response.find('\0');
    const auto second = first == std::string_view::npos ? first : response.find('\0', first + 1);
    if (second == std::string_view::npos) return false;
    const auto name = response.substr(first + 1, second - first - 1);
    const auto claim = context_.rules.check_key(name, response.substr(second + 1));
    if (!claim.ok()) {
        context_.activity.login_refused(visitor_, "key:" + std::string(name), claim.error().detail);
        return false;
    }
    if (!find_place(*claim)) return true;  // and its open is answered by a close
    claims_.push_back(*claim);
    claims_changed();
    logged_in(*claim);
    return true;
}

void Peer::on_open(const amqp::Open& open) {
    opened_ = true;
    visitor_.container = open.container;
    context_.activity.opened(visitor_);
    if (!leaving_) cut_at_.reset();
    unused_since_ = context_.loop.clock().now();
    if (claims_.empty()) login_by_ = unused_since_ + context_.times.login;
    if (open.idle_timeout_ms > 0 && open.idle_timeout_ms < idle_ms_min && !refusal_) {
        refusal_ = {std::string(amqp::condition::invalid_field),
                    fmt::format("The idle time-out of {} ms is too short; ask for {} ms or more.",
                                open.idle_timeout_ms, idle_ms_min)};
    }
    if (refusal_) return close(*refusal_);
    if (open.idle_timeout_ms > 0 && open.idle_timeout_ms < idle_ms_tick) {
        keep_alive_at(context_.loop.clock().now());
    }
}

void Peer::keep_alive_at(Instant when) {
    context_.loop.run_at(when, [this, alive = std::weak_ptr<Peer>(alive_)] {
        if (alive.expired() || finished_ || connection_.is_closed()) return;
        const Instant next = connection_.tick(context_.loop.clock().now());
        flush();
        keep_alive_at(next);
    });
}

void Peer::on_closed(const std::optional<amqp::Condition>& error) {
    end_because(error ? error->name + ": " + error->description : "the client closed it");
    for (const amqp::Link* const link : links_) {
        context_.activity.link_closed(link->role() == amqp::Role::receiver);
    }
    links_.clear();
    blocked_.clear();
    claims_.clear();
    claims_changed();
    flush_soon();
}

void Peer::on_delivery(amqp::Link& link, const amqp::Delivery& delivery) {
    if (link.user) static_cast<PeerLink&>(*link.user).on_delivery(delivery);
}

void Peer::on_credit(amqp::Link& link) {
    if (link.user) static_cast<PeerLink&>(*link.user).on_credit();
}

void Peer::on_detach(amqp::Link& link, const std::optional<amqp::Condition>&) {
    forget(link);
    link.user.reset();  // frees the reader's place at once
}

bool Peer::may(Right right, const Entity& entity) const {
    return is_allowed(claims_, right, entity, context_.loop.clock().wall());
}

amqp::Condition Peer::tracked(amqp::Condition condition, std::string_view entity) const {
    condition.description += tracking(entity, context_.loop.clock().wall());
    return condition;
}

std::string_view Peer::host() const {
    const auto& named = connection_.peer().hostname;
    return named && !named->empty() ? std::string_view(*named) : std::string_view(sasl_host_);
}

std::string Peer::url_of(std::string_view path) const {
    return fmt::format("sb://{}/{}", host().empty() ? "evenkeel" : host(), path);
}

}  // namespace evenkeel::door
