// Judges what processors did with the events of an event hub, as it happens: every handler call,
// and every write that the store has applied. It knows nothing of how they decide.
//
// A session is the life of one pump: a partition under one epoch, from its seal on.
//
// Checked
//   GROUP-1  A session begins right behind the checkpoint that it sealed (STORE-6), and goes on
//            without gaps and without repeats but for what failed (order, at least once).
//   GROUP-2  No handler call begins after a higher epoch owns the partition. Where the broker keeps
//            readers apart: not after a session of a higher epoch has begun, but for the time in
//            which the bad news travels.
//   GROUP-3  A stored checkpoint never falls, is of the epoch that sealed it last, and lies within
//            what its own session has finished.
//   GROUP-4  At most once: no event reaches a handler twice, nor before it was stored.
//   GROUP-5  A member that hands a partition over runs no handler in it any more, and has stored
//            all that was handled; unless it said that it could not.
//   GROUP-6  In the end every event was handled or dead-lettered.
//   GROUP-7  Nobody takes a partition that its owner has under a lease (ProcessorWorld checks it).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "checkpoint/store.h"
#include <evenkeel/processor.h>

namespace evenkeel::sim {

struct HandlerCall {
    std::string by;
    std::uint32_t partition = 0;
    std::int64_t epoch = 0;
    Instant began;
    Instant ended;
    std::int64_t first = 0;
    std::int64_t last = 0;
    bool is_good = true;
    bool is_outage = false;   // it failed, and is not to blame the events for it (PUMP-19)
    std::int64_t asked = -1;  // checkpoint() was called for it, within this call
};

struct CheckerOptions {
    std::uint32_t partitions = 1;
    Delivery delivery = Delivery::at_least_once;
    bool manual = false;     // only what handlers asked for is stored
    bool exclusive = false;  // the broker cuts the older reader
    Duration cut_max{0};     // how long that may take, with all that hangs on it
    std::uint32_t attempts_max = 5;
};

class HistoryChecker {
public:
    HistoryChecker(const CheckerOptions& options, std::function<void(const std::string&)> violate);
    bool is_manual() const { return options_.manual; }

    void on_call(const HandlerCall& call);
    void on_closed(const std::string& by, std::uint32_t partition, std::int64_t epoch,
                   Closed reason);
    void on_owner(const std::string& writer, const checkpoint::Ownership& entry, Instant now);
    void on_sealed(const checkpoint::Checkpoint& found);
    void on_stored(const checkpoint::Checkpoint& stored);
    void on_put_aside(const checkpoint::DeadLetter& letter);
    // Its handler did not end in time, or its last checkpoint could not be stored, and it said so.
    void on_excuse(const std::string& by, std::uint32_t partition);

    // Up to and with `last`.
    bool is_all_done(std::uint32_t partition, std::int64_t last);
    void judge_end(std::uint32_t partition, std::int64_t last);
    std::string describe(std::uint32_t partition) const;
    std::int64_t done_to(std::uint32_t partition) const { return parts_[partition].done_to; }

    std::uint64_t calls() const { return calls_; }
    std::uint64_t events() const { return events_; }
    std::uint64_t repeats() const { return repeats_; }
    std::uint64_t letters() const { return letters_; }
    std::uint64_t failures() const { return failures_; }
    std::uint64_t hash() const { return hash_; }

private:
    struct Session {
        std::string by;
        std::int64_t resumed = -1;  // the checkpoint it sealed
        std::int64_t next = 0;      // the event that must come next
        std::int64_t asked = -1;
        Instant first_began{-1};
        Instant last_began{-1};
        bool is_given = false;         // to another, by its owner
        std::optional<Closed> closed;  // as its handler heard
        bool is_excused = false;
    };
    struct Change {
        Instant at;
        std::int64_t epoch;
        std::string owner;
    };
    struct Part {
        std::map<std::int64_t, Session> sessions;  // by epoch
        std::vector<Change> changes;
        std::int64_t sealed = -1;  // the highest epoch
        std::int64_t stored = -1;
        std::set<std::int64_t> aside;
        std::map<std::int64_t, std::uint32_t> failed;  // how often, alone
        std::vector<std::uint8_t> called;              // how often it reached a handler
        std::vector<bool> done;
        std::int64_t done_to = -1;
    };

    void check_epochs(const HandlerCall& call, Part& part, Session& session);
    void check_order(const HandlerCall& call, const Part& part, const Session& session);
    void settle(Part& part, std::int64_t first, std::int64_t last);
    bool are_aside(const Part& part, std::int64_t first, std::int64_t end) const;
    std::int64_t finished(const Part& part, const Session& session) const;
    void mix(std::int64_t number);

    const CheckerOptions options_;
    const std::function<void(const std::string&)> violate_;
    std::vector<Part> parts_;
    std::uint64_t calls_ = 0, events_ = 0, repeats_ = 0, letters_ = 0, failures_ = 0;
    std::uint64_t hash_ = 0xcbf29ce484222325;
};

}  // namespace evenkeel::sim
