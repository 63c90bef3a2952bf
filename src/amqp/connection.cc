#include "amqp/connection.h"

#include <algorithm>
#include <cstring>

#include <fmt/core.h>

#include "base/check.h"

namespace evenkeel::amqp {
namespace {

constexpr std::size_t header_bytes = 8;
constexpr std::uint32_t frame_bytes_min = 512;  // what every peer must take
constexpr std::array<std::uint8_t, header_bytes> amqp_header = {'A', 'M', 'Q', 'P', 0, 1, 0, 0};
constexpr std::array<std::uint8_t, header_bytes> sasl_header = {'A', 'M', 'Q', 'P', 3, 1, 0, 0};

void append(Buffer& to, const std::array<std::uint8_t, header_bytes>& header) {
    for (const auto byte : header) to.push_back(std::byte{byte});
}

}  // namespace

Connection::Connection(ConnectionOptions options, Handler& handler, Instant now)
    : options_(std::move(options)), handler_(handler), now_(now), received_at_(now), sent_at_(now) {
    if (options_.is_server) return;
    append(output_, options_.mechanism.empty() ? amqp_header : sasl_header);
    if (options_.mechanism.empty()) send_open();
}

Connection::~Connection() = default;

void Connection::take_output(Buffer& buffer) {
    buffer.clear();
    buffer.swap(output_);
    if (!buffer.empty()) sent_at_ = now_;
}

void Connection::receive(ByteView bytes, Instant now) {
    now_ = now;
    received_at_ = now;
    busy_ = true;
    if (!partial_.empty()) {
        // Complete the frame that was cut, then go on in the new bytes without copying.
        while (!bytes.empty() && state_ != State::closed) {
            const std::size_t size = state_ == State::header ? header_bytes : frame_bytes(partial_);
            const std::size_t wanted = size == 0 ? 4 : size;
            const std::size_t more = std::min(wanted - partial_.size(), bytes.size());
            partial_.insert(partial_.end(), bytes.begin(),
                            bytes.begin() + static_cast<std::ptrdiff_t>(more));
            bytes = bytes.subspan(more);
            if (size == 0 || partial_.size() < size) continue;
            const Buffer whole = std::move(partial_);
            partial_.clear();
            if (state_ == State::header) {
                take_header(whole);
            } else {
                take_frame(whole);
            }
            break;
        }
    }
    while (!bytes.empty() && state_ != State::closed && partial_.empty()) {
        const std::size_t size = state_ == State::header ? header_bytes : frame_bytes(bytes);
        if (state_ == State::closed) break;
        if (size == 0 || bytes.size() < size) {
            partial_.assign(bytes.begin(), bytes.end());
            break;
        }
        if (state_ == State::header) {
            take_header(bytes);
        } else {
            take_frame(bytes.first(size));
        }
        bytes = bytes.subspan(size);
    }
    busy_ = false;
    collect();
}

void Connection::take_header(ByteView bytes) {
    const bool sasl = std::memcmp(bytes.data(), sasl_header.data(), header_bytes) == 0;
    const bool amqp = std::memcmp(bytes.data(), amqp_header.data(), header_bytes) == 0;
    if (options_.is_server && sasl && !sasl_done_) {
        append(output_, sasl_header);
        const std::size_t at = begin_frame(0, 1);
        encode(SaslMechanisms{options_.mechanisms}, output_);
        end_frame(at);
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
    const std::uint32_t limit = state_ == State::sasl ? frame_bytes_min : options_.max_frame_bytes;
    if (size < 8 || size > std::max(limit, frame_bytes_min)) {
        fail(condition::framing_error, fmt::format("a frame of {} bytes; 8 to {} are allowed", size,
                                                   std::max(limit, frame_bytes_min)));
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
    if (const auto* init = std::get_if<SaslInit>(&*decoded); init && options_.is_server) {
        const auto& known = options_.mechanisms;
        const bool good = std::find(known.begin(), known.end(), init->mechanism) != known.end() &&
                          handler_.on_sasl(*init);
        const std::size_t at = begin_frame(0, 1);
        encode(SaslOutcome{static_cast<std::uint8_t>(good ? 0 : 1)}, output_);
        end_frame(at);
        sasl_done_ = good;
        state_ = good ? State::header : State::closed;
        if (!good) end_all(Condition{std::string(condition::unauthorized), "SASL refused"});
        return;
    }
    if (std::holds_alternative<SaslMechanisms>(*decoded) && !options_.is_server) {
        const std::size_t at = begin_frame(0, 1);
        encode(SaslInit{options_.mechanism, options_.response, options_.hostname}, output_);
        end_frame(at);
        return;
    }
    if (const auto* outcome = std::get_if<SaslOutcome>(&*decoded); outcome && !options_.is_server) {
        if (outcome->code != 0) {
            state_ = State::closed;
            return end_all(Condition{std::string(condition::unauthorized),
                                     "the peer refused our credentials"});
        }
        sasl_done_ = true;
        state_ = State::header;
        append(output_, amqp_header);
        return send_open();
    }
    fail(condition::illegal_state, "not the SASL frame that is due");
}

void Connection::take_amqp(std::uint16_t channel, ByteView body) {
    auto decoded = decode_performative(body);
    if (!decoded.ok()) return fail(condition::decode_error, decoded.error().detail);
    if (const auto* open = std::get_if<Open>(&*decoded)) return take(*open);
    if (const auto* close = std::get_if<Close>(&*decoded)) return take(*close);
    if (state_ == State::closing) return;  // what was under way when we closed
    if (state_ != State::open) return fail(condition::illegal_state, "open comes first");
    if (const auto* begin = std::get_if<Begin>(&*decoded)) return take(channel, *begin);
    Session* const session = find(channel);
    if (!session) {
        // Clients send a last detach on a session they have ended.
        const bool known = channel < used_channels_.size() && used_channels_[channel];
        if (!known) fail(condition::not_allowed, fmt::format("channel {} has no session", channel));
        return;
    }
    if (std::holds_alternative<End>(*decoded)) return end_session(channel);
    session->take(*decoded, body);
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
        session = new Session(*this, local);
        sessions_[local].reset(session);
    }
    session->remote_channel_ = channel;
    session->next_incoming_id_ = begin.next_outgoing_id;
    session->remote_window_ = begin.incoming_window;
    session->handle_max_ = begin.handle_max;
    by_remote_[channel] = session;
    if (begin.remote_channel) return;
    session->incoming_window_ = options_.session_window;
    session->next_outgoing_id_ = 1;
    write(session->local_channel_,
          Begin{channel, 1, session->incoming_window_, begin.incoming_window, options_.handle_max});
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

void Connection::end_session(std::uint16_t remote_channel) {
    Session* const session = by_remote_.at(remote_channel);
    session->end_links(std::nullopt);
    if (!session->ended_) write(session->local_channel_, End{});
    session->ended_ = true;
    by_remote_.erase(remote_channel);
    auto node = sessions_.extract(session->local_channel_);
    ended_.push_back(std::move(node.mapped()));
}

void Connection::send_open() {
    open_sent_ = true;
    Open open;
    open.container = options_.container;
    if (!options_.hostname.empty()) open.hostname = options_.hostname;
    open.max_frame_bytes = options_.max_frame_bytes;
    open.channel_max = options_.channel_max;
    open.idle_timeout_ms = static_cast<std::uint32_t>(options_.idle_timeout.count());
    write(0, open);
}

void Connection::close(const std::optional<Condition>& error) {
    if (state_ == State::closed || state_ == State::closing) return;
    if (!open_sent_ || state_ != State::open) {
        state_ = State::closed;
        return end_all(error);
    }
    for (auto& [channel, session] : sessions_) {
        for (auto& [handle, link] : session->links_) {
            if (link->is_attached()) write(channel, Detach{handle, true, error});
        }
        if (!session->ended_) write(channel, End{error});
        session->ended_ = true;
    }
    write(0, Close{error});
    state_ = State::closing;
    end_all(error);
}

// A1: says what is wrong, if the peer has come far enough to hear it, and reads no more.
void Connection::fail(std::string_view name, std::string description) {
    const Condition error{std::string(name), std::move(description)};
    if (state_ == State::open || state_ == State::opening) {
        if (!open_sent_) send_open();
        write(0, Close{error});
    }
    state_ = State::closed;
    end_all(error);
}

void Connection::lost() {
    if (state_ != State::closed) {
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

Instant Connection::tick(Instant now) {
    now_ = now;
    const auto far = now + std::chrono::hours(1);
    if (state_ == State::closed) return far;
    // The peer is silent for twice what we announced: it is gone.
    const Instant silent_until = received_at_ + 2 * Duration(options_.idle_timeout);
    if (now >= silent_until) {
        fail(condition::connection_forced, "nothing was received for too long");
        collect();
        return far;
    }
    if (peer_.idle_timeout_ms == 0 || !open_sent_) return silent_until;
    const Duration every = std::chrono::milliseconds(peer_.idle_timeout_ms) / 4;
    if (now - sent_at_ >= every) {
        end_frame(begin_frame(0));
        sent_at_ = now;
    }
    return std::min(silent_until, sent_at_ + every);
}

Session& Connection::begin() {
    const std::uint16_t local = free_channel();
    auto* const session = new Session(*this, local);
    sessions_[local].reset(session);
    session->incoming_window_ = options_.session_window;
    session->next_outgoing_id_ = 1;
    write(local, Begin{std::nullopt, 1, session->incoming_window_, options_.session_window,
                       options_.handle_max});
    return *session;
}

Link& Connection::attach(Session& session, Attach attach) {
    Link& link = session.add_link(attach.role);
    link.ours_ = true;
    attach.handle = link.local_handle_;
    if (attach.role == Role::sender && !attach.initial_delivery_count) {
        attach.initial_delivery_count = 0;
    }
    link.limit_bytes_ =
        attach.max_message_bytes ? attach.max_message_bytes : options_.max_message_bytes;
    write(session.local_channel_, attach);
    link.local_ = std::move(attach);
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
    end_frame(at);
}

template void Connection::write(std::uint16_t, const Attach&);
template void Connection::write(std::uint16_t, const Begin&);
template void Connection::write(std::uint16_t, const Detach&);
template void Connection::write(std::uint16_t, const Disposition&);
template void Connection::write(std::uint16_t, const End&);
template void Connection::write(std::uint16_t, const Flow&);

std::uint32_t Connection::frame_limit() const {
    return std::min(options_.max_frame_bytes, peer_.max_frame_bytes);
}

// Ended sessions and links are kept until no call can be inside them any more.
void Connection::collect() {
    if (busy_) return;
    ended_.clear();
    for (auto& [channel, session] : sessions_) session->gone_.clear();
}

}  // namespace evenkeel::amqp
