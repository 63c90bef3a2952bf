#include "door/activity.h"

#include <fmt/core.h>

#include "door/amqp/conditions.h"
#include "door/quotas.h"

namespace evenkeel::door {
namespace {

constexpr std::string_view kind_names[] = {
    "connections opened", "connections closed", "logins",
    "refused logins",     "refusals",           "displaced readers"};

std::string label_escaped(std::string_view text) {
    std::string escaped;
    for (const char c : text) {
        if (c == '\\' || c == '"') escaped += '\\';
        escaped += c;
    }
    return escaped;
}

}  // namespace

std::string_view name_of(Refusal reason) {
    switch (reason) {
        case Refusal::connections: return "connections_max";
        case Refusal::unauthenticated: return "unauthenticated_max";
        case Refusal::address: return "connections_per_address_max";
        case Refusal::no_login: return "login_time_max";
        case Refusal::login: return "bad_token";
        case Refusal::right: return "missing_right";
        case Refusal::unknown_hub: return "unknown_entity";
        case Refusal::link: return "bad_link";
        case Refusal::throttled: return "throttled";
        case Refusal::hub_rate: return "throttled_hub";
        case Refusal::key_rate: return "throttled_key";
        case Refusal::key_connections: return "key_connections_max";
        case Refusal::hub_connections: return "hub_connections_max";
    }
    return "?";
}

Refusal reason_of(const Quota& quota) {
    const QuotaOptions& of = quota.options();
    if (!of.key.empty()) return Refusal::key_rate;
    return of.hub.empty() ? Refusal::throttled : Refusal::hub_rate;
}

Activity::Activity(Metrics& metrics, const Clock& clock)
    : clock_(clock),
      connections_(metrics.gauge("evenkeel_connections", "AMQP connections that are there.")),
      connections_opened_(metrics.counter("evenkeel_connections_opened_total",
                                          "AMQP connections that were accepted.")),
      senders_(
          metrics.gauge("evenkeel_links", "AMQP links that are attached.", {{"role", "sender"}})),
      receivers_(
          metrics.gauge("evenkeel_links", "AMQP links that are attached.", {{"role", "receiver"}})),
      logins_(metrics.counter("evenkeel_logins_total", "Keys and tokens that were accepted.")),
      store_time_(metrics.histogram("evenkeel_store_duration_seconds",
                                    "From a message's arrival to its acknowledgement.")) {
    for (std::size_t i = 0; i < refusal_count; ++i) {
        refusals_[i] = &metrics.counter("evenkeel_refusals_total", "What was refused, by reason.",
                                        {{"reason", name_of(static_cast<Refusal>(i))}});
    }
}

void Activity::connected() {
    connections_.add(1);
    connections_opened_.add();
}

void Activity::opened(const Visitor& visitor) {
    if (!allows(Kind::opened)) return;
    trace(TraceLevel::debug, "a client has connected",
          {{"from", io::to_string(visitor.from)}, {"container", peer_text(visitor.container)}});
}

void Activity::disconnected(const Visitor& visitor, std::string_view why) {
    connections_.add(-1);
    if (!allows(Kind::closed)) return;
    trace(TraceLevel::debug, "a client has gone",
          {{"from", io::to_string(visitor.from)},
           {"container", peer_text(visitor.container)},
           {"why", peer_text(why)}});
}

void Activity::logged_in(const Visitor& visitor, std::string_view who) {
    logins_.add();
    if (!allows(Kind::login)) return;
    trace(TraceLevel::debug, "a client has logged in",
          {{"who", peer_text(who)},
           {"from", io::to_string(visitor.from)},
           {"container", peer_text(visitor.container)}});
}

void Activity::login_refused(const Visitor& visitor, std::string_view who, std::string_view why) {
    refusals_[static_cast<std::size_t>(Refusal::login)]->add();
    if (!allows(Kind::refused_login)) return;
    audit({peer_text(who), io::to_string(visitor.from), "login", peer_text(visitor.container),
           peer_text(why)});
}

void Activity::refused(Refusal reason, const Visitor& visitor, std::string_view what,
                       std::string_view why) {
    refusals_[static_cast<std::size_t>(reason)]->add();
    if (!allows(Kind::refused)) return;
    trace(TraceLevel::info, "a client was refused",
          {{"reason", std::string(name_of(reason))},
           {"from", io::to_string(visitor.from)},
           {"container", peer_text(visitor.container)},
           {"what", peer_text(what)},
           {"why", peer_text(why)}});
}

void Activity::reader_displaced(const Visitor& visitor, std::string_view what,
                                std::string_view why) {
    if (!allows(Kind::displaced)) return;
    trace(TraceLevel::info, "a reader was ended",
          {{"from", io::to_string(visitor.from)},
           {"container", peer_text(visitor.container)},
           {"what", peer_text(what)},
           {"why", peer_text(why)}});
}

bool Activity::allows(Kind kind) {
    settle(kind, clock_.now());
    Limit& limit = limits_[static_cast<std::size_t>(kind)];
    if (limit.lines >= lines_per_second) {
        ++limit.left_out;
        return false;
    }
    ++limit.lines;
    return true;
}

void Activity::settle(Kind kind, Instant now) {
    Limit& limit = limits_[static_cast<std::size_t>(kind)];
    if (now - limit.since < std::chrono::seconds(1)) return;
    if (limit.left_out > 0) {
        trace(TraceLevel::info, "log lines were left out",
              {{"of", std::string(kind_names[static_cast<std::size_t>(kind)])},
               {"count", std::to_string(limit.left_out)}});
    }
    limit = {now, 0, 0};
}

void Activity::tick() {
    const Instant now = clock_.now();
    for (std::size_t i = 0; i < kind_count; ++i) settle(static_cast<Kind>(i), now);
}

std::shared_ptr<HubTraffic> Activity::hub(const std::string& folded) {
    auto& found = hubs_[folded];
    if (!found) found = std::make_shared<HubTraffic>();
    return found;
}

std::string Activity::hubs_text(Callback<bool(const std::string&)> is_there) {
    std::erase_if(hubs_, [&](const auto& each) { return !is_there(each.first); });
    struct Family {
        std::string_view name;
        std::string_view help;
        std::uint64_t HubTraffic::*value;
    };
    constexpr Family families[] = {
        {"evenkeel_hub_events_in_total", "Events stored, by event hub.", &HubTraffic::events_in},
        {"evenkeel_hub_bytes_in_total", "Bytes of messages stored.", &HubTraffic::bytes_in},
        {"evenkeel_hub_events_out_total", "Events sent to readers.", &HubTraffic::events_out},
        {"evenkeel_hub_bytes_out_total", "Bytes of events sent to readers.",
         &HubTraffic::bytes_out}};
    std::string text;
    for (const auto& family : families) {
        text +=
            fmt::format("# HELP {} {}\n# TYPE {} counter\n", family.name, family.help, family.name);
        for (const auto& [name, traffic] : hubs_) {
            text += fmt::format("{}{{hub=\"{}\"}} {}\n", family.name, label_escaped(name),
                                (*traffic).*family.value);
        }
    }
    return text;
}

}  // namespace evenkeel::door
