#include "cli/commands/processors.h"

#include <algorithm>
#include <map>
#include <memory>

#include <boost/json.hpp>
#include <fmt/core.h>

#include "base/number.h"
#include "base/text.h"
#include "cli/interrupt.h"
#include "cli/remote/entries.h"
#include "cli/remote/group_contact.h"
#include "cli/remote/store_session.h"
#include "cli/text/duration.h"
#include "cli/text/listing.h"
#include "cli/text/parked.h"
#include "processor/ownership/journal.h"
#include "processor/ownership/operator_requests.h"
#include "processor/ownership/requests.h"

namespace evenkeel::cli {
namespace {

using checkpoint::Member;
using checkpoint::Ownership;
using checkpoint::Record;
using checkpoint::Store;
using processor::OwnerMove;
using processor::Paused;

// Some stores cost money for each look.
constexpr Duration look_period_min = std::chrono::milliseconds(100);
constexpr Duration look_period_max = std::chrono::seconds(1);

// None if the group is not there, and may not be made.
Result<std::unique_ptr<StoreSession>> open(const ProcessorsOptions& options, EntriesUse use) {
    return open_entries(options.store, {options.hub_namespace, options.event_hub, options.group},
                        options.remote, use);
}

// These find nothing where there is no group.
Result<std::vector<Member>> members_in(StoreSession* store) {
    if (!store) return std::vector<Member>();
    return store->ask<std::vector<Member>>(
        [](Store& s, auto done) { s.list_members(std::move(done)); });
}

Result<std::vector<Ownership>> ownerships_in(StoreSession* store) {
    if (!store) return std::vector<Ownership>();
    return store->ask<std::vector<Ownership>>(
        [](Store& s, auto done) { s.list_ownerships(std::move(done)); });
}

Result<std::vector<Record>> records_in(StoreSession* store, std::string_view prefix) {
    if (!store) return std::vector<Record>();
    return store->ask<std::vector<Record>>([prefix = std::string(prefix)](Store& s, auto done) {
        s.list_records(prefix, std::move(done));
    });
}

Result<std::string> write(StoreSession& store, const Record& record) {
    return store.ask<std::string>(
        [&](Store& s, auto done) { s.write_record(record, std::move(done)); });
}

ExitCode tell_paused(const ProcessorsOptions& options, const Result<Paused>& paused,
                     std::string_view what) {
    if (!paused.ok()) return fail(what, paused.error());
    if (options.json) {
        boost::json::array partitions;
        for (const std::uint32_t partition : paused->partitions) partitions.push_back(partition);
        fmt::print("{}", indented(boost::json::object{{"all", paused->all},
                                                      {"partitions", std::move(partitions)}}));
    } else if (paused->empty()) {
        fmt::print("nothing is paused\n");
    } else {
        fmt::print("paused: {}\n",
                   paused->all ? "all partitions" : "partitions " + processor::encode(*paused));
    }
    return ExitCode::done;
}

// An event hub, group or partition that the hub, if it answers, does not have. With --namespace
// the entries may be of another hub than the one that would answer.
std::optional<ExitCode> refuse_unknown(std::string_view what, const ProcessorsOptions& options) {
    if (!options.hub_namespace.empty()) return std::nullopt;
    const auto remote = remote_of(options.remote);
    if (!remote.ok()) return fail_options(remote.error());
    if (const auto file = check_file_of_store(options.store); !file.ok()) {
        return fail(what, file.error());
    }
    return ask_hub(what, *remote, {options.event_hub, options.group, options.partitions},
                   "--namespace HOST takes the entries all the same")
        .ended;
}

std::string name_of(const std::string& id) {
    return id.empty() ? "-" : printable(id);
}

}  // namespace

ExitCode processor_ls(const ProcessorsOptions& options) {
    const char* what = "cannot list processors";
    auto store = open(options, {});
    if (!store.ok()) return fail(what, store.error());
    if (!*store && options.hub_namespace.empty()) {
        const auto remote = remote_of(options.remote);
        if (!remote.ok()) return fail_options(remote.error());
        if (!has_group(*remote, options.event_hub, options.group)) {
            return fail_no_group(what, *remote, options.event_hub, options.group);
        }
    }
    const auto members = members_in(store->get());
    const auto ownerships = ownerships_in(store->get());
    const auto requests = records_in(store->get(), processor::request_prefix);
    if (!members.ok()) return fail(what, members.error());
    if (!ownerships.ok()) return fail(what, ownerships.error());
    if (!requests.ok()) return fail(what, requests.error());
    const auto parked = processor::read_requests(*requests, "").parked;
    std::map<std::string, std::string> owned;
    std::map<std::string, boost::json::array> parked_of;
    for (const Ownership& entry : *ownerships) {
        std::string& list = owned[entry.owner];
        list += (list.empty() ? "" : ",") + std::to_string(entry.partition.value);
        if (!parked.contains(entry.partition)) continue;
        list += " (parked)";
        parked_of[entry.owner].push_back(entry.partition.value);
    }
    const std::int64_t now = SystemClock().wall().milliseconds;
    boost::json::array array;
    Listing listing({{"ID"}, {"WHERE"}, {"SINCE"}, {"STATE"}, {"PARTITIONS"}});
    for (const Member& member : *members) {
        const std::string state = !(*store)->is_alive(member)                        ? "gone"
                                  : member.state == checkpoint::MemberState::leaving ? "leaving"
                                  : member.state == checkpoint::MemberState::unable  ? "cannot read"
                                  : owned[member.id].empty()                         ? "standby"
                                                                                     : "active";
        boost::json::array partitions;
        for (const Ownership& entry : *ownerships) {
            if (entry.owner == member.id) partitions.push_back(entry.partition.value);
        }
        listing.add({name_of(member.id), printable(member.note), time_cell(member.since_ms, now),
                     state, owned[member.id].empty() ? "-" : owned[member.id]});
        array.push_back({{"id", member.id},
                         {"incarnation", member.incarnation},
                         {"note", member.note},
                         {"since", time_json(member.since_ms)},
                         {"state", state},
                         {"restarts", member.restarts},
                         {"partitions", std::move(partitions)},
                         {"parked", parked_of[member.id]}});
    }
    fmt::print("{}", options.json ? indented(array) : listing.text(terminal_of(stdout)));
    if (members->empty()) {
        fmt::print(stderr, "no instance of group '{}' has an entry in the store {}\n",
                   printable(options.group), printable(without_secrets(options.store)));
    }
    fmt::print(stderr, "{}",
               parked_lines(parked, {options.event_hub, options.group, options.store}, now));
    return ExitCode::done;
}

ExitCode processor_history(const ProcessorsOptions& options) {
    const char* what = "cannot show the history";
    const auto last = parse_duration(options.last);
    if (!options.last.empty() && !last) {
        return wrong_usage(fmt::format("'{}' is no time", options.last), "use --last 10m, or 2h");
    }
    auto store = open(options, {});
    if (!store.ok()) return fail(what, store.error());
    const auto records = records_in(store->get(), processor::moves_prefix);
    if (!records.ok()) return fail(what, records.error());
    const std::int64_t now = SystemClock().wall().milliseconds;
    std::vector<OwnerMove> moves;
    for (const Record& record : *records) {
        const auto partition = parse_number<std::uint32_t>(
            std::string_view(record.key).substr(processor::moves_prefix.size()));
        if (!partition) continue;
        if (!options.partitions.empty() &&
            std::ranges::find(options.partitions, *partition) == options.partitions.end()) {
            continue;
        }
        for (OwnerMove& move : processor::decode_moves({*partition}, record.value)) {
            if (last && move.at_ms < now - last->count() / 1'000'000) continue;
            moves.push_back(std::move(move));
        }
    }
    std::ranges::stable_sort(moves, {}, &OwnerMove::at_ms);
    boost::json::array array;
    Listing listing({{"TIME"}, {"PARTITION", Listing::Align::right}, {"FROM"}, {"TO"}, {"WHY"}});
    for (const OwnerMove& move : moves) {
        listing.add({time_cell(move.at_ms, now), std::to_string(move.partition.value),
                     name_of(move.from), name_of(move.to), printable(move.reason)});
        array.push_back({{"at", time_json(move.at_ms)},
                         {"partition", move.partition.value},
                         {"from", move.from},
                         {"to", move.to},
                         {"epoch", move.epoch.value},
                         {"reason", move.reason}});
    }
    fmt::print("{}", options.json ? indented(array) : listing.text(terminal_of(stdout)));
    return ExitCode::done;
}

ExitCode processor_drain(const ProcessorsOptions& options) {
    const std::string what = fmt::format("cannot drain '{}'", options.id);
    const auto wait = parse_duration(options.wait);
    if (!wait) return wrong_usage(fmt::format("'{}' is no time", options.wait), "use --wait 60s");
    auto store = open(options, {EntriesFor::changing});
    if (!store.ok()) return fail(what, store.error());
    const auto members = members_in(store->get());
    if (!members.ok()) return fail(what, members.error());
    const auto found = std::ranges::find_if(*members, [&](const Member& member) {
        return member.id == options.id && (*store)->is_alive(member);
    });
    if (found == members->end()) {
        std::string known;
        for (const Member& member : *members) {
            if (!(*store)->is_alive(member)) continue;
            known += (known.empty() ? "'" : ", '") + member.id + "'";
        }
        return fail(what, {ErrorCode::not_found, "no such instance is running"},
                    known.empty() ? "the group has no running instance" : "there is " + known);
    }
    const Record request{processor::drain_key(found->incarnation), "drain", ""};
    const auto asked = write(**store, request);
    if (!asked.ok() && asked.error().code != ErrorCode::conflict) return fail(what, asked.error());
    Interrupt interrupt;
    const SystemClock clock;
    const Instant end = clock.now() + *wait;
    Duration look_period = look_period_min;
    while (clock.now() < end && !interrupt.wait(look_period)) {
        look_period = std::min(2 * look_period, look_period_max);
        const auto now = members_in(store->get());
        if (!now.ok()) return fail(what, now.error());
        const bool is_there = std::ranges::any_of(
            *now, [&](const Member& member) { return member.incarnation == found->incarnation; });
        if (is_there) continue;
        const auto left = records_in(store->get(), request.key);  // it may have died instead
        for (const Record& each : left.ok() ? *left : std::vector<Record>()) {
            if (each.key == request.key) (void)write(**store, {each.key, "", each.version});
        }
        fmt::print("'{}' has handed over all partitions and stopped\n", printable(options.id));
        return ExitCode::done;
    }
    return fail(what, {ErrorCode::timed_out, "it was asked to drain, but has not stopped yet"},
                "it stops as soon as its handlers end; look at 'evenkeel processor ls'");
}

ExitCode processor_pause(const ProcessorsOptions& options) {
    if (const auto ended = refuse_unknown("cannot pause", options)) return *ended;
    auto store = open(options, {EntriesFor::changing, true});  // those that start later obey too
    if (!store.ok()) return fail("cannot pause", store.error());
    const auto paused = (*store)->ask<Paused>(
        [&](Store& s, auto done) { processor::pause(s, options.partitions, std::move(done)); });
    return tell_paused(options, paused, "cannot pause");
}

ExitCode processor_resume(const ProcessorsOptions& options) {
    if (const auto ended = refuse_unknown("cannot resume", options)) return *ended;
    auto store = open(options, {EntriesFor::changing});
    if (!store.ok()) return fail("cannot resume", store.error());
    if (!*store) return tell_paused(options, Paused{}, "cannot resume");
    const auto resumed = (*store)->ask<processor::Resumed>(
        [&](Store& s, auto done) { processor::resume(s, options.partitions, std::move(done)); });
    if (!resumed.ok()) return fail("cannot resume", resumed.error());
    for (const std::uint32_t partition : resumed->unparked) {
        fmt::print(stderr, "partition {} was parked and is tried again\n", partition);
    }
    return tell_paused(options, resumed->paused, "cannot resume");
}

}  // namespace evenkeel::cli
