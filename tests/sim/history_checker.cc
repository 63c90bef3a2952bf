#include "sim/history_checker.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

namespace evenkeel::sim {

HistoryChecker::HistoryChecker(const CheckerOptions& options,
                               std::function<void(const std::string&)> violate)
    : options_(options), violate_(std::move(violate)), parts_(options.partitions) {}

void HistoryChecker::mix(std::int64_t number) {
    hash_ = (hash_ ^ static_cast<std::uint64_t>(number)) * 0x100000001b3;
}

void HistoryChecker::on_call(const HandlerCall& call) {
    ++calls_;
    for (const std::int64_t number :
         {static_cast<std::int64_t>(call.partition), call.epoch, call.first, call.last,
          static_cast<std::int64_t>(call.is_good), call.began.nanoseconds,
          call.ended.nanoseconds}) {
        mix(number);
    }
    Part& part = parts_[call.partition];
    const auto found = part.sessions.find(call.epoch);
    if (found == part.sessions.end()) {
        return violate_(
            fmt::format("GROUP-1: {} reads partition {} under epoch {}, which it has not "
                        "sealed",
                        call.by, call.partition, call.epoch));
    }
    Session& session = found->second;
    check_epochs(call, part, session);
    check_order(call, part, session);
    part.called.resize(std::max(part.called.size(), static_cast<std::size_t>(call.last + 1)));
    for (std::int64_t s = call.first; s <= call.last; ++s) {
        ++events_;
        if (part.called[static_cast<std::size_t>(s)]++ > 0) ++repeats_;
    }
    session.asked = std::max(session.asked, call.asked);
    const bool counts = call.is_good || options_.delivery == Delivery::at_most_once;
    if (!call.is_good) ++failures_;
    // An event that met only outages has not failed: it must not be dead-lettered (PUMP-19).
    if (!call.is_good && !call.is_outage && call.first == call.last) ++part.failed[call.first];
    const std::int64_t done = counts ? call.last : std::min(call.asked, call.last);
    if (done < call.first) {
        session.next = call.first;
        return;
    }
    settle(part, call.first, done);
    session.next = done + 1;
}

void HistoryChecker::check_epochs(const HandlerCall& call, Part& part, Session& session) {
    const auto late = [&](const char* what, std::int64_t epoch, const std::string& by) {
        violate_(fmt::format(
            "GROUP-2: {} handles {} to {} of partition {} under epoch {}, from {:.3f} s "
            "on, after {} epoch {} {}",
            call.by, call.first, call.last, call.partition, call.epoch,
            static_cast<double>(call.began.nanoseconds) / 1e9 - 1000, by, epoch, what));
    };
    if (session.first_began.nanoseconds < 0) session.first_began = call.began;
    session.last_began = std::max(session.last_began, call.began);
    const Duration slack = options_.exclusive ? options_.cut_max : Duration(0);
    for (const auto& [epoch, other] : part.sessions) {
        if (epoch == call.epoch || other.first_began.nanoseconds < 0) continue;
        const bool is_newer = epoch > call.epoch;
        // A call is told of when it has ended, so the later one may be told of first.
        const Session& older = is_newer ? session : other;
        const Session& newer = is_newer ? other : session;
        if (older.last_began > newer.first_began + slack) {
            late("has begun", is_newer ? epoch : call.epoch, is_newer ? other.by : call.by);
        }
    }
    if (options_.exclusive) return;
    for (const Change& change : part.changes) {
        if (change.epoch > call.epoch && change.at < call.began) {
            return late("owns it", change.epoch, change.owner);
        }
    }
}

void HistoryChecker::check_order(const HandlerCall& call, const Part& part,
                                 const Session& session) {
    const auto wrong = [&](const char* what) {
        violate_(
            fmt::format("{}: {} handles {} to {} of partition {} (epoch {}); {} comes next, "
                        "stored up to {}",
                        what, call.by, call.first, call.last, call.partition, call.epoch,
                        session.next, part.stored));
    };
    if (call.first == session.next) {
        // As it should be.
    } else if (options_.delivery == Delivery::at_most_once) {
        if (call.first < session.next) wrong("GROUP-1");
    } else if (call.first < session.next || !are_aside(part, session.next, call.first)) {
        wrong("GROUP-1");
    }
    if (options_.delivery != Delivery::at_most_once) return;
    if (part.stored < call.last) wrong("GROUP-4: not stored before");
    for (std::int64_t s = call.first; s <= call.last; ++s) {
        if (s < static_cast<std::int64_t>(part.called.size()) &&
            part.called[static_cast<std::size_t>(s)] > 0) {
            return wrong("GROUP-4: again");
        }
    }
}

void HistoryChecker::on_owner(const std::string& writer, const checkpoint::Ownership& entry,
                              Instant now) {
    const std::uint32_t p = entry.partition.value;
    Part& part = parts_[p];
    mix(entry.epoch.value);
    const std::int64_t before = part.changes.empty() ? -1 : part.changes.back().epoch;
    if (entry.epoch.value == before) return;  // renewed
    if (entry.epoch.value < before) violate_(fmt::format("the epoch of partition {} falls", p));
    part.changes.push_back({now, entry.epoch.value, entry.owner});
    const auto found = part.sessions.find(before);
    if (writer == entry.owner || found == part.sessions.end() || found->second.by != writer) return;
    Session& session = found->second;
    session.is_given = true;
    // Without a word to the handler: either it was lost before, or on_closed() comes too late.
    if (!session.closed || *session.closed == Closed::lost) return;
    const std::int64_t handled =
        options_.manual ? std::min(session.asked, session.next - 1) : session.next - 1;
    if (part.stored < handled && !session.is_excused) {
        violate_(fmt::format("GROUP-5: {} gives partition {} to '{}' with {} handled and {} stored",
                             writer, p, entry.owner, handled, part.stored));
    }
}

void HistoryChecker::on_closed(const std::string& by, std::uint32_t partition, std::int64_t epoch,
                               Closed reason) {
    const auto found = parts_[partition].sessions.find(epoch);
    if (found == parts_[partition].sessions.end()) return;
    Session& session = found->second;
    session.closed = reason;
    if (session.is_given && reason != Closed::lost && !session.is_excused) {
        violate_(fmt::format("GROUP-5: {} gave partition {} away before its handler was closed", by,
                             partition));
    }
}

void HistoryChecker::on_sealed(const checkpoint::Checkpoint& found) {
    Part& part = parts_[found.partition.value];
    const std::int64_t epoch = found.epoch.value;
    if (epoch < part.sealed) {
        violate_(fmt::format("GROUP-3: partition {} is sealed with epoch {} after {}",
                             found.partition.value, epoch, part.sealed));
    }
    part.sealed = std::max(part.sealed, epoch);
    if (found.sequence.value != part.stored) {
        violate_(fmt::format("GROUP-3: partition {}: sealed at {}, stored was {}",
                             found.partition.value, found.sequence.value, part.stored));
    }
    const auto [at, is_new] = part.sessions.try_emplace(epoch);
    if (!is_new) return;
    Session& session = at->second;
    session.resumed = found.sequence.value;
    session.next = session.resumed + 1;
    const auto owner = std::find_if(part.changes.rbegin(), part.changes.rend(),
                                    [&](const Change& change) { return change.epoch == epoch; });
    if (owner != part.changes.rend()) session.by = owner->owner;
}

// How far the session is known to be through: handled, or dead-lettered.
std::int64_t HistoryChecker::finished(const Part& part, const Session& session) const {
    std::int64_t to = session.next - 1;
    while (part.aside.contains(to + 1)) ++to;
    return to;
}

void HistoryChecker::on_stored(const checkpoint::Checkpoint& stored) {
    Part& part = parts_[stored.partition.value];
    mix(stored.sequence.value);
    const auto wrong = [&](const std::string& what) {
        violate_(fmt::format("GROUP-3: partition {}: {} is stored under epoch {}, {}",
                             stored.partition.value, stored.sequence.value, stored.epoch.value,
                             what));
    };
    if (stored.sequence.value < part.stored) {
        wrong(fmt::format("which was {} before", part.stored));
    }
    if (stored.epoch.value != part.sealed) wrong(fmt::format("though {} sealed it", part.sealed));
    const auto found = part.sessions.find(stored.epoch.value);
    if (found == part.sessions.end()) return wrong("without a session");
    if (options_.delivery != Delivery::at_most_once) {
        const std::int64_t to = finished(part, found->second);
        if (stored.sequence.value > to) wrong(fmt::format("but only {} is handled", to));
    }
    part.stored = stored.sequence.value;
}

void HistoryChecker::on_put_aside(const checkpoint::DeadLetter& letter) {
    Part& part = parts_[letter.partition.value];
    ++letters_;
    if (part.failed[letter.sequence.value] == 0) {
        violate_(fmt::format("event {} of partition {} is dead-lettered but has not failed",
                             letter.sequence.value, letter.partition.value));
    }
    if (letter.attempts < options_.attempts_max) {
        violate_(fmt::format("event {} of partition {} is dead-lettered after {} attempts",
                             letter.sequence.value, letter.partition.value, letter.attempts));
    }
    part.aside.insert(letter.sequence.value);
    settle(part, letter.sequence.value, letter.sequence.value);
}

void HistoryChecker::on_excuse(const std::string& by, std::uint32_t partition) {
    for (auto& [epoch, session] : parts_[partition].sessions) {
        if (session.by == by) session.is_excused = true;
    }
}

void HistoryChecker::settle(Part& part, std::int64_t first, std::int64_t last) {
    part.done.resize(std::max(part.done.size(), static_cast<std::size_t>(last + 1)));
    for (std::int64_t s = first; s <= last; ++s) part.done[static_cast<std::size_t>(s)] = true;
    while (part.done_to + 1 < static_cast<std::int64_t>(part.done.size()) &&
           part.done[static_cast<std::size_t>(part.done_to + 1)]) {
        ++part.done_to;
    }
}

bool HistoryChecker::are_aside(const Part& part, std::int64_t first, std::int64_t end) const {
    for (std::int64_t s = first; s < end; ++s) {
        if (!part.aside.contains(s)) return false;
    }
    return true;
}

bool HistoryChecker::is_all_done(std::uint32_t partition, std::int64_t last) {
    const Part& part = parts_[partition];
    if (options_.delivery != Delivery::at_most_once) return part.done_to >= last;
    // What a crash has cost is stored as handled; the last owner is through with the rest.
    return !part.sessions.empty() && part.sessions.rbegin()->second.next > last;
}

void HistoryChecker::judge_end(std::uint32_t partition, std::int64_t last) {
    if (is_all_done(partition, last)) return;
    violate_(fmt::format("GROUP-6: partition {} is handled up to {} of {}\n{}", partition,
                         parts_[partition].done_to, last, describe(partition)));
}

std::string HistoryChecker::describe(std::uint32_t partition) const {
    const Part& part = parts_[partition];
    std::string text =
        fmt::format("partition {}: stored {}, sealed {}\n", partition, part.stored, part.sealed);
    for (const Change& change : part.changes) {
        const auto session = part.sessions.find(change.epoch);
        text += fmt::format("  {:.3f} s: epoch {} '{}'",
                            static_cast<double>(change.at.nanoseconds) / 1e9 - 1000, change.epoch,
                            change.owner);
        if (session != part.sessions.end()) {
            text += fmt::format(", read from {} to {}", session->second.resumed + 1,
                                session->second.next - 1);
        }
        text += "\n";
    }
    return text;
}

}  // namespace evenkeel::sim
