// Who a client is: the claims of its tokens and keys, the places it takes in quotas, and until when
// it has to log in.
//
//     unopened ── open ──▶ awaited ── token or key ──▶ known
//                             ▲──── the last claim ended ┘
//
// Ownership: context and visitor outlive it. Threads: part of Peer, on the hub's loop.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "door/amqp/peer_context.h"
#include "door/amqp/peer_link.h"

namespace evenkeel::door {

class Login {
public:
    Login(const PeerContext& context, const Visitor& visitor, Crowd::Id id);

    const std::vector<Claim>& claims() const { return claims_; }
    // Rises when the claims change.
    std::uint64_t version() const { return version_; }
    bool may(Right right, const Entity& entity) const;
    // By which key the right is had; empty if by none of ours.
    std::string_view key_of(const Need& need) const;

    // `host` is the one by which the client reached us.
    Result<Claim> check_token(std::string_view type, std::string_view token,
                              std::string_view host) const;
    // Of SASL PLAIN: authorization id NUL key name NUL key. Traces a refusal.
    std::optional<Claim> check_plain(std::string_view response) const;
    // A place for the connection in the quota of the claim's key; why there is none, if so.
    std::optional<amqp::Condition> find_place(const Claim& claim);
    // Adds the claim; replaces one for the same entity, and the oldest of too many.
    void renew(Claim claim);
    void add(const Claim& claim);
    // The client has shown a good claim, whether it is kept or not.
    void show(const Claim& claim);
    void clear();

    void open(Instant now);
    // True once the time to log in is over. `now` begins it again when the last claim has ended.
    bool is_overdue(Instant now);

    // Drops claims that have ended or whose key is gone. None if there was nothing to look at, else
    // whether the rules had changed.
    std::optional<bool> check_claims();
    // Links are looked at again by the next check_claims().
    void recheck_links() { good_until_ = WallTime{}; }

    // The connection's place in the quota; none if that is full, unless it is there anyway.
    std::shared_ptr<Place> place_in(const QuotaRef& quota, bool is_there);
    // Other quotas were set: takes its places again.
    void count_again();

private:
    enum class State { unopened, awaited, known };

    void changed();
    void check_state() const;

    const PeerContext& context_;
    const Visitor& visitor_;
    const Crowd::Id id_;
    State state_ = State::unopened;
    Instant login_by_{};  // in the state `awaited`
    std::vector<Claim> claims_;
    std::uint64_t version_ = 0;
    std::vector<std::weak_ptr<Place>> places_;    // in quotas
    std::vector<std::shared_ptr<Place>> by_key_;  // of those, for the keys of claims_
    std::uint64_t rules_generation_;
    WallTime good_until_;  // no link's right ends before
};

}  // namespace evenkeel::door
