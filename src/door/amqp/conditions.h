// Our errors as AMQP conditions, with the texts that clients look for.
#pragma once

#include <string>
#include <string_view>

#include "amqp/performatives.h"
#include "base/clock.h"
#include "base/result.h"
#include "eventhubs/wire_names.h"

namespace evenkeel::door {

namespace vendor = eventhubs::condition;

// What a client sent, for a text that goes back to it: at most 300 printable bytes, since a
// description must be good UTF-8 whatever the client wrote.
std::string peer_text(std::string_view text);

// The condition for an error of the hub.
amqp::Condition condition_of(const Error& error);

// The same for an error of the storage, whose text may name files of the server: then without it.
// Whoever asks for it sees to it that the text is logged.
amqp::Condition storage_condition(const Error& error);

amqp::Condition entity_not_found(std::string_view address);
// Why an event hub was not found: it is not there, or the hub is closing.
amqp::Condition hub_missing(const Error& error, std::string_view address);
amqp::Condition claim_missing(std::string_view claim, std::string_view address);
amqp::Condition invalid_partition(std::string_view partition, std::string_view hub);

// `who` has no more of what `limit` gives it each second, such as "events_per_second = 1000".
amqp::Condition throttled(std::string_view who, std::string_view limit);
// `who` has as many connections as it may have.
amqp::Condition no_place(std::string_view who, std::uint32_t connections_max);

// " TrackingId:…, SystemTracker:…, Timestamp:…": what operators search their logs for.
std::string tracking(std::string_view entity, WallTime now);

}  // namespace evenkeel::door
