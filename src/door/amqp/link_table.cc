#include "door/amqp/link_table.h"

#include <utility>

namespace evenkeel::door {

LinkTable::LinkTable(const PeerContext& context, Wire& wire)
    : context_(context), wire_(wire), unused_since_(context.loop.clock().now()) {}

LinkTable::~LinkTable() {
    clear();
}

void LinkTable::add(amqp::Link& link, std::unique_ptr<PeerLink> user) {
    EK_CHECK(user && !link.user, "one thing hangs on a link");
    entries_.push_back({&link, user.get()});
    link.user = std::move(user);
    check_state();
    context_.activity.link_opened(link.role() == amqp::Role::receiver);
}

void LinkTable::remove(amqp::Link& link) {
    forget(link);
    link.user.reset();
}

void LinkTable::drop(amqp::Link& link, const amqp::Condition& why) {
    forget(link);
    link.detach(why);
    wire_.flush_soon();
}

void LinkTable::forget(amqp::Link& link) {
    const auto gone =
        std::erase_if(entries_, [&](const Entry& entry) { return entry.link == &link; });
    if (gone > 0) context_.activity.link_closed(link.role() == amqp::Role::receiver);
    wire_.forget(link);
    if (entries_.empty()) unused_since_ = context_.loop.clock().now();
    check_state();
}

void LinkTable::clear() {
    for (const Entry& entry : entries_) {
        context_.activity.link_closed(entry.link->role() == amqp::Role::receiver);
    }
    entries_.clear();
    wire_.forget_all();
}

// Every link of a door's connection gets its user from add(), and that is a PeerLink.
PeerLink* LinkTable::user_of(const amqp::Link& link) {
    return static_cast<PeerLink*>(link.user.get());
}

// Of the latest link only: a client may have thousands.
void LinkTable::check_state() const {
    if (entries_.empty()) return;
    const auto& [link, user] = entries_.back();
    EK_CHECK(user_of(*link) == user, "what the table names hangs on its link");
}

}  // namespace evenkeel::door
