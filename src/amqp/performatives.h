// The frames' bodies: open, begin, attach, flow, transfer, disposition, detach, end, close, and
// SASL's own. Decoded leniently (missing trailing fields, nulls, any legal encoding), written with
// all their fields, because released clients index them blindly.
//
// Bytes that are only passed on (properties, filters, terminus details) stay encoded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "amqp/codec.h"
#include "base/result.h"

namespace evenkeel::amqp {

namespace descriptor {
inline constexpr std::uint64_t open = 0x10, begin = 0x11, attach = 0x12, flow = 0x13,
                               transfer = 0x14, disposition = 0x15, detach = 0x16, end = 0x17,
                               close = 0x18, error = 0x1d, received = 0x23, accepted = 0x24,
                               rejected = 0x25, released = 0x26, modified = 0x27, source = 0x28,
                               target = 0x29, sasl_mechanisms = 0x40, sasl_init = 0x41,
                               sasl_challenge = 0x42, sasl_response = 0x43, sasl_outcome = 0x44,
                               header = 0x70, delivery_annotations = 0x71,
                               message_annotations = 0x72, properties = 0x73,
                               application_properties = 0x74, data = 0x75, sequence = 0x76,
                               value = 0x77, footer = 0x78;
}  // namespace descriptor

// Conditions that the engine itself uses; the door adds the vendor's.
namespace condition {
inline constexpr std::string_view internal_error = "amqp:internal-error",
                                  not_found = "amqp:not-found",
                                  unauthorized = "amqp:unauthorized-access",
                                  decode_error = "amqp:decode-error",
                                  resource_limit = "amqp:resource-limit-exceeded",
                                  not_allowed = "amqp:not-allowed",
                                  invalid_field = "amqp:invalid-field",
                                  not_implemented = "amqp:not-implemented",
                                  illegal_state = "amqp:illegal-state",
                                  connection_forced = "amqp:connection:forced",
                                  framing_error = "amqp:connection:framing-error",
                                  window_violation = "amqp:session:window-violation",
                                  errant_link = "amqp:session:errant-link",
                                  handle_in_use = "amqp:session:handle-in-use",
                                  unattached_handle = "amqp:session:unattached-handle",
                                  detach_forced = "amqp:link:detach-forced",
                                  message_size = "amqp:link:message-size-exceeded",
                                  frame_too_small = "amqp:frame-size-too-small",
                                  stolen = "amqp:link:stolen";
}  // namespace condition

struct Condition {
    std::string name;
    std::string description;
};

enum class Role : std::uint8_t { sender, receiver };
enum class SenderSettle : std::uint8_t { unsettled = 0, settled = 1, mixed = 2 };
enum class ReceiverSettle : std::uint8_t { first = 0, second = 1 };

struct Open {
    std::string container;
    std::optional<std::string> hostname;
    std::uint32_t max_frame_bytes = 0xffffffff;
    std::uint16_t channel_max = 0xffff;
    std::uint32_t idle_timeout_ms = 0;  // 0: none
    Buffer properties;                  // an encoded map; empty: null
};

struct Begin {
    std::optional<std::uint16_t> remote_channel;
    std::uint32_t next_outgoing_id = 0;
    std::uint32_t incoming_window = 0;
    std::uint32_t outgoing_window = 0;
    std::uint32_t handle_max = 0xffffffff;
};

// Of a source or target only what is looked at; the whole of it is kept to be echoed.
struct Terminus {
    bool present = false;
    std::string address;  // empty if null
    bool dynamic = false;
    Buffer filter;   // an encoded map, of a source; empty: null
    Buffer encoded;  // descriptor and list as they came, with nulls for the fields left out
};

struct Attach {
    std::string name;
    std::uint32_t handle = 0;
    Role role = Role::sender;  // of whoever wrote it
    SenderSettle sender_settle = SenderSettle::mixed;
    ReceiverSettle receiver_settle = ReceiverSettle::first;
    Terminus source;
    Terminus target;
    std::optional<std::uint32_t> initial_delivery_count;
    std::uint64_t max_message_bytes = 0;  // 0: no limit
    std::vector<std::string> offered_capabilities;
    std::vector<std::string> desired_capabilities;
    Buffer properties;  // an encoded map; empty: null
};

struct Flow {
    std::optional<std::uint32_t> next_incoming_id;
    std::uint32_t incoming_window = 0;
    std::uint32_t next_outgoing_id = 0;
    std::uint32_t outgoing_window = 0;
    std::optional<std::uint32_t> handle;
    std::optional<std::uint32_t> delivery_count;
    std::optional<std::uint32_t> link_credit;
    std::optional<std::uint32_t> available;
    bool drain = false;
    bool echo = false;
};

struct Transfer {
    std::uint32_t handle = 0;
    std::optional<std::uint32_t> delivery_id;
    ByteView delivery_tag;  // of the frame
    std::optional<std::uint32_t> message_format;
    std::optional<bool> settled;
    bool more = false;
    bool aborted = false;
};

// Where the events of a delivery were stored: four fields behind those of `accepted`, which AMQP
// leaves empty. Sent only to a link that asked for receipt_capability, so that no other client
// meets a list that is longer than the standard's.
struct Receipt {
    std::uint32_t partition = 0;
    std::int64_t first_sequence_number = -1;
    std::int64_t last_sequence_number = -1;
    std::int64_t last_offset = -1;
};
inline constexpr std::string_view receipt_capability = "evenkeel:receipts";
// A sender to a partition that may manage the event hub asks that each event keeps the partition
// key and the enqueued time of its own annotations.
inline constexpr std::string_view restore_capability = "evenkeel:restore";

// What became of a delivery.
struct DeliveryState {
    enum class Kind : std::uint8_t { none, received, accepted, rejected, released, modified };
    Kind kind = Kind::none;
    std::optional<Condition> error = {};  // of a rejection
    std::optional<Receipt> receipt = {};  // of an acceptance
};

struct Disposition {
    Role role = Role::receiver;
    std::uint32_t first = 0;
    std::optional<std::uint32_t> last;
    bool settled = false;
    DeliveryState state;
};

struct Detach {
    std::uint32_t handle = 0;
    bool closed = false;
    std::optional<Condition> error;
};

struct End {
    std::optional<Condition> error;
};

struct Close {
    std::optional<Condition> error;
};

struct SaslMechanisms {
    std::vector<std::string> mechanisms;
};

struct SaslInit {
    std::string mechanism;
    std::string response;
    std::string hostname;
};

struct SaslOutcome {
    std::uint8_t code = 0;  // 0: ok, 1: wrong credentials
};

using Performative = std::variant<Open, Begin, Attach, Flow, Transfer, Disposition, Detach, End,
                                  Close, SaslMechanisms, SaslInit, SaslOutcome>;

// The performative that begins `body`, which is cut to what follows it. `corrupt` names what is
// wrong. Strings and maps are copied, a transfer's tag is not.
Result<Performative> decode_performative(ByteView& body);
// The same for a transfer in the form that nearly all of them have, much faster: most frames of a
// busy connection are such. None, and `body` untouched, for anything else.
std::optional<Transfer> decode_usual_transfer(ByteView& body);

void encode(const Open& open, Buffer& to);
void encode(const Begin& begin, Buffer& to);
void encode(const Attach& attach, Buffer& to);
void encode(const Flow& flow, Buffer& to);
void encode(const Transfer& transfer, Buffer& to);
void encode(const Disposition& disposition, Buffer& to);
void encode(const Detach& detach, Buffer& to);
void encode(const End& end, Buffer& to);
void encode(const Close& close, Buffer& to);
void encode(const SaslMechanisms& mechanisms, Buffer& to);
void encode(const SaslInit& init, Buffer& to);
void encode(const SaslOutcome& outcome, Buffer& to);

// A source or target with that address and nothing else.
Terminus terminus(std::uint64_t kind, std::string_view address);

}  // namespace evenkeel::amqp
