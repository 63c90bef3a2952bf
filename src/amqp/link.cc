#include "amqp/link.h"

#include <algorithm>
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
        reply.initial_delivery_count = reply.initial_delivery_count.value_or(0);
        delivery_count_ = *reply.initial_delivery_count;
    } else {
        reply.initial_delivery_count.reset();
        delivery_count_ = peer_.initial_delivery_count.value_or(0);
        limit_bytes_ = reply.max_message_bytes ? reply.max_message_bytes
                                               : connection().options().max_message_bytes;
    }
    state_ = State::attached;
    connection().write(session_.local_channel_, reply);
    local_ = std::move(reply);
}

void Link::refuse(const Condition& why) {
    EK_CHECK(state_ == State::attaching && !ours_, "an attach is answered once");
    Attach reply;
    reply.name = peer_.name;
    reply.handle = local_handle_;
    reply.role = role_;
    reply.sender_settle = peer_.sender_settle;
    reply.receiver_settle = peer_.receiver_settle;
    if (role_ == Role::sender) reply.initial_delivery_count = 0;
    connection().write(session_.local_channel_, reply);
    connection().write(session_.local_channel_, Detach{local_handle_, true, why});
    state_ = State::refused;
}

void Link::detach(const std::optional<Condition>& why) {
    if (state_ != State::attached && state_ != State::attaching) return;
    drop_partial();
    state_ = State::detaching;
    connection().write(session_.local_channel_, Detach{local_handle_, true, why});
}

void Link::grant(std::uint32_t credit) {
    if (state_ != State::attached) return;
    credit_ = credit;
    session_.send_flow(this, false);
}

void Link::settle(std::uint32_t delivery_id, const DeliveryState& state) {
    if (session_.ended_ || state_ != State::attached) return;
    connection().write(session_.local_channel_,
                       Disposition{Role::receiver, delivery_id, std::nullopt, true, state});
}

bool Link::can_send() const {
    return state_ == State::attached && credit_ > 0 && session_.remote_window_ > 0 && rest_.empty();
}

std::uint32_t Link::send(ByteView prefix, ByteView body, std::uint32_t message_format,
                         bool settled) {
    EK_CHECK(can_send(), "a message is sent with credit and inside the window");
    --credit_;
    ++delivery_count_;
    const std::uint32_t id = session_.next_delivery_id_;
    if (!write_small(prefix, body, message_format, settled)) {
        std::array<std::byte, 4> tag;
        store(tag.data(), __builtin_bswap32(id));
        rest_.assign(prefix.begin(), prefix.end());
        rest_.insert(rest_.end(), body.begin(), body.end());
        rest_from_ =
            std::min<std::size_t>(rest_.size(), connection().frame_limit() - transfer_overhead_max);
        Transfer transfer{
            local_handle_, id, tag, message_format, settled, rest_from_ < rest_.size(), false};
        write_frame(transfer, ByteView(rest_).first(rest_from_));
        send_rest();
    }
    ++session_.next_delivery_id_;
    return id;
}

// The hot path: a message that fits one frame, with its transfer written from a fixed picture.
bool Link::write_small(ByteView prefix, ByteView body, std::uint32_t message_format, bool settled) {
    constexpr std::size_t head_bytes = 39;
    const std::size_t frame = head_bytes + prefix.size() + body.size();
    if (frame > connection().frame_limit() || local_handle_ > 0xff) return false;
    const std::uint32_t frame_size = __builtin_bswap32(static_cast<std::uint32_t>(frame));
    const std::uint32_t id = __builtin_bswap32(session_.next_delivery_id_);
    const std::uint32_t format = __builtin_bswap32(message_format);
    // clang-format off
    std::array<std::uint8_t, head_bytes> head = {
        0, 0, 0, 0, 2, 0,                                        // frame: size, data offset, type
        static_cast<std::uint8_t>(session_.local_channel_ >> 8),
        static_cast<std::uint8_t>(session_.local_channel_ & 0xff),
        0x00, 0x53, 0x14, 0xc0, 26, 11,                          // transfer, a list of 11
        0x52, static_cast<std::uint8_t>(local_handle_),          // handle
        0x70, 0, 0, 0, 0,                                        // delivery id
        0xa0, 4, 0, 0, 0, 0,                                     // delivery tag
        0x70, 0, 0, 0, 0,                                        // message format
        static_cast<std::uint8_t>(settled ? 0x41 : 0x42), 0x42,  // settled, more
        0x40, 0x40, 0x40, 0x40, 0x41,                            // ..., aborted, batchable
    };
    // clang-format on
    std::memcpy(head.data(), &frame_size, 4);
    std::memcpy(head.data() + 17, &id, 4);
    std::memcpy(head.data() + 23, &id, 4);
    std::memcpy(head.data() + 28, &format, 4);
    Buffer& output = connection().output_;
    const std::size_t at = output.size();
    output.resize(at + frame);
    std::byte* to = output.data() + at;
    std::memcpy(to, head.data(), head_bytes);
    to += head_bytes;
    if (!prefix.empty()) std::memcpy(to, prefix.data(), prefix.size());
    if (!body.empty()) std::memcpy(to + prefix.size(), body.data(), body.size());
    --session_.remote_window_;
    ++session_.next_outgoing_id_;
    return true;
}

void Link::write_frame(const Transfer& transfer, ByteView payload) {
    Connection& owner = connection();
    const std::size_t at = owner.begin_frame(session_.local_channel_);
    encode(transfer, owner.output_);
    owner.output_.insert(owner.output_.end(), payload.begin(), payload.end());
    owner.end_frame(at);
    --session_.remote_window_;
    ++session_.next_outgoing_id_;
}

// The frames of a large message that the peer's window has room for.
void Link::send_rest() {
    const std::size_t room = connection().frame_limit() - transfer_overhead_max;
    while (rest_from_ < rest_.size() && session_.remote_window_ > 0) {
        const std::size_t bytes = std::min(room, rest_.size() - rest_from_);
        Transfer transfer;
        transfer.handle = local_handle_;
        transfer.more = rest_from_ + bytes < rest_.size();
        write_frame(transfer, ByteView(rest_).subspan(rest_from_, bytes));
        rest_from_ += bytes;
    }
    if (rest_from_ == rest_.size()) {
        rest_.clear();
        rest_from_ = 0;
    }
}

void Link::drained() {
    if (!drain_ || role_ != Role::sender) return;
    delivery_count_ += credit_;
    credit_ = 0;
    session_.send_flow(this, false);
    drain_ = false;
}

void Link::take(const Flow& flow) {
    if (role_ == Role::sender && flow.link_credit) {
        // Serial arithmetic: what the peer granted, less what it had not seen when it did.
        const std::uint32_t seen = flow.delivery_count.value_or(0);
        const std::uint32_t ahead = delivery_count_ - seen;
        credit_ = *flow.link_credit > ahead || ahead > 0x7fffffff ? *flow.link_credit - ahead : 0;
        drain_ = flow.drain;
        if (state_ == State::attached) {
            send_rest();
            connection().handler_.on_credit(*this);
        }
    }
    if (flow.echo && state_ == State::attached) session_.send_flow(this, false);
}

void Link::take(const Transfer& transfer, ByteView payload) {
    if (role_ != Role::receiver) {
        return connection().fail(condition::not_allowed, "a transfer came from a receiver");
    }
    if (state_ != State::attached) return;  // under way when we detached
    if (transfer.aborted) return drop_partial();
    if (!incoming_) {
        if (!transfer.delivery_id) {
            return connection().fail(condition::invalid_field,
                                     "a message's first transfer has no delivery id");
        }
        incoming_ = Delivery{*transfer.delivery_id,
                             transfer.message_format.value_or(0),
                             transfer.settled.value_or(false),
                             false,
                             0,
                             {}};
        ++delivery_count_;
        if (credit_ > 0) --credit_;
    } else if (transfer.settled.value_or(false)) {
        incoming_->settled = true;
    }
    incoming_->size += payload.size();
    if (incoming_->size > limit_bytes_ && !incoming_->too_large) {
        const std::uint64_t size = incoming_->size;
        const Delivery kept = *incoming_;
        drop_partial();
        incoming_ = kept;
        incoming_->size = size;
        incoming_->too_large = true;
    }
    if (!transfer.more && incoming_bytes_.empty()) return finish_delivery(payload);
    if (!incoming_->too_large) {
        Connection& owner = connection();
        owner.partial_bytes_ += payload.size();
        if (owner.partial_bytes_ > owner.options_.partial_bytes_max) {
            return owner.fail(condition::resource_limit,
                              "too many bytes of messages that are not complete");
        }
        incoming_bytes_.insert(incoming_bytes_.end(), payload.begin(), payload.end());
    }
    if (!transfer.more) {
        const Buffer whole = std::move(incoming_bytes_);
        incoming_bytes_.clear();
        connection().partial_bytes_ -= whole.size();
        finish_delivery(whole);
    }
}

void Link::finish_delivery(ByteView bytes) {
    Delivery delivery = *incoming_;
    incoming_.reset();
    if (!delivery.too_large) delivery.bytes = bytes;
    connection().handler_.on_delivery(*this, delivery);
}

void Link::drop_partial() {
    connection().partial_bytes_ -= incoming_bytes_.size();
    incoming_bytes_.clear();
    incoming_.reset();
}

void Session::end(const std::optional<Condition>& why) {
    if (ended_) return;
    connection_.write(local_channel_, End{why});
    ended_ = true;
    end_links(why);
}

void Session::take(Performative& performative, ByteView payload) {
    if (auto* attach = std::get_if<Attach>(&performative)) return take(*attach);
    if (const auto* flow = std::get_if<Flow>(&performative)) return take(*flow);
    if (const auto* transfer = std::get_if<Transfer>(&performative)) {
        return take(*transfer, payload);
    }
    if (const auto* detach = std::get_if<Detach>(&performative)) return take(*detach);
    if (const auto* disposition = std::get_if<Disposition>(&performative)) {
        return take(*disposition);
    }
    connection_.fail(condition::illegal_state, "a SASL frame inside a session");
}

Link& Session::add_link(Role role) {
    std::uint32_t handle = 0;
    for (const auto& [used, link] : links_) {
        if (used != handle) break;
        ++handle;
    }
    auto* const link = new Link(*this, role, handle);
    links_[handle].reset(link);
    ++connection_.link_count_;
    return *link;
}

Link* Session::find(std::uint32_t remote_handle) {
    const auto found = by_remote_.find(remote_handle);
    return found == by_remote_.end() ? nullptr : found->second;
}

void Session::take(Attach& attach) {
    if (ended_) return;
    const ConnectionOptions& options = connection_.options_;
    if (attach.handle > options.handle_max) {
        return connection_.fail(
            condition::framing_error,
            fmt::format("handle {} is above {}", attach.handle, options.handle_max));
    }
    if (by_remote_.contains(attach.handle)) {
        return end(Condition{std::string(condition::handle_in_use),
                             fmt::format("handle {} is in use", attach.handle)});
    }
    const Role role = attach.role == Role::sender ? Role::receiver : Role::sender;
    for (auto& [handle, link] : links_) {
        const bool answers = link->ours_ && link->state_ == Link::State::attaching &&
                             link->role_ == role && link->local_.name == attach.name;
        if (!answers) continue;
        by_remote_[attach.handle] = link.get();
        link->delivery_count_ = role == Role::receiver ? attach.initial_delivery_count.value_or(0)
                                                       : *link->local_.initial_delivery_count;
        link->peer_ = std::move(attach);
        link->state_ = Link::State::attached;
        return connection_.handler_.on_attached(*link);
    }
    if (connection_.link_count_ >= options.links_max) {
        return connection_.fail(condition::resource_limit,
                                fmt::format("more than {} links", options.links_max));
    }
    Link& link = add_link(role);
    by_remote_[attach.handle] = &link;
    link.peer_ = std::move(attach);
    connection_.handler_.on_attach(link);
}

void Session::take(const Flow& flow) {
    // What the peer can take now, counted from what it had seen when it wrote this.
    const std::uint32_t seen = flow.next_incoming_id.value_or(1);
    remote_window_ = seen + flow.incoming_window - next_outgoing_id_;
    if (remote_window_ > 0x7fffffff) remote_window_ = 0;
    if (flow.handle) {
        if (Link* const link = find(*flow.handle)) {
            link->take(flow);
        } else {
            end(Condition{std::string(condition::unattached_handle),
                          fmt::format("flow on handle {}, which is not attached", *flow.handle)});
        }
    } else if (flow.echo) {
        send_flow(nullptr, false);
    }
    // A wider window lets every sender of the session go on.
    std::vector<Link*> senders;
    for (auto& [handle, link] : links_) {
        if (link->role_ == Role::sender && link->is_attached()) senders.push_back(link.get());
    }
    for (Link* const link : senders) {
        if (!link->is_attached() || remote_window_ == 0) continue;
        link->send_rest();
        if (link->can_send() && !(flow.handle && find(*flow.handle) == link)) {
            connection_.handler_.on_credit(*link);
        }
    }
}

void Session::take(const Transfer& transfer, ByteView payload) {
    ++next_incoming_id_;
    if (incoming_window_ > 0) --incoming_window_;
    Link* const link = find(transfer.handle);
    if (!link) {
        return end(Condition{
            std::string(condition::unattached_handle),
            fmt::format("transfer on handle {}, which is not attached", transfer.handle)});
    }
    link->take(transfer, payload);
    widen_window();
}

void Session::widen_window() {
    if (ended_ || incoming_window_ > connection_.options_.session_window / 2) return;
    incoming_window_ = connection_.options_.session_window;
    send_flow(nullptr, false);
}

void Session::take(const Detach& detach) {
    Link* const link = find(detach.handle);
    if (!link) return;
    by_remote_.erase(detach.handle);
    const bool known =
        link->state_ == Link::State::attached || (link->state_ == Link::State::attaching);
    if (known) {
        link->drop_partial();
        if (!ended_) {
            connection_.write(local_channel_,
                              Detach{link->local_handle_, detach.closed, std::nullopt});
        }
        link->state_ = Link::State::gone;
        connection_.handler_.on_detach(*link, detach.error);
    }
    remove(*link);
}

void Session::take(const Disposition& disposition) {
    if (disposition.role != Role::receiver) return;  // settles what it sent; we settle first
    std::vector<Link*> senders;
    for (auto& [handle, link] : links_) {
        if (link->role_ == Role::sender && link->is_attached()) senders.push_back(link.get());
    }
    for (Link* const link : senders) connection_.handler_.on_disposition(*link, disposition);
}

void Session::remove(Link& link) {
    link.state_ = Link::State::gone;
    auto node = links_.extract(link.local_handle_);
    --connection_.link_count_;
    gone_.push_back(std::move(node.mapped()));
}

void Session::end_links(const std::optional<Condition>& error) {
    by_remote_.clear();
    while (!links_.empty()) {
        Link& link = *links_.begin()->second;
        const bool known =
            link.state_ == Link::State::attached || (link.state_ == Link::State::attaching);
        link.drop_partial();
        remove(link);
        if (known) connection_.handler_.on_detach(link, error);
    }
}

void Session::send_flow(const Link* link, bool echo) {
    if (ended_ || !remote_channel_) return;
    Flow flow;
    flow.next_incoming_id = next_incoming_id_;
    flow.incoming_window = incoming_window_;
    flow.next_outgoing_id = next_outgoing_id_;
    flow.outgoing_window = connection_.options_.session_window;
    if (link) {
        flow.handle = link->local_handle_;
        flow.delivery_count = link->delivery_count_;
        flow.link_credit = link->credit_;
        flow.available = 0;
        flow.drain = link->drain_;
    }
    flow.echo = echo;
    connection_.write(local_channel_, flow);
}

}  // namespace evenkeel::amqp
