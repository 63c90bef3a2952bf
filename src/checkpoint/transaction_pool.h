// What the transactions of SQLite and PostgreSQL share: connections that wait for the next
// transaction, and the check that a transaction commits its own partition.
// Threads: any.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/guarded.h"
#include "base/ids.h"
#include "base/result.h"
#include "checkpoint/store.h"

namespace evenkeel::checkpoint {

template <typename Connection>
class ConnectionPool {
public:
    // More than there are handlers at once would only take descriptors, or the server's
    // connections from others.
    static constexpr std::size_t idle_max = 16;

    // The one that was used last; null if none is idle.
    std::unique_ptr<Connection> take() {
        return idle_.with([](Idle& idle) -> std::unique_ptr<Connection> {
            if (idle.empty()) return nullptr;
            std::unique_ptr<Connection> connection = std::move(idle.back());
            idle.pop_back();
            return connection;
        });
    }
    // Closes it if there are enough.
    void give_back(std::unique_ptr<Connection> connection) {
        idle_.with([&](Idle& idle) {
            if (idle.size() < idle_max) idle.push_back(std::move(connection));
        });
    }

private:
    using Idle = std::vector<std::unique_ptr<Connection>>;
    Guarded<Idle> idle_;
};

inline Result<> check_partition(const Checkpoint& checkpoint, PartitionId partition) {
    if (checkpoint.partition == partition) return {};
    return Error{ErrorCode::invalid_argument,
                 fmt::format("a transaction of partition {} cannot commit partition {}",
                             partition.value, checkpoint.partition.value)};
}

}  // namespace evenkeel::checkpoint
