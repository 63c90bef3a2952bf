// Checkpoints and transactions a second on a PostgreSQL server, with its settings as they are:
//
//     EVENKEEL_POSTGRES=postgresql://user@host/db checkpoint_bench --benchmark_filter=postgres
#include <cstdlib>
#include <string>

#include <benchmark/benchmark.h>

#include "checkpoint/contract/checkpoint_bench_fixture.h"
#include "checkpoint/postgres/store.h"
#include "checkpoint/transaction.h"

namespace evenkeel::checkpoint {
namespace {

// None if no server was named.
std::unique_ptr<BlockingClient> a_client(benchmark::State& state) {
    const char* const url = std::getenv("EVENKEEL_POSTGRES");
    if (url == nullptr) {
        state.SkipWithError("set EVENKEEL_POSTGRES to the address of a server");
        return nullptr;
    }
    return std::make_unique<BlockingClient>([&](io::Loop& loop) {
        auto store =
            PostgresStore::open(url, {"localhost", "bench", std::to_string(state.range(0))}, loop);
        EK_CHECK(store.ok(), "the store cannot be opened");
        return std::unique_ptr<Store>(std::move(*store));
    });
}

// From where it was: checkpoints do not go back.
void reset(BlockingClient& client, std::uint32_t partitions) {
    for (std::uint32_t p = 0; p < partitions; ++p) {
        EK_CHECK(client.reset({.partition = {p}, .sequence = {-1}}).ok(), "no reset");
    }
}

void postgres_checkpoints(benchmark::State& state) {
    const auto client = a_client(state);
    if (!client) return;
    reset(*client, static_cast<std::uint32_t>(state.range(0)));
    bench_checkpoints(state, *client);
}

void postgres_transactions(benchmark::State& state) {
    const auto client = a_client(state);
    if (!client) return;
    reset(*client, 1);
    std::int64_t sequence = 0;
    for (auto _ : state) {
        auto transaction = client->store().transactions()->begin(PartitionId{0});
        EK_CHECK(transaction.ok(), "no transaction");
        const auto committed =
            (*transaction)->commit({.partition = {0}, .sequence = {sequence++}, .epoch = {1}});
        EK_CHECK(committed.ok(), "a commit was refused");
    }
    state.SetItemsProcessed(state.iterations());
}

BENCHMARK(postgres_checkpoints)->Arg(1)->Arg(8)->Arg(32)->Arg(256)->UseRealTime();
BENCHMARK(postgres_transactions)->Arg(0)->UseRealTime();

}  // namespace
}  // namespace evenkeel::checkpoint
