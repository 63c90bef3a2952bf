#include "cli/commands/deadletter.h"

#include <algorithm>
#include <optional>

#include <boost/json.hpp>
#include <fmt/core.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/commands/deadletter_replay.h"
#include "cli/remote/group_contact.h"
#include "cli/remote/letter_box.h"
#include "cli/remote/store_session.h"
#include "cli/text/letter_view.h"
#include "cli/text/parked.h"

namespace evenkeel::cli {
namespace {

using checkpoint::DeadLetter;
using checkpoint::DeadLetterId;

// Those that a command is about, and where they are.
struct ChosenLetters {
    std::unique_ptr<LetterBox> box;
    std::vector<LetterRow> rows;
    bool has_any = false;  // of which these were chosen

    std::vector<DeadLetterId> ids() const {
        std::vector<DeadLetterId> all;
        for (const LetterRow& row : rows) all.push_back(id_of(row.letter));
        return all;
    }
};

// `not_found` names those that were asked for and are not there.
Result<ChosenLetters> choose_letters(const DeadLetterOptions& options,
                                     EntriesFor purpose = EntriesFor::looking) {
    LetterChoice choice{{}, options.partitions, options.cause};
    for (const std::string& text : options.ids) {
        EK_TRY_ASSIGN(const DeadLetterId id, checkpoint::parse_letter_id(text));
        choice.ids.push_back(id);
    }
    ChosenLetters chosen;
    EK_TRY_ASSIGN(chosen.box, LetterBox::open({{options.event_hub, options.group},
                                               options.remote,
                                               options.store,
                                               options.hub_namespace,
                                               options.letter_hub,
                                               purpose}));
    EK_TRY_ASSIGN(chosen.rows, chosen.box->list());
    chosen.has_any = !chosen.rows.empty();
    std::erase_if(chosen.rows, [&](const LetterRow& row) { return !matches(choice, row.letter); });
    const auto found = chosen.ids();
    for (const DeadLetterId& id : choice.ids) {
        if (std::ranges::find(found, id) != found.end()) continue;
        return Error{ErrorCode::not_found,
                     fmt::format("group '{}' of event hub '{}' has no dead letter {} in {}",
                                 options.group, options.event_hub, to_string(id),
                                 options.letter_hub == "store"
                                     ? "its store"
                                     : fmt::format("event hub '{}'", options.letter_hub))};
    }
    return chosen;
}

// The hint is about what did not answer: the store or the hub.
ExitCode fail_letters(std::string_view what, const Error& error, const DeadLetterOptions& options) {
    if (error.code == ErrorCode::not_found && !options.ids.empty()) {
        return fail(what, error,
                    fmt::format("'{}' lists them",
                                group_command("deadletter ls",
                                              {options.event_hub, options.group, options.store})));
    }
    if (options.letter_hub == "store") return fail_store(what, error, options.store);
    const auto remote = remote_of(options.remote);
    return remote.ok() ? fail_remote(what, error, *remote) : fail(what, error);
}

// A name that was mistyped has no dead letters either. None: the group exists; what cannot be told
// is said on stderr. Entries of a namespace that was named may be of a hub that is gone.
std::optional<ExitCode> fail_unknown_group(std::string_view what, const ChosenLetters& chosen,
                                           const DeadLetterOptions& options) {
    if (chosen.has_any || !options.hub_namespace.empty()) return std::nullopt;
    const auto remote = remote_of(options.remote);
    if (!remote.ok()) return fail_options(remote.error());
    const auto contact = first_contact(*remote, options.event_hub);
    if (!contact.ok() && contact.error().code == ErrorCode::not_found) {
        return fail_remote(what, contact.error(), *remote);
    }
    if (!contact.ok()) {
        fmt::print(stderr, "warning: whether event hub '{}' has a group '{}' is not known: {}\n",
                   printable(options.event_hub), printable(options.group),
                   visible(without_secrets(contact.error().detail)));
        return std::nullopt;
    }
    if (has_group(*remote, options.event_hub, options.group)) return std::nullopt;
    return fail_no_group(what, *remote, options.event_hub, options.group);
}

// Whether the options say which dead letters are meant.
bool is_choice(const DeadLetterOptions& options) {
    return options.all || !options.ids.empty() || !options.partitions.empty() ||
           !options.cause.empty();
}

ExitCode fail_no_choice(std::string_view command) {
    return wrong_usage("it is not said which dead letters are meant",
                       fmt::format("evenkeel deadletter {} HUB 3/17, or --partition, --cause or "
                                   "--all",
                                   command));
}

}  // namespace

ExitCode deadletter_ls(const DeadLetterOptions& options) {
    const auto chosen = choose_letters(options);
    const char* what = "cannot list dead letters";
    if (!chosen.ok()) return fail_letters(what, chosen.error(), options);
    if (const auto unknown = fail_unknown_group(what, *chosen, options)) return *unknown;
    if (options.output == "json") {
        fmt::print("{}", indented(letters_json(chosen->rows)));
        return ExitCode::done;
    }
    const std::int64_t now = SystemClock().wall().milliseconds;
    fmt::print("{}", letter_listing(chosen->rows, now).text(terminal_of(stdout)));
    fmt::print(stderr, "{} of group '{}' of event hub '{}'\n",
               plural(chosen->rows.size(), "dead letter"), printable(options.group),
               printable(options.event_hub));
    return ExitCode::done;
}

ExitCode deadletter_show(const DeadLetterOptions& options) {
    const LetterPlace place{options.event_hub, options.group};
    const auto chosen = choose_letters(options);
    const auto shown = [&]() -> Result<> {
        if (!chosen.ok()) return chosen.error();
        return chosen->box->each(chosen->ids(), [&](const DeadLetter& letter) -> Result<> {
            const Terminal terminal = terminal_of(stdout);
            const Event event = event_of(letter);
            if (options.output == "json") {
                fmt::print("{}\n", letter_json(place, letter));
            } else if (options.output == "raw") {
                fmt::print("{}", event.text());
            } else {
                fmt::print(
                    "{}\n{}\n", letter_fields(place, letter).text(terminal),
                    terminal.is_terminal ? visible(event.text()) : std::string(event.text()));
            }
            return {};
        });
    }();
    if (!shown.ok()) return fail_letters("cannot show the dead letter", shown.error(), options);
    return ExitCode::done;
}

ExitCode deadletter_export(const DeadLetterOptions& options) {
    const LetterPlace place{options.event_hub, options.group};
    const auto chosen = choose_letters(options);
    const auto written = [&]() -> Result<> {
        if (!chosen.ok()) return chosen.error();
        return chosen->box->each(chosen->ids(), [&](const DeadLetter& letter) -> Result<> {
            fmt::print("{}\n", letter_json(place, letter));
            return {};
        });
    }();
    const char* what = "cannot export dead letters";
    if (!written.ok()) return fail_letters(what, written.error(), options);
    if (const auto unknown = fail_unknown_group(what, *chosen, options)) return *unknown;
    return ExitCode::done;
}

ExitCode deadletter_rm(const DeadLetterOptions& options) {
    const char* what = "cannot remove dead letters";
    if (!is_choice(options)) return fail_no_choice("rm");
    const auto chosen = choose_letters(options, EntriesFor::changing);
    if (!chosen.ok()) return fail_letters(what, chosen.error(), options);
    if (const auto unknown = fail_unknown_group(what, *chosen, options)) return *unknown;
    const std::string text = fmt::format("{} of group '{}' of event hub '{}'",
                                         plural(chosen->rows.size(), "dead letter"),
                                         printable(options.group), printable(options.event_hub));
    // How many a filter chooses, the user does not know.
    const bool is_named = !options.ids.empty() && chosen->rows.size() == 1;
    if ((!chosen->rows.empty() && !is_named) || options.danger.dry_run) {
        const auto ended = ask_first(options.danger, text + " would be removed for good");
        if (ended) return *ended;
    }
    std::size_t count = 0;
    for (const LetterRow& row : chosen->rows) {
        const auto removed = chosen->box->remove(row.letter);
        if (!removed.ok()) {
            const ExitCode code =
                fail_letters(fmt::format("only {} removed", plural(count, "dead letter")),
                             removed.error(), options);
            return count == 0 ? code : ExitCode::partly_done;
        }
        ++count;
    }
    fmt::print(stderr, "removed {}\n", text);
    return ExitCode::done;
}

ExitCode deadletter_replay(const DeadLetterOptions& options) {
    const char* what = "nothing was replayed";
    if (!is_choice(options)) return fail_no_choice("replay");
    const auto chosen = choose_letters(options, EntriesFor::changing);
    if (!chosen.ok()) return fail_letters(what, chosen.error(), options);
    if (const auto unknown = fail_unknown_group(what, *chosen, options)) return *unknown;
    const std::string& to = options.to.empty() ? options.event_hub : options.to;
    if (options.danger.dry_run) {
        return *ask_first(options.danger,
                          fmt::format("{} would be sent to event hub '{}'",
                                      plural(chosen->rows.size(), "dead letter"), printable(to)));
    }
    if (chosen->rows.empty()) {
        fmt::print(stderr, "there is no such dead letter: nothing to replay\n");
        return ExitCode::done;
    }
    const auto remote = remote_of(options.remote);
    if (!remote.ok()) return fail_options(remote.error());
    return replay_letters(*chosen->box, chosen->ids(), *remote, to, options.output == "json");
}

}  // namespace evenkeel::cli
