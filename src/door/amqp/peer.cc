#include "door/amqp/peer.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "amqp/message.h"
#include "door/amqp/conditions.h"
#include "eventhubs/names.h"

namespace evenkeel::door {
namespace {

constexpr std::uint64_t waiting_bytes_max = std::uint64_t{16} << 20;  // then the socket waits
constexpr std::uint32_t idle_ms_min = 200;     // of a client; a shorter one cannot be kept
constexpr std::uint32_t idle_ms_tick = 8'000;  // up to here tick() comes too seldom

amqp::ConnectionOptions options_for(const PeerContext& context) {
    amqp::ConnectionOptions options;
    options.container = "evenkeel";
    eventhubs::Greeting greeting;
    if (context.greeting) greeting = *context.greeting;
    greeting.identity = context.hubs.identity();
    options.properties = eventhubs::encode_greeting(greeting);
    options.max_message_bytes = context.message_bytes_max;
    options.idle_timeout = context.times.keep_alive;
    return options;
}

// What the client says it is: "azsdk-python-eventhub/5.11.4", say.
std::string product_of(ByteView properties) {
    const auto agent = amqp::text_in(properties, "user-agent");
    if (agent && !agent->empty()) return peer_text(*agent);
    std::string product(amqp::text_in(properties, "product").value_or(""));
    const auto version = amqp::text_in(properties, "version");
    if (!product.empty() && version) product += "/" + std::string(*version);
    return peer_text(product);
}

// Of the keys that were shown, each once.
std::string key_names(const std::vector<Claim>& claims) {
    constexpr std::size_t names_max = 3;
    std::vector<std::string_view> names;
    for (const Claim& claim : claims) {
        const std::string_view name = claim.rule.empty() ? claim.subject : claim.rule;
        if (name.empty() || std::find(names.begin(), names.end(), name) != names.end()) continue;
        if (names.size() == names_max) break;
        names.push_back(name);
    }
    std::string all;
    for (const auto name : names) all += (all.empty() ? "" : ", ") + peer_text(name);
    return all;
}

}  // namespace

Peer::Peer(const PeerContext& context, Crowd::Id id, std::unique_ptr<io::Socket> socket, Task gone,
           Transport transport)
    : context_(context),
      id_(id),
      transport_(transport),
      since_(context.loop.clock().wall()),
      gone_(std::move(gone)),
      visitor_{socket->peer()},
      cut_at_(context.loop.clock().now() + context.times.open),
      login_(context_, visitor_, id),
      nodes_(*this),
      attacher_(*this, nodes_),
      wire_(context.loop, std::move(socket), connection_, *this),
      links_(context_, wire_),
      connection_(options_for(context), *this, context.loop.clock().now()) {}

Peer::~Peer() {
    links_.clear();
}

bool Peer::takes_input() const {
    return state_ != State::settling && waiting_bytes_ <= waiting_bytes_max;
}

void Peer::on_lost(std::string why) {
    end_because(std::move(why));
    connection_.lost();
    finish();
}

void Peer::on_all_sent() {
    const Instant latest = context_.loop.clock().now() + context_.times.linger;
    cut_at_ = std::min(cut_at_.value_or(latest), latest);
}

void Peer::on_room(amqp::Link& link) {
    if (PeerLink* const user = LinkTable::user_of(link)) user->on_room();
}

void Peer::finish() {
    if (state_ == State::finished) return;
    state_ = State::finished;
    closing_.reset();
    check_state();
    context_.activity.disconnected(visitor_, ended_because_);
    wire_.close();
    if (gone_) context_.loop.post(std::move(gone_));
}

void Peer::close(const amqp::Condition& why) {
    if (state_ != State::running || connection_.is_closed()) return;
    state_ = State::settling;
    end_because(why.name + ": " + why.description);
    closing_ = why;
    cut_at_ = context_.loop.clock().now() + context_.times.settle;
    leave_if_settled();
    wire_.flush_soon();
}

void Peer::append_ended(std::uint64_t bytes) {
    EK_CHECK(bytes <= waiting_bytes_, "an append ends once");
    waiting_bytes_ -= bytes;
    leave_if_settled();
    wire_.flush_soon();
}

void Peer::leave_if_settled() {
    check_state();
    if (state_ != State::settling || waiting_bytes_ > 0) return;
    state_ = State::leaving;
    cut_at_ = context_.loop.clock().now() + context_.times.close;
    // Not inside the append's own answer, which has still to be written.
    context_.loop.post(lifetime_.guard([this, why = *std::exchange(closing_, std::nullopt)] {
        connection_.close(why);
        wire_.flush_soon();
    }));
}

bool Peer::tick(Instant now) {
    check_state();
    if (state_ == State::finished) return false;
    connection_.tick(now);
    if (connection_.is_closed() && !cut_at_) cut_at_ = now + context_.times.linger;
    if (!connection_.is_closed()) {
        check_claims();
        check_login(now);
        check_idle(now);
    }
    wire_.flush();
    for (const auto& entry : links_.entries()) {
        if (entry.user->use) entry.user->use->sample(now);
    }
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
    if (!wire_.check_stall()) return false;
    bool let_go = false;
    for (const auto& entry : links_.entries()) let_go = entry.user->on_stall() || let_go;
    return let_go;
}

// A link whose token ended, or whose key was removed, does not outlive it.
void Peer::check_claims() {
    const auto rules_changed = login_.check_claims();
    if (!rules_changed) return;
    std::vector<LinkTable::Entry> ending;
    for (const auto& entry : links_.entries()) {
        const auto& need = entry.user->need;
        if (need && !login_.may(need->right, need->entity)) ending.push_back(entry);
    }
    for (const auto& [link, user] : ending) {
        const std::string path = user->need->entity.path;
        link->user.reset();
        links_.drop(
            *link,
            tracked({std::string(amqp::condition::unauthorized),
                     *rules_changed ? "InvalidSignature: The key of this link's token is no longer "
                                      "valid, or lacks the right."
                                    : "ExpiredToken: The token of this link has expired."},
                    path));
    }
}

void Peer::end_because(std::string why) {
    if (ended_because_.empty()) ended_because_ = std::move(why);
}

void Peer::check_login(Instant now) {
    if (!opened_ || state_ != State::running || !login_.is_overdue(now)) return;
    const auto seconds =
        std::chrono::duration_cast<std::chrono::seconds>(context_.times.login).count();
    const std::string why =
        fmt::format("No valid token came within {} s; send one to $cbs.", seconds);
    context_.activity.refused(Refusal::no_login, visitor_, "connection", why);
    close({std::string(amqp::condition::unauthorized), why});
}

void Peer::check_idle(Instant now) {
    if (opened_ && !cut_at_ && links_.empty() &&
        now - links_.unused_since() >= context_.times.unused) {
        const auto milliseconds =
            std::chrono::duration_cast<std::chrono::milliseconds>(context_.times.unused).count();
        return close({std::string(amqp::condition::connection_forced),
                      "The connection was inactive for more than the allowed " +
                          std::to_string(milliseconds) + " milliseconds and is closed."});
    }
    std::vector<amqp::Link*> ending;
    for (const auto& [link, user] : links_.entries()) {
        if (user->used && now - *user->used >= context_.times.idle_sender) ending.push_back(link);
    }
    for (amqp::Link* const link : ending) {
        link->user.reset();
        const auto seconds =
            std::chrono::duration_cast<std::chrono::seconds>(context_.times.idle_sender).count();
        links_.drop(*link,
                    tracked({std::string(amqp::condition::detach_forced),
                             "The link '" + peer_text(link->peer().name) +
                                 "' is force detached by the broker because it did not send for " +
                                 std::to_string(seconds) + " seconds (IdleTimerExpired)."},
                            link->peer().target.address));
    }
}

void Peer::count_again() {
    if (state_ == State::finished || connection_.is_closed()) return;
    login_.count_again();
    for (const auto& entry : links_.entries()) {
        if (!entry.user->need) continue;
        const QuotaRef quota = context_.quotas.of_hub(entry.user->need->entity.hub);
        entry.user->place = quota ? login_.place_in(quota, true) : nullptr;
    }
}

bool Peer::on_sasl(const amqp::SaslInit& init) {
    sasl_host_ = init.hostname;
    if (init.mechanism != "PLAIN") return true;
    const auto claim = login_.check_plain(init.response);
    if (!claim) return false;
    // Before open there is no way to say why: the open is answered by a close.
    if (auto why = login_.find_place(*claim)) {
        refuse(std::move(*why));
        return true;
    }
    login_.add(*claim);
    return true;
}

void Peer::on_open(const amqp::Open& open) {
    opened_ = true;
    visitor_.container = open.container;
    context_.activity.opened(visitor_);
    if (state_ == State::running) cut_at_.reset();
    const Instant now = context_.loop.clock().now();
    links_.use(now);
    login_.open(now);
    if (open.idle_timeout_ms > 0 && open.idle_timeout_ms < idle_ms_min && !refusal_) {
        refusal_ = {std::string(amqp::condition::invalid_field),
                    fmt::format("The idle time-out of {} ms is too short; ask for {} ms or more.",
                                open.idle_timeout_ms, idle_ms_min)};
    }
    if (refusal_) return close(*refusal_);
    if (open.idle_timeout_ms > 0 && open.idle_timeout_ms < idle_ms_tick) keep_alive_at(now);
}

void Peer::keep_alive_at(Instant when) {
    context_.loop.run_at(when, lifetime_.guard([this] {
        if (state_ == State::finished || connection_.is_closed()) return;
        const Instant next = connection_.tick(context_.loop.clock().now());
        wire_.flush();
        keep_alive_at(next);
    }));
}

void Peer::on_closed(const std::optional<amqp::Condition>& error) {
    end_because(error ? error->name + ": " + error->description : "the client closed it");
    links_.clear();
    login_.clear();
    wire_.flush_soon();
}

void Peer::on_delivery(amqp::Link& link, const amqp::Delivery& delivery) {
    if (PeerLink* const user = LinkTable::user_of(link)) user->on_delivery(delivery);
}

void Peer::on_credit(amqp::Link& link) {
    if (PeerLink* const user = LinkTable::user_of(link)) user->on_credit();
}

void Peer::on_detach(amqp::Link& link, const std::optional<amqp::Condition>&) {
    links_.remove(link);
}

std::optional<ConnectionInfo> Peer::info(const std::string& hub) const {
    if (state_ == State::finished) return std::nullopt;
    ConnectionInfo info{.id = id_,
                        .from = visitor_.from,
                        .transport = transport_,
                        .container = peer_text(visitor_.container),
                        .product = product_of(connection_.peer().properties),
                        .who = key_names(login_.claims()),
                        .since = since_};
    const Instant now = context_.loop.clock().now();
    for (const auto& entry : links_.entries()) {
        const LinkUse* const use = entry.user->use.get();
        if (!use || (!hub.empty() && eventhubs::folded(use->info.hub) != hub)) continue;
        if (++info.link_count > ConnectionInfo::links_max) continue;
        info.links.push_back(use->info);
        info.links.back().credit = entry.link->credit();
        info.links.back().per_second = use->rate.per_second(now, use->info.events);
    }
    if (!hub.empty() && info.links.empty()) return std::nullopt;
    return info;
}

std::string_view Peer::host_name() const {
    const auto& named = connection_.peer().hostname;
    return named && !named->empty() ? std::string_view(*named) : std::string_view(sasl_host_);
}

void Peer::check_state() const {
    EK_CHECK(closing_.has_value() == (state_ == State::settling), "a reason waits for the disk");
    EK_CHECK(state_ == State::running || state_ == State::finished || cut_at_,
             "whoever leaves has a deadline");
}

}  // namespace evenkeel::door
