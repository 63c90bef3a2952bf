#include "amqp/link.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/core.h>

#include "amqp/connection.h"
#include "base/check.h"

namespace evenkeel::amqp {
namespace {

// Frame header and a transfer's fields at their widest.
constexpr std::size_t transfer_overhead_max = 64;

}  // namespace

Connection& Link::connection() const {
    return session_.connection();
}

void Link::accept(Attach reply) {
    EK_CHECK(state_ == State::attaching && !ours_, "an attach is answered once");
    reply.name = peer_.name;
    reply.handle = local_handle_;
    reply.role = role_;
    if (role_ == Role::sender) {
        initial_count_ = reply.initial_delivery_count.value_or(0);
        reply.initial_delivery_count = initial_count_;
    } else {
        initial_count_ = peer_.initial_delivery_count.value_or(0);
        reply.initial_delivery_count.reset();
        limit_bytes_ = reply.max_message_bytes ? reply.max_message_bytes
                                               : connection().options().max_message_bytes;
    }
    delivery_count_ = initial_count_;
    state_ = State::attached;
    connection().write(session_.local_channel_, reply);
}

void Link::refuse(const Condition& why) {
    EK_CHECK(state_ == State::attaching && !ours_, "an attach is answered once");
    write_null_attach();
    connection().write(session_.local_channel_, Detach{local_handle_, true, why});
    state_ = State::refused;
}

// Clients take a detach only for a link that was attached, if only to nothing.
void Link::write_null_attach() {
    if (ours_) return;
    Attach reply;
    reply.name = peer_.name;
    reply.handle = local_handle_;
    reply.role = role_;
    reply.sender_settle = peer_.sender_settle;
    reply.receiver_settle = peer_.receiver_settle;
    if (role_ == Role::sender) reply.initial_delivery_count = 0;
    connection().write(session_.local_channel_, reply);
}

void Link::detach(const std::optional<Condition>& why) {
    if (!is_live()) return;
    drop_partial();
    rest_ = {};
    if (state_ == State::attaching) write_null_attach();
    state_ = State::detaching;
    connection().write(session_.local_channel_, Detach{local_handle_, true, why});
}

void Link::grant(std::uint32_t credit) {
    if (state_ != State::attached || role_ != Role::receiver) return;
    credit_ = credit;
    session_.send_flow(this);
}

void Link::settle(std::uint32_t delivery_id, const DeliveryState& state) {
    if (session_.ended_ || state_ != State::attached) return;
    connection().write(session_.local_channel_,
                       Disposition{Role::receiver, delivery_id, std::nullopt, true, state});
}

bool Link::can_send() const {
    return state_ == State::attached && role_ == Role::sender && credit_ > 0 &&
           session_.remote_window_ > 0 && rest_.empty() && !half_sent_;
}

bool Link::can_go_on() const {
    return state_ == State::attached && half_sent_ && session_.remote_window_ > 0;
}

std::uint32_t Link::send(ByteView prefix, ByteView body, std::uint32_t message_format,
                         bool settled) {
    EK_CHECK(can_send(), "a message is sent with credit and inside the window");
    --credit_;
    ++delivery_count_;
    if (fits_frame(prefix.size() + body.size())) {
        std::array<std::byte, head_bytes> head;
        write_head(head.data(), prefix.size() + body.size(), message_format, settled);
        Buffer& output = connection().output_;
        output.insert(output.end(), head.begin(), head.end());
        output.insert(output.end(), prefix.begin(), prefix.end());
        output.insert(output.end(), body.begin(), body.end());
    } else {
        send_large(prefix, body, message_format, settled);
    }
    return session_.next_delivery_id_++;
}

// The hot path.
std::uint32_t Link::send_behind_head(ByteSpan prefix, ByteView body) {
    const std::size_t bytes = prefix.size() - head_bytes + body.size();
    if (!fits_frame(bytes)) return send(prefix.subspan(head_bytes), body, 0, true);
    EK_CHECK(can_send(), "a message is sent with credit and inside the window");
    --credit_;
    ++delivery_count_;
    write_head(prefix.data(), bytes, 0, true);
    Buffer& output = connection().output_;
    output.insert(output.end(), prefix.begin(), prefix.end());
    output.insert(output.end(), body.begin(), body.end());
    return session_.next_delivery_id_++;
}

// Several frames. What the peer's window has no room for is kept, and sent as it widens.
void Link::send_large(ByteView prefix, ByteView body, std::uint32_t message_format, bool settled) {
    const std::uint32_t id = session_.next_delivery_id_;
    std::array<std::byte, 4> tag;
    store(tag.data(), __builtin_bswap32(id));
    Transfer transfer{local_handle_, id, tag, message_format, settled, false, false};
    const std::size_t room = connection().frame_limit() - transfer_overhead_max;
    do {
        const ByteView first = prefix.first(std::min(room, prefix.size()));
        const ByteView second = body.first(std::min(room - first.size(), body.size()));
        prefix = prefix.subspan(first.size());
        body = body.subspan(second.size());
        transfer.more = !prefix.empty() || !body.empty();
        write_frame(transfer, first, second);
        transfer = Transfer{local_handle_, {}, {}, {}, {}, false, false};
    } while ((!prefix.empty() || !body.empty()) && session_.remote_window_ > 0);
    rest_from_ = 0;
    rest_.reserve(prefix.size() + body.size());
    rest_.assign(prefix.begin(), prefix.end());
    rest_.insert(rest_.end(), body.begin(), body.end());
}

std::size_t Link::send_part(ByteView prefix, ByteView body, std::size_t sent,
                            std::size_t bytes_max) {
    EK_CHECK(sent == 0 ? can_send() : can_go_on(), "a part is sent inside the window");
    const std::size_t all = prefix.size() + body.size();
    EK_CHECK(sent < all && bytes_max > 0, "there is something to send");
    Transfer transfer{local_handle_, {}, {}, {}, {}, false, false};
    std::array<std::byte, 4> tag;
    if (sent == 0) {
        --credit_;
        ++delivery_count_;
        const std::uint32_t id = session_.next_delivery_id_++;
        store(tag.data(), __builtin_bswap32(id));
        transfer = Transfer{local_handle_, id, tag, 0, true, false, false};
    }
    const std::size_t bytes =
        std::min({all - sent, bytes_max, connection().frame_limit() - transfer_overhead_max});
    transfer.more = half_sent_ = sent + bytes < all;
    const ByteView head = prefix.subspan(std::min(sent, prefix.size()));
    const ByteView first = head.first(std::min(bytes, head.size()));
    const std::size_t from = sent > prefix.size() ? sent - prefix.size() : 0;
    write_frame(transfer, first, body.subspan(from, bytes - first.size()));
    return bytes;
}

bool Link::fits_frame(std::size_t bytes) const {
    return head_bytes + bytes <= connection().frame_limit() && local_handle_ <= 0xff;
}

// From a fixed picture, which decode_pictured_transfer() knows too.
void Link::write_head(std::byte* to, std::size_t bytes, std::uint32_t message_format,
                      bool settled) {
    // clang-format off
    static constexpr std::array<std::uint8_t, head_bytes> picture = {
        0, 0, 0, 0, 2, 0, 0, 0,            // frame: size, data offset, type, channel
        0x00, 0x53, 0x14, 0xc0, 26, 11,    // transfer, a list of 11
        0x52, 0,                           // handle
        0x70, 0, 0, 0, 0,                  // delivery id
        0xa0, 4, 0, 0, 0, 0,               // delivery tag
        0x70, 0, 0, 0, 0,                  // message format
        0x41, 0x42,                        // settled, more
        0x40, 0x40, 0x40, 0x40, 0x41,      // four nulls, batchable
    };
    // clang-format on
    const std::uint32_t id = __builtin_bswap32(session_.next_delivery_id_);
    std::memcpy(to, picture.data(), head_bytes);
    store(to, __builtin_bswap32(static_cast<std::uint32_t>(head_bytes + bytes)));
    store(to + 6, __builtin_bswap16(session_.local_channel_));
    to[15] = static_cast<std::byte>(local_handle_);
    store(to + 17, id);
    store(to + 23, id);
    store(to + 28, __builtin_bswap32(message_format));
    if (!settled) to[32] = std::byte{0x42};
    --session_.remote_window_;
    ++session_.next_outgoing_id_;
}

void Link::write_frame(const Transfer& transfer, ByteView first, ByteView second) {
    Connection& owner = connection();
    const std::size_t at = owner.begin_frame(session_.local_channel_);
    encode(transfer, owner.output_);
    owner.output_.insert(owner.output_.end(), first.begin(), first.end());
    owner.output_.insert(owner.output_.end(), second.begin(), second.end());
    owner.end_frame(at);
    --session_.remote_window_;
    ++session_.next_outgoing_id_;
}

// The frames of a large message that the peer's window has room for by now.
void Link::send_rest() {
    if (rest_.empty()) return;
    const std::size_t room = connection().frame_limit() - transfer_overhead_max;
    while (rest_from_ < rest_.size() && session_.remote_window_ > 0) {
        const std::size_t bytes = std::min(room, rest_.size() - rest_from_);
        Transfer transfer;
        transfer.handle = local_handle_;
        transfer.more = rest_from_ + bytes < rest_.size();
        write_frame(transfer, ByteView(rest_).subspan(rest_from_, bytes), {});
        rest_from_ += bytes;
    }
    if (rest_from_ == rest_.size()) rest_ = {};
}

void Link::drained() {
    if (!drain_ || role_ != Role::sender) return;
    delivery_count_ += credit_;
    credit_ = 0;
    session_.send_flow(this);
    drain_ = false;
}

void Link::take(const Flow& flow) {
    if (state_ != State::attached) return;
    if (role_ == Role::receiver) {
        // The sender gave back credit that it had no messages for.
        const std::uint32_t skipped =
            serial_distance(delivery_count_, flow.delivery_count.value_or(delivery_count_));
        delivery_count_ += skipped;
        credit_ -= std::min(credit_, skipped);
    } else if (flow.link_credit) {
        // What the peer granted, less what it had not seen when it did.
        const std::uint32_t seen = flow.delivery_count.value_or(initial_count_);
        const std::uint32_t ahead = serial_distance(seen, delivery_count_);
        credit_ = *flow.link_credit > ahead ? *flow.link_credit - ahead : 0;
        drain_ = flow.drain;
        send_rest();
        connection().handler_.on_credit(*this);
    }
    if (flow.echo && state_ == State::attached) session_.send_flow(this);
}

void Link::take(const Transfer& transfer, ByteView payload) {
    if (role_ != Role::receiver) {
        return connection().fail(condition::not_allowed, "a transfer came from a receiver");
    }
    if (state_ != State::attached) return;  // under way when we detached
    if (!begin_delivery(transfer)) return;
    if (transfer.aborted) return drop_partial();
    incoming_->size += payload.size();
    if (incoming_->size > limit_bytes_ && !incoming_->too_large) {
        const Delivery kept = *incoming_;
        drop_partial();
        incoming_ = kept;
        incoming_->too_large = true;
    }
    if (!transfer.more && incoming_bytes_.empty()) return finish_delivery(payload);
    if (!incoming_->too_large) {
        Connection& owner = connection();
        if (owner.partial_bytes_ + payload.size() > owner.options_.partial_bytes_max) {
            return owner.fail(condition::resource_limit,
                              "too many bytes of messages that are not complete");
        }
        owner.partial_bytes_ += payload.size();
        owner.borrow(incoming_bytes_);
        incoming_bytes_.insert(incoming_bytes_.end(), payload.begin(), payload.end());
    }
    if (!transfer.more) {
        Buffer whole = std::move(incoming_bytes_);
        incoming_bytes_ = {};
        connection().partial_bytes_ -= whole.size();
        finish_delivery(whole);
        connection().give_back(std::move(whole));
    }
}

// The delivery that a transfer begins or goes on with; false if it is neither.
bool Link::begin_delivery(const Transfer& transfer) {
    if (incoming_) {
        if (transfer.delivery_id && *transfer.delivery_id != incoming_->id) {
            connection().fail(condition::not_allowed,
                              fmt::format("delivery {} begins before delivery {} is complete",
                                          *transfer.delivery_id, incoming_->id));
            return false;
        }
        if (transfer.settled.value_or(false)) incoming_->settled = true;
        return true;
    }
    if (!transfer.delivery_id) {
        connection().fail(condition::invalid_field,
                          "a message's first transfer has no delivery id");
        return false;
    }
    incoming_.emplace();
    incoming_->id = *transfer.delivery_id;
    incoming_->message_format = transfer.message_format.value_or(0);
    incoming_->settled = transfer.settled.value_or(false);
    ++delivery_count_;
    if (credit_ > 0) --credit_;
    return true;
}

void Link::finish_delivery(ByteView bytes) {
    Delivery delivery = *incoming_;
    incoming_.reset();
    if (!delivery.too_large) delivery.bytes = bytes;
    connection().handler_.on_delivery(*this, delivery);
}

void Link::drop_partial() {
    connection().partial_bytes_ -= incoming_bytes_.size();
    incoming_bytes_ = {};  // its memory too: any number of links may have held some
    incoming_.reset();
}

}  // namespace evenkeel::amqp
