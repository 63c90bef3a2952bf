// What all clients of a door share, and how long they may take for what.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "door/activity.h"
#include "door/amqp/producers.h"
#include "door/amqp/recall.h"
#include "door/auth/access.h"
#include "door/auth/jwt.h"
#include "door/crowd.h"
#include "door/quotas.h"
#include "eventhubs/greeting.h"
#include "hub/namespace.h"
#include "io/loop.h"

namespace evenkeel::door {

struct PeerTimes {
    Duration open = std::chrono::seconds(10);         // from connect to open: TLS, SASL and open
    Duration login = std::chrono::seconds(30);        // from open, or the end of the last token
    Duration unused = std::chrono::seconds(240);      // without any link
    Duration idle_sender = std::chrono::minutes(30);  // a link that sends nothing
    Duration settle = std::chrono::seconds(5);        // what is on its way to disk, when we go
    Duration close = std::chrono::seconds(5);         // until the client answers our close
    Duration linger = std::chrono::seconds(2);        // until it ends its side of the socket
    std::chrono::milliseconds keep_alive{120'000};    // a client silent twice as long is gone
};

// Outlives all clients.
struct PeerContext {
    io::Loop& loop;
    io::Executor& reads;
    hub::Namespace& hubs;
    const AccessRules& rules;
    const std::shared_ptr<const JwtVerifier>& jwt;  // none: tokens of type jwt are refused
    const Quotas& quotas;
    Producers& producers;
    Recall& recall;
    Crowd& crowd;
    Activity& activity;
    PeerTimes times;
    std::uint64_t message_bytes_max = 1 << 20;
    bool accept_any_token = false;  // tokens of type jwt are taken unchecked: for tests
    // What each client hears in our open. None: only which hub it is.
    const eventhubs::Greeting* greeting = nullptr;
};

}  // namespace evenkeel::door
