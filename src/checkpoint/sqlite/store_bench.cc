// How many durable checkpoints a second, from one process with so many partitions that each wait
// for their own answer; and what one costs in a transaction of its own.
#include <cstdlib>
#include <string>

#include <unistd.h>

#include <benchmark/benchmark.h>

#include "base/check.h"
#include "checkpoint/contract/blocking_client_fixture.h"
#include "checkpoint/contract/checkpoint_bench_fixture.h"
#include "checkpoint/sqlite/store.h"
#include "checkpoint/transaction.h"

namespace evenkeel::checkpoint {
namespace {

// Beside the benchmark, not in /tmp: that may be memory.
struct Folder {
    Folder() { EK_CHECK(::mkdtemp(path.data()) != nullptr, "no folder for the benchmark"); }
    ~Folder() {
        for (const char* name : {"/a.db", "/a.db-wal", "/a.db-shm", "/a.db-turn"})
            ::unlink((path + name).c_str());
        ::rmdir(path.c_str());
    }
    std::string path = "checkpoint_bench.XXXXXX";
};

std::unique_ptr<Store> a_store(const Folder& folder, io::Loop& loop) {
    auto store = SqliteStore::open(folder.path + "/a.db", {"localhost", "homes", "g"}, loop);
    EK_CHECK(store.ok(), "the store cannot be opened");
    return std::move(*store);
}

void checkpoints_of_many_partitions(benchmark::State& state) {
    const Folder folder;
    BlockingClient client([&](io::Loop& loop) { return a_store(folder, loop); });
    bench_checkpoints(state, client);
}

void transactions(benchmark::State& state) {
    const Folder folder;
    BlockingClient client([&](io::Loop& loop) { return a_store(folder, loop); });
    std::int64_t sequence = 0;
    for (auto _ : state) {
        auto transaction = client.store().transactions()->begin(PartitionId{0});
        EK_CHECK(transaction.ok(), "no transaction");
        const auto committed =
            (*transaction)->commit({.partition = {0}, .sequence = {sequence++}, .epoch = {1}});
        EK_CHECK(committed.ok(), "a commit was refused");
    }
    state.SetItemsProcessed(state.iterations());
}

BENCHMARK(checkpoints_of_many_partitions)->Arg(1)->Arg(8)->Arg(32)->Arg(256)->UseRealTime();
BENCHMARK(transactions)->UseRealTime();

}  // namespace
}  // namespace evenkeel::checkpoint
