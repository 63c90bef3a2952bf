// Who is connected, and who may come in: a share of the connections is kept for clients that have
// logged in, so that strangers who log in never, or slowly, do not keep others out.
//
//     adopt ──▶ stranger ──▶ logged in ──▶ left
//        │         └─ displaced by another stranger, or its login_time_max is over
//        (door/amqp/peer.h) └─ refused
//
// Invariants
//   DOOR-1  There are never more than connections_max clients, nor more than unauthenticated_max
//           strangers among them, nor more than per_address_max of one address.
//   DOOR-2  A client that has logged in is never displaced.
//   DOOR-3  A newcomer displaces the oldest stranger of the address that has most of them: if that
//           address has more of them than its own, or if that stranger has had `patience` to log
//           in. So a crowd from one address keeps out only others from there, and those only
//           briefly.
//
// An address is an IPv4 address or an IPv6 network of 64 bits. Clients on this host are not
// counted for per_address_max: a proxy may stand there.
// Threads: a value of whoever owns it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace evenkeel::door {

struct CrowdOptions {
    std::uint32_t connections_max = 10'000;
    std::uint32_t unauthenticated_max = 0;  // 0: half of connections_max
    std::uint32_t per_address_max = 0;      // 0: as many as there may be
    Duration patience = std::chrono::seconds(2);
};

class Crowd {
public:
    using Id = std::uint64_t;  // rising with time

    explicit Crowd(const CrowdOptions& options);

    enum class Verdict : std::uint8_t { welcome, full, too_many_strangers, too_many_of_address };
    struct Admission {
        Verdict verdict = Verdict::welcome;
        std::optional<Id> displaced = {};  // it has left already
    };
    // Only who is welcome is counted.
    Admission admit(Id id, std::string_view host, Instant now);
    void log_in(Id id);
    // Its tokens have ended: a stranger again, and the youngest of them.
    void log_out(Id id, Instant now);
    // Also for those who were not welcome.
    void leave(Id id);

    std::size_t size() const { return members_.size(); }
    std::size_t stranger_count() const { return strangers_; }
    const CrowdOptions& options() const { return options_; }

private:
    struct Member {
        std::string address;
        Instant since;  // stranger since
        bool is_stranger = true;
        std::uint64_t order = 0;
    };
    struct Address {
        std::uint32_t count = 0;
        std::map<std::uint64_t, Id> strangers;  // by the order in which they became such
    };

    std::optional<Id> displace(std::string_view address, Instant now);
    void add_stranger(Id id, Member& member, Instant now);

    CrowdOptions options_;
    std::map<Id, Member> members_;
    std::map<std::string, Address, std::less<>> addresses_;
    std::size_t strangers_ = 0;
    std::uint64_t last_order_ = 0;
};

}  // namespace evenkeel::door
