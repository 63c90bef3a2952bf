#include "cli/commands/status.h"

#include <optional>

#include <boost/json.hpp>
#include <fmt/core.h>

#include "base/text.h"
#include "cli/remote/group_contact.h"
#include "cli/remote/group_look.h"
#include "cli/remote/letter_box.h"
#include "cli/remote/store_session.h"
#include "cli/text/listing.h"
#include "cli/text/parked.h"

namespace evenkeel::cli {
namespace {

using Row = GroupLook::Row;
using checkpoint::Member;

// Adds the letters of the dead-letter hub to those of the store. How many they are.
Result<std::uint64_t> count_letters_in_hub(const StatusOptions& options, GroupLook& group) {
    if (options.letter_hub == "store") return std::uint64_t{0};
    LetterBoxOptions wanted;
    wanted.place = {options.event_hub, options.group};
    wanted.remote = options.remote;
    wanted.store = options.store;
    wanted.letter_hub = options.letter_hub;
    EK_TRY_ASSIGN(const auto box, LetterBox::open(wanted));
    EK_TRY_ASSIGN(const auto letters, box->list());
    std::uint64_t count = 0;
    for (const LetterRow& each : letters) {
        if (each.letter.partition.value >= group.rows.size()) continue;
        ++group.rows[each.letter.partition.value].dead_letters;
        ++count;
    }
    return count;
}

boost::json::object json_of(const Row& row, const GroupLook& group, std::int64_t now) {
    const auto seconds = [](std::optional<std::int64_t> ms) {
        return ms ? boost::json::value(static_cast<double>(*ms) / 1000) : boost::json::value();
    };
    const auto progress = group.progress(row);
    const auto loss = progress.loss_at_ms;
    const bool is_owned = !row.ownership.owner.empty();
    boost::json::object object;
    object["partition"] = row.hub.partition;
    object["owner"] = is_owned ? boost::json::value(row.ownership.owner) : nullptr;
    object["owner_is_member"] = row.is_alive;
    object["epoch"] = row.ownership.epoch.value;
    object["owned_since"] = time_json(row.ownership.since_ms);
    object["position"] = progress.position;
    object["last_sequence_number"] = row.hub.last_enqueued_sequence_number;
    object["lag_events"] = progress.lag;
    object["lag_seconds"] = seconds(progress.behind_ms);
    object["seconds_to_loss"] = seconds(loss ? std::optional(*loss - now) : std::nullopt);
    object["lost_events"] = progress.lost;
    object["stands_still"] = progress.is_beyond_end;
    object["hub_created_again"] = progress.is_of_removed_hub;
    object["is_paused"] = group.paused.contains({row.hub.partition});
    object["parked"] = parked_json(group.parked, {row.hub.partition});
    object["dead_letters"] = row.dead_letters;
    object["checkpoint_written_at"] = time_json(row.checkpoint.written_ms);
    object["failed_attempts"] = row.checkpoint.attempts;
    return object;
}

void print_json(const StatusOptions& options, const GroupLook& group) {
    boost::json::array partitions;
    std::int64_t lag = 0;
    std::uint64_t dead_letters = 0;
    for (const Row& row : group.rows) {
        dead_letters += row.dead_letters;
        partitions.push_back(json_of(row, group, SystemClock().wall().milliseconds));
        lag += group.progress(row).lag;
    }
    boost::json::array members;
    for (const Member& member : group.members) {
        members.push_back({{"id", member.id},
                           {"note", member.note},
                           {"is_leaving", member.state == checkpoint::MemberState::leaving},
                           {"cannot_read", member.state == checkpoint::MemberState::unable},
                           {"since", time_json(member.since_ms)}});
    }
    boost::json::object whole;
    whole["event_hub"] = options.event_hub;
    whole["group"] = options.group;
    whole["lag_events"] = lag;
    whole["dead_letters"] = dead_letters;
    whole["store_lost"] = group.store_lost.has_value();
    whole["members"] = std::move(members);
    whole["partitions"] = std::move(partitions);
    fmt::print("{}", indented(whole));
}

std::string number(std::int64_t value) {
    return value < 0 ? "-" : with_commas(static_cast<std::uint64_t>(value));
}

// "4.2s"; "-" if it is not known, and what has come to its end is "now".
Cell span_cell(std::optional<std::int64_t> ms) {
    if (!ms) return Cell("-");
    const std::string shown = *ms == 0 ? "0" : *ms < 0 ? "now" : age_text(*ms);
    return {shown, std::to_string(*ms)};
}

void print_letter_hints(const StatusOptions& options, const ParkedPlace& place,
                        std::uint64_t in_store, std::uint64_t in_hub) {
    const std::string list = printable(group_command("deadletter ls", place));
    if (in_store > 0) {
        fmt::print(stderr, "{}; '{}' lists them\n", plural(in_store, "dead letter"), list);
    }
    if (in_hub > 0) {
        // A connection string may hold a key.
        const bool is_address = options.letter_hub.find("://") != std::string::npos;
        fmt::print(stderr, "{} in the dead-letter hub; '{} --dead-letter {}' lists them\n",
                   plural(in_hub, "dead letter"), list,
                   is_address ? "CONNECTION" : printable(options.letter_hub));
    }
}

// Partitions whose numbers alone would mislead.
void print_row_hints(const GroupLook& group, const ParkedPlace& place) {
    for (const Row& row : group.rows) {
        const auto progress = group.progress(row);
        if (progress.is_beyond_end) {
            fmt::print(stderr, "{}; '{} --partition {} --to end' goes on with new events\n",
                       stands_still(row.hub, progress),
                       printable(group_command("checkpoint set", place)), row.hub.partition);
        }
        if (progress.is_of_removed_hub) {
            fmt::print(stderr,
                       "partition {}: the event hub was created again after the checkpoint was "
                       "stored; processors read it from its beginning\n",
                       row.hub.partition);
        }
        if (progress.lost == 0) continue;
        fmt::print(stderr, "partition {}: retention deleted {} before they were handled\n",
                   row.hub.partition, plural(static_cast<std::uint64_t>(progress.lost), "event"));
    }
}

void print_table(const StatusOptions& options, const GroupLook& group,
                 std::uint64_t letters_in_hub) {
    const std::int64_t now = SystemClock().wall().milliseconds;
    Listing listing({{"PARTITION", Listing::Align::right},
                     {"OWNER"},
                     {"SINCE"},
                     {"POSITION", Listing::Align::right},
                     {"LAST", Listing::Align::right},
                     {"LAG", Listing::Align::right},
                     {"BEHIND", Listing::Align::right},
                     {"LOSS IN", Listing::Align::right},
                     {"DEAD", Listing::Align::right},
                     {"CHECKPOINT"}});
    std::int64_t lag = 0;
    std::uint64_t dead_letters = 0;
    for (const Row& row : group.rows) {
        const auto progress = group.progress(row);
        lag += progress.lag;
        dead_letters += row.dead_letters;
        std::string owner = row.ownership.owner.empty() ? "-" : printable(row.ownership.owner);
        if (!row.ownership.owner.empty() && !row.is_alive) owner += " (gone)";
        if (group.paused.contains({row.hub.partition})) owner += " (paused)";
        if (group.parked.contains({row.hub.partition})) owner += " (parked)";
        const auto loss = progress.loss_at_ms;
        listing.add(
            {std::to_string(row.hub.partition), owner,
             row.ownership.owner.empty() ? Cell("-") : time_cell(row.ownership.since_ms, now),
             Cell(number(progress.position), std::to_string(progress.position)),
             Cell(number(row.hub.last_enqueued_sequence_number),
                  std::to_string(row.hub.last_enqueued_sequence_number)),
             progress.is_beyond_end ? Cell("-", "")
                                    : count_cell(static_cast<std::uint64_t>(progress.lag)),
             span_cell(progress.behind_ms),
             span_cell(loss ? std::optional(*loss - now) : std::nullopt),
             count_cell(row.dead_letters), time_cell(row.checkpoint.written_ms, now)});
    }
    fmt::print("{}", listing.text(terminal_of(stdout)));
    fmt::print(stderr, "group '{}' of event hub '{}': {}, {} behind\n", printable(options.group),
               printable(options.event_hub), plural(group.members.size(), "member"),
               plural(static_cast<std::uint64_t>(lag), "event"));
    if (!group.is_there) {
        fmt::print(stderr,
                   "the store has no entries of this group: no processor has used it yet\n");
    }
    const ParkedPlace place{options.event_hub, options.group, options.store};
    fmt::print(stderr, "{}", parked_lines(group.parked, place, now));
    print_letter_hints(options, place, dead_letters - letters_in_hub, letters_in_hub);
    if (group.store_lost) {
        fmt::print(stderr, "{}\n", printable(processor::not_accepted(*group.store_lost).detail));
    }
    print_row_hints(group, place);
}

}  // namespace

ExitCode status(const StatusOptions& options) {
    const std::string what =
        fmt::format("cannot get the status of event hub '{}'", options.event_hub);
    const auto remote = remote_of(options.remote);
    if (!remote.ok()) return fail_options(remote.error());
    bool hub_answered = false;
    auto group = look_at_group(*remote, {options.event_hub, options.group, options.store},
                               "evenkeel status", hub_answered);
    if (!group.ok()) {
        return hub_answered ? fail_store(what, group.error(), options.store)
                            : fail_remote(what, group.error(), *remote);
    }
    const auto in_hub = count_letters_in_hub(options, *group);
    if (!in_hub.ok()) {
        return fail("cannot count the letters of the dead-letter hub", in_hub.error());
    }
    if (!has_group(*remote, options.event_hub, options.group)) {
        if (!group->is_there) {
            return fail_no_group(what, *remote, options.event_hub, options.group);
        }
        // It was removed: what its processors had done is still worth a look.
        fmt::print(stderr,
                   "event hub '{0}' has no consumer group '{1}' any more; 'evenkeel group "
                   "create {0} {1}' creates it again\n",
                   printable(options.event_hub), printable(options.group));
    }
    if (options.json) {
        print_json(options, *group);
    } else {
        print_table(options, *group, *in_hub);
    }
    return ExitCode::done;
}

}  // namespace evenkeel::cli
