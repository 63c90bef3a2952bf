#include "cli/commands/scale.h"

#include <fmt/core.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/remote/group_contact.h"
#include "cli/remote/group_look.h"
#include "cli/remote/store_session.h"
#include "cli/text/hub_reply.h"
#include "cli/text/listing.h"
#include "dashboard/scale_json.h"
#include "host/scale/explain_scale.h"

namespace evenkeel::cli {
namespace {

void print_json(const ScaleOptions& options, const host::ScaleDecision& decision) {
    dashboard::JsonWriter json;
    json.object([&] {
        json.member("event_hub", options.event_hub).member("group", options.group);
        dashboard::write_scale(json, decision, options.policy);
    });
    fmt::print("{}\n", json.text());
}

void print(const ScaleOptions& options, const host::ScaleDecision& decision) {
    if (options.output == "json") return print_json(options, decision);
    if (decision.unknown) return fmt::print("hold\n");
    if (options.output == "count") return fmt::print("{}\n", decision.wanted);
    const auto words = host::explain_scale(decision, options.policy);
    fmt::print("{} wanted, {} now\n", plural(decision.wanted, "instance"), decision.instances);
    fmt::print("  why: {}\n  not more: {}\n  not less: {}\n", words.why, words.not_more,
               words.not_less);
}

// The operator's own store and hub, on his terminal; but the text may come from a server.
void print_hold(const ScaleOptions& options, const Error& error) {
    host::LoadHistory history;
    history.note_unknown(printable(without_secrets(plain_reply(to_string(error)))));
    print(options, decide_scale(history, options.policy, 0, SystemClock().now()));
}

}  // namespace

ExitCode scale(const ScaleOptions& options) {
    if (const auto checked = check_policy(options.policy); !checked.ok()) {
        return wrong_usage(checked.error().detail);
    }
    const std::string what =
        fmt::format("cannot tell how many instances event hub '{}' needs", options.event_hub);
    const auto remote = remote_of(options.remote);
    if (!remote.ok()) return fail_options(remote.error());
    bool hub_answered = false;
    const auto group = look_at_group(*remote, {options.event_hub, options.group, options.store},
                                     "evenkeel scale", hub_answered);
    if (!group.ok()) {
        print_hold(options, group.error());
        return hub_answered ? fail_store(what, group.error(), options.store)
                            : fail_remote(what, group.error(), *remote);
    }
    if (!has_group(*remote, options.event_hub, options.group)) {
        return fail_no_group(what, *remote, options.event_hub, options.group);
    }
    host::LoadHistory history(options.from_start ? host::NeverRead::all_events
                                                 : host::NeverRead::one_event);
    const Instant now = SystemClock().now();
    const auto load = group->load();
    if (!load.ok()) {
        print_hold(options, load.error());
        return fail(what, load.error(), "'evenkeel checkpoint set' sets where it goes on");
    }
    history.note(*load, group->instances(), now);
    print(options, decide_scale(history, options.policy, group->instances(), now));
    if (!group->is_there) {
        fmt::print(stderr,
                   "the store has no entries of this group: no processor has used it yet\n");
    }
    return ExitCode::done;
}

}  // namespace evenkeel::cli
