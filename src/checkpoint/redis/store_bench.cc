// Checkpoints a second on a Redis server, with its settings as they are:
//
//     EVENKEEL_REDIS=redis://host checkpoint_bench --benchmark_filter=redis
#include <cstdlib>
#include <string>

#include <benchmark/benchmark.h>

#include "checkpoint/contract/checkpoint_bench_fixture.h"
#include "checkpoint/redis/store.h"

namespace evenkeel::checkpoint {
namespace {

void redis_checkpoints(benchmark::State& state) {
    const char* const url = std::getenv("EVENKEEL_REDIS");
    if (url == nullptr) {
        state.SkipWithError("set EVENKEEL_REDIS to the address of a server");
        return;
    }
    BlockingClient client([&](io::Loop& loop) {
        auto store =
            RedisStore::open(url, {"localhost", "bench", std::to_string(state.range(0))}, loop);
        EK_CHECK(store.ok(), "the store cannot be opened");
        return std::unique_ptr<Store>(std::move(*store));
    });
    // From where it was: checkpoints do not go back.
    for (std::uint32_t p = 0; p < static_cast<std::uint32_t>(state.range(0)); ++p) {
        EK_CHECK(client.reset({.partition = {p}, .sequence = {-1}}).ok(), "no reset");
    }
    bench_checkpoints(state, client);
}

BENCHMARK(redis_checkpoints)->Arg(1)->Arg(8)->Arg(32)->Arg(256)->UseRealTime();

}  // namespace
}  // namespace evenkeel::checkpoint
