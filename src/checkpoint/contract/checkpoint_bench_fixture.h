// What the benchmarks of stores measure alike: how many durable checkpoints a second, from one
// process with so many partitions that each wait for their own answer.
#pragma once

#include <cstdint>

#include <benchmark/benchmark.h>

#include "base/check.h"
#include "base/promise.h"
#include "checkpoint/contract/blocking_client_fixture.h"

namespace evenkeel::checkpoint {

// Each partition writes its next checkpoint as soon as the last one is answered.
inline void bench_checkpoints(benchmark::State& state, BlockingClient& client) {
    const auto partitions = static_cast<std::uint32_t>(state.range(0));
    std::int64_t sequence = 0;
    for (auto _ : state) {
        Promise<bool> finished;
        std::uint32_t left = partitions;
        client.loop().post([&] {
            for (std::uint32_t p = 0; p < partitions; ++p) {
                client.store().write_checkpoint(
                    {.partition = {p}, .sequence = {sequence}, .epoch = {1}},
                    [&](const Result<>& result) {
                        EK_CHECK(result.ok(), "a checkpoint was refused");
                        if (--left == 0) finished.set(true);
                    });
            }
        });
        finished.wait();
        ++sequence;
    }
    state.SetItemsProcessed(state.iterations() * partitions);
}

}  // namespace evenkeel::checkpoint
