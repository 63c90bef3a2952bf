// Who is connected over AMQP, and what each link does, as values for operators.
//
// Names are what clients call themselves: cut, but not trusted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "hub/rate.h"
#include "io/socket.h"

namespace evenkeel::door {

// How a client came in.
enum class Transport : std::uint8_t { tcp, tls, websocket };
std::string_view name_of(Transport transport);

// A link to an event hub.
struct LinkInfo {
    bool is_reader = false;
    std::string hub;
    std::optional<PartitionId> partition = {};  // none: the keys of events choose it
    std::string group = {};                     // a reader's
    std::optional<Epoch> epoch = {};            // a reader's
    WallTime since = {};
    std::int64_t events = 0;
    // So many messages may follow: to a reader, or from a sender.
    std::uint32_t credit = 0;
    double per_second = 0;
};

// What is kept with a link, and grows with it.
struct LinkUse {
    LinkInfo info;
    hub::Rate rate = hub::Rate();

    void sample(Instant now) { rate.sample(now, info.events); }
};

struct ConnectionInfo {
    std::uint64_t id = 0;  // rising with time
    io::Endpoint from = {};
    Transport transport = Transport::tcp;
    std::string container = {};
    std::string product = {};  // with its version; empty: not said
    std::string who = {};      // names of its keys; empty: none has been shown
    WallTime since = {};
    std::vector<LinkInfo> links = {};  // to event hubs, at most links_max
    std::size_t link_count = 0;

    static constexpr std::size_t links_max = 100;
};

struct ConnectionQuery {
    std::string hub = {};     // folded: only links to it, and whoever has one; empty: all
    std::uint64_t after = 0;  // the id of a connection
    std::size_t limit = 200;
};

struct ConnectionPage {
    std::vector<ConnectionInfo> connections = {};
    std::size_t total = 0;                   // that fit the query, on all pages
    std::optional<std::uint64_t> next = {};  // `after` of the next page
};

}  // namespace evenkeel::door
