#include "crash/rot.h"

#include <algorithm>
#include <limits>

#include <fmt/core.h>

#include "base/check.h"
#include "base/time_point.h"
#include "commitlog/journal_replay.h"
#include "commitlog/segment.h"

namespace evenkeel::crash {
namespace {

using namespace std::chrono_literals;

class Examination {
public:
    Examination(const RotLog& log, const RotRules& rules, Random& random)
        : log_(log), rules_(rules), random_(random) {}

    std::string run(std::unique_ptr<io::sim::Disk> damaged) {
        LogWorld world(random_.next(), std::move(damaged), log_.options);
        if (auto opened = world.open(); !opened.ok()) return to_string(opened.error());
        const auto reading = world.read_all(1 + random_.below(8000));
        if (!reading.ok()) return to_string(reading.error());
        const auto wrong = check(log_.history, *reading,
                                 {.gaps_allowed = true, .begin_may_fall = rules_.begin_may_fall});
        if (!wrong.empty()) return wrong;
        if (auto lost = check_gaps(*reading); !lost.empty()) return lost;
        if (auto seek = check_seek(world, *reading); !seek.empty()) return seek;
        if (auto removed = check_retention(world, *reading); !removed.empty()) return removed;
        return check_append(world);
    }

private:
    // Only events that the damage touched may be lost, and none is both lost and delivered.
    std::string check_gaps(const Reading& reading) {
        const auto& before = log_.reading.events;
        for (const auto& gap : reading.gaps) {
            if (gap.from >= gap.to) return fmt::format("an empty range {} was reported", gap.from);
            if (gap.to > reading.next) return "damage beyond the end was reported";
            for (std::size_t i = 0; i < before.size(); ++i) {
                if (before[i].sequence < gap.from || before[i].sequence >= gap.to) continue;
                const std::int64_t end =
                    i + 1 < before.size() ? before[i + 1].offset : before[i].offset + 1'000'000;
                if (rules_.touched.begin < end && before[i].offset < rules_.touched.end) continue;
                return fmt::format("event {} was not touched, but is reported as damaged",
                                   before[i].sequence);
            }
        }
        for (const auto& event : reading.events) {
            for (const auto& gap : reading.gaps) {
                if (gap.from <= event.sequence && event.sequence < gap.to) {
                    return fmt::format("event {} is both delivered and damaged", event.sequence);
                }
            }
        }
        return {};
    }

    // A search gives what a scan gives from there on, whatever became of the index.
    std::string check_seek(LogWorld& world, const Reading& reading) {
        if (reading.events.empty()) return {};
        const auto& event = reading.events[random_.below(reading.events.size())];
        Position position;
        switch (random_.below(3)) {
            case 0: position = Position::at_sequence(event.sequence); break;
            case 1: position = Position::at_offset(event.offset); break;
            default: position = Position::at_time(time_point({event.time}));
        }
        const auto found = world.read_from(position);
        if (!found.ok()) return "after a search: " + to_string(found.error());
        const auto first = std::find_if(reading.events.begin(), reading.events.end(),
                                        [&](const Observed& candidate) {
                                            return position.kind == Position::Kind::enqueued_time
                                                       ? candidate.time >= event.time
                                                       : candidate.sequence >= event.sequence;
                                        });
        if (!std::equal(first, reading.events.end(), found->events.begin(), found->events.end())) {
            return fmt::format("a search for event {} ({}) gives other events than a scan",
                               event.sequence, static_cast<int>(position.kind));
        }
        for (const auto& gap : reading.gaps) {
            const bool told =
                std::find(found->gaps.begin(), found->gaps.end(), gap) != found->gaps.end();
            if (gap.from > first->sequence && !told) return "a search hides damage behind it";
        }
        return {};
    }

    // Retention of an hour leaves the young events alone, and what is left is as it was.
    std::string check_retention(LogWorld& world, const Reading& reading) {
        commitlog::RetentionPolicy policy;
        policy.age_max = 1h;
        world.log().retain(policy, log_.now);
        world.run();
        const auto after = world.read_all();
        if (!after.ok()) return "after retention: " + to_string(after.error());
        if (after->begin > std::max(log_.first_young, reading.begin)) {
            return fmt::format("LOG-8: retention removed young events: {} is the first",
                               after->begin);
        }
        const auto first =
            std::find_if(reading.events.begin(), reading.events.end(),
                         [&](const Observed& event) { return event.sequence >= after->begin; });
        if (!std::equal(first, reading.events.end(), after->events.begin(), after->events.end())) {
            return "retention changed what is left";
        }
        return {};
    }

    // It works on, and another start gives the same.
    std::string check_append(LogWorld& world) {
        auto expected = world.read_all();
        if (!expected.ok()) return to_string(expected.error());
        History late;
        append(world, late, late_producer_id, {random_.below(500)}, random_);
        world.run();
        const SentBatch& batch = late.batches.front();
        if (batch.fate != Fate::acknowledged) return "an append is refused";
        if (batch.first != expected->next) return "LOG-4: an append got an unexpected number";
        expected->events.push_back(
            {batch.first, batch.last_offset, batch.time, batch.values.front()});
        ++expected->next;
        if (random_.chance(3, 4)) return {};
        LogWorld second(random_.next(), world.disk().crash(random_), log_.options);
        if (auto opened = second.open(); !opened.ok()) return to_string(opened.error());
        const auto again = second.read_all();
        if (!again.ok()) return to_string(again.error());
        const auto other = difference(*expected, *again);
        return other.empty() ? "" : "another start differs: " + other;
    }

    const RotLog& log_;
    const RotRules& rules_;
    Random& random_;
};

}  // namespace

std::vector<std::string> RotLog::files(std::string_view suffix) const {
    auto paths = disk->files();
    std::erase_if(paths, [&](const std::string& path) { return !path.ends_with(suffix); });
    return paths;
}

RotLog a_rot_log(std::uint64_t seed, Stopped stopped, std::uint64_t segment_bytes) {
    Random random(seed);
    RotLog log;
    log.options.segment_bytes_max = segment_bytes;
    log.options.index_distance = segment_bytes / 16;
    log.options.tail_bytes_max = 0;
    LogWorld world(seed, a_disk(), log.options);
    EK_CHECK(world.open().ok(), "an empty log opens");
    const auto fill = [&](std::uint64_t bytes) {
        const Offset end = world.log().end() + static_cast<std::int64_t>(bytes);
        while (world.log().end() < end) {
            std::vector<std::size_t> sizes(1 + random.below(4));
            for (auto& size : sizes) size = random.below(segment_bytes / 64);
            append(world, log.history, producer_id, sizes, random);
            world.run();
            world.scheduler().run_for(std::chrono::milliseconds(random.below(20)));
        }
    };
    fill(segment_bytes * 3 / 2);
    const auto purged = static_cast<std::int64_t>(random.below(20));
    world.log().purge({purged}, [](const Result<>& result) {
        EK_CHECK(result.ok(), "a healthy disk lets events go");
    });
    world.scheduler().run_for(3h);
    log.history.begin_done = log.history.begin_asked = purged;
    log.first_young = world.log().properties().last_sequence.value + 1;
    fill(segment_bytes * 5 / 4);
    log.now = world.loop().clock().wall();
    const auto reading = world.read_all();
    EK_CHECK(reading.ok(), "a healthy disk can be read");
    log.reading = *reading;
    for (const auto& event : reading->events) log.history.see(event);
    EK_CHECK(check(log.history, log.reading, {}).empty(), "the log is good before it rots");
    const auto last_batch = static_cast<std::ptrdiff_t>(log.history.batches.back().values.size());
    log.proved = stopped == Stopped::power_lost ? (log.reading.events.end() - last_batch)->offset
                                                : world.log().end().value;
    if (stopped == Stopped::cleanly) world.close();
    log.disk = stopped == Stopped::power_lost
                   ? world.disk().crash(random, io::sim::CrashPolicy::drop_all)
                   : world.disk().kill();
    return log;
}

Touched touched(const std::string& path, std::uint64_t position, std::uint64_t bytes) {
    const auto name = commitlog::parse_segment_name(path.substr(path.rfind('/') + 1), ".log");
    if (!name) return {};
    const auto header = static_cast<std::int64_t>(commitlog::segment_header_bytes);
    const std::int64_t begin = name->base.value + static_cast<std::int64_t>(position) - header;
    const std::int64_t end = begin + static_cast<std::int64_t>(bytes);
    return {std::max(begin, name->base.value), std::max(end, name->base.value)};
}

Touched touched(const RotLog& log, const std::string& path, std::uint64_t position,
                std::uint64_t bytes) {
    if (!path.ends_with(commitlog::journal_suffix)) return touched(path, position, bytes);
    Touched all{std::numeric_limits<std::int64_t>::max(), 0};
    std::uint64_t at = commitlog::journal_entries_at;
    const bool headers = position + bytes > commitlog::journal_header_distance &&
                         position < commitlog::journal_header_bytes;
    const auto content = commitlog::read_journal(*log.disk, path, log.disk->file_size(path));
    EK_CHECK(content.ok(), "a healthy disk is read");
    const auto read =
        commitlog::for_each_entry(*content, [&](const commitlog::JournalEntry& entry) -> Result<> {
            const std::uint64_t begin = at;
            at += commitlog::journal_entry_header_bytes + entry.bytes.size();
            if (!headers && (at <= position || position + bytes <= begin)) return {};
            const std::int64_t from = entry.place.from.value;
            all.begin = std::min(all.begin, from);
            all.end = std::max(all.end, from + static_cast<std::int64_t>(entry.bytes.size()));
            return {};
        });
    EK_CHECK(read.ok() && read->damages == 0, "the journal is good before it rots");
    return all;
}

std::string examine(const RotLog& log, std::unique_ptr<io::sim::Disk> damaged,
                    const RotRules& rules, Random& random) {
    return Examination(log, rules, random).run(std::move(damaged));
}

}  // namespace evenkeel::crash
