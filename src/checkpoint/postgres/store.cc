#include "checkpoint/postgres/store.h"

#include <utility>

#include "checkpoint/call_queue.h"
#include "checkpoint/postgres/table.h"
#include "checkpoint/postgres/transaction.h"
#include "checkpoint/postgres/worker.h"

namespace evenkeel::checkpoint {

namespace {

constexpr std::size_t batch_max = 1024;

class CheckpointWrite final : public PostgresCall {
public:
    CheckpointWrite(Instant deadline, Checkpoint checkpoint, Store::Answer<> done)
        : PostgresCall(deadline), checkpoint_(std::move(checkpoint)), done_(std::move(done)) {}
    PostgresCommand command(std::int64_t group) override {
        const Checkpoint* const all[] = {&checkpoint_};
        return postgres::write_checkpoints(group, all);
    }
    void finish(const PostgresRows&) override {}
    void fail(const Error& error) override { result_ = error; }
    void answer() override { done_(std::move(result_)); }
    const Checkpoint* checkpoint() const override { return &checkpoint_; }
    void finish_checkpoint(const Result<>& result) override { result_ = result; }

private:
    const Checkpoint checkpoint_;
    Store::Answer<> done_;
    Result<> result_;
};

}  // namespace

struct PostgresStore::State {
    State(io::Loop& loop, const PostgresOptions& options_, std::unique_ptr<PostgresWorker> worker,
          const PostgresAddress& address, const GroupName& group)
        : clock(loop.clock()),
          options(options_),
          transactions(address, group, loop.clock(), options_.wait_max),
          queue(loop, std::move(worker), batch_max, options_.watch_period) {}

    template <typename T, typename Make, typename Read>
    void submit(Answer<T> done, Make make, Read read) {
        queue.add(std::make_unique<PostgresCallOf<T, Make, Read>>(
            clock.now() + options.wait_max, std::move(make), std::move(read), std::move(done)));
    }

    const Clock& clock;
    const PostgresOptions options;
    PostgresTransactions transactions;
    CallQueue<PostgresWorker> queue;
};

Result<std::unique_ptr<PostgresStore>> PostgresStore::open(const std::string& url,
                                                           const GroupName& group, io::Loop& loop,
                                                           const PostgresOptions& options) {
    EK_TRY_ASSIGN(const PostgresAddress address, PostgresAddress::parse(url));
    const PostgresWorker::Options wanted{address, group, options.wait_max};
    if (!options.may_create) {
        EK_TRY_ASSIGN(const bool is_there, PostgresWorker::is_there(wanted, loop.clock()));
        if (!is_there) return std::unique_ptr<PostgresStore>();
    }
    EK_TRY_ASSIGN(auto worker, PostgresWorker::open(wanted, loop.clock()));
    return std::unique_ptr<PostgresStore>(new PostgresStore(
        std::make_unique<State>(loop, options, std::move(worker), address, group)));
}

PostgresStore::PostgresStore(std::unique_ptr<State> state) : state_(std::move(state)) {}

PostgresStore::~PostgresStore() = default;

void PostgresStore::list_members(Answer<std::vector<Member>> done) {
    state_->submit(std::move(done), &postgres::list_members,
                   [](const PostgresRows& rows) -> Result<std::vector<Member>> {
                       return postgres::members(rows);
                   });
}

void PostgresStore::write_member(const Member& member, Answer<std::string> done) {
    state_->submit(
        std::move(done),
        [member](std::int64_t group) { return postgres::write_member(group, member); },
        [member](const PostgresRows& rows) { return postgres::member_written(rows, member); });
}

void PostgresStore::remove_member(std::string_view id, std::string_view version, Answer<> done) {
    const std::pair key{std::string(id), std::string(version)};
    state_->submit(
        std::move(done),
        [key](std::int64_t group) { return postgres::remove_member(group, key.first, key.second); },
        [key](const PostgresRows& rows) {
            return postgres::member_removed(rows, key.first, key.second);
        });
}

void PostgresStore::list_ownerships(Answer<std::vector<Ownership>> done) {
    state_->submit(std::move(done), &postgres::list_ownerships,
                   [](const PostgresRows& rows) -> Result<std::vector<Ownership>> {
                       return postgres::ownerships(rows);
                   });
}

void PostgresStore::write_ownerships(std::vector<Ownership> wanted,
                                     Answer<std::vector<Result<std::string>>> done) {
    const auto shared = std::make_shared<const std::vector<Ownership>>(std::move(wanted));
    state_->submit(
        std::move(done),
        [shared](std::int64_t group) { return postgres::write_ownerships(group, *shared); },
        [shared](const PostgresRows& rows) -> Result<std::vector<Result<std::string>>> {
            return postgres::ownerships_written(rows, *shared);
        });
}

void PostgresStore::list_checkpoints(Answer<std::vector<Checkpoint>> done) {
    state_->submit(std::move(done), &postgres::list_checkpoints,
                   [](const PostgresRows& rows) -> Result<std::vector<Checkpoint>> {
                       return postgres::checkpoints(rows);
                   });
}

void PostgresStore::seal(PartitionId partition, Epoch epoch, Answer<Checkpoint> done) {
    state_->submit(
        std::move(done),
        [=](std::int64_t group) { return postgres::seal(group, partition, epoch); },
        [=](const PostgresRows& rows) { return postgres::sealed(rows, partition, epoch); });
}

void PostgresStore::write_checkpoint(const Checkpoint& checkpoint, Answer<> done) {
    state_->queue.add(std::make_unique<CheckpointWrite>(
        state_->clock.now() + state_->options.wait_max, checkpoint, std::move(done)));
}

void PostgresStore::reset_checkpoint(const Checkpoint& checkpoint, Answer<> done) {
    state_->submit(
        std::move(done),
        [checkpoint](std::int64_t group) { return postgres::reset_checkpoint(group, checkpoint); },
        [](const PostgresRows&) { return Result<>(); });
}

void PostgresStore::add_dead_letter(const DeadLetter& letter, Answer<> done) {
    state_->submit(
        std::move(done),
        [letter](std::int64_t group) { return postgres::add_dead_letter(group, letter); },
        [](const PostgresRows&) { return Result<>(); });
}

void PostgresStore::count_dead_letters(Answer<std::map<PartitionId, std::uint64_t>> done) {
    state_->submit(std::move(done), &postgres::count_dead_letters,
                   [](const PostgresRows& rows) -> Result<std::map<PartitionId, std::uint64_t>> {
                       return postgres::dead_letter_counts(rows);
                   });
}

void PostgresStore::remove_dead_letter(const DeadLetterId& id, Answer<> done) {
    state_->submit(
        std::move(done),
        [id](std::int64_t group) { return postgres::remove_dead_letter(group, id); },
        [](const PostgresRows&) -> Result<> { return {}; });
}

void PostgresStore::list_dead_letters(const DeadLetterPage& page,
                                      Answer<std::vector<DeadLetter>> done) {
    state_->submit(
        std::move(done),
        [page](std::int64_t group) { return postgres::list_dead_letters(group, page); },
        [](const PostgresRows& rows) -> Result<std::vector<DeadLetter>> {
            return postgres::dead_letters(rows);
        });
}

void PostgresStore::list_records(std::string_view prefix, Answer<std::vector<Record>> done) {
    state_->submit(
        std::move(done),
        [prefix = std::string(prefix)](std::int64_t group) {
            return postgres::list_records(group, prefix);
        },
        [](const PostgresRows& rows) -> Result<std::vector<Record>> {
            return postgres::records(rows);
        });
}

void PostgresStore::write_record(const Record& record, Answer<std::string> done) {
    const Result<> checked = check(record);
    if (!checked.ok()) {
        return state_->queue.refuse(std::move(done), checked.error());
    }
    state_->submit(
        std::move(done),
        [record](std::int64_t group) { return postgres::write_record(group, record); },
        [record](const PostgresRows& rows) { return postgres::record_written(rows, record); });
}

bool PostgresStore::watch(std::function<void()> changed) {
    state_->queue.watch(std::move(changed));
    return true;
}

Transactions* PostgresStore::transactions() {
    return &state_->transactions;
}

}  // namespace evenkeel::checkpoint
