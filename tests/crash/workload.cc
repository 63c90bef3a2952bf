#include "crash/workload.h"

#include <algorithm>

#include <fmt/core.h>

namespace evenkeel::crash {

using namespace std::chrono_literals;

std::string_view to_string(Step step) {
    constexpr std::string_view names[] = {"append_one", "append_batch", "append_roll",
                                          "retain",     "purge",        "reopen"};
    static_assert(std::size(names) == step_kinds);
    return names[static_cast<std::size_t>(step)];
}

Workload::Workload(std::uint64_t seed, const ExplorerOptions& options, Sizes sizes)
    : random_(seed),
      options_(options),
      sizes_(sizes),
      explorer_(random_.next(), history_, options) {
    start(a_disk());
}

void Workload::start(std::unique_ptr<io::sim::Disk> disk) {
    retention_clock_.reset();
    const WallTime before = world_ ? world_->loop().clock().wall() : WallTime{0};
    world_.reset();
    world_ = std::make_unique<LogWorld>(random_.next(), std::move(disk), options_.log);
    // A new scheduler begins at its own time; the world's clocks do not start anew with a process.
    if (before.milliseconds > 0) {
        world_->loop().set_wall_skew(before - world_->loop().clock().wall());
    }
    if (random_.chance(1, 2)) world_->executor().set_latency(0ms, 3ms);
    explorer_.watch(world_->disk());
    auto opened = world_->open();
    const bool is_full = !opened.ok() && opened.error().code == ErrorCode::overloaded;
    if (!opened.ok() && (world_->disk().faults() > 0 || (is_full && options_.faults))) {
        // It may refuse to start on a disk that fails or is full, but it starts once that is over.
        explorer_.visit(world_->disk(), "after a start that failed");
        world_->disk().clear_faults();
        world_->disk().set_capacity_bytes(std::uint64_t{1} << 40);
        opened = world_->open();
    }
    if (!opened.ok()) return fail("does not open: " + to_string(opened.error()));
    retention_clock_ = std::make_unique<commitlog::RetentionClock>(world_->loop().clock());
    note_begin();
}

void Workload::step(Step step) {
    if (!failure().empty()) return;
    steps_ += fmt::format(" {}", to_string(step));
    switch (step) {
        case Step::append_one: append_random(1, 100); break;
        case Step::append_batch: append_random(2 + random_.below(4), 60); break;
        case Step::append_roll: {
            const auto size = options_.log.segment_bytes_max;
            append(*world_, history_, producer_id, {size * 2 / 3}, random_);
            break;
        }
        case Step::retain:
            world_->scheduler().run_for(10s);
            retain();
            break;
        case Step::purge: {
            const auto last = world_->log().properties().last_sequence.value;
            purge(random_.chance(1, 3) ? last + 1 : last);
            break;
        }
        case Step::reopen: reopen(); break;
    }
    world_->run();
}

void Workload::random_step() {
    if (!failure().empty()) return;
    const auto kind = random_.below(20);
    const auto last = world_->log().properties().last_sequence.value;
    steps_ += fmt::format(" {}", kind);
    if (kind < 5) append_random(1, 400);
    if (kind >= 5 && kind < 8) append_random(2 + random_.below(19), 60);
    if (kind >= 8 && kind < 10) append_random(1 + random_.below(3), 3000);
    if (kind == 10) {
        for (auto i = 2 + random_.below(5); i > 0; --i) append_random(1 + random_.below(3), 200);
    }
    if (kind == 11) append_random(1, 1);
    if (kind == 12 || kind == 13) retain();
    if (kind == 14)
        purge(static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(last + 2))));
    if (kind == 15) {
        world_->run();
        reopen();
    }
    if (kind == 16) {
        const auto hour = std::chrono::milliseconds(1h);
        world_->loop().set_wall_skew(random_.chance(1, 2) ? hour : -hour);
    }
    if (kind == 17) world_->scheduler().run_for(std::chrono::seconds(random_.below(8)));
    if (kind >= 18) read_and_check();
    if (!failure().empty()) return;
    if (random_.chance(1, 2)) {
        world_->run();
    } else {
        for (auto i = random_.below(6); i > 0; --i) world_->scheduler().step();
    }
}

void Workload::heal() {
    if (!failure().empty()) return;
    world_->run();
    world_->disk().clear_faults();
    world_->disk().set_capacity_bytes(std::uint64_t{1} << 40);
    steps_ += " heal";
    world_->scheduler().run_for(1s);  // a journal that cannot be mended waits that long
    const std::uint64_t before = acknowledged();
    for (int i = 0; i < 3; ++i) append_random(1 + random_.below(3), 300);
    world_->run();
    if (acknowledged() != before + 3)
        fail("LOG-6: the disk is well again, but an append is refused");
    read_and_check();
}

void Workload::append_random(std::size_t events, std::size_t body_bytes_max) {
    std::vector<std::size_t> sizes(events);
    const bool same = sizes_ == Sizes::same;
    for (auto& size : sizes) size = same ? 40 : random_.below(body_bytes_max + 1);
    append(*world_, history_, producer_id, sizes, random_, !same);
}

void Workload::retain() {
    commitlog::RetentionPolicy policy;
    if (random_.chance(1, 2)) policy.age_max = 5s;
    if (!policy.age_max || random_.chance(1, 4)) policy.bytes_max = random_.below(4000);
    world_->log().retain(policy, retention_clock_->now());
    note_begin();
}

void Workload::purge(std::int64_t first_kept) {
    const auto end = world_->log().properties().last_sequence.value + 1;
    first_kept = std::clamp<std::int64_t>(first_kept, 0, end);
    history_.begin_asked = std::max(history_.begin_asked, first_kept);
    world_->log().purge({first_kept}, [this, first_kept](const Result<>& result) {
        if (result.ok()) history_.begin_done = std::max(history_.begin_done, first_kept);
    });
}

// What retention removes is its own decision; from here on it may be gone.
void Workload::note_begin() {
    const auto earliest = world_->log().seek(Position::earliest());
    history_.begin_asked = std::max(history_.begin_asked, earliest->sequence.value);
}

void Workload::reopen() {
    world_->close();
    start(world_->stop());
    settle();
}

void Workload::crash(End end) {
    if (!failure().empty()) return;
    steps_ += fmt::format(" {}", to_string(end));
    auto image = image_of(world_->disk(), end, random_);
    start(std::move(image));
    settle();
}

// After a restart: what was in doubt is decided now, for ever.
void Workload::settle() {
    if (!failure().empty() || history_.batches.empty()) return;
    const auto reading = world_->read_all();
    if (!reading.ok()) return failed_read(reading.error());
    const auto wrong = check(history_, *reading, {.refused_allowed = options_.faults});
    if (!wrong.empty()) return fail(wrong);
    for (const auto& event : reading->events) {
        history_.see(event);
        auto& batch = history_.batches[history_.sent.at(event.value->id()).first];
        if (batch.fate == Fate::refused) batch.fate = Fate::open;
    }
}

void Workload::read_and_check() {
    if (!failure().empty() || history_.batches.empty()) return;
    const auto reading = world_->read_all(1 + random_.below(3000));
    if (!reading.ok()) return failed_read(reading.error());
    if (auto wrong = check(history_, *reading, {}); !wrong.empty()) return fail(wrong);
    for (const auto& event : reading->events) {
        if (auto wrong = history_.see(event); !wrong.empty()) return fail(wrong);
    }
}

// A reader may be refused by a disk that fails, but never sees anything wrong.
void Workload::failed_read(const Error& error) {
    if (is_retriable(error) && world_->disk().faults() > 0) return;
    fail("cannot be read: " + to_string(error));
}

void Workload::finish() {
    if (!failure().empty()) return;
    world_->run();
    read_and_check();
    if (failure().empty()) explorer_.visit(world_->disk(), "at the end");
}

std::uint64_t Workload::acknowledged() const {
    return static_cast<std::uint64_t>(
        std::count_if(history_.batches.begin(), history_.batches.end(),
                      [](const SentBatch& batch) { return batch.fate == Fate::acknowledged; }));
}

void Workload::fail(const std::string& why) {
    if (failure_.empty()) failure_ = why + "\n  in the running log, after" + steps_;
}

}  // namespace evenkeel::crash
