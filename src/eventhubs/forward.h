// Forwards an event to another hub, such as a dead-letter hub: body and properties stay as they
// came, application properties are added, annotations of the first hub are dropped. Pure.
#pragma once

#include <span>
#include <string_view>

#include "amqp/codec.h"
#include "base/bytes.h"
#include <evenkeel/event.h>

namespace evenkeel::eventhubs {

// A given property replaces one of the event with the same name. Malformed sections become the body
// of the result unchanged, so that nothing is lost.
amqp::Buffer with_properties(ByteView sections, std::span<const Property> properties);

// Takes that back: without the application properties of these names, and without annotations of
// the hub that it was forwarded to. Properties that with_properties() replaced do not come back.
amqp::Buffer without_properties(ByteView sections, std::span<const std::string_view> names);

// The sections as their sender wrote them: without header and delivery annotations, which belong to
// the way of a message, and without annotations of the hub and of an idempotent producer, which
// mean nothing to another hub. From the first malformed section on nothing is left.
amqp::Buffer without_hub_annotations(ByteView sections);
// As it is stored, to be stored again: without header and annotations of the hub.
amqp::Buffer stored_sections(ByteView sections);
// The same with a partition key, unless it is empty, and an enqueued time as annotations: what a
// link with amqp::restore_capability takes.
amqp::Buffer restorable(ByteView stored_sections, std::string_view partition_key,
                        std::int64_t enqueued_time_ms);

}  // namespace evenkeel::eventhubs
