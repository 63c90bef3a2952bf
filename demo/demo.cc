#include "demo/demo.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include <fmt/core.h>

#include "base/log.h"
#include "base/random.h"
#include "cli/interrupt.h"
#include "cli/temporary_folder.h"
#include "demo/cast.h"
#include "demo/checker.h"
#include "demo/script.h"
#include "demo/verdict.h"
#include "demo/view.h"
#include "hub/namespace.h"
#include "io/system/files.h"
#include "server/server.h"

namespace evenkeel::demo {
namespace {

constexpr Duration look_interval = std::chrono::milliseconds(200);
constexpr Duration short_look = std::chrono::milliseconds(5);
constexpr Duration purge_interval = std::chrono::seconds(5);
// Behind what was read, when old events are removed.
constexpr std::int64_t kept_events = 10'000;

constexpr std::uint64_t checkpoint_events = 500;
constexpr std::size_t handler_events_max = 256;
// Without an event for this long, what is still missing at the end is lost.
constexpr Duration patience = std::chrono::seconds(5);

// As the checker knows it; not among the processors.
constexpr std::uint32_t producer_process = 1000;

struct OpenFailure {
    std::string what;
    Error error;
    std::string hint;
};

class Demo {
public:
    Demo(const Options& options, cli::Interrupt& interrupt)
        : options_(options),
          interrupt_(interrupt),
          run_(secure_number()),
          script_(script_for(options.duration)) {}
    ~Demo() {
        cast_.reset();
        server_.reset();
    }

    std::optional<OpenFailure> open();
    void run();
    Verdict judge() const;
    std::optional<Error> first_error() const { return checker_->error(); }
    // False if the processors or the producers did not come as far as the first event.
    bool has_begun() const { return view_ != nullptr; }

private:
    Result<> open_hub(const std::string& directory);
    Result<> look_at_partitions();
    Result<std::vector<std::int64_t>> last_sequences();
    Result<> start_processor();
    Result<> start_producers();
    bool wait_until_ready(std::size_t member);
    void show_until_the_end();
    void play(Instant now);
    void say(const std::string& text);
    void stop_producers();
    void finish_processors();
    void purge_what_was_read();

    const Options options_;
    cli::Interrupt& interrupt_;
    const SystemClock clock_;
    const std::uint64_t run_;
    std::uint32_t partitions_ = 0;
    std::unique_ptr<cli::TemporaryFolder> temporary_;  // outlives the hub
    std::unique_ptr<server::Server> server_;
    std::string connection_;
    std::unique_ptr<Checker> checker_;
    std::unique_ptr<Cast> cast_;
    std::vector<std::int64_t> last_before_;
    std::unique_ptr<cli::TemporaryFolder> progress_;
    std::string store_;
    std::string headline_;
    Script script_;
    std::unique_ptr<View> view_;
    std::vector<std::size_t> processors_;  // of the cast
    std::optional<std::size_t> producer_;
    std::optional<std::size_t> killed_;
    Instant killed_time_;
    std::vector<std::size_t> orphans_;  // the partitions that it had
    bool taken_over_ = false;
    Duration ran_{};
};

std::optional<OpenFailure> Demo::open() {
    std::string directory = options_.data;
    if (directory.empty()) {
        auto folder = cli::TemporaryFolder::make({}, "demo");
        if (!folder.ok()) {
            return OpenFailure{"cannot create a temporary folder", folder.error(),
                               "set TMPDIR, or give --data DIR"};
        }
        temporary_ = std::move(*folder);
        directory = temporary_->path();
    }
    const Instant before = clock_.now();
    if (const auto opened = open_hub(directory); !opened.ok()) {
        return OpenFailure{"cannot open the hub in " + directory, opened.error(),
                           opened.error().code == ErrorCode::conflict
                               ? "end the other process, or give another folder with --data"
                               : "--data DIR with a folder that you may write to"};
    }
    const auto took = std::chrono::duration<double, std::milli>(clock_.now() - before).count();
    if (const auto result = look_at_partitions(); !result.ok()) {
        return OpenFailure{fmt::format("cannot use event hub '{}'", options_.event_hub),
                           result.error(), "another name with --hub"};
    }
    cast_ = std::make_unique<Cast>(*checker_, connection_);
    store_ = options_.store;
    if (store_.empty()) {
        auto folder = cli::TemporaryFolder::make({}, "demo-progress");
        if (!folder.ok()) {
            return OpenFailure{"cannot create a temporary folder", folder.error(), "set TMPDIR"};
        }
        progress_ = std::move(*folder);
        store_ = "sqlite:" + progress_->path() + "/progress.db";
    }
    for (int i = 0; i < 2; ++i) {
        if (const auto result = start_processor(); !result.ok()) {
            return OpenFailure{"cannot start a child process", result.error(), ""};
        }
    }
    headline_ = fmt::format(
        "Evenkeel {}   hub ready in {:.0f} ms on 127.0.0.1:{}   event hub '{}', {} partitions\n"
        "data in {} ({})\n",
        EVENKEEL_VERSION, took, server_->ports().amqp, options_.event_hub, partitions_, directory,
        temporary_ ? "temporary" : "kept");
    return std::nullopt;
}

Result<> Demo::open_hub(const std::string& directory) {
    const std::string key = secure_hex(24);  // for this run, known only to the demo's processes
    server::ServerOptions wanted;
    wanted.hub.directory = directory;
    wanted.amqp = {{"127.0.0.1", 0}};
    wanted.rules = {{"demo", "", door::Secret(key), {}, {true, true, true}}};
    EK_TRY_ASSIGN(server_, server::Server::open(wanted));
    connection_ = fmt::format(
        "Endpoint=sb://127.0.0.1:{};SharedAccessKeyName=demo;SharedAccessKey={};"
        "UseDevelopmentEmulator=true",
        server_->ports().amqp, key);
    return {};
}

// Makes the event hub, or widens it.
Result<> Demo::look_at_partitions() {
    EventHubOptions fresh;
    fresh.partitions = options_.partitions;
    auto made = server_->call([&](hub::Namespace& hubs, auto done) {
        hubs.create(options_.event_hub, fresh, std::move(done));
    });
    if (!made.ok() && made.error().code != ErrorCode::already_exists) return made;
    EK_TRY(server_->call([&](hub::Namespace& hubs, auto done) {
        const auto found = hubs.find(options_.event_hub);
        if (!found.ok()) return done(found.error());
        partitions_ = (*found)->partition_count();
        if (partitions_ >= options_.partitions) return done({});
        EventHubChange change;
        change.partitions = partitions_ = options_.partitions;
        hubs.alter(options_.event_hub, change, std::move(done));
    }));
    if (partitions_ > options_.partitions) {
        fmt::print(stderr, "event hub '{}' has {} partitions already; all of them are used\n",
                   options_.event_hub, partitions_);
    }
    EK_TRY_ASSIGN(last_before_, last_sequences());
    checker_ = std::make_unique<Checker>(options_.producers, last_before_);
    return {};
}

Result<std::vector<std::int64_t>> Demo::last_sequences() {
    std::vector<std::int64_t> last;
    EK_TRY(server_->call([&](hub::Namespace& hubs, auto done) {
        const auto found = hubs.find(options_.event_hub);
        if (!found.ok()) return done(found.error());
        for (std::uint32_t i = 0; i < partitions_; ++i) {
            const auto partition = (*found)->partition({i});
            if (!partition.ok()) return done(partition.error());
            const auto log = (*partition)->log();
            if (!log.ok()) return done(log.error());
            last.push_back((*log)->properties().last_sequence.value);
        }
        done({});
    }));
    return last;
}

Result<> Demo::start_processor() {
    // There the standard profile is too slow to look at.
    const bool is_fast = script_.is_fast || store_.starts_with("azblob:");
    std::vector<std::string> arguments = {
        "demo-member",
        "--hub=" + options_.event_hub,
        fmt::format("--id={:016x}-{}", run_, processor_name(static_cast<int>(processors_.size()))),
        fmt::format("--profile={}", is_fast ? "fast" : "standard"),
        fmt::format("--checkpoint-every={}", checkpoint_events),
        fmt::format("--batch={}", handler_events_max),
        fmt::format("--run={}", run_),
        fmt::format("--producers={}", options_.producers)};
    // One that was given may have a password in it: it is in the environment (see run()).
    if (options_.store.empty()) arguments.push_back("--store=" + store_);
    for (std::uint32_t i = 0; i < partitions_; ++i) {
        arguments.push_back(fmt::format("--start-of={}:{}", i, last_before_[i]));
    }
    EK_TRY_ASSIGN(const auto member,
                  cast_->start(arguments, static_cast<std::uint32_t>(processors_.size())));
    processors_.push_back(member);
    return {};
}

Result<> Demo::start_producers() {
    EK_TRY_ASSIGN(producer_, cast_->start({"demo-producer", "--hub=" + options_.event_hub,
                                           fmt::format("--run={}", run_),
                                           fmt::format("--partitions={}", partitions_),
                                           fmt::format("--producers={}", options_.producers),
                                           fmt::format("--event-bytes={}", options_.event_bytes),
                                           fmt::format("--batch={}", options_.batch_events),
                                           fmt::format("--rate={}", options_.rate)},
                                          producer_process));
    return {};
}

// False if it failed, or we were interrupted before.
bool Demo::wait_until_ready(std::size_t member) {
    while (!cast_->is_ready(member)) {
        if (checker_->traffic().failed || interrupt_.wait(short_look)) return false;
    }
    return true;
}

void Demo::run() {
    bool ready = true;
    for (const auto processor : processors_) ready = ready && wait_until_ready(processor);
    if (ready) {
        fmt::print(stderr, "{}", headline_);
        if (const auto started = start_producers(); !started.ok()) cast_->fail(started.error());
    }
    if (producer_ && wait_until_ready(*producer_)) show_until_the_end();
    stop_producers();
    finish_processors();
    cast_->finish();
}

void Demo::show_until_the_end() {
    const Instant start = clock_.now();
    view_ = std::make_unique<View>(checker_->traffic(), options_.duration, start);
    say(fmt::format("two processors, {} and {}, share {} partitions", processor_name(0),
                    processor_name(1), partitions_));
    Instant purged = start;
    while (!checker_->traffic().failed) {
        Duration left = look_interval;
        if (options_.duration) {
            left = std::min(left, start + *options_.duration - clock_.now());
            if (left <= Duration(0)) break;
        }
        if (interrupt_.wait(left)) break;
        const Instant now = clock_.now();
        play(now);
        view_->show(now);
        if (temporary_ && now - purged > purge_interval) {
            purge_what_was_read();
            purged = now;
        }
    }
    stop_producers();
    ran_ = clock_.now() - start;
    view_->finish(clock_.now(), interrupt_.requested()
                                    ? "interrupted; handling what was acknowledged ..."
                                    : "handling what was acknowledged ...");
}

void Demo::say(const std::string& text) {
    view_->say(clock_.now(), text);
}

// Whatever the script has for this moment.
void Demo::play(Instant now) {
    const Duration ran = now - view_->start();
    const auto& partitions = checker_->traffic().partitions;
    if (script_.kill_at && !killed_ && ran >= *script_.kill_at) {
        killed_ = processors_[1];
        for (std::size_t i = 0; i < partitions.size(); ++i) {
            if (partitions[i].owner == 1) orphans_.push_back(i);
        }
        cast_->kill(*killed_);
        killed_time_ = now;
        say(fmt::format("{} is killed with SIGKILL; it had {} partitions", processor_name(1),
                        orphans_.size()));
    }
    if (killed_ && !taken_over_) {
        const bool all = std::all_of(orphans_.begin(), orphans_.end(),
                                     [&](std::size_t i) { return partitions[i].owner != 1; });
        if (all) {
            taken_over_ = true;
            say(fmt::format("{} has taken over all of them, {:.1f} s after the kill",
                            processor_name(0),
                            std::chrono::duration<double>(now - killed_time_).count()));
        }
    }
    if (script_.scale_at && processors_.size() == 2 && taken_over_ && ran >= *script_.scale_at) {
        for (int i = 0; i < 2; ++i) {
            if (const auto started = start_processor(); !started.ok()) {
                return cast_->fail(started.error());
            }
        }
        say(fmt::format("{} and {} start; partitions are handed over to them", processor_name(2),
                        processor_name(3)));
    }
}

void Demo::stop_producers() {
    if (!producer_) return;
    cast_->stop(*producer_);
    while (!cast_->is_gone(*producer_)) interrupt_.wait(short_look);
}

// Until all that is stored was handled, or nothing more comes.
void Demo::finish_processors() {
    const auto last = last_sequences();
    Instant last_event = clock_.now();
    std::uint64_t read_before = 0;
    while (last.ok() && !checker_->traffic().failed) {
        std::uint64_t read = 0;
        std::optional<std::size_t> behind;
        for (std::size_t i = 0; i < last->size(); ++i) {
            const auto& traffic = checker_->traffic().partitions[i];
            read += traffic.read.value();
            if (traffic.read_up_to < (*last)[i]) behind = i;
        }
        if (!behind) break;
        const Instant now = clock_.now();
        if (read != read_before) last_event = now;
        read_before = read;
        if (now - last_event > patience) {
            fmt::print(stderr, "partition {}: events after {} did not arrive\n", *behind,
                       checker_->traffic().partitions[*behind].read_up_to.load());
            break;
        }
        interrupt_.wait(short_look);
    }
    for (const auto processor : processors_) {
        if (processor != killed_) cast_->stop(processor);
    }
}

// A temporary folder need not grow for ever: what every reader has behind it may go.
void Demo::purge_what_was_read() {
    // If it fails there is only more on disk than there need be.
    (void)server_->call([&](hub::Namespace& hubs, auto done) {
        const auto found = hubs.find(options_.event_hub);
        for (std::uint32_t i = 0; found.ok() && i < partitions_; ++i) {
            const std::int64_t read = checker_->traffic().partitions[i].read_up_to;
            const auto partition = (*found)->partition({i});
            if (read <= kept_events || !partition.ok() || !(*partition)->log().ok()) continue;
            (*(*partition)->log())->purge({read - kept_events}, [](const Result<>&) {});
        }
        done({});
    });
}

Verdict Demo::judge() const {
    Verdict verdict;
    checker_->judge(verdict);
    verdict.expects_failover = killed_.has_value() && !orphans_.empty();
    // Progress is stored every so many events or once a second; a batch may be under way.
    verdict.repeated_max = orphans_.size() * (checkpoint_events + 2 * handler_events_max +
                                              options_.rate / partitions_);
    verdict.seconds = std::chrono::duration<double>(ran_).count();
    verdict.producers = options_.producers;
    verdict.event_bytes = options_.event_bytes;
    verdict.interrupted = interrupt_.requested();
    return verdict;
}

// Found out before the run, not after an hour of it.
Result<> check_writable(const std::string& file) {
    io::system::SystemFiles files;
    const std::string probe = file + ".probe";
    EK_TRY(files.open(probe, io::OpenMode::create));
    return files.remove(probe);
}

cli::ExitCode tell(const Demo& demo, const Options& options) {
    const auto error = demo.first_error();
    // Of nothing there is nothing to judge.
    if (error && !demo.has_begun()) {
        cli::fail("the demo did not start", *error,
                  options.store.empty()
                      ? "run evenkeel demo again; if it still fails, check the disk"
                      : "use another --store, or none: then the demo creates one");
        return cli::ExitCode::failed;
    }
    const Verdict verdict = demo.judge();
    std::FILE* const out = options.json_file == "-" ? stderr : stdout;
    fmt::print(out, "\n");
    for (const auto& line : lines(verdict, cli::terminal_of(out))) fmt::print(out, "{}\n", line);
    std::fflush(out);
    if (options.json_file == "-") {
        fmt::print("{}", to_json(verdict));
    } else if (!options.json_file.empty()) {
        io::system::SystemFiles files;
        const auto written = io::replace_file(files, options.json_file, as_bytes(to_json(verdict)));
        if (!written.ok()) {
            cli::fail("cannot write the verdict to " + options.json_file, written.error());
            return cli::ExitCode::failed;
        }
    }
    if (error) {
        cli::fail("the stream failed", *error,
                  error->code == ErrorCode::overloaded
                      ? "free some space, or give --data on another disk"
                      : "run evenkeel demo again; if it still fails, check the disk");
        return cli::ExitCode::failed;
    }
    if (!verdict.good()) return cli::ExitCode::failed;
    return verdict.interrupted ? cli::ExitCode::interrupted : cli::ExitCode::done;
}

}  // namespace

cli::ExitCode run(const Options& options) {
    cli::Interrupt interrupt;
    if (!options.json_file.empty() && options.json_file != "-") {
        if (const auto writable = check_writable(options.json_file); !writable.ok()) {
            cli::fail("cannot write to " + options.json_file, writable.error(),
                      "--json FILE in a folder that exists and that you may write to");
            return cli::ExitCode::failed;
        }
    }
    if (!options.store.empty()) ::setenv("EVENKEEL_STORE", options.store.c_str(), 1);
    // What the disk refuses is in the table and in the verdict; lines of it would tear the table.
    set_trace_level(TraceLevel::off);
    Demo demo(options, interrupt);
    if (const auto failure = demo.open())
        return cli::fail(failure->what, failure->error, failure->hint);
    demo.run();
    return tell(demo, options);
}

}  // namespace evenkeel::demo
