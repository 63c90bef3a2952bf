#include "amqp/connection.h"

#include <algorithm>
#include <cstring>

#include <fmt/core.h>

#include "base/check.h"

namespace evenkeel::amqp {
namespace {

constexpr std::size_t header_bytes = 8;
constexpr std::uint32_t frame_bytes_min = 512;            // what every peer must take
constexpr std::uint32_t open_frame_bytes_max = 16 << 10;  // of a peer that is not yet known
constexpr std::size_t spare_bytes_max = 1 << 20;
constexpr std::size_t short_description_bytes = 128;
constexpr Duration keep_alive_min = std::chrono::milliseconds(100);
constexpr std::array<std::uint8_t, header_bytes> amqp_header = {'A', 'M', 'Q', 'P', 0, 1, 0, 0};
constexpr std::array<std::uint8_t, header_bytes> sasl_header = {'A', 'M', 'Q', 'P', 3, 1, 0, 0};

void append(Buffer& to, const std::array<std::uint8_t, header_bytes>& header) {
    for (const auto byte : header) to.push_back(std::byte{byte});
}

void shorten(std::optional<Condition>& error) {
    if (!error) return;
    error->description.resize(std::min(error->description.size(), short_description_bytes));
}

// Less of what is only a text for readers. True if there was any.
template <typename Body>
bool shorten(Body& body) {
    if constexpr (requires { body.error; }) {
        shorten(body.error);
        return true;
    } else if constexpr (requires { body.state.error; }) {
        shorten(body.state.error);
        return true;
    } else {
        return false;
    }
}

}  // namespace

Connection::Connection(ConnectionOptions options, Handler& handler, Instant now)
    : options_(std::move(options)),
      handler_(handler),
      now_(now),
      received_at_(now),
      sent_at_(now),
      handshake_at_(now) {
    if (options_.is_server) return;
    append(output_, options_.mechanism.empty() ? amqp_header : sasl_header);
    if (options_.mechanism.empty()) send_open();
}

Connection::~Connection() = default;

void Connection::take_output(Buffer& buffer) {
    if (buffer.capacity() > options_.kept_output_bytes_max) buffer = {};
    buffer.clear();
    buffer.swap(output_);
    answer_bytes_ = 0;
    if (buffer.empty()) return;
    sent_at_ = now_;
    is_busy_ = true;
}

void Connection::receive(ByteView bytes, Instant now) {
    EK_CHECK(depth_ == 0, "a handler does not receive");
    now_ = now;
    received_at_ = now;
    {
        const Inside inside(*this);
        if (!partial_.empty()) receive_partial(bytes);
        while (!bytes.empty() && state_ != State::closed && !fail_if_doomed()) {
            const std::size_t size = state_ == State::header ? header_bytes : frame_bytes(bytes);
            if (state_ == State::closed) break;
            if (size == 0 || bytes.size() < size) {
                partial_.assign(bytes.begin(), bytes.end());
                break;
            }
            const ByteView whole = bytes.first(size);
            bytes = bytes.subspan(size);
            state_ == State::header ? take_header(whole) : take_frame(whole);
        }
        fail_if_doomed();
    }
    collect();
}

// Completes what was cut; the rest of `bytes` is then read where it lies.
void Connection::receive_partial(ByteView& bytes) {
    while (!bytes.empty() && state_ != State::closed) {
        const std::size_t size = state_ == State::header ? header_bytes : frame_bytes(partial_);
        if (state_ == State::closed) return;
        const std::size_t wanted = size == 0 ? sizeof(std::uint32_t) : size;
        const std::size_t more = std::min(wanted - partial_.size(), bytes.size());
        partial_.insert(partial_.end(), bytes.begin(),
                        bytes.begin() + static_cast<std::ptrdiff_t>(more));
        bytes = bytes.subspan(more);
        if (size == 0 || partial_.size() < size) continue;
        const Buffer whole = std::move(partial_);
        partial_ = {};
        return state_ == State::header ? take_header(whole) : take_frame(whole);
    }
}

void Connection::take_header(ByteView bytes) {
    const bool sasl = std::memcmp(bytes.data(), sasl_header.data(), header_bytes) == 0;
    const bool amqp = std::memcmp(bytes.data(), amqp_header.data(), header_bytes) == 0;
    if (options_.is_server && sasl && !sasl_done_) {
        append(output_, sasl_header);
        write_sasl(SaslMechanisms{options_.mechanisms});
        state_ = State::sasl;
    } else if (options_.is_server && amqp) {
        append(output_, amqp_header);
        state_ = State::opening;
    } else if (!options_.is_server && sasl && !options_.mechanism.empty() && !sasl_done_) {
        state_ = State::sasl;
    } else if (!options_.is_server && amqp && (sasl_done_ || options_.mechanism.empty())) {
        state_ = State::opening;
    } else {
        // The peer speaks something else: tell it what we speak, then go.
        append(output_, sasl_done_ ? amqp_header : sasl_header);
        state_ = State::closed;
        end_all(Condition{std::string(condition::framing_error), "not an AMQP 1.0 header"});
    }
}

std::size_t Connection::frame_bytes(ByteView bytes) {
    if (bytes.size() < 4) return 0;
    const std::uint32_t size = __builtin_bswap32(load<std::uint32_t>(bytes.data()));
    std::uint32_t limit = std::max(options_.max_frame_bytes, frame_bytes_min);
    if (state_ == State::sasl) limit = frame_bytes_min;
    if (state_ == State::opening) limit = std::min(limit, open_frame_bytes_max);
    if (size < header_bytes || size > limit) {
        fail(condition::framing_error,
             fmt::format("a frame of {} bytes; 8 to {} are allowed", size, limit));
        return 0;
    }
    return size;
}

void Connection::take_frame(ByteView frame) {
    const auto type = std::to_integer<std::uint8_t>(frame[5]);
    const std::size_t body_at = std::to_integer<std::size_t>(frame[4]) * 4;
    if (body_at < 8 || body_at > frame.size()) {
        return fail(condition::framing_error, "a frame's data offset is wrong");
    }
    const auto channel = static_cast<std::uint16_t>(std::to_integer<unsigned>(frame[6]) << 8 |
                                                    std::to_integer<unsigned>(frame[7]));
    const ByteView body = frame.subspan(body_at);
    if (type != (state_ == State::sasl ? 1 : 0)) {
        return fail(condition::framing_error, fmt::format("a frame of type {} is not due", type));
    }
    if (state_ == State::sasl) return take_sasl(body);
    if (!body.empty()) take_amqp(channel, body);  // an empty frame keeps the connection alive
}

void Connection::take_sasl(ByteView body) {
    auto decoded = decode_performative(body);
    if (!decoded.ok()) return fail(condition::decode_error, decoded.error().detail);
    const auto among = [](const std::vector<std::string>& names, const std::string& name) {
        return std::find(names.begin(), names.end(), name) != names.end();
    };
    if (const auto* init = std::get_if<SaslInit>(&*decoded); init && options_.is_server) {
        const bool good = among(options_.mechanisms, init->mechanism) && handler_.on_sasl(*init);
        if (state_ != State::sasl) return;  // the handler closed
        write_sasl(SaslOutcome{static_cast<std::uint8_t>(good ? 0 : 1)});
        if (!good) return refuse_sasl("SASL refused");
        sasl_done_ = true;
        state_ = State::header;
        return;
    }
    const auto* offered = std::get_if<SaslMechanisms>(&*decoded);
    if (offered && !options_.is_server && !sasl_begun_) {
        if (!among(offered->mechanisms, options_.mechanism)) {
            return refuse_sasl("the peer does not offer the mechanism " + options_.mechanism);
        }
        sasl_begun_ = true;
        return write_sasl(SaslInit{options_.mechanism, options_.response, options_.hostname});
    }
    if (const auto* outcome = std::get_if<SaslOutcome>(&*decoded); outcome && sasl_begun_) {
        if (outcome->code != 0) return refuse_sasl("the peer refused our credentials");
        sasl_done_ = true;
        state_ = State::header;
        append(output_, amqp_header);
        return send_open();
    }
    fail(condition::illegal_state, "not the SASL frame that is due");
}

void Connection::refuse_sasl(std::string_view why) {
    state_ = State::closed;
    end_all(Condition{std::string(condition::unauthorized), std::string(why)});
}

void Connection::take_amqp(std::uint16_t channel, ByteView body) {
    const std::size_t frame_size = body.size();
    if (state_ == State::open) {
        if (const auto transfer = decode_usual_transfer(body)) {
            Session* const session = find(channel);
            if (!session) return take_unknown(channel);
            if (!session->ended_) session->take(*transfer, body);
            return;
        }
    }
    auto decoded = decode_performative(body);
    if (!decoded.ok()) return fail(condition::decode_error, decoded.error().detail);
    if (const auto* open = std::get_if<Open>(&*decoded)) return take(*open);
    if (const auto* close = std::get_if<Close>(&*decoded)) return take(*close);
    if (state_ == State::closing) return;  // what was under way when we closed
    if (state_ != State::open) return fail(condition::illegal_state, "open comes first");
    if (const auto* begin = std::get_if<Begin>(&*decoded)) return take(channel, *begin);
    Session* const session = find(channel);
    if (!session) return take_unknown(channel);
    if (const auto* end = std::get_if<End>(&*decoded)) return end_session(channel, end->error);
    session->take(*decoded, body, frame_size);
}

// A frame on a channel without a session.
void Connection::take_unknown(std::uint16_t channel) {
    // Clients send a last detach on a session they have ended.
    const bool known = channel < used_channels_.size() && used_channels_[channel];
    if (!known) fail(condition::not_allowed, fmt::format("channel {} has no session", channel));
}

void Connection::take(const Open& open) {
    if (state_ != State::opening) return fail(condition::illegal_state, "open comes once");
    peer_ = open;
    peer_.max_frame_bytes = std::max(open.max_frame_bytes, frame_bytes_min);
    state_ = State::open;
    if (!open_sent_) send_open();
    handler_.on_open(peer_);
}

void Connection::take(const Close& close) {
    if (state_ == State::open || state_ == State::opening) {
        if (!open_sent_) send_open();
        write(0, Close{});
    }
    state_ = State::closed;
    end_all(close.error);
}

void Connection::take(std::uint16_t channel, const Begin& begin) {
    if (channel > options_.channel_max) {
        return fail(condition::framing_error,
                    fmt::format("channel {} is above {}", channel, options_.channel_max));
    }
    if (by_remote_.contains(channel)) {
        return fail(condition::not_allowed, fmt::format("channel {} is in use", channel));
    }
    if (used_channels_.size() <= channel) used_channels_.resize(channel + std::size_t{1});
    used_channels_[channel] = true;
    Session* session = nullptr;
    if (begin.remote_channel) {  // the answer to our begin
        const auto found = sessions_.find(*begin.remote_channel);
        if (found == sessions_.end() || found->second->remote_channel_) {
            return fail(condition::not_allowed, "begin answers a session that is not there");
        }
        session = found->second.get();
    } else {
        const std::uint16_t local = free_channel();
        if (local > peer_.channel_max) {
            return fail(condition::resource_limit,
                        fmt::format("the peer takes channels up to {}", peer_.channel_max));
        }
        session = new Session(*this, local);
        sessions_[local].reset(session);
    }
    session->remote_channel_ = channel;
    session->next_incoming_id_ = begin.next_outgoing_id;
    session->remote_window_ = begin.incoming_window;
    session->handle_max_ = begin.handle_max;
    by_remote_[channel] = session;
    if (begin.remote_channel) return;
    write(session->local_channel_,
          Begin{channel, session->next_outgoing_id_, session->incoming_window_,
                begin.incoming_window, options_.handle_max});
}

Session* Connection::find(std::uint16_t remote_channel) {
    const auto found = by_remote_.find(remote_channel);
    return found == by_remote_.end() ? nullptr : found->second;
}

std::uint16_t Connection::free_channel() const {
    std::uint16_t channel = 0;
    for (const auto& [used, session] : sessions_) {
        if (used != channel) break;
        ++channel;
    }
    return channel;
}

void Connection::end_session(std::uint16_t remote_channel, const std::optional<Condition>& error) {
    Session* const session = by_remote_.at(remote_channel);
    if (!session->ended_) {  // it is not the answer to our own end
        session->ended_ = true;
        write(session->local_channel_, End{});
        // Before it is taken off the list: a handler that closes must hear of all links first.
        session->end_links(error);
    }
    by_remote_.erase(remote_channel);
    auto node = sessions_.extract(session->local_channel_);
    ended_.push_back(std::move(node.mapped()));
    if (!notified_closed_) handler_.on_end(*session, error);
}

void Connection::send_open() {
    open_sent_ = true;
    Open open;
    open.container = options_.container;
    if (!options_.hostname.empty()) open.hostname = options_.hostname;
    open.max_frame_bytes = options_.max_frame_bytes;
    open.channel_max = options_.channel_max;
    open.idle_timeout_ms = static_cast<std::uint32_t>(options_.idle_timeout.count());
    open.properties = options_.properties;
    write(0, open);
}

void Connection::close(const std::optional<Condition>& error) {
    if (state_ == State::closed || state_ == State::closing) return;
    const Inside inside(*this);
    if (!open_sent_ || state_ != State::open) {
        state_ = State::closed;
        return end_all(error);
    }
    for (auto& [channel, session] : sessions_) {
        for (auto& [handle, link] : session->links_) {
            if (link->is_attached()) write(channel, Detach{handle, true, error});
            link->rest_ = {};
        }
        if (!session->ended_) write(channel, End{error});
        session->ended_ = true;
    }
    write(0, Close{error});
    state_ = State::closing;
    handshake_at_ = now_;
    end_all(error);
}

// AMQP-1: says what is wrong, if the peer has come far enough to hear it, and reads no more.
void Connection::fail(std::string_view name, std::string description) {
    const Inside inside(*this);
    const Condition error{std::string(name), std::move(description)};
    if (state_ == State::open || state_ == State::opening) {
        if (!open_sent_) send_open();
        write(0, Close{error});
    }
    state_ = State::closed;
    end_all(error);
}

// The call that wrote is over: now its owner may be called.
bool Connection::fail_if_doomed() {
    if (state_ == State::closed) return true;
    if (doomed_) {
        doomed_ = false;
        fail(condition::frame_too_small, "an answer does not fit the peer's frames");
    } else if (answer_bytes_ > options_.answer_bytes_max) {
        fail(condition::resource_limit, "too many answers wait to be read");
    }
    return state_ == State::closed;
}

void Connection::lost() {
    if (state_ != State::closed) {
        const Inside inside(*this);
        state_ = State::closed;
        end_all(Condition{std::string(condition::connection_forced), "the transport was lost"});
    }
    collect();
}

void Connection::end_all(const std::optional<Condition>& error) {
    for (auto& [channel, session] : sessions_) session->end_links(error);
    if (!notified_closed_) {
        notified_closed_ = true;
        handler_.on_closed(error);
    }
}

void Connection::borrow(Buffer& to) {
    if (to.capacity() == 0) to.swap(spare_);
    is_busy_ = true;
}

void Connection::give_back(Buffer from) {
    if (from.capacity() > spare_bytes_max || from.capacity() <= spare_.capacity()) return;
    from.clear();
    spare_.swap(from);
}

void Connection::release_unused() {
    if (!is_busy_) {
        spare_ = {};
        if (output_.empty()) output_ = {};
    }
    is_busy_ = false;
}

Instant Connection::tick(Instant now) {
    now_ = now;
    release_unused();
    const Instant far = now + std::chrono::hours(1);
    if (fail_if_doomed()) {
        collect();
        return far;
    }
    Instant until = far;
    // The peer is silent for twice what we announced, or never gets to the point: it is gone.
    if (options_.idle_timeout.count() > 0) {
        until = received_at_ + 2 * Duration(options_.idle_timeout);
    }
    if (state_ != State::open) until = std::min(until, handshake_at_ + options_.handshake_timeout);
    if (now >= until) fail(condition::connection_forced, "nothing was received for too long");
    collect();
    if (state_ == State::closed) return far;
    if (peer_.idle_timeout_ms == 0 || state_ != State::open) return until;
    const Duration idle = std::chrono::milliseconds(peer_.idle_timeout_ms);
    const Duration every = std::max(idle / 4, keep_alive_min);
    if (now - sent_at_ >= every) {
        end_frame(begin_frame(0));
        sent_at_ = now;
    }
    return std::min(until, sent_at_ + every);
}

Session& Connection::begin() {
    const std::uint16_t local = free_channel();
    auto* const session = new Session(*this, local);
    sessions_[local].reset(session);
    session->ended_ = state_ != State::open;
    if (session->ended_) return *session;
    write(local, Begin{std::nullopt, session->next_outgoing_id_, session->incoming_window_,
                       options_.session_window, options_.handle_max});
    return *session;
}

Link& Connection::attach(Session& session, Attach attach) {
    Link& link = session.add_link(attach.role);
    link.ours_ = true;
    link.local_name_ = attach.name;
    attach.handle = link.local_handle_;
    if (attach.role == Role::sender) {
        link.initial_count_ = attach.initial_delivery_count.value_or(0);
        link.delivery_count_ = link.initial_count_;
        attach.initial_delivery_count = link.initial_count_;
    }
    link.limit_bytes_ =
        attach.max_message_bytes ? attach.max_message_bytes : options_.max_message_bytes;
    if (session.ended_) {
        link.state_ = Link::State::detaching;
    } else {
        write(session.local_channel_, attach);
    }
    return link;
}

std::size_t Connection::begin_frame(std::uint16_t channel, std::uint8_t type) {
    const std::size_t at = output_.size();
    output_.resize(at + 8);
    std::byte* const header = output_.data() + at;
    header[4] = std::byte{2};
    header[5] = std::byte{type};
    header[6] = static_cast<std::byte>(channel >> 8);
    header[7] = static_cast<std::byte>(channel & 0xff);
    return at;
}

void Connection::end_frame(std::size_t at) {
    const auto size = static_cast<std::uint32_t>(output_.size() - at);
    store(output_.data() + at, __builtin_bswap32(size));
}

template <typename Body>
void Connection::write(std::uint16_t channel, const Body& body) {
    const std::size_t at = begin_frame(channel);
    encode(body, output_);
    if (output_.size() - at > frame_limit()) {
        output_.resize(at + header_bytes);
        Body shorter = body;
        if (shorten(shorter)) encode(shorter, output_);
        const std::size_t size = output_.size() - at;
        if (size == header_bytes || size > frame_limit()) {
            output_.resize(at);
            doomed_ = true;
            return;
        }
    }
    end_frame(at);
    answer_bytes_ += output_.size() - at;
}

void Connection::write_sasl(const Performative& body) {
    const std::size_t at = begin_frame(0, 1);
    std::visit([this](const auto& frame) { encode(frame, output_); }, body);
    end_frame(at);
}

template void Connection::write(std::uint16_t, const Attach&);
template void Connection::write(std::uint16_t, const Begin&);
template void Connection::write(std::uint16_t, const Detach&);
template void Connection::write(std::uint16_t, const Disposition&);
template void Connection::write(std::uint16_t, const End&);
template void Connection::write(std::uint16_t, const Flow&);

std::uint32_t Connection::frame_limit() const {
    // The peer's is not known before its open; ours is small by then.
    return std::max(std::min(options_.max_frame_bytes, peer_.max_frame_bytes), frame_bytes_min);
}

// Ended sessions and links are kept until no call can be inside them any more.
void Connection::collect() {
    if (depth_ > 0) return;
    ended_.clear();
    for (auto& [channel, session] : sessions_) session->gone_.clear();
}

}  // namespace evenkeel::amqp
