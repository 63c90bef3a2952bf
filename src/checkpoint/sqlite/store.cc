#include "checkpoint/sqlite/store.h"

#include <utility>

#include "checkpoint/call_queue.h"
#include "checkpoint/sqlite/transaction.h"
#include "checkpoint/sqlite/worker.h"

namespace evenkeel::checkpoint {

namespace {

constexpr std::size_t batch_max = 256;

}  // namespace

struct SqliteStore::State {
    State(io::Loop& loop, const SqliteOptions& options_, std::unique_ptr<SqliteWorker> worker,
          const std::string& file, const GroupName& group)
        : clock(loop.clock()),
          options(options_),
          transactions(file, group, loop.clock(), options_.wait_max),
          queue(loop, std::move(worker), batch_max, options_.watch_period) {}

    template <typename T, typename Operation>
    void submit(JobKind kind, Answer<T> done, Operation operation) {
        queue.add(std::make_unique<JobOf<T, Operation>>(kind, clock.now() + options.wait_max,
                                                        std::move(operation), std::move(done)));
    }

    const Clock& clock;
    const SqliteOptions options;
    SqliteTransactions transactions;
    CallQueue<SqliteWorker> queue;
};

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(const std::string& file,
                                                       const GroupName& group, io::Loop& loop,
                                                       const SqliteOptions& options) {
    const Instant deadline = loop.clock().now() + options.wait_max;
    if (!options.may_create) {
        EK_TRY_ASSIGN(const auto database, Database::look(file, loop.clock(), deadline));
        if (!database) return std::unique_ptr<SqliteStore>();
        EK_TRY_ASSIGN(const bool is_there, SqliteTable::is_there(*database, group));
        if (!is_there) return std::unique_ptr<SqliteStore>();
    }
    EK_TRY_ASSIGN(auto worker, SqliteWorker::open(file, group, loop.clock(), deadline));
    return std::unique_ptr<SqliteStore>(
        new SqliteStore(std::make_unique<State>(loop, options, std::move(worker), file, group)));
}

SqliteStore::SqliteStore(std::unique_ptr<State> state) : state_(std::move(state)) {}

SqliteStore::~SqliteStore() = default;

void SqliteStore::list_members(Answer<std::vector<Member>> done) {
    state_->submit(JobKind::listing, std::move(done),
                   [](SqliteTable& table, Moment at) { return table.members(at); });
}

void SqliteStore::write_member(const Member& member, Answer<std::string> done) {
    state_->submit(
        JobKind::membership_write, std::move(done),
        [member](SqliteTable& table, Moment at) { return table.write_member(member, at); });
}

void SqliteStore::remove_member(std::string_view id, std::string_view version, Answer<> done) {
    state_->submit(JobKind::membership_write, std::move(done),
                   [id = std::string(id), version = std::string(version)](
                       SqliteTable& table, Moment) { return table.remove_member(id, version); });
}

void SqliteStore::list_ownerships(Answer<std::vector<Ownership>> done) {
    state_->submit(JobKind::listing, std::move(done),
                   [](SqliteTable& table, Moment at) { return table.ownerships(at); });
}

void SqliteStore::write_ownerships(std::vector<Ownership> wanted,
                                   Answer<std::vector<Result<std::string>>> done) {
    using Results = std::vector<Result<std::string>>;
    state_->submit(JobKind::membership_write, std::move(done),
                   [wanted = std::move(wanted)](SqliteTable& table, Moment at) -> Result<Results> {
                       Results results;
                       results.reserve(wanted.size());
                       for (const Ownership& ownership : wanted) {
                           results.push_back(table.write_ownership(ownership, at));
                           const Result<std::string>& result = results.back();
                           if (!result.ok() && result.error().code != ErrorCode::conflict) {
                               return result.error();
                           }
                       }
                       return results;
                   });
}

void SqliteStore::list_checkpoints(Answer<std::vector<Checkpoint>> done) {
    state_->submit(JobKind::listing, std::move(done),
                   [](SqliteTable& table, Moment) { return table.checkpoints(); });
}

void SqliteStore::seal(PartitionId partition, Epoch epoch, Answer<Checkpoint> done) {
    state_->submit(JobKind::write, std::move(done),
                   [=](SqliteTable& table, Moment at) { return table.seal(partition, epoch, at); });
}

void SqliteStore::write_checkpoint(const Checkpoint& checkpoint, Answer<> done) {
    state_->submit(JobKind::write, std::move(done), [checkpoint](SqliteTable& table, Moment at) {
        return table.write_checkpoint(checkpoint, at);
    });
}

void SqliteStore::reset_checkpoint(const Checkpoint& checkpoint, Answer<> done) {
    state_->submit(JobKind::write, std::move(done), [checkpoint](SqliteTable& table, Moment at) {
        return table.reset_checkpoint(checkpoint, at);
    });
}

void SqliteStore::add_dead_letter(const DeadLetter& letter, Answer<> done) {
    state_->submit(JobKind::write, std::move(done),
                   [letter](SqliteTable& table, Moment) { return table.add_dead_letter(letter); });
}

void SqliteStore::list_dead_letters(const DeadLetterPage& page,
                                    Answer<std::vector<DeadLetter>> done) {
    state_->submit(JobKind::listing, std::move(done),
                   [page](SqliteTable& table, Moment) { return table.dead_letters(page); });
}

void SqliteStore::count_dead_letters(Answer<std::map<PartitionId, std::uint64_t>> done) {
    state_->submit(JobKind::listing, std::move(done),
                   [](SqliteTable& table, Moment) { return table.dead_letter_counts(); });
}

void SqliteStore::remove_dead_letter(const DeadLetterId& id, Answer<> done) {
    state_->submit(JobKind::write, std::move(done),
                   [id](SqliteTable& table, Moment) { return table.remove_dead_letter(id); });
}

void SqliteStore::list_records(std::string_view prefix, Answer<std::vector<Record>> done) {
    state_->submit(JobKind::listing, std::move(done),
                   [prefix = std::string(prefix)](SqliteTable& table, Moment) {
                       return table.records(prefix);
                   });
}

void SqliteStore::write_record(const Record& record, Answer<std::string> done) {
    if (const Result<> checked = check(record); !checked.ok()) {
        return state_->queue.refuse(std::move(done), checked.error());
    }
    state_->submit(JobKind::write, std::move(done),
                   [record](SqliteTable& table, Moment) { return table.write_record(record); });
}

bool SqliteStore::watch(std::function<void()> changed) {
    state_->queue.watch(std::move(changed));
    return true;
}

Transactions* SqliteStore::transactions() {
    return &state_->transactions;
}

}  // namespace evenkeel::checkpoint
