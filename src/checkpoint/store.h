// Where the processors of one consumer group of one event hub meet: who is there, who owns which
// partition, and how far each partition was handled. They never talk to each other but through it.
//
//     member/<id>     written by its member only, every heartbeat
//     ownership/<p>   compare-and-set; each claim and each transfer raises its epoch by one
//     checkpoint/<p>  fenced by epoch, and monotonic
//     record/<key>    compare-and-set: requests of operators, and the group's journal. Few, small
//
// Contract, tested by checkpoint/contract/store_contract.h for every store
//   STORE-1  A write of a member, an ownership or a record succeeds only on the very version it
//            names ("" = there is none yet); else `conflict`. Every successful write makes a new
//            version, also one that changes nothing else. Versions of one entry never repeat.
//   STORE-2  A listing shows every write that was answered before it was asked for.
//   STORE-3  A checkpoint's epoch never falls: seal() and write_checkpoint() with a lower one are
//            `fenced`, by the store's own operation and not by looking first.
//   STORE-4  (sequence, attempts) of a checkpoint never falls; a write that would lower it is
//            `conflict` and changes nothing. Only reset_checkpoint(), for operators, may lower it.
//   STORE-5  What was answered with success survives the store's crash, if the store is durable at
//            all.
//   STORE-6  `unavailable` and `timed_out` mean unknown: it may have been applied.
//   STORE-7  `age` is by the store's own clock, maybe cut to seconds; is_age_exact: steady and not
//            cut.
//   STORE-8  What a store kept before it knew of a field reads as that field's default.
//   STORE-9  A member's state that this version does not know reads as `leaving`.
//
// Threads: pinned to the loop it was opened on: called there, answers there, never within the call.
// After the store was destroyed no answer comes any more.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/task.h"

namespace evenkeel::checkpoint {

class Transactions;

// Whose entries these are. Stores compare names without regard to case, as Event Hubs does.
struct GroupName {
    std::string hub_namespace;  // host of the hub, without port: "localhost"
    std::string event_hub;
    std::string group;
    auto operator<=>(const GroupName&) const = default;
};

// As stores keep it: ASCII letters in lower case.
GroupName lower_cased(GroupName name);

// `unable`: it runs, but cannot read from the hub. It is given no partitions.
enum class MemberState : std::uint8_t { active, leaving, unable };

// A partition that its owner means to give to another member.
struct Offer {
    PartitionId partition;
    std::string to;
    bool operator==(const Offer&) const = default;
};

struct Member {
    std::string id;           // stable over restarts
    std::string incarnation;  // new at every start
    MemberState state = MemberState::active;
    std::int64_t since_ms = 0;  // wall time of its start, for display
    std::string note = {};      // "host:pid profile", for display
    std::uint32_t restarts = 0;
    std::uint64_t generation = 0;  // rises with each change of what it owns
    bool expecting = false;        // it waits for partitions, and looks often
    std::vector<Offer> offers = {};

    std::string version = {};  // as listed; for a write: the one to replace, "" to create
    Duration age{0};           // since its last write; listings only
    bool is_age_exact = false;
};

struct Ownership {
    PartitionId partition;
    std::string owner = {};  // a member's id; "" = nobody
    Epoch epoch = {};        // 0: written by a program that knows no epochs
    std::int64_t since_ms = 0;
    double load = 0;  // events a second, smoothed; 0 = unknown

    std::string version = {};
    Duration age{0};
};

struct Checkpoint {
    PartitionId partition;
    SequenceNumber sequence = {};     // the last handled event; -1 = none yet
    std::string offset = {};          // of that event, opaque; "" = not known
    Epoch epoch = {};                 // of the owner that wrote it
    std::uint32_t attempts = 0;       // how often the event behind it was tried and failed
    std::int64_t hub_created_ms = 0;  // which incarnation of the event hub it is of; 0 = unknown
    std::int64_t enqueued_ms = 0;     // when the last handled event was enqueued; 0 = unknown
    std::int64_t written_ms = 0;      // wall time, for display; the store fills it in listings
};

// A dead-lettered event: it could not be handled.
struct DeadLetter {
    PartitionId partition;
    SequenceNumber sequence = {};
    std::string offset = {};
    std::int64_t enqueued_ms = 0;
    std::string partition_key = {};
    std::string cause = {};
    std::uint32_t attempts = 0;
    std::int64_t at_ms = 0;
    std::vector<std::byte> sections = {};  // the encoded AMQP sections, as they came
};

// Which of a group's dead letters.
struct DeadLetterId {
    PartitionId partition;
    SequenceNumber sequence = {};
    auto operator<=>(const DeadLetterId&) const = default;
};

// Some of a group's dead letters, in the order of partition and sequence number.
struct DeadLetterPage {
    std::size_t count_max = 100;
    std::optional<DeadLetterId> after = {};  // only those behind it
};

// A small value under a name, for all that needs no operation of its own: requests of operators
// ("request/..."), and the last moves of each partition ("moves/<partition>").
struct Record {
    std::string key;    // of a-z, 0-9, '-', '.' and '/'; at most record_key_bytes_max
    std::string value;  // any bytes, at most record_value_bytes_max; "" = it is not there

    std::string version = {};  // as listed; for a write: the one to replace, "" to create
};

inline constexpr std::size_t record_key_bytes_max = 200;
inline constexpr std::size_t record_value_bytes_max = 16'384;

// `invalid_argument` if it breaks the rules above; each store asks this before it writes.
Result<> check(const Record& record);

// Thrifty: each request is paid for, one listing shows members, ownerships and requests, if they
// are asked for in one task; and other SDKs' processors, which know no epochs, may share the group.
enum class Pace : std::uint8_t { quick, thrifty };

class Store {
public:
    template <typename T = void>
    using Answer = Callback<void(Result<T>)>;

    virtual ~Store() = default;

    virtual void list_members(Answer<std::vector<Member>> done) = 0;
    // Answers the new version.
    virtual void write_member(const Member& member, Answer<std::string> done) = 0;
    // Success also if it is not there.
    virtual void remove_member(std::string_view id, std::string_view version, Answer<> done) = 0;

    virtual void list_ownerships(Answer<std::vector<Ownership>> done) = 0;
    // Each for itself, in one exchange where the store can; answers in the order asked. The outer
    // result fails only if none is known to have been applied.
    virtual void write_ownerships(std::vector<Ownership> wanted,
                                  Answer<std::vector<Result<std::string>>> done) = 0;

    virtual void list_checkpoints(Answer<std::vector<Checkpoint>> done) = 0;
    // For a new owner, before it reads: marks the checkpoint with the epoch, which fences all lower
    // ones, and answers it as it is now (sequence -1 if there was none).
    virtual void seal(PartitionId partition, Epoch epoch, Answer<Checkpoint> done) = 0;
    virtual void write_checkpoint(const Checkpoint& checkpoint, Answer<> done) = 0;
    // For operators: sets the position, wherever it was; fences epochs below `checkpoint.epoch`.
    // The stored epoch stays if it is higher.
    virtual void reset_checkpoint(const Checkpoint& checkpoint, Answer<> done) = 0;

    // Once for each (partition, sequence): a second one changes nothing. Success = durable.
    virtual void add_dead_letter(const DeadLetter& letter, Answer<> done) = 0;
    virtual void list_dead_letters(const DeadLetterPage& page,
                                   Answer<std::vector<DeadLetter>> done) = 0;
    // Of each partition that has some. Reads none of them.
    virtual void count_dead_letters(Answer<std::map<PartitionId, std::uint64_t>> done) = 0;
    // For operators. Success also if it is not there.
    virtual void remove_dead_letter(const DeadLetterId& id, Answer<> done) = 0;

    // Those whose key begins with `prefix`, by key.
    virtual void list_records(std::string_view prefix, Answer<std::vector<Record>> done) = 0;
    // Answers the new version; "" if the value is empty, which removes the record (success also if
    // none is there). Nobody's watch needs to hear of it.
    virtual void write_record(const Record& record, Answer<std::string> done) = 0;

    // Calls `changed` soon after another store may have changed members or ownerships (now and then
    // without cause; a mere heartbeat or renewal may go untold). False if the store cannot tell;
    // then callers poll. A second call replaces the function; an empty one ends the watch.
    virtual bool watch(std::function<void()> changed) = 0;

    // Constant. A store around another one answers what that one does.
    virtual Pace pace() const = 0;

    // For exactly-once sinks (checkpoint/transaction.h); null if the store has none.
    virtual Transactions* transactions() { return nullptr; }
};

}  // namespace evenkeel::checkpoint
