#include "checkpoint/sqlite/store.h"

#include <utility>

#include <fmt/format.h>

#include "checkpoint/sqlite/transaction.h"
#include "checkpoint/sqlite/worker.h"
#include "io/system/loop.h"

namespace evenkeel::checkpoint {

namespace {

constexpr std::size_t batch_max = 256;
constexpr std::size_t waiting_max = 16'384;

}  // namespace

struct SqliteStore::State {
    State(io::Loop& loop_, const SqliteOptions& options_, std::unique_ptr<SqliteWorker> worker_,
          const std::string& file, const GroupName& group)
        : loop(loop_),
          options(options_),
          transactions(file, group, loop_.clock(), options_.wait_max),
          worker(std::move(worker_)) {}
    ~State() { worker->stop(); }

    template <typename T, typename Operation>
    void submit(JobKind kind, Answer<T> done, Operation operation);
    void send();
    void receive(const Jobs& jobs, bool others_changed);
    void poll();
    void poll_later();

    io::Loop& loop;
    const SqliteOptions options;
    SqliteTransactions transactions;
    Jobs waiting;
    bool is_running = false;  // a batch is with the worker
    std::function<void()> changed;
    bool is_polling = false;  // a poll is with the worker, or its timer is set
    io::TimerId timer{};
    // Its control block tells tasks on the loop whether we are still there.
    const std::shared_ptr<State*> alive = std::make_shared<State*>(this);
    std::unique_ptr<SqliteWorker> worker;
    // Ends first, so that no task of it meets what is gone.
    io::system::WorkerThread thread{"store/0"};
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

SqliteStore::~SqliteStore() {
    watch({});
}

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

void SqliteStore::list_dead_letters(std::size_t count_max, Answer<std::vector<DeadLetter>> done) {
    state_->submit(JobKind::listing, std::move(done), [count_max](SqliteTable& table, Moment) {
        return table.dead_letters(count_max);
    });
}

void SqliteStore::list_records(std::string_view prefix, Answer<std::vector<Record>> done) {
    state_->submit(JobKind::listing, std::move(done),
                   [prefix = std::string(prefix)](SqliteTable& table, Moment) {
                       return table.records(prefix);
                   });
}

void SqliteStore::write_record(const Record& record, Answer<std::string> done) {
    if (const Result<> checked = check(record); !checked.ok()) {
        state_->loop.check_here();
        return state_->loop.post([weak = std::weak_ptr<State*>(state_->alive),
                                  done = std::move(done), error = checked.error()]() mutable {
            if (!weak.expired()) done(error);
        });
    }
    state_->submit(JobKind::write, std::move(done),
                   [record](SqliteTable& table, Moment) { return table.write_record(record); });
}

bool SqliteStore::watch(std::function<void()> changed) {
    state_->loop.check_here();
    state_->changed = std::move(changed);
    if (!state_->changed) {
        state_->loop.cancel(std::exchange(state_->timer, {}));
        state_->is_polling = false;
    } else if (!state_->is_polling) {
        state_->is_polling = true;
        state_->poll_later();
    }
    return true;
}

Transactions* SqliteStore::transactions() {
    return &state_->transactions;
}

template <typename T, typename Operation>
void SqliteStore::State::submit(JobKind kind, Answer<T> done, Operation operation) {
    loop.check_here();
    auto job = std::make_unique<JobOf<T, Operation>>(kind, loop.clock().now() + options.wait_max,
                                                     std::move(operation), std::move(done));
    if (waiting.size() < waiting_max) {
        waiting.push_back(std::move(job));
        return send();
    }
    job->fail({ErrorCode::overloaded,
               fmt::format("more than {} operations wait for the checkpoint store", waiting_max)});
    loop.post([weak = std::weak_ptr<State*>(alive), job = std::move(job)] {
        if (!weak.expired()) job->answer();
    });
}

// One batch at a time is with the worker; what comes meanwhile makes the next one.
void SqliteStore::State::send() {
    if (is_running || waiting.empty()) return;
    is_running = true;
    Jobs jobs;
    if (waiting.size() <= batch_max) {
        jobs.swap(waiting);
    } else {
        const auto end = waiting.begin() + batch_max;
        jobs.assign(std::move_iterator(waiting.begin()), std::move_iterator(end));
        waiting.erase(waiting.begin(), end);
    }
    thread.post([this, weak = std::weak_ptr<State*>(alive), jobs = std::move(jobs)]() mutable {
        const bool others_changed = worker->run(jobs);
        loop.post([weak = std::move(weak), jobs = std::move(jobs), others_changed]() mutable {
            if (const auto state = weak.lock()) (*state)->receive(jobs, others_changed);
        });
    });
}

void SqliteStore::State::receive(const Jobs& jobs, bool others_changed) {
    is_running = false;
    send();
    const std::weak_ptr<State*> weak = alive;
    for (const auto& job : jobs) {
        job->answer();
        if (weak.expired()) return;  // by the answer
    }
    if (others_changed && changed) {
        const auto now_changed = changed;  // it may end the watch, or the store
        now_changed();
    }
}

void SqliteStore::State::poll_later() {
    timer = loop.run_after(options.watch_period, [this] { poll(); });
}

void SqliteStore::State::poll() {
    timer = {};
    thread.post([this, weak = std::weak_ptr<State*>(alive)]() mutable {
        const bool has_changed = worker->has_changed();
        loop.post([weak = std::move(weak), has_changed] {
            const auto state = weak.lock();
            if (!state || !(*state)->changed) return;
            if ((*state)->timer == io::TimerId{}) (*state)->poll_later();
            if (!has_changed) return;
            const auto now_changed = (*state)->changed;
            now_changed();
        });
    });
}

}  // namespace evenkeel::checkpoint
