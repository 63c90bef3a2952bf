#include "door/amqp/login.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/core.h>

#include "base/text.h"
#include "door/amqp/conditions.h"
#include "eventhubs/names.h"
#include "eventhubs/wire_names.h"

namespace evenkeel::door {
namespace {

// A client that asks for ever new paths replaces its oldest.
constexpr std::size_t claims_max = 1000;

void keep(std::vector<std::shared_ptr<Place>>& places, std::shared_ptr<Place> place) {
    if (std::find(places.begin(), places.end(), place) == places.end()) {
        places.push_back(std::move(place));
    }
}

}  // namespace

Login::Login(const PeerContext& context, const Visitor& visitor, Crowd::Id id)
    : context_(context),
      visitor_(visitor),
      id_(id),
      rules_generation_(context.rules.generation()) {}

bool Login::may(Right right, const Entity& entity) const {
    return is_allowed(claims_, right, entity, context_.loop.clock().wall());
}

std::string_view Login::key_of(const Need& need) const {
    const WallTime now = context_.loop.clock().wall();
    for (const Claim& claim : claims_) {
        if (allows(claim, need.right, need.entity, now)) return claim.rule;
    }
    return {};
}

Result<Claim> Login::check_token(std::string_view type, std::string_view token,
                                 std::string_view host) const {
    const WallTime now = context_.loop.clock().wall();
    if (type == eventhubs::request::sas_token) {
        return context_.rules.check_sas(token, host, now);
    }
    if (type == eventhubs::request::json_web_token) {
        if (context_.accept_any_token) {
            return Claim{"", {true, true, true}, now + std::chrono::hours(1)};
        }
        if (context_.jwt) return context_.jwt->check(token, now);
        return Error{ErrorCode::invalid_argument,
                     "InvalidToken: Tokens of type jwt are not accepted here; use a shared access "
                     "signature."};
    }
    return Error{ErrorCode::invalid_argument,
                 fmt::format("InvalidToken: Tokens of type '{}' are not known.", shown(type))};
}

std::optional<Claim> Login::check_plain(std::string_view response) const {
    const auto first = response.find('\0');
    const auto second = first == std::string_view::npos ? first : response.find('\0', first + 1);
    if (second == std::string_view::npos) return std::nullopt;
    const auto name = response.substr(first + 1, second - first - 1);
    const auto claim = context_.rules.check_key(name, response.substr(second + 1));
    if (claim.ok()) return *claim;
    context_.activity.login_refused(visitor_, "key:" + std::string(name), claim.error().detail);
    return std::nullopt;
}

std::optional<amqp::Condition> Login::find_place(const Claim& claim) {
    const QuotaRef quota = context_.quotas.of_key(claim.rule);
    if (!quota) return std::nullopt;
    if (auto place = place_in(quota, false)) {
        keep(by_key_, std::move(place));
        return std::nullopt;
    }
    auto why = no_place(quota->name(), quota->options().connections_max);
    context_.activity.refused(Refusal::key_connections, visitor_, "connection", why.description);
    return why;
}

void Login::renew(Claim claim) {
    std::erase_if(claims_,
                  [&](const Claim& old) { return old.path == claim.path && old.hub == claim.hub; });
    if (claims_.size() >= claims_max) claims_.erase(claims_.begin());
    show(claim);
    claims_.push_back(std::move(claim));
    changed();
    recheck_links();
}

void Login::add(const Claim& claim) {
    claims_.push_back(claim);
    changed();
    show(claim);
}

void Login::show(const Claim& claim) {
    context_.activity.logged_in(visitor_, who_of(claim));
    if (state_ == State::awaited) state_ = State::known;
    context_.crowd.log_in(id_);
}

void Login::clear() {
    claims_.clear();
    changed();
}

void Login::open(Instant now) {
    state_ = claims_.empty() ? State::awaited : State::known;
    login_by_ = now + context_.times.login;
}

bool Login::is_overdue(Instant now) {
    check_state();
    if (state_ == State::known && claims_.empty()) {
        state_ = State::awaited;
        login_by_ = now + context_.times.login;
        context_.crowd.log_out(id_, now);
    }
    return state_ == State::awaited && now >= login_by_;
}

std::optional<bool> Login::check_claims() {
    const WallTime now = context_.loop.clock().wall();
    const bool rules_changed = rules_generation_ != context_.rules.generation();
    if (!rules_changed && now < good_until_) return std::nullopt;
    rules_generation_ = context_.rules.generation();
    std::erase_if(claims_, [&](Claim& claim) {
        return claim.expires <= now || !context_.rules.refresh(claim);
    });
    changed();
    good_until_ = WallTime{std::numeric_limits<std::int64_t>::max()};
    for (const auto& claim : claims_) good_until_ = std::min(good_until_, claim.expires);
    return rules_changed;
}

std::shared_ptr<Place> Login::place_in(const QuotaRef& quota, bool is_there) {
    std::erase_if(places_, [](const auto& place) { return place.expired(); });
    for (const auto& each : places_) {
        if (auto place = each.lock(); place->quota() == quota) return place;
    }
    if (!is_there && quota->is_full()) return nullptr;
    auto place = std::make_shared<Place>(quota);
    places_.push_back(place);
    return place;
}

void Login::count_again() {
    by_key_.clear();
    for (const Claim& claim : claims_) {
        if (const QuotaRef quota = context_.quotas.of_key(claim.rule)) {
            keep(by_key_, place_in(quota, true));
        }
    }
}

void Login::changed() {
    ++version_;
    std::erase_if(by_key_, [&](const std::shared_ptr<Place>& place) {
        return std::none_of(claims_.begin(), claims_.end(), [&](const Claim& claim) {
            return claim.rule == place->quota()->options().key;
        });
    });
}

void Login::check_state() const {
    EK_CHECK(claims_.size() <= claims_max, "claims are bounded");
    EK_CHECK(by_key_.size() <= claims_.size(), "a key's place goes with its claims");
}

}  // namespace evenkeel::door
