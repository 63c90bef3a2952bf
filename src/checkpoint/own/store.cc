#include "checkpoint/own/store.h"

#include <atomic>
#include <exception>
#include <optional>
#include <utility>

#include "checkpoint/call_queue.h"
#include "checkpoint/own/table.h"

namespace evenkeel::checkpoint {
namespace {

constexpr std::size_t calls_at_once_max = 64;

// What is done on the thread of a store, one call after another.
class OwnRunner {
public:
    class Call {
    public:
        virtual ~Call() = default;
        virtual void run(OwnTable& table, WallTime now) = 0;
        virtual void fail(Error error) = 0;
        virtual void answer() = 0;
    };

    OwnRunner(OwnTable table, const Clock& clock) : table_(std::move(table)), clock_(clock) {}

    bool run(const std::vector<std::unique_ptr<Call>>& calls) {
        for (const auto& call : calls) {
            if (is_stopped_) {
                call->fail({ErrorCode::cancelled, "the checkpoint store was closed"});
                continue;
            }
            try {
                call->run(table_, clock_.wall());
            } catch (const std::exception& thrown) {
                call->fail({ErrorCode::unavailable,
                            std::string("the checkpoint store threw: ") + thrown.what()});
            } catch (...) {
                call->fail({ErrorCode::unavailable, "the checkpoint store threw"});
            }
        }
        return false;
    }
    static bool has_changed() { return false; }
    void stop() { is_stopped_ = true; }

private:
    OwnTable table_;
    const Clock& clock_;
    std::atomic<bool> is_stopped_ = false;
};

// `Operation` is Result<T>(OwnTable&, WallTime).
template <typename T, typename Operation>
class OwnCall final : public OwnRunner::Call {
public:
    OwnCall(Operation operation, Store::Answer<T> done)
        : operation_(std::move(operation)), done_(std::move(done)) {}
    void run(OwnTable& table, WallTime now) override { result_.emplace(operation_(table, now)); }
    void fail(Error error) override { result_.emplace(std::move(error)); }
    void answer() override { done_(std::move(*result_)); }

private:
    Operation operation_;
    Store::Answer<T> done_;
    std::optional<Result<T>> result_;
};

}  // namespace

struct OwnStore::State {
    State(io::Loop& loop, OwnTable table)
        : queue(loop, std::make_unique<OwnRunner>(std::move(table), loop.clock()),
                calls_at_once_max, Duration(0)) {}

    template <typename T, typename Operation>
    void submit(Answer<T> done, Operation operation) {
        queue.add(std::make_unique<OwnCall<T, Operation>>(std::move(operation), std::move(done)));
    }

    CallQueue<OwnRunner> queue;
};

Result<std::unique_ptr<Store>> OwnStore::open(std::shared_ptr<CheckpointStore> store,
                                              const GroupName& group, io::Loop& loop) {
    EK_TRY_ASSIGN(auto keys, OwnKeys::of(group));
    return std::unique_ptr<Store>(
        new OwnStore(std::make_unique<State>(loop, OwnTable(std::move(store), std::move(keys)))));
}

OwnStore::OwnStore(std::unique_ptr<State> state) : state_(std::move(state)) {}

OwnStore::~OwnStore() = default;

void OwnStore::list_members(Answer<std::vector<Member>> done) {
    state_->submit(std::move(done), [](OwnTable& table, WallTime) { return table.members(); });
}

void OwnStore::write_member(const Member& member, Answer<std::string> done) {
    state_->submit(std::move(done),
                   [member](OwnTable& table, WallTime) { return table.write_member(member); });
}

void OwnStore::remove_member(std::string_view id, std::string_view version, Answer<> done) {
    state_->submit(std::move(done),
                   [id = std::string(id), version = std::string(version)](
                       OwnTable& table, WallTime) { return table.remove_member(id, version); });
}

void OwnStore::list_ownerships(Answer<std::vector<Ownership>> done) {
    state_->submit(std::move(done), [](OwnTable& table, WallTime) { return table.ownerships(); });
}

void OwnStore::write_ownerships(std::vector<Ownership> wanted,
                                Answer<std::vector<Result<std::string>>> done) {
    using Results = std::vector<Result<std::string>>;
    state_->submit(std::move(done),
                   [wanted = std::move(wanted)](OwnTable& table, WallTime) -> Result<Results> {
                       Results results;
                       results.reserve(wanted.size());
                       for (const Ownership& each : wanted) {
                           results.push_back(table.write_ownership(each));
                       }
                       return results;
                   });
}

void OwnStore::list_checkpoints(Answer<std::vector<Checkpoint>> done) {
    state_->submit(std::move(done), [](OwnTable& table, WallTime) { return table.checkpoints(); });
}

void OwnStore::seal(PartitionId partition, Epoch epoch, Answer<Checkpoint> done) {
    state_->submit(std::move(done), [=](OwnTable& table, WallTime now) {
        return table.seal(partition, epoch, now);
    });
}

void OwnStore::write_checkpoint(const Checkpoint& checkpoint, Answer<> done) {
    state_->submit(std::move(done), [checkpoint](OwnTable& table, WallTime now) {
        return table.write_checkpoint(checkpoint, now);
    });
}

void OwnStore::reset_checkpoint(const Checkpoint& checkpoint, Answer<> done) {
    state_->submit(std::move(done), [checkpoint](OwnTable& table, WallTime now) {
        return table.reset_checkpoint(checkpoint, now);
    });
}

void OwnStore::add_dead_letter(const DeadLetter& letter, Answer<> done) {
    state_->submit(std::move(done),
                   [letter](OwnTable& table, WallTime) { return table.add_dead_letter(letter); });
}

void OwnStore::list_dead_letters(const DeadLetterPage& page, Answer<std::vector<DeadLetter>> done) {
    state_->submit(std::move(done),
                   [page](OwnTable& table, WallTime) { return table.dead_letters(page); });
}

void OwnStore::count_dead_letters(Answer<std::map<PartitionId, std::uint64_t>> done) {
    state_->submit(std::move(done),
                   [](OwnTable& table, WallTime) { return table.dead_letter_counts(); });
}

void OwnStore::remove_dead_letter(const DeadLetterId& id, Answer<> done) {
    state_->submit(std::move(done),
                   [id](OwnTable& table, WallTime) { return table.remove_dead_letter(id); });
}

void OwnStore::list_records(std::string_view prefix, Answer<std::vector<Record>> done) {
    state_->submit(std::move(done), [prefix = std::string(prefix)](OwnTable& table, WallTime) {
        return table.records(prefix);
    });
}

void OwnStore::write_record(const Record& record, Answer<std::string> done) {
    if (const Result<> checked = check(record); !checked.ok()) {
        return state_->queue.refuse(std::move(done), checked.error());
    }
    state_->submit(std::move(done),
                   [record](OwnTable& table, WallTime) { return table.write_record(record); });
}

}  // namespace evenkeel::checkpoint
