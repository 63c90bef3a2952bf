#include "cli/commands/deadletter.h"

#include <algorithm>

#include <boost/json.hpp>
#include <fmt/core.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/commands/deadletter_replay.h"
#include "cli/remote/letter_box.h"
#include "cli/remote/store_session.h"
#include "cli/text/letter_view.h"

namespace evenkeel::cli {
namespace {

using checkpoint::DeadLetter;
using checkpoint::DeadLetterId;

// Those that a command is about, and where they are.
struct ChosenLetters {
    std::unique_ptr<LetterBox> box;
    std::vector<LetterRow> rows;

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
        return fail(what, error, "'evenkeel deadletter ls' lists them");
    }
    if (options.letter_hub == "store") return fail_store(what, error, options.store);
    const auto remote = remote_of(options.remote);
    return remote.ok() ? fail_remote(what, error, *remote) : fail(what, error);
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
    if (!chosen.ok()) return fail_letters("cannot list dead letters", chosen.error(), options);
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
    if (!written.ok()) return fail_letters("cannot export dead letters", written.error(), options);
    return ExitCode::done;
}

ExitCode deadletter_rm(const DeadLetterOptions& options) {
    const char* what = "cannot remove dead letters";
    if (!is_choice(options)) return fail_no_choice("rm");
    const auto chosen = choose_letters(options, EntriesFor::changing);
    if (!chosen.ok()) return fail_letters(what, chosen.error(), options);
    const std::string text = fmt::format("{} of group '{}' of event hub '{}'",
                                         plural(chosen->rows.size(), "dead letter"),
                                         printable(options.group), printable(options.event_hub));
    if (chosen->rows.size() > 1 || options.danger.dry_run) {
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
    if (!remote.ok()) return fail(what, remote.error());
    return replay_letters(*chosen->box, chosen->ids(), *remote, to, options.output == "json");
}

}  // namespace evenkeel::cli
