#include "checkpoint/memory/store.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/check.h"

namespace evenkeel::checkpoint {

Table MemoryServer::snapshot(const GroupName& group) const {
    return state_.with([&](const State& state) {
        const auto found = state.tables.find(lower_cased(group));
        return found == state.tables.end() ? Table() : found->second;
    });
}

void MemoryServer::restore(const GroupName& group, Table table) {
    state_.with([&](State& state) { state.tables[lower_cased(group)] = std::move(table); });
}

template <typename Operation>
auto MemoryServer::apply(const MemoryStore& caller, Operation operation) {
    return state_.with([&](State& state) {
        Table& table = state.tables[caller.group_];
        const std::uint64_t changes = table.changes();
        auto result = operation(table, moment(state.stepped));
        if (table.changes() == changes) return result;
        // Under the lock: a watcher that ends its watch may go at once, and its loop with it.
        for (const MemoryStore* watcher : state.watchers) {
            if (watcher != &caller && watcher->group_ == caller.group_) watcher->notify();
        }
        return result;
    });
}

void MemoryServer::step_clock(Duration by) {
    EK_CHECK(!options_.is_steady, "a steady clock is not set");
    state_.with([&](State& state) { state.stepped += by; });
}

Moment MemoryServer::moment(Duration stepped) const {
    Moment at{clock_.now() + stepped, clock_.wall()};
    at.wall.milliseconds += std::chrono::duration_cast<std::chrono::milliseconds>(stepped).count();
    if (options_.whole_seconds) {
        at.now.nanoseconds -= at.now.nanoseconds % Duration(std::chrono::seconds(1)).count();
    }
    return at;
}

void MemoryServer::watch(const MemoryStore& store, bool on) {
    state_.with([&](State& state) {
        std::erase(state.watchers, &store);
        if (on) state.watchers.push_back(&store);
    });
}

MemoryStore::MemoryStore(io::Loop& loop, MemoryServer& server, const GroupName& group)
    : loop_(loop), server_(server), group_(lower_cased(group)) {}

MemoryStore::~MemoryStore() {
    server_.watch(*this, false);
}

void MemoryStore::list_members(Answer<std::vector<Member>> done) {
    auto listed = server_.apply(*this, [](Table& table, Moment at) { return table.members(at); });
    const MemoryServer::Options& options = server_.options_;
    for (Member& member : listed) {
        member.is_age_exact = options.is_steady && !options.whole_seconds;
    }
    answer<std::vector<Member>>(std::move(done), std::move(listed));
}

void MemoryStore::write_member(const Member& member, Answer<std::string> done) {
    answer(std::move(done), server_.apply(*this, [&](Table& table, Moment at) {
        return table.write_member(member, at);
    }));
}

void MemoryStore::remove_member(std::string_view id, std::string_view version, Answer<> done) {
    answer(std::move(done), server_.apply(*this, [&](Table& table, Moment) {
        return table.remove_member(id, version);
    }));
}

void MemoryStore::list_ownerships(Answer<std::vector<Ownership>> done) {
    answer<std::vector<Ownership>>(
        std::move(done),
        server_.apply(*this, [](Table& table, Moment at) { return table.ownerships(at); }));
}

void MemoryStore::write_ownerships(std::vector<Ownership> wanted,
                                   Answer<std::vector<Result<std::string>>> done) {
    answer<std::vector<Result<std::string>>>(
        std::move(done), server_.apply(*this, [&](Table& table, Moment at) {
            std::vector<Result<std::string>> results;
            results.reserve(wanted.size());
            for (const Ownership& ownership : wanted) {
                results.push_back(table.write_ownership(ownership, at));
            }
            return results;
        }));
}

void MemoryStore::list_checkpoints(Answer<std::vector<Checkpoint>> done) {
    answer<std::vector<Checkpoint>>(std::move(done), server_.apply(*this, [](Table& table, Moment) {
        return table.checkpoints();
    }));
}

void MemoryStore::seal(PartitionId partition, Epoch epoch, Answer<Checkpoint> done) {
    answer(std::move(done), server_.apply(*this, [&](Table& table, Moment at) {
        return table.seal(partition, epoch, at);
    }));
}

void MemoryStore::write_checkpoint(const Checkpoint& checkpoint, Answer<> done) {
    answer(std::move(done), server_.apply(*this, [&](Table& table, Moment at) {
        return table.write_checkpoint(checkpoint, at);
    }));
}

void MemoryStore::reset_checkpoint(const Checkpoint& checkpoint, Answer<> done) {
    answer(std::move(done), server_.apply(*this, [&](Table& table, Moment at) {
        table.reset_checkpoint(checkpoint, at);
        return Result<>();
    }));
}

void MemoryStore::add_dead_letter(const DeadLetter& letter, Answer<> done) {
    answer(std::move(done), server_.apply(*this, [&](Table& table, Moment) {
        table.add_dead_letter(letter);
        return Result<>();
    }));
}

void MemoryStore::list_dead_letters(const DeadLetterPage& page,
                                    Answer<std::vector<DeadLetter>> done) {
    answer<std::vector<DeadLetter>>(
        std::move(done),
        server_.apply(*this, [&](Table& table, Moment) { return table.dead_letters(page); }));
}

void MemoryStore::count_dead_letters(Answer<std::map<PartitionId, std::uint64_t>> done) {
    answer<std::map<PartitionId, std::uint64_t>>(
        std::move(done),
        server_.apply(*this, [](Table& table, Moment) { return table.dead_letter_counts(); }));
}

void MemoryStore::remove_dead_letter(const DeadLetterId& id, Answer<> done) {
    answer(std::move(done), server_.apply(*this, [&](Table& table, Moment) {
        table.remove_dead_letter(id);
        return Result<>();
    }));
}

void MemoryStore::list_records(std::string_view prefix, Answer<std::vector<Record>> done) {
    answer<std::vector<Record>>(std::move(done), server_.apply(*this, [&](Table& table, Moment) {
        return table.records(prefix);
    }));
}

void MemoryStore::write_record(const Record& record, Answer<std::string> done) {
    answer(std::move(done),
           server_.apply(*this, [&](Table& table, Moment) { return table.write_record(record); }));
}

bool MemoryStore::watch(std::function<void()> changed) {
    loop_.check_here();
    changed_ = std::move(changed);
    server_.watch(*this, static_cast<bool>(changed_));
    return true;
}

template <typename T>
void MemoryStore::answer(Answer<T> done, Result<T> result) {
    loop_.check_here();
    loop_.post(lifetime_.guard([done = std::move(done), result = std::move(result)]() mutable {
        done(std::move(result));
    }));
}

void MemoryStore::notify() const {
    loop_.post(lifetime_.guard([this] {
        if (!changed_) return;
        const auto changed = changed_;  // it may end the watch, or the store
        changed();
    }));
}

}  // namespace evenkeel::checkpoint
