#include "demo/demo.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <vector>

#include <unistd.h>

#include <fmt/core.h>

#include "base/log.h"
#include "base/random.h"
#include "cli/interrupt.h"
#include "cli/keyboard.h"
#include "cli/temporary_folder.h"
#include "demo/cast.h"
#include "demo/checker.h"
#include "demo/demo_hub.h"
#include "demo/fleet.h"
#include "demo/homes_cast.h"
#include "demo/moves.h"
#include "demo/outcome.h"
#include "demo/page_watch.h"
#include "demo/script.h"
#include "demo/usage.h"
#include "demo/verdict.h"
#include "demo/view.h"

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
constexpr Duration patience = std::chrono::seconds(15);

// As the checker knows it; not among the processors.
constexpr std::uint32_t producer_process = 1000, other_processes = 1001;

// A window of an aggregator that nothing follows is written after some seconds.
constexpr Duration patience_with_windows = std::chrono::seconds(45);

constexpr Duration usage_interval = std::chrono::seconds(1);

// Readings that are around a kill: in windows that were not written, and not taken over yet.
constexpr std::int64_t around_kill_ms = 2000;

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
          script_(script_for(options.duration)) {
        // An operator plays, who has keys and buttons.
        if (has_homes() && !options.duration) script_ = {.is_fast = script_.is_fast};
    }
    ~Demo() {
        cast_.reset();  // before what its lines are told to
        hub_.close();
    }

    std::optional<OpenFailure> open();
    void run();
    Verdict judge();
    std::optional<Error> first_error() const { return checker_->error(); }
    // False if the processors or the producers did not come as far as the first event.
    bool has_begun() const { return view_ != nullptr; }

private:
    Result<> choose_store();
    Result<> open_event_hub();
    Result<> start_processor();
    Result<> start_producers();
    void count_what_is_stored();
    bool has_homes() const { return options_.has_homes(); }
    // On Blob storage the standard profile is too slow to look at.
    bool is_fast() const { return script_.is_fast || store_.starts_with("azblob:"); }
    bool wait_until_ready(std::size_t member);
    void show_until_the_end();
    // Waits for a key, a signal or the next look; false if it is over.
    bool wait_for_a_look(Duration left, cli::Keyboard* keyboard);
    void play(Instant now);
    void make_moves(Instant now);
    Result<> make(Move move, Instant now);
    void kill(int processor, Instant now);
    Result<> add_processors(int count);
    void switch_sensor_on();
    Stage stage() const;
    void say(const std::string& text);
    // What each process uses now.
    std::string memory_text() const;
    void add_usage(const std::string& group, std::size_t member);
    void stop_producers();
    void finish_processors();
    void purge_what_was_read();

    const Options options_;
    cli::Interrupt& interrupt_;
    const SystemClock clock_;
    const std::uint64_t run_;
    MoveQueue moves_;                                  // outlives the hub, whose page has buttons
    std::unique_ptr<cli::TemporaryFolder> temporary_;  // the same
    DemoHub hub_;
    std::unique_ptr<Checker> checker_;
    std::unique_ptr<Fleet> fleet_;
    std::unique_ptr<Cast> cast_;
    std::vector<std::int64_t> last_before_;
    std::unique_ptr<cli::TemporaryFolder> progress_;
    std::string store_;
    std::string headline_;
    Script script_;
    std::unique_ptr<View> view_;
    std::optional<std::size_t> producer_;  // of the cast
    bool is_sensor_on_ = false;
    bool is_paused_ = false;
    bool is_ended_ = false;  // by a key
    Duration ran_{};
    std::vector<std::int64_t> last_counted_;  // of each partition: told to the checker
    std::unique_ptr<HomesCast> homes_;        // if there are any
    Usage usage_;
    std::unique_ptr<PageWatch> watch_;  // of the residents' page
    std::vector<TakeOver> take_overs_;
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
    if (const auto chosen = choose_store(); !chosen.ok()) {
        return OpenFailure{"cannot create a temporary folder", chosen.error(), "set TMPDIR"};
    }
    const Instant before = clock_.now();
    const auto opened = hub_.open(options_, directory, store_, moves_.controls());
    if (!opened.ok()) {
        return OpenFailure{"cannot open the hub in " + directory, opened.error(),
                           opened.error().code == ErrorCode::conflict
                               ? "end the other process, or give another folder with --data"
                               : "--data DIR with a folder that you may write to"};
    }
    const auto took = std::chrono::duration<double, std::milli>(clock_.now() - before).count();
    if (const auto result = open_event_hub(); !result.ok()) {
        return OpenFailure{fmt::format("cannot use event hub '{}'", options_.event_hub),
                           result.error(), "another name with --hub"};
    }
    cast_ = std::make_unique<Cast>(*checker_, hub_.connection());
    usage_.add("hub", ::getpid());
    if (has_homes()) {
        const std::string aggregates = options_.aggregates.empty()
                                           ? std::string()
                                           : aggregates_of_run(options_.aggregates, run_);
        homes_ = std::make_unique<HomesCast>(
            *cast_, HomesOptions{options_.programs, options_.homes, aggregates, store_, is_fast(),
                                 hub_.connection(), options_.event_hub});
        if (const auto result = homes_->open(other_processes); !result.ok()) {
            return OpenFailure{"cannot start the programs in " + options_.programs, result.error(),
                               "set TMPDIR, if a temporary folder cannot be created"};
        }
        add_usage("alarms", homes_->alarms_and_page()[0]);
        add_usage("page", homes_->alarms_and_page()[1]);
    }
    for (int i = 0; i < 2; ++i) {
        if (const auto result = start_processor(); !result.ok()) {
            return OpenFailure{"cannot start a child process", result.error(), ""};
        }
    }
    headline_ = fmt::format(
        "Evenkeel {}   hub ready in {:.0f} ms on 127.0.0.1:{}   event hub '{}', {} partitions\n"
        "data in {} ({})\n",
        EVENKEEL_VERSION, took, hub_.ports().amqp, options_.event_hub, hub_.partitions(), directory,
        temporary_ ? "temporary" : "kept");
    return std::nullopt;
}

Result<> Demo::open_event_hub() {
    EK_TRY(hub_.open_event_hub(options_));
    EK_TRY_ASSIGN(last_before_, hub_.last_sequences());
    last_counted_ = last_before_;
    checker_ = std::make_unique<Checker>(has_homes() ? 1 : options_.producers, last_before_);
    fleet_ = std::make_unique<Fleet>(checker_->traffic());
    return {};
}

Result<> Demo::choose_store() {
    store_ = options_.store;
    if (!store_.empty()) return {};
    EK_TRY_ASSIGN(progress_, cli::TemporaryFolder::make({}, "demo-progress"));
    store_ = "sqlite:" + progress_->path() + "/progress.db";
    return {};
}

Result<> Demo::start_processor() {
    const auto number = static_cast<std::uint32_t>(fleet_->started());
    const std::string name = processor_name(static_cast<int>(number));
    if (has_homes()) {
        EK_TRY_ASSIGN(
            const std::size_t aggregator,
            homes_->start_aggregator(fmt::format("agg-{:04x}-{}", run_ & 0xffffU, name), number));
        fleet_->add(aggregator);
        add_usage("aggregators", aggregator);
        return {};
    }
    std::vector<std::string> arguments = {
        "demo-member",
        "--hub=" + options_.event_hub,
        fmt::format("--id={:016x}-{}", run_, name),
        fmt::format("--profile={}", is_fast() ? "fast" : "standard"),
        fmt::format("--checkpoint-every={}", checkpoint_events),
        fmt::format("--batch={}", handler_events_max),
        fmt::format("--run={}", run_),
        fmt::format("--producers={}", options_.producers)};
    // One that was given may have a password in it: it is in the environment (see run()).
    if (options_.store.empty()) arguments.push_back("--store=" + store_);
    for (std::uint32_t i = 0; i < hub_.partitions(); ++i) {
        arguments.push_back(fmt::format("--start-of={}:{}", i, last_before_[i]));
    }
    EK_TRY_ASSIGN(const auto member, cast_->start(arguments, number));
    fleet_->add(member);
    add_usage("processors", member);
    return {};
}

// The devices do not know where an event is stored; the hub does.
void Demo::count_what_is_stored() {
    const auto last = hub_.last_sequences();
    if (!last.ok()) return;
    std::vector<Report> reports;
    for (std::uint32_t i = 0; i < hub_.partitions(); ++i) {
        const std::int64_t count = (*last)[i] - last_counted_[i];
        if (count <= 0) continue;
        Report report{.kind = Report::Kind::sent,
                      .partition = i,
                      .number = static_cast<std::uint64_t>(last_counted_[i] + 1),
                      .count = static_cast<std::uint64_t>(count)};
        reports.push_back(report);
        report.kind = Report::Kind::acknowledged;
        reports.push_back(report);
    }
    last_counted_ = *last;
    cast_->take(reports, producer_process);
}

Result<> Demo::start_producers() {
    if (has_homes()) {
        EK_TRY_ASSIGN(producer_, homes_->start_devices(producer_process));
        add_usage("devices", *producer_);
        return {};
    }
    EK_TRY_ASSIGN(producer_, cast_->start({"demo-producer", "--hub=" + options_.event_hub,
                                           fmt::format("--run={}", run_),
                                           fmt::format("--partitions={}", hub_.partitions()),
                                           fmt::format("--producers={}", options_.producers),
                                           fmt::format("--event-bytes={}", options_.event_bytes),
                                           fmt::format("--batch={}", options_.batch_events),
                                           fmt::format("--rate={}", options_.rate)},
                                          producer_process));
    add_usage("producers", *producer_);
    return {};
}

void Demo::add_usage(const std::string& group, std::size_t member) {
    usage_.add(group, cast_->id(member));
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
    for (int i = 0; i < 2; ++i) ready = ready && wait_until_ready(fleet_->member(i));
    if (homes_) {
        for (const auto other : homes_->alarms_and_page()) ready = ready && wait_until_ready(other);
        headline_ += fmt::format("dashboard:       http://localhost:{}/ui/\nresidents' page: {}\n",
                                 hub_.ports().http, homes_->page());
        // Without libcurl there is nothing to ask with; the verdict then has no such figure.
        if (auto watch = PageWatch::open(homes_->page(), options_.homes); watch.ok()) {
            watch_ = std::move(*watch);
        }
    }
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
    // Only while it is shown: what ends us after that leaves the terminal as it was.
    std::optional<cli::Keyboard> keyboard;
    if (has_homes()) keyboard.emplace();
    const bool has_keys = keyboard && keyboard->is_there();
    const Instant start = clock_.now();
    view_ = std::make_unique<View>(
        checker_->traffic(), options_.duration, start, has_keys ? keys_help() : "",
        has_homes() ? std::function<std::string()>([this] { return memory_text(); }) : nullptr);
    say(fmt::format("two processors, {} and {}, share {} partitions", processor_name(0),
                    processor_name(1), hub_.partitions()));
    Instant purged = start, looked = start;
    usage_.begin();
    while (!checker_->traffic().failed) {
        Duration left = look_interval;
        if (options_.duration) {
            left = std::min(left, start + *options_.duration - clock_.now());
            if (left <= Duration(0)) break;
        }
        moves_.set_stage(stage());
        if (!wait_for_a_look(left, has_keys ? &*keyboard : nullptr)) break;
        const Instant now = clock_.now();
        if (has_homes()) count_what_is_stored();
        play(now);
        make_moves(now);
        view_->show(now);
        if (watch_) watch_->look(now);
        if (now - looked > usage_interval) {
            usage_.look();
            looked = now;
        }
        if (temporary_ && now - purged > purge_interval) {
            purge_what_was_read();
            purged = now;
        }
    }
    usage_.look();
    ran_ = clock_.now() - start;
    stop_producers();
    view_->finish(clock_.now(), interrupt_.requested()
                                    ? "interrupted; handling what was acknowledged ..."
                                    : "handling what was acknowledged ...");
}

bool Demo::wait_for_a_look(Duration left, cli::Keyboard* keyboard) {
    if (!keyboard) return !interrupt_.wait(left);
    if (interrupt_.wait_for_input(keyboard->descriptor(), left)) {
        while (const auto key = keyboard->next()) {
            if (*key == 'q' || *key == 'Q') is_ended_ = true;
            const auto move = move_of_key(*key);
            if (!move) continue;
            if (const auto asked = moves_.ask(*move); !asked.ok()) say(asked.error().detail);
        }
    }
    return !interrupt_.requested() && !is_ended_;
}

void Demo::say(const std::string& text) {
    view_->say(clock_.now(), text);
}

std::string Demo::memory_text() const {
    const auto others = homes_->alarms_and_page();
    std::string text = fmt::format("memory: hub {} MB", Usage::memory_mb(::getpid()));
    const auto add = [&](std::string_view name, std::size_t member) {
        text += fmt::format("  {} {}", name, Usage::memory_mb(cast_->id(member)));
    };
    if (producer_ && !cast_->is_gone(*producer_)) add("devices", *producer_);
    for (int processor = 0; processor < static_cast<int>(fleet_->started()); ++processor) {
        if (fleet_->lives(processor)) add(processor_name(processor), fleet_->member(processor));
    }
    add("alarms", others[0]);
    add("page", others[1]);
    return text;
}

// Whatever the script has for this moment.
void Demo::play(Instant now) {
    const Duration ran = now - view_->start();
    if (script_.kill_at && ran >= *script_.kill_at) {
        script_.kill_at.reset();
        if (fleet_->lives(1) && fleet_->living() > 1) kill(1, now);
    }
    while (const auto taken_over = fleet_->next_taken_over(now)) {
        say(fmt::format("all partitions of {} are taken over, {:.1f} s after the kill",
                        processor_name(taken_over->killed),
                        std::chrono::duration<double>(taken_over->after).count()));
        if (!fleet_->all_taken_over()) continue;
        const std::int64_t now_ms = clock_.wall().milliseconds;
        for (auto& take_over : take_overs_) {
            take_over.to_ms = std::min(take_over.to_ms, now_ms + around_kill_ms);
        }
    }
    if (script_.scale_at && fleet_->all_taken_over() && ran >= *script_.scale_at) {
        script_.scale_at.reset();
        if (const auto added = add_processors(2); !added.ok()) return cast_->fail(added.error());
        if (has_homes() && !is_sensor_on_) switch_sensor_on();
    }
}

// What an operator has asked for.
void Demo::make_moves(Instant now) {
    while (const auto move = moves_.next()) {
        auto made = check_move(*move, stage());
        if (made.ok()) made = make(*move, now);
        if (!made.ok()) say(made.error().detail);
    }
}

Result<> Demo::make(Move move, Instant now) {
    const int busiest = fleet_->busiest();
    switch (move) {
        case Move::add: return add_processors(1);
        case Move::stop:
            cast_->stop(fleet_->member(busiest));
            fleet_->stopped(busiest);
            say(fmt::format("{} is asked to stop; it hands over its partitions",
                            processor_name(busiest)));
            return {};
        case Move::kill: kill(busiest, now); return {};
        case Move::pause:
            EK_TRY(homes_->pause(!is_paused_));
            is_paused_ = !is_paused_;
            say(is_paused_ ? "all aggregators are paused; events wait in the hub"
                           : "all aggregators are resumed");
            return {};
        case Move::sensor: switch_sensor_on(); return {};
    }
    return {};
}

void Demo::kill(int processor, Instant now) {
    usage_.look();
    take_overs_.push_back(
        {clock_.wall().milliseconds - around_kill_ms, std::numeric_limits<std::int64_t>::max()});
    cast_->kill(fleet_->member(processor));
    say(fmt::format("{} is killed with SIGKILL; it had {} partitions", processor_name(processor),
                    fleet_->killed(processor, now)));
}

Result<> Demo::add_processors(int count) {
    std::string names;
    for (int i = 0; i < count; ++i) {
        names +=
            (names.empty() ? "" : " and ") + processor_name(static_cast<int>(fleet_->started()));
        EK_TRY(start_processor());
    }
    say(fmt::format("{} {}; partitions are handed over", names, count == 1 ? "starts" : "start"));
    return {};
}

void Demo::switch_sensor_on() {
    cast_->signal(*producer_, SIGUSR1);
    is_sensor_on_ = true;
    say("the carbon-monoxide sensor is switched on in all homes");
}

Stage Demo::stage() const {
    return {fleet_->started(), fleet_->living(), is_sensor_on_};
}

void Demo::stop_producers() {
    if (!producer_) return;
    cast_->stop(*producer_);
    while (!cast_->is_gone(*producer_)) interrupt_.wait(short_look);
    if (has_homes()) count_what_is_stored();
}

// Until all that is stored was handled, or nothing more comes.
void Demo::finish_processors() {
    if (is_paused_) {
        if (const auto resumed = homes_->pause(false); !resumed.ok()) cast_->fail(resumed.error());
    }
    const auto last = hub_.last_sequences();
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
        if (now - last_event > (has_homes() ? patience_with_windows : patience)) {
            fmt::print(stderr, "partition {}: events after {} did not arrive\n", *behind,
                       checker_->traffic().partitions[*behind].read_up_to.load());
            break;
        }
        interrupt_.wait(short_look);
    }
    if (homes_ && has_begun()) {
        if (const auto verified = homes_->verify(); !verified.ok()) cast_->fail(verified.error());
    }
    for (int i = 0; i < static_cast<int>(fleet_->started()); ++i) {
        if (fleet_->lives(i)) cast_->stop(fleet_->member(i));
    }
    if (!homes_) return;
    for (const auto other : homes_->alarms_and_page()) cast_->stop(other);
}

// A temporary folder need not grow for ever: what every reader has behind it may go.
void Demo::purge_what_was_read() {
    std::vector<std::int64_t> before;
    for (const auto& partition : checker_->traffic().partitions) {
        before.push_back(partition.read_up_to - kept_events);
    }
    hub_.purge(before);
}

Verdict Demo::judge() {
    Verdict verdict;
    checker_->judge(verdict);
    verdict.expects_failover = fleet_->orphans() > 0;
    // Progress is stored every so many events or once a second; a batch may be under way.
    verdict.repeated_max = fleet_->orphans() * (checkpoint_events + 2 * handler_events_max +
                                                options_.rate / hub_.partitions());
    verdict.seconds = std::chrono::duration<double>(ran_).count();
    verdict.producers = options_.producers;
    verdict.event_bytes = options_.event_bytes;
    if (homes_) homes_->judge(verdict, fleet_->orphans(), hub_.partitions());
    verdict.usage = usage_.groups();
    if (watch_) verdict.page = figures_of(watch_->seen(), take_overs_);
    verdict.interrupted = interrupt_.requested();
    return verdict;
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
    const auto error = demo.first_error();
    // Of nothing there is nothing to judge.
    if (error && !demo.has_begun()) return tell_no_start(*error, options);
    return tell(demo.judge(), error, options);
}

}  // namespace evenkeel::demo
