// tidy: no test: tests/process/cli/backup_test.cc tests it against a hub
#include "cli/commands/hub_backup.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include <fmt/core.h>

#include "base/clock.h"
#include "base/time_point.h"
#include "cli/backup_file.h"
#include "cli/commands/hub_command.h"
#include "cli/interrupt.h"
#include "cli/remote/admin_client.h"
#include "cli/remote/side_readers.h"
#include "cli/restorer.h"
#include "cli/text/failure.h"
#include "cli/text/terminal.h"
#include "eventhubs/forward.h"
#include "eventhubs/names.h"
#include "io/system/files.h"
#include <evenkeel/consumer.h>

namespace evenkeel::cli {
namespace {

constexpr std::size_t copied_events = 500;
constexpr auto read_wait = std::chrono::seconds(1);
// A partition that gives nothing for so long, though it has more, is given up.
constexpr int silent_reads_max = 60;
constexpr auto shown_every = std::chrono::milliseconds(250);

// One line on the terminal that is written over.
class ProgressLine {
public:
    ProgressLine(std::string verb, bool quiet)
        : verb_(std::move(verb)), terminal_(terminal_of(stderr)), quiet_(quiet) {}
    ~ProgressLine() { clear(); }
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    void show(std::uint64_t events, std::uint64_t all, std::uint32_t partition) {
        if (quiet_ || !terminal_.is_terminal || clock_.now() - shown_at_ < shown_every) return;
        shown_at_ = clock_.now();
        is_shown_ = true;
        fmt::print(stderr, "\r{} {} of {} events  partition {}\x1b[K", verb_, with_commas(events),
                   with_commas(all), partition);
        std::fflush(stderr);
    }
    void clear() {
        if (is_shown_) fmt::print(stderr, "\r\x1b[K");
        is_shown_ = false;
    }

private:
    const std::string verb_;
    const Terminal terminal_;
    const bool quiet_;
    const SystemClock clock_;
    Instant shown_at_ = clock_.now();
    bool is_shown_ = false;
};

// Where events of an event hub go to, in their order.
class EventTarget {
public:
    virtual ~EventTarget() = default;
    virtual Result<> add(std::uint32_t partition, const BackupEvent& event) = 0;
    virtual Result<> end_partition(std::uint32_t partition) = 0;
};

class FileTarget final : public EventTarget {
public:
    explicit FileTarget(BackupWriter& writer) : writer_(writer) {}
    Result<> add(std::uint32_t partition, const BackupEvent& event) override {
        return noted(writer_.add(partition, event));
    }
    Result<> end_partition(std::uint32_t partition) override {
        return noted(writer_.end_partition(partition));
    }
    // It is the file that failed, not the hub.
    bool has_failed() const { return has_failed_; }

private:
    Result<> noted(Result<> result) {
        has_failed_ = !result.ok();
        return result;
    }

    BackupWriter& writer_;
    bool has_failed_ = false;
};

class HubTarget final : public EventTarget {
public:
    explicit HubTarget(Restorer& restorer) : restorer_(restorer) {}
    Result<> add(std::uint32_t partition, const BackupEvent& event) override {
        return restorer_.add(partition, event);
    }
    Result<> end_partition(std::uint32_t partition) override {
        return restorer_.end_partition(partition);
    }

private:
    Restorer& restorer_;
};

Error interrupted() {
    return {ErrorCode::cancelled, "interrupted"};
}

// A back-up has all partitions in their order; a server may say anything.
Result<> check_list(const std::vector<PartitionState>& partitions, std::uint32_t wanted) {
    bool is_complete = wanted > 0 && partitions.size() == wanted;
    for (std::uint32_t i = 0; is_complete && i < wanted; ++i) {
        is_complete = partitions[i].partition == i;
    }
    if (is_complete) return {};
    return Error{ErrorCode::conflict,
                 fmt::format("of {} partitions the hub lists {}, or not in their order: the event "
                             "hub changed meanwhile, or the server's answer is wrong",
                             wanted, partitions.size())};
}

// Reads what an event hub holds at this moment.
class HubSource {
public:
    static Result<HubSource> open(const Remote& remote, const std::string& event_hub) {
        HubSource source;
        EK_TRY_ASSIGN(auto properties, first_contact(remote, event_hub));
        source.identity_ = std::move(properties.identity);
        AdminClient admin(remote);
        EK_TRY_ASSIGN(const auto info, admin.hub(event_hub));
        EK_TRY_ASSIGN(source.partitions_, admin.partitions(event_hub));
        EK_TRY(check_list(source.partitions_, info.options.partitions));
        for (const auto& partition : source.partitions_) {
            if (partition.problems.empty()) continue;
            return Error{ErrorCode::corrupt, fmt::format("partition {}: {}", partition.partition,
                                                         partition.problems.front())};
        }
        source.hub_ = {info.name,
                       info.options.partitions,
                       info.options.retention.count(),
                       info.options.partition_bytes_max,
                       wall_time(info.created_time).milliseconds,
                       SystemClock().wall().milliseconds,
                       info.groups};
        // Left by a command that was killed.
        std::erase(source.hub_.groups, SideReaders::own_group);
        source.events_ = totals_of(source.partitions_).events;
        EK_TRY_ASSIGN(source.client_,
                      Client::open(client_options(remote, event_hub, "evenkeel hub backup",
                                                  Patience::usual)));
        source.readers_.emplace(remote, *source.client_, event_hub, "evenkeel hub backup");
        return source;
    }

    const BackupHub& hub() const { return hub_; }
    const std::string& identity() const { return identity_; }  // of the server
    std::uint64_t events() const { return events_; }

    Result<> copy_to(EventTarget& target, ProgressLine& progress, Interrupt& interrupt) {
        auto copied = copy_all(target, progress, interrupt);
        readers_->close();
        return copied;
    }

private:
    Result<> copy_all(EventTarget& target, ProgressLine& progress, Interrupt& interrupt) {
        std::uint64_t done = 0;
        for (const auto& partition : partitions_) {
            EK_TRY(copy(partition, target, done, progress, interrupt));
            EK_TRY(target.end_partition(partition.partition));
        }
        return {};
    }
    Result<> copy(const PartitionState& partition, EventTarget& target, std::uint64_t& done,
                  ProgressLine& progress, Interrupt& interrupt) {
        if (partition.is_empty) return {};
        const std::int64_t last = partition.last_enqueued_sequence_number;
        EK_TRY_ASSIGN(auto reader, readers_->open(partition.partition, Position::earliest()));
        std::int64_t expected = -1;
        for (int silent = 0; silent < silent_reads_max;) {
            if (interrupt.wait(Duration(0))) return interrupted();
            const auto batch = reader->read(copied_events, read_wait);
            if (!batch.ok() && SideReaders::is_displaced(batch.error().code)) {
                EK_TRY_ASSIGN(reader,
                              readers_->open(partition.partition,
                                             expected < 0 ? Position::earliest()
                                                          : Position::at_sequence(expected)));
                continue;
            }
            EK_TRY(batch);
            silent = batch->empty() ? silent + 1 : 0;
            for (const Event& event : *batch) {
                if (expected >= 0 && event.sequence_number != expected) {
                    return Error{
                        ErrorCode::corrupt,
                        fmt::format("partition {}: events {} to {} are missing: retention "
                                    "or a purge removed them meanwhile, or they are "
                                    "damaged",
                                    partition.partition, expected, event.sequence_number - 1)};
                }
                expected = event.sequence_number + 1;
                const auto sections = eventhubs::stored_sections(event.sections);
                EK_TRY(target.add(partition.partition, {event.sequence_number, event.offset,
                                                        wall_time(event.enqueued_time).milliseconds,
                                                        event.partition_key, sections}));
                progress.show(++done, events_, partition.partition);
                if (event.sequence_number >= last) return {};
            }
        }
        return Error{ErrorCode::timed_out, fmt::format("partition {} gave no more events before {}",
                                                       partition.partition, last)};
    }

    HubSource() = default;
    BackupHub hub_;
    std::string identity_;
    std::vector<PartitionState> partitions_;
    std::uint64_t events_ = 0;
    std::unique_ptr<Client> client_;
    std::optional<SideReaders> readers_;
};

// `go_on` is how the command is repeated; empty if it begins anew anyway.
ExitCode ended_by(const Error& error, std::string_view what, const Remote& remote,
                  std::string_view go_on = {}) {
    if (error.code == ErrorCode::cancelled) {
        fmt::print(stderr, "{}: interrupted{}{}\n", what, go_on.empty() ? "" : "; ", go_on);
        return ExitCode::interrupted;
    }
    const bool may_pass = error.code == ErrorCode::unavailable ||
                          error.code == ErrorCode::timed_out || error.code == ErrorCode::overloaded;
    return fail_remote(what, error, remote, may_pass ? go_on : std::string_view());
}

// A copy onto itself: the connection strings may differ although the server is the same one.
std::optional<ExitCode> refuse_itself(const HubBackup& options, const HubSource& source,
                                      const Remote& to) {
    if (eventhubs::folded(options.event_hub) != eventhubs::folded(options.to_hub)) {
        return std::nullopt;
    }
    const auto there = first_contact(to, options.to_hub);
    if (!there.ok() || there->identity != source.identity()) return std::nullopt;
    return wrong_usage(
        fmt::format("event hub '{}' cannot be copied onto itself", options.event_hub),
        "name another event hub, or another server with --to-connection");
}

// Tells which partitions have other numbers than before.
void tell_shift(const std::vector<BackupPartition>& partitions, const HubBackup& options) {
    if (options.quiet) return;
    for (const auto& partition : partitions) {
        if (partition.first_sequence_number <= 0) continue;
        fmt::print(stderr, "partition {}: sequence numbers are now lower by {}\n",
                   partition.partition,
                   with_commas(static_cast<std::uint64_t>(partition.first_sequence_number)));
    }
}

// Reads the whole file once: nothing is restored from one that is damaged.
struct Checked {
    BackupHub hub;
    std::uint64_t events = 0;
    std::vector<BackupPartition> partitions;
    std::int64_t oldest_ms = 0;
};
Result<Checked> check_file(io::FileSystem& files, const std::string& path, Interrupt& interrupt) {
    EK_TRY_ASSIGN(const auto reader, BackupReader::open(files, path));
    Checked checked{reader->hub(), 0, {}, 0};
    while (true) {
        EK_TRY_ASSIGN(const auto item, reader->next());
        if (item.kind == BackupReader::Item::Kind::end) return checked;
        if (item.kind == BackupReader::Item::Kind::partition_end) {
            checked.partitions.push_back(item.ended);
            continue;
        }
        if (checked.events++ == 0 || item.event.enqueued_ms < checked.oldest_ms) {
            checked.oldest_ms = item.event.enqueued_ms;
        }
        if (checked.events % 10'000 == 0 && interrupt.wait(Duration(0))) return interrupted();
    }
}

Result<> restore_file(io::FileSystem& files, const HubBackup& options, const Checked& checked,
                      Restorer& restorer, Interrupt& interrupt) {
    EK_TRY_ASSIGN(const auto reader, BackupReader::open(files, options.file));
    ProgressLine progress("restored", options.quiet);
    std::uint64_t done = 0;
    while (true) {
        EK_TRY_ASSIGN(const auto item, reader->next());
        if (item.kind == BackupReader::Item::Kind::end) return {};
        if (item.kind == BackupReader::Item::Kind::partition_end) {
            EK_TRY(restorer.end_partition(item.ended.partition));
            continue;
        }
        EK_TRY(restorer.add(item.partition, item.event));
        progress.show(++done, checked.events, item.partition);
        if (interrupt.wait(Duration(0))) return interrupted();
    }
}

void warn_of_retention(const Checked& checked) {
    const std::int64_t now = SystemClock().wall().milliseconds;
    if (checked.events == 0 || checked.hub.retention_ms == 0 ||
        now - checked.oldest_ms <= checked.hub.retention_ms) {
        return;
    }
    fmt::print(stderr,
               "warning: the oldest events are older than the retention of the event hub, which "
               "removes them; 'evenkeel hub create NAME --partitions {} --retention forever' "
               "before the restore keeps them\n",
               checked.hub.partitions);
}

}  // namespace

ExitCode hub_backup(const HubBackup& options) {
    Interrupt interrupt;
    const std::string what = fmt::format("event hub '{}' was not backed up", options.event_hub);
    io::system::SystemFiles files;
    if (options.file == "-") {
        return wrong_usage("a back-up is written to a file, not to standard output",
                           "name a file; ./- is one of this name");
    }
    const auto exists = io::system::is_replaceable(options.file);
    if (!exists.ok()) return fail(what, exists.error(), "name a file");
    if (!options.force && *exists) {
        return fail(what, Error{ErrorCode::already_exists, options.file + " exists"},
                    "--force replaces it");
    }
    const auto remote = remote_of(options.remote);
    if (!remote.ok()) return fail_options(remote.error());
    auto source = HubSource::open(*remote, options.event_hub);
    if (!source.ok()) return fail_remote(what, source.error(), *remote);
    auto writer = BackupWriter::create(files, options.file, source->hub());
    if (!writer.ok()) return fail(what, writer.error(), "name a file in a folder that exists");
    {
        ProgressLine progress("backed up", options.quiet);
        FileTarget target(**writer);
        const auto copied = source->copy_to(target, progress, interrupt);
        if (!copied.ok() && target.has_failed()) return fail(what, copied.error());
        if (!copied.ok()) return ended_by(copied.error(), what, *remote);
    }
    if (const auto finished = (*writer)->finish(); !finished.ok()) {
        return fail(what, finished.error());
    }
    if (!options.quiet) {
        fmt::print(stderr, "backed up event hub '{}': {} event{}, {} partition{}, {} in {}\n",
                   options.event_hub, with_commas((*writer)->events()),
                   (*writer)->events() == 1 ? "" : "s", source->hub().partitions,
                   source->hub().partitions == 1 ? "" : "s", bytes_text((*writer)->bytes()),
                   options.file);
    }
    return ExitCode::done;
}

ExitCode hub_restore(const HubBackup& options) {
    Interrupt interrupt;
    io::system::SystemFiles files;
    const auto checked = check_file(files, options.file, interrupt);
    if (!checked.ok()) {
        if (checked.error().code == ErrorCode::cancelled) return ExitCode::interrupted;
        return fail(fmt::format("nothing was restored from {}", options.file), checked.error());
    }
    const std::string name = options.event_hub.empty() ? checked->hub.name : options.event_hub;
    if (options.dry_run) {
        fmt::print(stderr, "{} is whole: event hub '{}' of {}, {} event{}, {} partition{}\n",
                   options.file, checked->hub.name, to_string(WallTime{checked->hub.taken_ms}),
                   with_commas(checked->events), checked->events == 1 ? "" : "s",
                   checked->hub.partitions, checked->hub.partitions == 1 ? "" : "s");
        return ExitCode::would_change;
    }
    const auto remote = remote_of(options.remote);
    if (!remote.ok()) return fail_options(remote.error());
    warn_of_retention(*checked);
    const std::string what = fmt::format("event hub '{}' was not restored", name);
    const auto restorer = Restorer::open(*remote, name, checked->hub, options.resume, interrupt);
    if (!restorer.ok()) return fail_remote(what, restorer.error(), *remote);
    const auto restored = restore_file(files, options, *checked, **restorer, interrupt);
    if (!restored.ok()) {
        fmt::print(stderr, "{} of {} events were restored\n",
                   with_commas((*restorer)->stored() + (*restorer)->skipped()),
                   with_commas(checked->events));
        return ended_by(restored.error(), what, *remote, "go on with --resume");
    }
    tell_shift(checked->partitions, options);
    if (!options.quiet) {
        fmt::print(stderr, "restored event hub '{}': {} event{}, {} partition{}\n", name,
                   with_commas(checked->events), checked->events == 1 ? "" : "s",
                   checked->hub.partitions, checked->hub.partitions == 1 ? "" : "s");
    }
    return ExitCode::done;
}

ExitCode hub_copy(const HubBackup& options) {
    Interrupt interrupt;
    const std::string what = fmt::format("event hub '{}' was not copied", options.event_hub);
    const auto from = remote_of(options.remote);
    if (!from.ok()) return fail_options(from.error());
    const bool is_elsewhere = !options.to.connection.empty();
    if (is_elsewhere && options.to.url.empty() && std::getenv("EVENKEEL_URL") != nullptr) {
        // It would be taken for the address of the other server as well.
        return wrong_usage("EVENKEEL_URL names the admin interface of one of the two servers",
                           "name that of the other one with --to-url");
    }
    const auto to = remote_of(is_elsewhere ? options.to : options.remote);
    if (!to.ok()) return fail(what, to.error());
    auto source = HubSource::open(*from, options.event_hub);
    if (!source.ok()) return fail_remote(what, source.error(), *from);
    if (const auto refused = refuse_itself(options, *source, *to)) return *refused;
    const auto restorer =
        Restorer::open(*to, options.to_hub, source->hub(), options.resume, interrupt);
    if (!restorer.ok()) return fail_remote(what, restorer.error(), *to);
    {
        ProgressLine progress("copied", options.quiet);
        HubTarget target(**restorer);
        const auto copied = source->copy_to(target, progress, interrupt);
        progress.clear();
        if (!copied.ok()) {
            fmt::print(stderr, "{} of {} events were copied\n",
                       with_commas((*restorer)->stored() + (*restorer)->skipped()),
                       with_commas(source->events()));
            return ended_by(copied.error(), what, *to, "go on with --resume");
        }
    }
    if (!options.quiet) {
        fmt::print(stderr, "copied event hub '{}' to '{}': {} event{}\n", options.event_hub,
                   options.to_hub, with_commas((*restorer)->stored() + (*restorer)->skipped()),
                   (*restorer)->stored() + (*restorer)->skipped() == 1 ? "" : "s");
    }
    return ExitCode::done;
}

}  // namespace evenkeel::cli
