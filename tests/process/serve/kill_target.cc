// The program that kill_test.cc kills: a hub under load that says what was acknowledged.
//
//   kill_target FOLDER CYCLE PARTITIONS
//
// Sends batches from several threads into all partitions, with segments so small that they roll all
// the time. After each acknowledgement it writes one Acknowledged to stdout: what the parent has
// read there must be there for ever. It ends by being killed, or with exit code 1 when it cannot go
// on, or cleanly when its stdin ends.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <unistd.h>

#include <poll.h>

#include "base/random.h"
#include "io/system/loop.h"
#include "process/serve/kill_protocol.h"
#include <evenkeel/hub.h>

namespace evenkeel::fault {
namespace {

int complain(const char* what, const Error& error) {
    std::fprintf(stderr, "kill_target: %s: %s\n", what, to_string(error).c_str());
    return 1;
}

bool asked_to_end() {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    return ::poll(&input, 1, 0) > 0;
}

// One producer: batch after batch, each to a partition by chance.
void produce(Hub& hub, std::uint32_t cycle, std::uint32_t partitions, std::uint32_t producer) {
    Random random(std::uint64_t{cycle} << 32 | producer);
    std::uint64_t number = 0;
    while (!asked_to_end()) {
        const auto partition = static_cast<std::uint32_t>(random.below(partitions));
        const auto count = static_cast<std::uint32_t>(1 + random.below(batch_events_max));
        std::vector<std::string> bodies;
        std::vector<std::string_view> views;
        for (std::uint32_t i = 0; i < count; ++i) {
            bodies.push_back(body_of(cycle, producer, number + i));
        }
        views.assign(bodies.begin(), bodies.end());
        const auto receipt =
            hub.send(event_hub, views, {.partition = partition, .partition_key = {}});
        if (!receipt.ok()) {
            if (is_retriable(receipt.error())) continue;
            complain("send", receipt.error());
            _exit(1);
        }
        const Acknowledged acknowledged{partition, cycle,  producer,
                                        count,     number, receipt->first_sequence_number};
        // Smaller than a pipe's atomic size: the parent gets all of it or nothing.
        if (::write(STDOUT_FILENO, &acknowledged, sizeof acknowledged) != sizeof acknowledged) {
            _exit(1);
        }
        number += count;
    }
}

int run(const std::string& folder, std::uint32_t cycle, std::uint32_t partitions) {
    auto hub = Hub::open(hub_options(folder));
    if (!hub.ok()) return complain("open", hub.error());
    EventHubOptions options;
    options.partitions = partitions;
    const auto created = (*hub)->create(event_hub, options);
    if (!created.ok() && created.error().code != ErrorCode::already_exists) {
        return complain("create", created.error());
    }
    std::vector<std::unique_ptr<io::system::WorkerThread>> producers;
    for (std::uint32_t i = 0; i < std::min(partitions, producers_max); ++i) {
        producers.push_back(std::make_unique<io::system::WorkerThread>("produce"));
        producers.back()->post(
            [&hub, cycle, partitions, i] { produce(**hub, cycle, partitions, i); });
    }
    for (auto& producer : producers) producer->finish();
    return 0;
}

}  // namespace
}  // namespace evenkeel::fault

int main(int count, char** arguments) {
    if (count != 4) {
        std::fprintf(stderr, "usage: kill_target FOLDER CYCLE PARTITIONS\n");
        return 2;
    }
    return evenkeel::fault::run(arguments[1], static_cast<std::uint32_t>(std::stoul(arguments[2])),
                                static_cast<std::uint32_t>(std::stoul(arguments[3])));
}
