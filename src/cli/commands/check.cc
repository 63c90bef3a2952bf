#include "cli/commands/check.h"

#include <algorithm>
#include <cmath>

#include <boost/json.hpp>
#include <fmt/core.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/remote/admin_client.h"
#include "cli/remote/dialer.h"
#include "cli/text/hub_reply.h"
#include <evenkeel/consumer.h>
#include <evenkeel/producer.h>

namespace evenkeel::cli {
namespace {

using Status = Finding::Status;

// Tokens are good for minutes to an hour, so that much of a difference is worth a word.
constexpr double clock_warning_seconds = 30;
constexpr double clock_failed_seconds = 300;

std::string_view word_of(Status status) {
    switch (status) {
        case Status::ok: return "OK";
        case Status::warning: return "WARN";
        case Status::failed: return "FAIL";
        case Status::skipped: return "SKIP";
    }
    return "";
}

class Checks {
public:
    Checks(const CheckCommand& options, const Remote& remote)
        : options_(options), remote_(remote), admin_(remote) {}

    std::vector<Finding> run() {
        connection_string();
        const bool reached = reach();
        const bool has_admin = admin();
        event_hub_ = options_.event_hub.empty() ? remote_.target.event_hub : options_.event_hub;
        if (event_hub_.empty() && has_admin) first_hub();
        if (!reached) {
            skip("token", "the hub was not reached");
            skip("event hub", "the hub was not reached");
            skip("rights", "the hub was not reached");
        } else if (event_hub_.empty()) {
            skip("token", "no event hub to test it with; name one");
            skip("event hub", "there is no event hub, or none was named");
            skip("rights", "no event hub to test them with");
        } else if (token_and_hub()) {
            rights(has_admin);
        } else {
            skip("rights", "the event hub cannot be used");
        }
        return std::move(findings_);
    }

private:
    void add(std::string name, Status status, const std::string& detail, std::string remedy = {}) {
        findings_.push_back({std::move(name), status, plain_reply(detail), std::move(remedy)});
    }
    void skip(std::string name, const std::string& why) {
        add(std::move(name), Status::skipped, why);
    }

    void connection_string() {
        const eventhubs::Target& target = remote_.target;
        const std::string key = !target.token.empty()      ? "a token"
                                : !target.key_name.empty() ? "key '" + target.key_name + "'"
                                                           : "no key";
        add("connection string", Status::ok,
            fmt::format("{} by {}{}, with {}", io::to_string(target.endpoint),
                        target.websocket ? "WebSocket" : "AMQP", target.tls ? " and TLS" : "",
                        key));
    }

    bool reach() {
        const SystemClock clock;
        const Instant before = clock.now();
        const auto reached = Dialer("").reach(remote_.target.endpoint, remote_.timeout);
        const std::string where = io::to_string(remote_.target.endpoint);
        if (!reached.ok()) {
            add("reach", Status::failed, reached.error().detail,
                "start a hub ('evenkeel dev' here), or name the right one with --hub or "
                "EVENKEEL_HUB");
            return false;
        }
        add("reach", Status::ok,
            fmt::format("{} accepts connections, {:.1f} ms away", where,
                        std::chrono::duration<double, std::milli>(clock.now() - before).count()));
        return true;
    }

    bool admin() {
        const auto health = admin_.health();
        if (!health.ok()) {
            add("admin", Status::warning, health.error().detail,
                !remote_.admin
                    ? "give its address with --url or EVENKEEL_URL; sending and reading work "
                      "without it"
                    : "is the address right, and with the right scheme?");
            skip("clock", "the admin interface was not reached");
            return false;
        }
        const std::string where = http::to_string(*admin_.url());
        if (const auto met = admin_.meet(); !met.ok()) {
            add("admin", Status::failed, met.error().detail,
                "leave out --url and EVENKEEL_URL: the hub says where its admin interface is");
            skip("clock", "the admin interface is another hub's");
            return false;
        }
        if (health->is_healthy) {
            add("admin", Status::ok, fmt::format("{}: {}", where, health->message));
        } else {
            add("admin", Status::failed, fmt::format("{}: {}", where, health->message),
                "see the log of the hub");
        }
        clock(health->clock);
        return true;
    }

    void clock(const std::optional<WallTime>& there) {
        if (!there) return skip("clock", "the hub did not send its time");
        // The header has whole seconds, so half a second is the middle of what it may be.
        const double seconds =
            static_cast<double>((SystemClock().wall() - *there).count()) / 1000 - 0.5;
        const double apart = std::max(0.0, std::abs(seconds) - 1);
        const std::string detail =
            apart < 1 ? std::string("the same on both sides")
                      : fmt::format("it is {:.0f} s {} here than there", std::abs(seconds),
                                    seconds > 0 ? "later" : "earlier");
        const Status status = apart >= clock_failed_seconds    ? Status::failed
                              : apart >= clock_warning_seconds ? Status::warning
                                                               : Status::ok;
        add("clock", status, detail,
            status == Status::ok
                ? ""
                : "synchronize the clocks (NTP): tokens expire too early or too late");
    }

    void first_hub() {
        const auto hubs = admin_.hubs();
        if (hubs.ok() && !hubs->empty()) event_hub_ = hubs->front().name;
    }

    bool token_and_hub() {
        const auto contact = first_contact(remote_, event_hub_);
        if (contact.ok()) {
            add("token", Status::ok, "accepted by the hub");
            add("event hub", Status::ok,
                fmt::format("'{}' has {} partition{}", contact->name, contact->partitions,
                            contact->partitions == 1 ? "" : "s"));
            return true;
        }
        if (contact.error().code == ErrorCode::not_found) {
            add("token", Status::ok, "accepted by the hub");
            add("event hub", Status::failed, contact.error().detail,
                fmt::format("'evenkeel hub ls' lists event hubs, 'evenkeel hub create {}' makes "
                            "it",
                            event_hub_));
        } else if (contact.error().code == ErrorCode::not_allowed) {
            add("token", Status::failed, contact.error().detail,
                "is the key right, and the key's name? 'evenkeel conn --key NAME' prints a fresh "
                "connection string, with a key that has the right 'manage'");
            skip("event hub", "the hub refused the connection");
        } else {
            add("token", Status::failed, contact.error().detail,
                remote_.target.tls
                    ? "does the hub speak TLS there? --ca names its certificate, "
                      "UseDevelopmentEmulator=true means plain TCP"
                    : "is that an AMQP port? UseDevelopmentEmulator=true means plain TCP");
            skip("event hub", "the hub refused the connection");
        }
        return false;
    }

    // Each right by trying it, without sending or reading anything.
    void rights(bool has_admin) {
        const auto quick = client_options(remote_, event_hub_, "evenkeel check", Patience::none);
        std::vector<std::string> granted, others;
        const auto sort = [&](const char* name, bool is_granted) {
            (is_granted ? granted : others).emplace_back(name);
        };
        sort("send", Producer::open(quick).ok());
        auto client = Client::open(quick);
        sort("listen",
             client.ok() && RemoteReader::open(**client, "$Default", 0, Position::latest()).ok());
        if (has_admin) sort("manage", admin_.keys(event_hub_).ok());
        std::vector<std::string> missing;
        for (const auto& right : options_.rights) {
            if (std::ranges::find(granted, right) == granted.end()) missing.push_back(right);
        }
        const auto joined = [](const std::vector<std::string>& words, const char* between) {
            std::string text;
            for (const auto& word : words) text += (text.empty() ? "" : between) + word;
            return text;
        };
        const std::string detail =
            fmt::format("{}{}", granted.empty() ? "none" : joined(granted, ", "),
                        others.empty() ? "" : "; not " + joined(others, ", ")) +
            (has_admin ? "" : "; manage was not tested");
        if (!missing.empty() || granted.empty()) {
            add("rights", Status::failed, detail,
                missing.empty()
                    ? "use a key with rights on this event hub"
                    : fmt::format("use a key with {}: 'evenkeel key create NAME --rights {}'",
                                  joined(missing, " and "), joined(missing, ",")));
        } else {
            add("rights", Status::ok, detail);
        }
    }

    const CheckCommand& options_;
    const Remote& remote_;
    AdminClient admin_;
    std::string event_hub_;
    std::vector<Finding> findings_;
};

void print_json(const std::vector<Finding>& findings) {
    boost::json::array array;
    for (const auto& finding : findings) {
        std::string status(word_of(finding.status));
        std::ranges::transform(status, status.begin(),
                               [](char c) { return static_cast<char>(c | 0x20); });
        boost::json::object object{{"check", finding.name},
                                   {"status", status},
                                   {"detail", finding.detail},
                                   {"remedy", nullptr}};
        if (!finding.remedy.empty()) object["remedy"] = finding.remedy;
        array.push_back(std::move(object));
    }
    fmt::print("{}", indented(array));
}

void print_lines(const std::vector<Finding>& findings) {
    const Terminal terminal = terminal_of(stdout);
    if (!terminal.is_terminal) {
        Listing listing({{"STATUS"}, {"CHECK"}, {"DETAIL"}, {"REMEDY"}});
        for (const auto& finding : findings) {
            listing.add({std::string(word_of(finding.status)), finding.name, finding.detail,
                         finding.remedy});
        }
        fmt::print("{}", listing.text(terminal));
        return;
    }
    for (const auto& finding : findings) {
        const Paint paint = finding.status == Status::ok        ? Paint::good
                            : finding.status == Status::failed  ? Paint::bad
                            : finding.status == Status::warning ? Paint::strong
                                                                : Paint::quiet;
        fmt::print("{}  {:<17}  {}\n",
                   painted(terminal, paint, fmt::format("{:<4}", word_of(finding.status))),
                   finding.name, printable(finding.detail));
        if (!finding.remedy.empty()) fmt::print("      try: {}\n", finding.remedy);
    }
}

}  // namespace

ExitCode exit_code_of(const std::vector<Finding>& findings) {
    const auto has = [&](Status status) {
        return std::ranges::any_of(findings,
                                   [&](const Finding& one) { return one.status == status; });
    };
    if (has(Status::failed)) return ExitCode::check_failed;
    return has(Status::warning) ? ExitCode::check_warning : ExitCode::done;
}

std::vector<Finding> findings_of(const CheckCommand& options) {
    const auto remote = remote_of(options.remote);
    if (remote.ok()) return Checks(options, *remote).run();
    return {{"connection string", Status::failed, remote.error().detail,
             "'evenkeel dev' prints one, 'evenkeel conn' too"}};
}

void print_findings(const std::vector<Finding>& findings, Output output) {
    output == Output::json ? print_json(findings) : print_lines(findings);
}

ExitCode check(const CheckCommand& options) {
    const auto findings = findings_of(options);
    print_findings(findings, options.output);
    return exit_code_of(findings);
}

}  // namespace evenkeel::cli
