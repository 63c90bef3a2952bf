// `bench against`: the load of end_to_end_20k_16 and _256 on another server of this machine, which
// is started for it in a folder of its own: the same due times and sizes, a stream or table for
// each partition, one reader in a process of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "bench/peer.h"
#include "cli/child.h"
#include "cli/exit_code.h"

namespace evenkeel::bench {

struct AgainstOptions {
    std::string server;  // redis or postgresql
    std::string data;
    double seconds = 2;
    int rounds = 3;
    bool json = false;
};
cli::ExitCode measure_against(const AgainstOptions& options);

// What it has when a sender hears that its event is stored.
struct RivalKind {
    std::string_view name;  // of the line
    std::string_view server;
    std::string_view acknowledged_by;
};

// One connection, without waiting: what is due together goes out at once. Threads: one.
class RivalWriter {
public:
    virtual ~RivalWriter() = default;
    virtual Result<> prepare(std::uint32_t partitions) = 0;
    // Adds an event of those that are due together; the next partition each time.
    virtual void add(std::uint32_t partition, std::string_view body) = 0;
    // Sends what was added, or keeps it until the server has answered.
    virtual Result<> send() = 0;
    // Takes the answers that have come. `corrupt` for one that is an error.
    virtual Result<> take_answers() = 0;
    virtual int descriptor() const = 0;
};
class RivalReader {
public:
    virtual ~RivalReader() = default;
    virtual Result<> prepare(std::uint32_t partitions) = 0;
    // Waits for events, at most a moment, and gives their bodies.
    virtual Result<std::vector<std::string>> read() = 0;
};

Result<std::unique_ptr<RivalWriter>> redis_writer(std::uint16_t port);
Result<std::unique_ptr<RivalReader>> redis_reader(std::uint16_t port);
Result<std::unique_ptr<RivalWriter>> postgres_writer(std::uint16_t port);
Result<std::unique_ptr<RivalReader>> postgres_reader(std::uint16_t port);

// Reads in a process of its own: says "ready" when it is connected; told to, forgets what it has
// seen; at the next line tells "latency EVENTS P50_MS P99_MS MAX_MS".
struct RivalReaderOptions {
    std::string server;
    std::uint16_t port = 0;
    std::uint32_t partitions = 16;
};
cli::ExitCode run_rival_reader_child(const RivalReaderOptions& options);

}  // namespace evenkeel::bench
