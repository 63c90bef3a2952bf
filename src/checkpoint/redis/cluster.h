// What a server says of the Redis Cluster that it belongs to. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "checkpoint/redis/resp.h"
#include "io/socket.h"

namespace evenkeel::checkpoint {

// Of HELLO's reply.
bool is_of_cluster(const RespValue& hello);

// The primaries of all slots, each once, from the reply to CLUSTER SLOTS. `host` is that of the
// server that was asked: a node that does not say its own has the same one. `unavailable` if a slot
// has no node, since then keys would be missed.
Result<std::vector<io::Endpoint>> cluster_primaries(const RespValue& slots,
                                                    const std::string& host);

}  // namespace evenkeel::checkpoint
