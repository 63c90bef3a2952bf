#include "door/amqp/link_host.h"

#include <fmt/core.h>

#include "door/amqp/conditions.h"

namespace evenkeel::door {

amqp::Condition LinkHost::tracked(amqp::Condition condition, std::string_view entity) const {
    condition.description += tracking(entity, context().loop.clock().wall());
    return condition;
}

std::string LinkHost::url_of(std::string_view path) const {
    return fmt::format("sb://{}/{}", host_name().empty() ? "evenkeel" : host_name(), path);
}

void LinkHost::refuse(amqp::Link& link, const amqp::Condition& why, std::string_view entity) const {
    const Refusal reason = why.name == amqp::condition::unauthorized ? Refusal::right
                           : why.name == amqp::condition::not_found  ? Refusal::unknown_hub
                                                                     : Refusal::link;
    context().activity.refused(reason, visitor(), entity, why.description);
    link.refuse(tracked(why, entity));
}

}  // namespace evenkeel::door
