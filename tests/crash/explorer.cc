#include "crash/explorer.h"

#include <algorithm>
#include <numeric>

#include <fmt/core.h>

namespace evenkeel::crash {
namespace {

constexpr std::size_t operations_kept = 20;

io::sim::CrashPolicy policy_of(End end) {
    using io::sim::CrashPolicy;
    switch (end) {
        case End::drop_all: return CrashPolicy::drop_all;
        case End::keep_all:
        case End::kill: return CrashPolicy::keep_all;
        case End::random_subset: return CrashPolicy::random_subset;
        case End::grown_with_zeros: return CrashPolicy::grown_with_zeros;
        case End::prefix: return CrashPolicy::prefix;
    }
    return CrashPolicy::any;
}

}  // namespace

std::string_view to_string(End end) {
    constexpr std::string_view names[] = {"drop_all",         "keep_all", "random_subset",
                                          "grown_with_zeros", "prefix",   "kill"};
    static_assert(std::size(names) == end_kinds);
    return names[static_cast<std::size_t>(end)];
}

std::unique_ptr<io::sim::Disk> image_of(const io::sim::Disk& disk, End end, Random& random) {
    return end == End::kill ? disk.kill() : disk.crash(random, policy_of(end));
}

std::uint64_t Ledger::states() const {
    return std::accumulate(by_end.begin(), by_end.end(), std::uint64_t{0});
}

void Ledger::add(const Ledger& other) {
    for (std::size_t i = 0; i < end_kinds; ++i) by_end[i] += other.by_end[i];
    for (std::size_t i = 0; i < depths; ++i) by_depth[i] += other.by_depth[i];
    faults += other.faults;
}

std::string Ledger::to_string() const {
    std::string text = fmt::format("ledger: {} crash states", states());
    for (std::size_t i = 0; i < end_kinds; ++i) {
        text += fmt::format(", {} {}", crash::to_string(static_cast<End>(i)), by_end[i]);
    }
    for (std::size_t i = 0; i < depths; ++i) text += fmt::format(", depth {} {}", i, by_depth[i]);
    return text + fmt::format(", faults {}", faults);
}

Explorer::Explorer(std::uint64_t seed, const History& history, const ExplorerOptions& options)
    : random_(seed), history_(history), options_(options) {}

void Explorer::watch(io::sim::Disk& disk) {
    disk.set_hook([this, &disk](const io::sim::Operation& operation) {
        operations_.push_back(fmt::format("{} {} {}", disk.operations(),
                                          io::sim::to_string(operation.kind), operation.path));
        if (operations_.size() > operations_kept) operations_.pop_front();
        if (!random_.chance(1, options_.one_point_in)) return;
        visit(disk, "before operation " + operations_.back());
    });
}

void Explorer::visit(const io::sim::Disk& disk, const std::string& where) {
    if (history_.batches.empty()) return;
    std::array<End, end_kinds> ends;
    for (std::size_t i = 0; i < end_kinds; ++i) ends[i] = static_cast<End>(i);
    const std::size_t count = std::min<std::size_t>(options_.images_per_point, end_kinds);
    for (std::size_t i = 0; i < count && failure_.empty(); ++i) {
        std::swap(ends[i], ends[i + random_.below(end_kinds - i)]);
        examine({image_of(disk, ends[i], random_), ends[i], 0, where, ends[i] != End::kill},
                nullptr);
    }
}

void Explorer::examine(State state, const Reading* expected) {
    ++ledger_.by_end[static_cast<std::size_t>(state.end)];
    ++ledger_.by_depth[state.depth];
    LogWorld world(random_.next(), std::move(state.disk), options_.log);

    // Recovery is only looked at; what became of each crash in it is found out below.
    std::vector<State> nested;
    if (state.depth < options_.depth_max) {
        world.disk().set_hook([&](const io::sim::Operation& operation) {
            if (!random_.chance(1, options_.nested_one_in)) return;
            const End end = static_cast<End>(random_.below(end_kinds));
            nested.push_back(
                {image_of(world.disk(), end, random_), end, state.depth + 1,
                 fmt::format("{}; {}; recovery before {} {}", state.where, to_string(state.end),
                             io::sim::to_string(operation.kind), operation.path),
                 state.settled});
        });
    }
    const auto opened = open(world);
    world.disk().set_hook({});
    if (!opened.ok()) return fail(state, "does not open: " + to_string(opened.error()));
    const auto reading = world.read_all(1 + random_.below(4000));
    if (!reading.ok()) return fail(state, "cannot be read: " + to_string(reading.error()));
    const auto wrong = check(history_, *reading, {.refused_allowed = options_.faults});
    if (!wrong.empty()) return fail(state, wrong);
    if (expected && *reading != *expected) {
        return fail(state,
                    "an interrupted recovery ends otherwise: " + difference(*expected, *reading));
    }
    examine_again(world, state, *reading);
    for (auto& inner : nested) {
        if (!failure_.empty()) return;
        const bool comparable = inner.settled;
        examine(std::move(inner), comparable ? &*reading : nullptr);
    }
}

// What only the journal has may find no room on a disk that was full when the power went.
Result<> Explorer::open(LogWorld& world) const {
    auto opened = world.open();
    if (opened.ok() || opened.error().code != ErrorCode::overloaded || !options_.faults) {
        return opened;
    }
    world.disk().set_capacity_bytes(std::uint64_t{1} << 40);
    return world.open();
}

// The log works on, and what it held and took is there after another power loss.
void Explorer::examine_again(LogWorld& world, const State& state, Reading expected) {
    History late;
    append(world, late, late_producer_id, {random_.below(300)}, random_);
    world.run();
    if (options_.faults && late.batches.front().fate == Fate::refused) {
        // The disk was full when the power went; there is room now.
        late = {};
        world.disk().set_capacity_bytes(std::uint64_t{1} << 40);
        append(world, late, late_producer_id, {random_.below(300)}, random_);
        world.run();
    }
    const SentBatch& batch = late.batches.front();
    if (batch.fate != Fate::acknowledged) return fail(state, "an append after it is refused");
    if (batch.first != expected.next) {
        return fail(state, fmt::format("LOG-4: the next event got number {} instead of {}",
                                       batch.first, expected.next));
    }
    expected.events.push_back({batch.first, batch.last_offset, batch.time, batch.values.front()});
    ++expected.next;
    const auto size = expected.events.size();
    if (size > 1 && expected.events[size - 2].offset >= batch.last_offset) {
        return fail(state, "LOG-1: the next event's offset does not rise");
    }
    const bool closes = random_.chance(1, 4);
    if (closes) world.close();
    const End end = random_.chance(1, 2) ? End::drop_all : End::random_subset;
    LogWorld second(random_.next(), image_of(world.disk(), end, random_), options_.log);
    const std::string then =
        fmt::format("after {} and {}: ", closes ? "a close" : "an append", to_string(end));
    const auto opened = open(second);
    if (!opened.ok()) return fail(state, then + to_string(opened.error()));
    const auto again = second.read_all();
    if (!again.ok()) return fail(state, then + to_string(again.error()));
    if (*again != expected) return fail(state, then + difference(expected, *again));
}

void Explorer::fail(const State& state, const std::string& why) {
    if (!failure_.empty()) return;
    failure_ =
        fmt::format("{}\n  {}, depth {}, {}, segments of {} bytes", why, to_string(state.end),
                    state.depth, state.where, options_.log.segment_bytes_max);
    for (const auto& operation : operations_) failure_ += "\n    " + operation;
}

}  // namespace evenkeel::crash
