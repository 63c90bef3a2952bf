#include "amqp/session.h"

#include <fmt/core.h>

#include "amqp/connection.h"
#include "amqp/link.h"

namespace evenkeel::amqp {

Session::Session(Connection& connection, std::uint16_t local_channel)
    : connection_(connection),
      local_channel_(local_channel),
      incoming_window_(connection.options_.session_window),
      next_outgoing_id_(connection.options_.first_transfer_id),
      next_delivery_id_(connection.options_.first_transfer_id - 1) {}

Session::~Session() = default;

void Session::end(const std::optional<Condition>& why) {
    if (ended_) return;
    const Connection::Inside inside(connection_);
    connection_.write(local_channel_, End{why});
    ended_ = true;
    end_links(why);
}

void Session::take(Performative& performative, ByteView payload, std::size_t frame_bytes) {
    if (ended_) return;  // under way when we ended it
    if (const auto* transfer = std::get_if<Transfer>(&performative)) {
        return take(*transfer, payload);
    }
    if (auto* attach = std::get_if<Attach>(&performative)) return take(*attach, frame_bytes);
    if (const auto* flow = std::get_if<Flow>(&performative)) return take(*flow);
    if (const auto* detach = std::get_if<Detach>(&performative)) return take(*detach);
    if (const auto* disposition = std::get_if<Disposition>(&performative)) {
        return take(*disposition);
    }
    connection_.fail(condition::illegal_state, "a SASL frame inside a session");
}

std::uint32_t Session::free_handle() const {
    std::uint32_t handle = 0;
    for (const auto& [used, link] : links_) {
        if (used != handle) break;
        ++handle;
    }
    return handle;
}

Link& Session::add_link(Role role) {
    const std::uint32_t handle = free_handle();
    auto* const link = new Link(*this, role, handle);
    links_[handle].reset(link);
    ++connection_.link_count_;
    return *link;
}

Link* Session::find(std::uint32_t remote_handle) {
    const auto found = by_remote_.find(remote_handle);
    return found == by_remote_.end() ? nullptr : found->second;
}

void Session::take(Attach& attach, std::size_t frame_bytes) {
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
    if (used_handles_.size() <= attach.handle) used_handles_.resize(attach.handle + std::size_t{1});
    used_handles_[attach.handle] = true;
    const Role role = attach.role == Role::sender ? Role::receiver : Role::sender;
    if (answer(attach, role)) return;
    if (connection_.link_count_ >= options.links_max) {
        return connection_.fail(condition::resource_limit,
                                fmt::format("more than {} links", options.links_max));
    }
    if (connection_.attach_bytes_ + frame_bytes > options.attach_bytes_max) {
        return connection_.fail(
            condition::resource_limit,
            fmt::format("links described by more than {} bytes", options.attach_bytes_max));
    }
    if (free_handle() > handle_max_) {
        return end(Condition{std::string(condition::resource_limit),
                             fmt::format("the peer takes handles up to {}", handle_max_)});
    }
    Link& link = add_link(role);
    by_remote_[attach.handle] = &link;
    link.attach_bytes_ = frame_bytes;
    connection_.attach_bytes_ += frame_bytes;
    link.peer_ = std::move(attach);
    connection_.handler_.on_attach(link);
}

// Whether this is the peer's answer to an attach of ours.
bool Session::answer(Attach& attach, Role role) {
    for (auto& [handle, link] : links_) {
        const bool answers = link->ours_ && !link->answered_ && link->role_ == role &&
                             link->local_name_ == attach.name;
        if (!answers) continue;
        by_remote_[attach.handle] = link.get();
        link->answered_ = true;
        if (role == Role::receiver) {
            link->delivery_count_ = attach.initial_delivery_count.value_or(0);
        }
        link->peer_ = std::move(attach);
        // We may have detached it meanwhile; the peer's detach follows then.
        if (link->state_ != Link::State::attaching) return true;
        link->state_ = Link::State::attached;
        connection_.handler_.on_attached(*link);
        return true;
    }
    return false;
}

std::vector<Link*> Session::senders() const {
    std::vector<Link*> senders;
    for (const auto& [handle, link] : links_) {
        if (link->role_ == Role::sender && link->is_attached()) senders.push_back(link.get());
    }
    return senders;
}

void Session::take(const Flow& flow) {
    // What the peer can take now, less what it had not seen when it wrote this. An id of something
    // that we have not sent yet counts as the last that we did.
    const std::uint32_t seen =
        flow.next_incoming_id.value_or(connection_.options_.first_transfer_id);
    const std::uint32_t ahead = serial_distance(seen, next_outgoing_id_);
    remote_window_ = flow.incoming_window > ahead ? flow.incoming_window - ahead : 0;
    Link* const link = flow.handle ? find(*flow.handle) : nullptr;
    if (link) {
        link->take(flow);
    } else if (flow.handle) {
        // A last word about a link that is detached already does no harm.
        if (*flow.handle >= used_handles_.size() || !used_handles_[*flow.handle]) {
            return end(
                Condition{std::string(condition::unattached_handle),
                          fmt::format("flow on handle {}, which is not attached", *flow.handle)});
        }
    } else if (flow.echo) {
        send_flow(nullptr);
    }
    // A wider window lets every sender of the session go on.
    if (remote_window_ == 0) return;
    for (Link* const sender : senders()) {
        if (!sender->is_attached()) continue;  // ended by an earlier one's handler
        sender->send_rest();
        if (sender == link) continue;
        if (sender->can_send() || sender->can_go_on()) connection_.handler_.on_credit(*sender);
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
    send_flow(nullptr);
}

void Session::take(const Detach& detach) {
    Link* const link = find(detach.handle);
    if (!link) return;
    by_remote_.erase(detach.handle);
    const bool known = link->is_live();
    if (known) {
        // A detach is understood only on a link that both sides have attached.
        if (link->state_ == Link::State::attaching) link->write_null_attach();
        connection_.write(local_channel_, Detach{link->local_handle_, detach.closed, std::nullopt});
    }
    remove(*link);
    if (known) connection_.handler_.on_detach(*link, detach.error);
}

void Session::take(const Disposition& disposition) {
    if (disposition.role != Role::receiver) return;  // settles what it sent; we settle first
    if (disposition.last && serial_less(*disposition.last, disposition.first)) {
        return end(Condition{std::string(condition::invalid_field),
                             "a disposition's last delivery comes before its first"});
    }
    for (Link* const sender : senders()) {
        if (sender->is_attached()) connection_.handler_.on_disposition(*sender, disposition);
    }
}

void Session::remove(Link& link) {
    link.drop_partial();
    link.rest_ = {};
    link.state_ = Link::State::gone;
    connection_.attach_bytes_ -= link.attach_bytes_;
    --connection_.link_count_;
    auto node = links_.extract(link.local_handle_);
    gone_.push_back(std::move(node.mapped()));
}

void Session::end_links(const std::optional<Condition>& error) {
    by_remote_.clear();
    while (!links_.empty()) {
        Link& link = *links_.begin()->second;
        const bool known = link.is_live();
        remove(link);
        if (known) connection_.handler_.on_detach(link, error);
    }
}

void Session::send_flow(const Link* link) {
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
    connection_.write(local_channel_, flow);
}

}  // namespace evenkeel::amqp
