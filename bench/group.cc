#include "bench/group.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <set>

#include <signal.h>

#include <fmt/core.h>
#include <poll.h>

#include "base/random.h"
#include "bench/hub.h"
#include "bench/load.h"
#include "cli/child.h"
#include "cli/temporary_folder.h"

namespace evenkeel::bench {
namespace {

// The time that a partition had one owner.
struct Term {
    std::uint32_t member = 0;
    bool is_open = false;
    std::int64_t first_sequence = -1, last_sequence = -1;  // -1: nothing handled
    std::int64_t first_ns = 0, last_ns = 0;
};

// Processes of `bench member-child`, and their reports. Threads: one.
class Cast {
public:
    Cast(const GroupPlace& place, const HubProcess& hub, std::string store, bool fast,
         std::uint32_t partitions)
        : interrupt_(place.interrupt),
          connection_(hub.connection_string()),
          store_(std::move(store)),
          fast_(fast),
          terms_(partitions) {}

    Result<std::size_t> add_process() {
        std::vector<std::string> arguments{"member-child", "--mode", "group", "--store", store_};
        if (fast_) arguments.emplace_back("--fast");
        EK_TRY_ASSIGN(auto child, cli::Child::start(arguments));
        const std::size_t process = ++started_;
        processes_.emplace(process, std::move(child));
        processes_.at(process).say(connection_);
        return process;
    }
    void start(std::size_t process, std::uint32_t member) {
        processes_.at(process).say(fmt::format("start {}", member));
    }
    void stop(std::size_t process, std::uint32_t member) {
        processes_.at(process).say(fmt::format("stop {}", member));
    }
    // With SIGKILL. The process is heard to its end.
    void kill(std::size_t process) { processes_.at(process).end(); }
    // With SIGSTOP. It is killed later.
    void freeze(std::size_t process) { ::kill(processes_.at(process).id(), SIGSTOP); }

    // Hears until `done` says so; `timed_out` naming `what` if that takes too long.
    Result<> hear_until(const std::function<bool()>& done, Duration limit, std::string_view what) {
        const Instant start = clock_.now();
        while (!done()) {
            if (clock_.now() - start > limit) {
                return Error{ErrorCode::timed_out,
                             fmt::format("{} took more than {:.0f} s", what, seconds_of(limit))};
            }
            EK_TRY(hear());
        }
        return {};
    }
    Result<> hear_for(Duration duration) {
        const Instant start = clock_.now();
        return hear_until([&] { return clock_.now() - start >= duration; },
                          duration + std::chrono::minutes(1), "waiting");
    }

    using Terms = std::map<std::int64_t, Term>;  // by epoch
    const std::vector<Terms>& terms() const { return terms_; }
    // Partitions whose newest owner is `member`, and was given events already.
    std::set<std::uint32_t> partitions_of(std::uint32_t member) const {
        std::set<std::uint32_t> found;
        for (std::uint32_t i = 0; i < terms_.size(); ++i) {
            if (terms_[i].empty()) continue;
            const Term& term = terms_[i].rbegin()->second;
            if (term.member == member && term.is_open && term.first_sequence >= 0) found.insert(i);
        }
        return found;
    }
    bool is_shared(const std::set<std::uint32_t>& members, std::size_t each) const {
        return std::all_of(members.begin(), members.end(), [&](std::uint32_t member) {
            return partitions_of(member).size() == each;
        });
    }
    std::uint64_t wrong() const { return wrong_; }
    std::uint64_t handled() const { return handled_; }

private:
    Result<> hear() {
        if (interrupt_.wait(Duration(0))) return Error{ErrorCode::cancelled, "interrupted"};
        std::vector<pollfd> wait;
        for (const auto& [number, process] : processes_) {
            wait.push_back({process.output(), POLLIN, 0});
        }
        poll(wait.data(), wait.size(), 20);
        std::size_t at = 0;
        for (auto process = processes_.begin(); process != processes_.end();) {
            if (wait[at++].revents == 0) {
                ++process;
                continue;
            }
            const bool is_over = !process->second.fill();
            while (const auto line = process->second.line()) take(std::string(*line));
            process = is_over ? processes_.erase(process) : std::next(process);
        }
        return {};
    }

    void take(const std::string& line) {
        char word[8];
        std::uint32_t member = 0;
        std::uint32_t partition = 0;
        std::int64_t epoch = 0;
        std::int64_t a = 0;
        std::int64_t b = 0;
        std::int64_t ns = 0;
        const int fields =
            std::sscanf(line.c_str(),
                        "%7s %" SCNu32 " %" SCNu32 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64,
                        word, &member, &partition, &epoch, &a, &b, &ns);
        if (fields < 5 || partition >= terms_.size()) return;
        Term& term = terms_[partition][epoch];
        term.member = member;
        if (std::string_view(word) == "open") term.is_open = true;
        if (std::string_view(word) == "close") term.is_open = false;
        if (std::string_view(word) != "events" || fields != 7) return;
        if (term.first_sequence < 0) {
            term.first_sequence = a;
            term.first_ns = ns;
        } else if (a != term.last_sequence + 1) {
            ++wrong_;
        }
        term.last_sequence = b;
        term.last_ns = ns;
        handled_ += static_cast<std::uint64_t>(b - a + 1);
    }

    cli::Interrupt& interrupt_;
    const SystemClock clock_;
    const std::string connection_;
    const std::string store_;
    const bool fast_;
    std::map<std::size_t, cli::Child> processes_;  // those whose output has not ended
    std::size_t started_ = 0;
    std::vector<Terms> terms_;
    std::uint64_t wrong_ = 0;
    std::uint64_t handled_ = 0;
};

constexpr double events_per_second = 100;  // of each partition
constexpr Duration patience = std::chrono::seconds(60);

// A hub, a producer that never rests, and a group that reads.
struct Scene {
    std::unique_ptr<cli::TemporaryFolder> folder;
    std::unique_ptr<HubProcess> hub;
    std::unique_ptr<Producer> producer;
    std::unique_ptr<PacedLoad> load;
    std::unique_ptr<Cast> cast;
    std::uint32_t partitions = 0;
    Instant started;

    static Result<Scene> make(const GroupPlace& place, std::uint32_t partitions, bool fast) {
        Scene scene;
        scene.partitions = partitions;
        EK_TRY_ASSIGN(scene.folder, cli::TemporaryFolder::make(place.folder, "group"));
        const std::string path = scene.folder->path();
        EK_TRY_ASSIGN(scene.hub,
                      HubProcess::start({.data = path + "/hub", .partitions = partitions}));
        EK_TRY_ASSIGN(scene.producer, Producer::open(scene.hub->connection_string()));
        scene.load = std::make_unique<PacedLoad>(
            *scene.producer, PacedLoad::Options{.partitions = partitions,
                                                .events_per_second = events_per_second * partitions,
                                                .due_together = 1});
        scene.cast = std::make_unique<Cast>(place, *scene.hub, "sqlite:" + path + "/progress.db",
                                            fast, partitions);
        scene.load->start();
        scene.started = SystemClock().now();
        return scene;
    }

    // Nothing is lost: what was sent is handled by now, or soon.
    Result<Line> finish(std::string name) {
        EK_TRY(load->stop());
        const double seconds = seconds_of(SystemClock().now() - started);
        const auto all_read = [&] {
            std::uint64_t read = 0;
            for (const auto& terms : cast->terms()) {
                std::int64_t last = -1;
                for (const auto& [epoch, term] : terms) last = std::max(last, term.last_sequence);
                read += static_cast<std::uint64_t>(last + 1);
            }
            return read == load->events();
        };
        EK_TRY(cast->hear_until(all_read, patience, "reading what was sent"));
        if (cast->wrong() > 0) {
            return Error{ErrorCode::corrupt, "an owner was given events out of order"};
        }
        Line line{std::move(name), 0, 0, "", true, {}};
        line.events_per_second = static_cast<double>(cast->handled()) / seconds;
        line.limit_per_second = events_per_second * partitions;
        return line;
    }
};

struct Changes {
    std::vector<double> gap_seconds;
    std::uint64_t repeats = 0;
    std::uint64_t missing = 0;
};

// Of owners that had events, from the last one of the old to the first of the new.
Changes changes_in(const Cast& cast) {
    Changes changes;
    for (const auto& terms : cast.terms()) {
        const Term* before = nullptr;
        for (const auto& [epoch, term] : terms) {
            if (term.first_sequence < 0) continue;
            if (before) {
                changes.gap_seconds.push_back(static_cast<double>(term.first_ns - before->last_ns) *
                                              1e-9);
                const std::int64_t step = term.first_sequence - before->last_sequence - 1;
                if (step < 0) changes.repeats += static_cast<std::uint64_t>(-step);
                if (step > 0) changes.missing += static_cast<std::uint64_t>(step);
            }
            before = &term;
        }
    }
    return changes;
}

Error lost(std::uint64_t missing) {
    return {ErrorCode::corrupt, fmt::format("{} events were passed over", missing)};
}

}  // namespace

std::string failover_name(bool fast, Fall fall) {
    return fmt::format("failover_{}{}", fast ? "fast" : "default",
                       fall == Fall::stopped ? "_by_sigstop" : "");
}

Result<Line> measure_failover(const GroupPlace& place, bool fast, Fall fall, int falls) {
    constexpr std::uint32_t partitions = 12;
    constexpr std::uint32_t size = 3;
    EK_TRY_ASSIGN(Scene scene, Scene::make(place, partitions, fast));
    Cast& cast = *scene.cast;
    const SystemClock clock;
    Random random(secure_number());
    std::map<std::uint32_t, std::size_t> members;  // and their processes
    std::set<std::uint32_t> alive;
    std::uint32_t next = 0;
    std::vector<double> failovers;
    std::uint64_t repeats = 0;
    for (int i = 0; i <= falls; ++i) {
        while (alive.size() < size) {
            EK_TRY_ASSIGN(members[next], cast.add_process());
            cast.start(members[next], next);
            alive.insert(next++);
        }
        EK_TRY(cast.hear_until([&] { return cast.is_shared(alive, partitions / size); }, patience,
                               "sharing the partitions"));
        if (i == falls) break;
        // At any point between two heartbeats.
        EK_TRY(cast.hear_for(Duration(static_cast<std::int64_t>(random.below(2'000'000'000)))));
        const std::uint32_t victim =
            *std::next(alive.begin(), static_cast<std::ptrdiff_t>(random.below(size)));
        const auto orphans = cast.partitions_of(victim);
        const Instant fell = clock.now();
        if (fall == Fall::stopped) {
            cast.freeze(members.at(victim));
        } else {
            cast.kill(members.at(victim));
        }
        alive.erase(victim);
        const auto is_read = [&](std::uint32_t partition) {
            const auto& newest = cast.terms()[partition].rbegin()->second;
            return newest.member != victim && newest.first_sequence >= 0;
        };
        EK_TRY(cast.hear_until([&] { return std::all_of(orphans.begin(), orphans.end(), is_read); },
                               patience, "taking over"));
        for (const std::uint32_t partition : orphans) {
            const auto& newest = cast.terms()[partition].rbegin()->second;
            failovers.push_back(static_cast<double>(newest.first_ns - fell.nanoseconds) * 1e-9);
        }
        if (fall == Fall::stopped) cast.kill(members.at(victim));
        fmt::print(stderr, "  failover {} of {}: {:.1f} s\n", i + 1, falls, failovers.back());
    }
    EK_TRY_ASSIGN(Line line, scene.finish(failover_name(fast, fall)));
    const Changes changes = changes_in(cast);
    if (changes.missing > 0) return lost(changes.missing);
    repeats = changes.repeats;
    const double goal = fast ? 3 : 10;
    const double p99 = quantile(failovers, 0.99);
    line.goal = fmt::format("p99 <= {:.0f} s", goal);
    line.met = p99 <= goal;
    line.more = {{"kills", falls},
                 {"failover_p50_s", median(failovers)},
                 {"failover_p99_s", p99},
                 {"failover_max_s", quantile(failovers, 1)},
                 {"repeated_events", static_cast<double>(repeats)},
                 {"partitions", partitions},
                 {"processes", size}};
    return line;
}

Result<Line> measure_hand_overs(const GroupPlace& place, int hand_overs) {
    constexpr std::uint32_t partitions = 8;
    EK_TRY_ASSIGN(Scene scene, Scene::make(place, partitions, false));
    Cast& cast = *scene.cast;
    EK_TRY_ASSIGN(const std::size_t first, cast.add_process());
    EK_TRY_ASSIGN(const std::size_t second, cast.add_process());
    cast.start(first, 0);
    EK_TRY(cast.hear_until([&] { return cast.is_shared({0}, partitions); }, patience, "starting"));
    for (std::uint32_t guest = 1; static_cast<int>((guest - 1) * partitions) < hand_overs;
         ++guest) {
        cast.start(second, guest);
        EK_TRY(cast.hear_until(
            [&] {
                return cast.is_shared({0, guest}, partitions / 2);
            },
            patience, "handing over to a new processor"));
        cast.stop(second, guest);
        EK_TRY(cast.hear_until([&] { return cast.is_shared({0}, partitions); }, patience,
                               "handing over from one that stops"));
    }
    EK_TRY_ASSIGN(Line line, scene.finish("hand_over"));
    const Changes changes = changes_in(cast);
    if (changes.missing > 0) return lost(changes.missing);
    const double p99 = quantile(changes.gap_seconds, 0.99);
    line.goal = "gap p99 <= 1 s, no repeats";
    line.met = p99 <= 1 && changes.repeats == 0;
    line.more = {{"hand_overs", static_cast<double>(changes.gap_seconds.size())},
                 {"gap_p50_s", quantile(changes.gap_seconds, 0.5)},
                 {"gap_p99_s", p99},
                 {"gap_max_s", quantile(changes.gap_seconds, 1)},
                 {"repeated_events", static_cast<double>(changes.repeats)},
                 {"partitions", partitions},
                 {"processes", 2}};
    return line;
}

Result<Line> measure_start(const GroupPlace& place, std::uint32_t processors,
                           std::uint32_t processes) {
    EK_TRY_ASSIGN(Scene scene, Scene::make(place, processors, false));
    Cast& cast = *scene.cast;
    std::vector<std::size_t> numbers;
    for (std::uint32_t i = 0; i < processes; ++i) {
        EK_TRY_ASSIGN(const std::size_t number, cast.add_process());
        numbers.push_back(number);
    }
    const SystemClock clock;
    const Instant start = clock.now();
    std::set<std::uint32_t> members;
    for (std::uint32_t i = 0; i < processors; ++i) {
        cast.start(numbers[i % processes], i);
        members.insert(i);
    }
    EK_TRY(cast.hear_until([&] { return cast.is_shared(members, 1); }, patience,
                           "sharing the partitions"));
    const double seconds = seconds_of(clock.now() - start);
    EK_TRY_ASSIGN(Line line, scene.finish("balance_after_start"));
    const Changes changes = changes_in(cast);
    if (changes.missing > 0) return lost(changes.missing);
    line.goal = "<= 15 s";
    line.met = seconds <= 15;
    line.more = {{"seconds", seconds},
                 {"processors", processors},
                 {"partitions", processors},
                 {"processes", processes},
                 {"moves", static_cast<double>(changes.gap_seconds.size())},
                 {"repeated_events", static_cast<double>(changes.repeats)}};
    return line;
}

}  // namespace evenkeel::bench
