#include "cli/commands/hub_command.h"

#include <algorithm>

#include <boost/json.hpp>
#include <fmt/core.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/time_point.h"
#include "cli/text/units.h"

namespace evenkeel::cli {
namespace {

namespace json = boost::json;
using Align = Listing::Align;

json::object hub_json(const EventHubInfo& info) {
    json::array groups;
    for (const auto& group : info.groups) groups.emplace_back(group);
    return {{"name", info.name},
            {"partitions", info.options.partitions},
            {"retention_ms", info.options.retention.count()},
            {"partition_bytes_max", info.options.partition_bytes_max},
            {"created_at", time_json(wall_time(info.created_time).milliseconds)},
            {"groups", std::move(groups)}};
}

void add_totals(json::object& object, const Totals& totals) {
    object["events"] = totals.events;
    object["size_bytes"] = totals.bytes;
    object["events_in_per_second"] = totals.in_per_second;
    object["events_out_per_second"] = totals.out_per_second;
    object["oldest_enqueued_at"] = time_json(totals.oldest_ms);
    object["last_enqueued_at"] = time_json(totals.last_ms);
    object["readers"] = totals.readers;
}

json::object partition_json(const PartitionState& partition) {
    json::object object{{"partition", partition.partition}};
    if (!partition.problems.empty()) object["problem"] = partition.problems.front();
    // It could not be opened; one without events has no problem.
    if (partition.begin_sequence_number < 0 && !partition.problems.empty()) return object;
    object["begin_sequence_number"] = partition.begin_sequence_number;
    object["last_sequence_number"] = partition.last_enqueued_sequence_number;
    object["events"] = events_of(partition);
    object["size_bytes"] = partition.bytes;
    object["events_in_per_second"] = partition.events_in_per_second;
    object["events_out_per_second"] = partition.events_out_per_second;
    object["oldest_enqueued_at"] =
        time_json(wall_time(partition.oldest_enqueued_time).milliseconds);
    object["last_offset"] = partition.last_enqueued_offset;
    object["last_enqueued_at"] = time_json(wall_time(partition.last_enqueued_time).milliseconds);
    object["readers"] = partition.readers;
    return object;
}

std::string retention_text(const EventHubInfo& info) {
    return retention_cell(info.options.retention.count()).shown;
}

// What is to be set, from the words of the options.
Result<EventHubChange> change_of(const HubCommand& options) {
    EventHubChange change;
    change.partitions = options.partitions;
    if (!options.retention.empty()) {
        change.retention = parse_retention(options.retention);
        if (!change.retention) {
            return Error{ErrorCode::invalid_argument,
                         fmt::format("'{}' is no retention; give 12h, 7d, 4w or forever",
                                     options.retention)};
        }
    }
    if (!options.partition_bytes_max.empty()) {
        change.partition_bytes_max = parse_bytes(options.partition_bytes_max);
        if (!change.partition_bytes_max) {
            return Error{ErrorCode::invalid_argument,
                         fmt::format("'{}' is no size; give 500MB, 10GiB or unlimited",
                                     options.partition_bytes_max)};
        }
    }
    return change;
}

void tell(const HubCommand& options, const EventHubInfo& info, std::string_view verb) {
    if (options.output == Output::json) {
        fmt::print("{}", indented(hub_json(info)));
        return;
    }
    fmt::print(stderr, "{} event hub '{}': {}, retention {}\n", verb, info.name,
               plural(info.options.partitions, "partition"), retention_text(info));
}

// The totals of the table, and when retention deletes the oldest event.
void show_summary(const EventHubInfo& info, const std::vector<PartitionState>& partitions,
                  std::int64_t now) {
    const Totals totals = totals_of(partitions);
    if (totals.events == 0) return;
    fmt::print("{}, {}.", plural(totals.events, "event"), bytes_text(totals.bytes));
    if (partitions.size() > 1) {
        const double mean =
            static_cast<double>(totals.events) / static_cast<double>(partitions.size());
        const double skew = static_cast<double>(totals.events_max) / mean;
        fmt::print("  Skew {:.2f} ({}).", skew, skew < 1.5 ? "even" : "uneven");
    }
    if (info.options.retention.count() > 0 && totals.oldest_ms > 0) {
        // Retention takes whole segments, and only full ones.
        const std::int64_t left = totals.oldest_ms + info.options.retention.count() - now;
        fmt::print("  Oldest event leaves {}.", left > 0
                                                    ? "in " + age_text(left) + " at the earliest"
                                                    : "as soon as its segment is full");
    }
    fmt::print("\n");
}

void show_table(const EventHubInfo& info, const std::vector<PartitionState>& partitions) {
    const Terminal terminal = terminal_of(stdout);
    const std::int64_t now = SystemClock().wall().milliseconds;
    Listing listing({{"PARTITION"},
                     {"FIRST", Align::right},
                     {"LAST", Align::right},
                     {"EVENTS", Align::right},
                     {"SIZE", Align::right},
                     {"IN/s", Align::right},
                     {"OUT/s", Align::right},
                     {"LAST EVENT", Align::right},
                     {"READERS", Align::right}});
    for (const auto& partition : partitions) {
        const auto number = [](std::int64_t value) {
            return value < 0 ? Cell("-", "") : count_cell(static_cast<std::uint64_t>(value));
        };
        const bool has_events = events_of(partition) > 0;
        listing.add({count_cell(partition.partition),
                     has_events ? number(partition.begin_sequence_number) : Cell("-", ""),
                     number(partition.last_enqueued_sequence_number),
                     count_cell(events_of(partition)), bytes_cell(partition.bytes),
                     rate_cell(partition.events_in_per_second),
                     rate_cell(partition.events_out_per_second),
                     time_cell(wall_time(partition.last_enqueued_time).milliseconds, now),
                     count_cell(partition.readers)});
    }
    if (terminal.is_terminal) {
        std::string groups;
        for (const auto& group : info.groups) groups += (groups.empty() ? "" : ", ") + group;
        const std::string limit =
            info.options.partition_bytes_max == 0
                ? ""
                : "   at most " + bytes_text(info.options.partition_bytes_max) + " a partition";
        fmt::print("{}   {}   retention {}{}   created {} UTC   groups {}\n",
                   painted(terminal, Paint::strong, printable(info.name)),
                   plural(info.options.partitions, "partition"), retention_text(info), limit,
                   to_string(wall_time(info.created_time)).substr(0, 16).replace(10, 1, " "),
                   printable(groups));
    }
    fmt::print("{}", listing.text(terminal));
    if (terminal.is_terminal) show_summary(info, partitions, now);
    for (const auto& partition : partitions) {
        for (const auto& problem : partition.problems) {
            fmt::print(stderr, "partition {}: {}\n", partition.partition, printable(problem));
        }
    }
}

}  // namespace

std::uint64_t events_of(const PartitionInfo& partition) {
    if (partition.is_empty) return 0;
    return static_cast<std::uint64_t>(partition.last_enqueued_sequence_number -
                                      partition.begin_sequence_number + 1);
}

Totals totals_of(const std::vector<PartitionState>& partitions) {
    Totals totals;
    for (const auto& partition : partitions) {
        totals.events += events_of(partition);
        totals.events_max = std::max(totals.events_max, events_of(partition));
        totals.bytes += partition.bytes;
        totals.in_per_second += partition.events_in_per_second;
        totals.out_per_second += partition.events_out_per_second;
        const std::int64_t oldest = wall_time(partition.oldest_enqueued_time).milliseconds;
        if (oldest > 0 && (totals.oldest_ms == 0 || oldest < totals.oldest_ms)) {
            totals.oldest_ms = oldest;
        }
        totals.last_ms =
            std::max(totals.last_ms, wall_time(partition.last_enqueued_time).milliseconds);
        totals.readers += partition.readers;
    }
    return totals;
}

std::uint64_t purged_events(const std::vector<PartitionState>& partitions,
                            std::optional<std::uint32_t> partition,
                            std::optional<std::int64_t> before) {
    std::uint64_t events = 0;
    for (const auto& one : partitions) {
        if (one.is_empty || (partition && *partition != one.partition)) continue;
        std::int64_t end = one.last_enqueued_sequence_number + 1;
        if (before) end = std::clamp(*before, one.begin_sequence_number, end);
        events += static_cast<std::uint64_t>(end - one.begin_sequence_number);
    }
    return events;
}

ExitCode hub_ls(const HubCommand& options) {
    const auto remote = remote_of(options.remote);
    if (!remote.ok()) return fail_options(remote.error());
    AdminClient admin(*remote);
    const auto hubs = admin.hubs();
    if (!hubs.ok()) return fail_admin("the event hubs cannot be listed", hubs.error(), *remote);
    if (options.output == Output::name) {
        for (const auto& hub : *hubs) fmt::print("{}\n", printable(hub.name));
        return ExitCode::done;
    }
    Listing listing({{"HUB"},
                     {"PARTITIONS", Align::right},
                     {"EVENTS", Align::right},
                     {"SIZE", Align::right},
                     {"IN/s", Align::right},
                     {"OUT/s", Align::right},
                     {"OLDEST", Align::right},
                     {"RETENTION", Align::right},
                     {"GROUPS", Align::right}});
    json::array array;
    const std::int64_t now = SystemClock().wall().milliseconds;
    for (const auto& hub : *hubs) {
        const auto partitions = admin.partitions(hub.name);
        if (!partitions.ok()) {
            // Removed since it was listed.
            if (partitions.error().code == ErrorCode::not_found) continue;
            return fail_admin(fmt::format("event hub '{}' cannot be shown", hub.name),
                              partitions.error(), *remote);
        }
        const Totals totals = totals_of(*partitions);
        json::object object = hub_json(hub);
        add_totals(object, totals);
        array.push_back(std::move(object));
        listing.add({hub.name, count_cell(hub.options.partitions), count_cell(totals.events),
                     bytes_cell(totals.bytes), rate_cell(totals.in_per_second),
                     rate_cell(totals.out_per_second), age_cell(totals.oldest_ms, now),
                     retention_cell(hub.options.retention.count()), count_cell(hub.groups.size())});
    }
    if (options.output == Output::json) {
        fmt::print("{}", indented(array));
    } else {
        fmt::print("{}", listing.text(terminal_of(stdout)));
        if (listing.empty()) {
            fmt::print(stderr, "there are no event hubs; 'evenkeel hub create NAME' makes one\n");
        }
    }
    return ExitCode::done;
}

ExitCode hub_create(const HubCommand& options) {
    const auto remote = remote_of(options.remote);
    if (!remote.ok()) return fail_options(remote.error());
    const auto wanted = change_of(options);
    if (!wanted.ok()) return wrong_usage(wanted.error().detail, "evenkeel hub create --help");
    AdminClient admin(*remote);
    auto made = admin.create(options.name, *wanted);
    const bool was_there = !made.ok() && made.error().code == ErrorCode::already_exists;
    if (was_there && options.if_not_exists) made = admin.hub(options.name);
    if (!made.ok()) {
        return fail_admin(
            fmt::format("event hub '{}' was not created", options.name), made.error(), *remote,
            was_there ? "'evenkeel hub alter' changes it; --if-not-exists ignores that" : "");
    }
    for (const auto& group : options.groups) {
        const auto grouped = admin.create_group(options.name, group);
        if (!grouped.ok() && grouped.error().code != ErrorCode::already_exists) {
            fail_admin(fmt::format("event hub '{}' was created, but not its group '{}'",
                                   options.name, group),
                       grouped.error(), *remote);
            return ExitCode::partly_done;
        }
    }
    if (!options.groups.empty()) made = admin.hub(options.name);
    if (!made.ok()) {
        return fail_admin("created, but its settings cannot be shown", made.error(), *remote);
    }
    tell(options, *made, was_there ? "already exists:" : "created");
    return ExitCode::done;
}

ExitCode hub_show(const HubCommand& options) {
    const auto remote = remote_of(options.remote);
    if (!remote.ok()) return fail_options(remote.error());
    AdminClient admin(*remote);
    const auto info = admin.hub(options.name);
    const auto partitions = info.ok() ? admin.partitions(options.name)
                                      : Result<std::vector<PartitionState>>(info.error());
    if (!partitions.ok()) {
        return fail_admin(fmt::format("event hub '{}' cannot be shown", options.name),
                          partitions.error(), *remote);
    }
    if (options.output == Output::table) {
        show_table(*info, *partitions);
        return ExitCode::done;
    }
    json::object object = hub_json(*info);
    add_totals(object, totals_of(*partitions));
    json::array array;
    for (const auto& partition : *partitions) array.push_back(partition_json(partition));
    object["partition_list"] = std::move(array);
    fmt::print("{}", indented(object));
    return ExitCode::done;
}

ExitCode hub_alter(const HubCommand& options) {
    const auto remote = remote_of(options.remote);
    if (!remote.ok()) return fail_options(remote.error());
    const auto change = change_of(options);
    if (!change.ok()) return wrong_usage(change.error().detail, "evenkeel hub alter --help");
    if (!change->partitions && !change->retention && !change->partition_bytes_max) {
        return wrong_usage("no change was given",
                           "--partitions, --retention or --partition-bytes-max");
    }
    const auto changed = AdminClient(*remote).alter(options.name, *change);
    if (!changed.ok()) {
        return fail_admin(fmt::format("event hub '{}' was not changed", options.name),
                          changed.error(), *remote);
    }
    tell(options, *changed, "changed");
    return ExitCode::done;
}

ExitCode hub_purge(const HubCommand& options) {
    const auto remote = remote_of(options.remote);
    if (!remote.ok()) return fail_options(remote.error());
    AdminClient admin(*remote);
    const std::string what = fmt::format("event hub '{}' was not purged", options.name);
    const auto partitions = admin.partitions(options.name);
    if (!partitions.ok()) return fail_admin(what, partitions.error(), *remote);
    if (options.partition && *options.partition >= partitions->size()) {
        return fail_admin(
            what,
            Error{ErrorCode::not_found, fmt::format("it has no partition {}; they are 0 to {}",
                                                    *options.partition, partitions->size() - 1)},
            *remote, "'evenkeel hub show' shows them");
    }
    const auto events = purged_events(*partitions, options.partition, options.before);
    if (events == 0) {
        fmt::print(stderr, "event hub '{}' has no events to purge\n", options.name);
        return ExitCode::done;
    }
    const std::string where = options.partition ? fmt::format("partition {}", *options.partition)
                                                : plural(partitions->size(), "partition");
    const auto end =
        ask_first(options.danger, fmt::format("This removes {} of event hub '{}' ({}) permanently",
                                              plural(events, "event"), options.name, where));
    if (end) return *end;
    const auto purged = admin.purge(options.name, options.partition, options.before);
    if (!purged.ok()) return fail_admin(what, purged.error(), *remote);
    fmt::print(stderr, "purged {} of event hub '{}'\n", plural(events, "event"), options.name);
    return ExitCode::done;
}

ExitCode hub_rm(const HubCommand& options) {
    const auto remote = remote_of(options.remote);
    if (!remote.ok()) return fail_options(remote.error());
    AdminClient admin(*remote);
    const std::string what = fmt::format("event hub '{}' was not removed", options.name);
    const auto partitions = admin.partitions(options.name);
    if (!partitions.ok()) return fail_admin(what, partitions.error(), *remote);
    const Totals totals = totals_of(*partitions);
    const auto end = ask_first(
        options.danger,
        fmt::format("This removes event hub '{}' with {} ({}), its groups and its keys permanently",
                    options.name, plural(totals.events, "event"), bytes_text(totals.bytes)));
    if (end) return *end;
    const auto removed = admin.remove(options.name);
    if (!removed.ok()) return fail_admin(what, removed.error(), *remote);
    fmt::print(stderr, "removed event hub '{}' with {}\n", options.name,
               plural(totals.events, "event"));
    return ExitCode::done;
}

}  // namespace evenkeel::cli
