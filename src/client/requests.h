// The messages that clients exchange with the nodes $cbs and $management. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "amqp/codec.h"
#include "base/clock.h"
#include "base/result.h"
#include "base/secret.h"
#include <evenkeel/client.h>

namespace evenkeel::client {

// The content of a request, without its id and reply address.
struct NodeRequest {
    amqp::Buffer properties;  // application properties, an encoded map
    std::string text;         // of the body; empty: none
};

// A SAS or a JWT, as it begins.
NodeRequest put_token(std::string_view audience, const Secret& token, WallTime expires);
NodeRequest read_event_hub(std::string_view event_hub, const Secret& token);
NodeRequest read_partition(std::string_view event_hub, std::uint32_t partition,
                           const Secret& token);

amqp::Buffer encode_request(const NodeRequest& request, std::uint64_t id,
                            std::string_view reply_to);

struct NodeReply {
    std::uint64_t id = 0;  // of the request
    std::int64_t status = 0;
    std::string condition;    // empty if none
    std::string description;  // empty if none
    amqp::Buffer body;        // an encoded value; empty if none

    bool ok() const { return status >= 200 && status < 300; }
};

// `corrupt` if it is not a reply to one of our requests.
Result<NodeReply> decode_reply(ByteView message);

Result<EventHubProperties> decode_event_hub(ByteView body);
Result<PartitionInfo> decode_partition(ByteView body);

}  // namespace evenkeel::client
