// The program that store_test.cc and store_client_test.cc kill: one processor's worth of writes to
// a checkpoint store.
//
//   store_target STORE EPOCH FIRST-PARTITION
//
// Moves the checkpoints of four partitions by the store, and with SQLite those of two more by
// exactly-once transactions that also add a row to the table "sink". After each answer it writes
// one Stored to stdout: what the parent has read there must be there for ever. It ends by being
// killed.
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <unistd.h>

#include <sqlite3.h>

#include "checkpoint/open.h"
#include "checkpoint/transaction.h"
#include "io/system/loop.h"
#include "process/store/store_protocol.h"

namespace evenkeel::fault {
namespace {

[[noreturn]] void give_up(const char* what, const Error& error) {
    std::fprintf(stderr, "store_target: %s: %s\n", what, to_string(error).c_str());
    _exit(1);
}

// Smaller than a pipe's atomic size: the parent gets all of it or nothing.
void tell(std::uint32_t partition, std::int64_t sequence) {
    const Stored stored{partition, sequence};
    if (::write(STDOUT_FILENO, &stored, sizeof stored) != sizeof stored) _exit(1);
}

// One checkpoint after another, on the loop.
void advance(checkpoint::Store& store, checkpoint::Checkpoint next) {
    store.write_checkpoint(next, [&store, next](const Result<>& written) mutable {
        if (written.ok()) {
            tell(next.partition.value, next.sequence.value);
            next.sequence = next.sequence + 1;
        } else if (!is_retriable(written.error())) {
            give_up("write", written.error());
        }
        advance(store, next);
    });
}

// The same by transactions, each with a row that says the same.
void process(checkpoint::Transactions& transactions, checkpoint::Checkpoint next) {
    for (;;) {
        auto transaction = transactions.begin(next.partition);
        if (!transaction.ok()) {
            if (is_retriable(transaction.error())) continue;
            give_up("begin", transaction.error());
        }
        const std::string sql = "INSERT INTO sink VALUES (" + std::to_string(next.partition.value) +
                                "," + std::to_string(next.sequence.value) + ")";
        auto* native = (*transaction)->native().sqlite;
        if (sqlite3_exec(native, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
            give_up("insert", {ErrorCode::handler_failed, sqlite3_errmsg(native)});
        }
        const auto committed = (*transaction)->commit(next);
        if (committed.ok()) {
            tell(next.partition.value, next.sequence.value);
            next.sequence = next.sequence + 1;
        } else if (!is_retriable(committed.error())) {
            give_up("commit", committed.error());
        }
    }
}

// Takes the partition over and then goes on as `begin` says.
void take(checkpoint::Store& store, PartitionId partition, Epoch epoch,
          const std::function<void(checkpoint::Checkpoint)>& begin) {
    store.seal(partition, epoch, [=, &store](Result<checkpoint::Checkpoint> sealed) {
        if (!sealed.ok()) {
            if (is_retriable(sealed.error())) return take(store, partition, epoch, begin);
            give_up("seal", sealed.error());
        }
        sealed->sequence = sealed->sequence + 1;
        begin(*sealed);
    });
}

int run(const std::string& address, Epoch epoch, std::uint32_t first) {
    io::system::LoopThread loop("loop/0");
    auto store = checkpoint::open_store(address, store_group, loop);
    if (!store.ok()) give_up("open", store.error());
    const std::uint32_t transacted = address.starts_with("sqlite:") ? transacted_partitions : 0;
    std::vector<std::unique_ptr<io::system::WorkerThread>> workers;
    for (std::uint32_t i = 0; i < transacted; ++i) {
        workers.push_back(std::make_unique<io::system::WorkerThread>("work"));
    }
    loop.start();
    loop.post([&] {
        constexpr std::uint32_t plain = process_partitions - transacted_partitions;
        for (std::uint32_t i = 0; i < plain; ++i) {
            take(**store, PartitionId{first + i}, epoch,
                 [&](const checkpoint::Checkpoint& next) { advance(**store, next); });
        }
        for (std::uint32_t i = 0; i < transacted; ++i) {
            take(**store, PartitionId{first + plain + i}, epoch,
                 [&, i](const checkpoint::Checkpoint& next) {
                     workers[i]->post([&, next] { process(*(*store)->transactions(), next); });
                 });
        }
    });
    for (;;) ::pause();
}

}  // namespace
}  // namespace evenkeel::fault

int main(int count, char** arguments) {
    if (count != 4) {
        std::fprintf(stderr, "usage: store_target STORE EPOCH FIRST-PARTITION\n");
        return 2;
    }
    return evenkeel::fault::run(arguments[1], evenkeel::Epoch{std::stoll(arguments[2])},
                                static_cast<std::uint32_t>(std::stoul(arguments[3])));
}
