// tidy: no test: the contract of stores and postgres_store_test.cc test it on a server
#include "checkpoint/postgres/worker.h"

#include <algorithm>
#include <chrono>

#include <poll.h>

#include "base/log.h"
#include "base/random.h"
#include "checkpoint/postgres/schema.h"
#include "checkpoint/postgres/table.h"
#include "checkpoint/reconnect.h"

namespace evenkeel::checkpoint {

namespace {

using namespace std::chrono_literals;

constexpr Duration slice = 20ms;

// Consecutive writes of checkpoints, or one other call.
using Group = std::vector<PostgresCall*>;

std::vector<Group> grouped(const std::vector<PostgresCall*>& calls, bool are_together) {
    std::vector<Group> groups;
    for (PostgresCall* call : calls) {
        const bool joins = are_together && !groups.empty() && call->checkpoint() != nullptr &&
                           groups.back().back()->checkpoint() != nullptr;
        if (joins) {
            groups.back().push_back(call);
        } else {
            groups.push_back({call});
        }
    }
    return groups;
}

std::vector<const Checkpoint*> checkpoints_of(const Group& group) {
    std::vector<const Checkpoint*> checkpoints;
    checkpoints.reserve(group.size());
    for (const PostgresCall* call : group) checkpoints.push_back(call->checkpoint());
    return checkpoints;
}

}  // namespace

PostgresWorker::PostgresWorker(Options options, const Clock& clock)
    : options_(std::move(options)), clock_(clock), random_(secure_number()) {}

Result<std::unique_ptr<PostgresWorker>> PostgresWorker::open(Options options, const Clock& clock) {
    std::unique_ptr<PostgresWorker> worker(new PostgresWorker(std::move(options), clock));
    EK_TRY(worker->connect(clock.now() + worker->options_.wait_max));
    worker->may_have_missed_ = false;
    return worker;
}

Result<bool> PostgresWorker::is_there(const Options& options, const Clock& clock) {
    const Instant deadline = clock.now() + options.wait_max;
    const std::atomic<bool> stopped = false;
    EK_TRY_ASSIGN(
        const auto connection,
        PostgresConnection::connect(options.address, {clock, stopped, options.wait_max}, deadline));
    EK_TRY_ASSIGN(const bool is_ours, has_postgres_schema(*connection, deadline));
    if (!is_ours) return false;
    EK_TRY_ASSIGN(const PostgresRows found,
                  connection->run(postgres::look_for_group(options.group), deadline));
    return found.size() > 0;
}

Result<> PostgresWorker::connect(Instant deadline) {
    EK_TRY_ASSIGN(auto connection,
                  PostgresConnection::connect(options_.address,
                                              {clock_, stopped_, options_.wait_max}, deadline));
    EK_TRY(prepare_postgres_schema(*connection, options_.address, deadline));
    EK_TRY_ASSIGN(const PostgresRows found,
                  connection->run(postgres::find_group(options_.group), deadline));
    if (found.size() == 0) {
        return Error{ErrorCode::unsupported, options_.address.shown() + ": no group was made"};
    }
    group_ = found.integer(0, 0);
    EK_TRY(connection->execute("LISTEN " + postgres::channel(group_), deadline));
    connection_ = std::move(connection);
    pause_ = Duration(0);
    may_have_missed_ = true;
    return {};
}

// Waits out the pause that the last failures have asked for.
Result<> PostgresWorker::connect_with_patience(Instant deadline) {
    for (;;) {
        while (clock_.now() < next_try_) {
            if (stopped_) return Error{ErrorCode::cancelled, "the checkpoint store was closed"};
            if (clock_.now() >= deadline) {
                return Error{ErrorCode::unavailable,
                             options_.address.shown() + ": no connection; it is tried again"};
            }
            const Duration left = std::min({next_try_ - clock_.now(), slice});
            const auto milliseconds =
                std::chrono::duration_cast<std::chrono::milliseconds>(left).count() + 1;
            // A thread that may block, and nothing to wait for; close() is seen within a slice.
            ::poll(nullptr, 0, static_cast<int>(milliseconds));  // tidy: allow sleep: a slice of it
        }
        const Result<> connected = connect(deadline);
        if (connected.ok()) {
            trace(TraceLevel::info, "connected to the checkpoint store again",
                  {{"store", options_.address.shown()}});
            return {};
        }
        lose(connected.error());
        if (!is_retriable(connected.error())) return connected.error();
        if (clock_.now() >= deadline) return connected.error();
    }
}

void PostgresWorker::lose(const Error& why) {
    if (connection_ && !stopped_) {
        trace(TraceLevel::warning, "the checkpoint store is not reachable",
              {{"store", options_.address.shown()}, {"error", to_string(why)}});
    }
    connection_.reset();
    pause_ = std::clamp(pause_ * 2, reconnect_pause_min, reconnect_pause_max);
    // Half of it by chance, so that those who lost it together do not come back together.
    const auto half = static_cast<std::uint64_t>(pause_.count() / 2);
    next_try_ = clock_.now() + pause_ / 2 + Duration(random_.below(half));
}

bool PostgresWorker::run(std::vector<std::unique_ptr<PostgresCall>>& calls) {
    std::vector<PostgresCall*> left;
    left.reserve(calls.size());
    const Instant now = clock_.now();
    Instant deadline = now + options_.wait_max;
    for (const auto& call : calls) {
        if (now >= call->deadline()) {
            call->fail(
                {ErrorCode::unavailable, options_.address.shown() + ": busy or away for too long"});
            continue;
        }
        deadline = std::min(deadline, call->deadline());
        left.push_back(call.get());
    }
    if (left.empty()) return false;
    if (!connection_) {
        if (const auto connected = connect_with_patience(deadline); !connected.ok()) {
            for (PostgresCall* call : left) call->fail(connected.error());
            return false;
        }
    }
    exchange(left, true);
    return false;
}

void PostgresWorker::exchange(const std::vector<PostgresCall*>& calls, bool are_together) {
    const std::vector<Group> groups = grouped(calls, are_together);
    std::vector<PostgresCommand> commands;
    commands.reserve(groups.size());
    for (const Group& group : groups) {
        commands.push_back(group[0]->checkpoint() != nullptr
                               ? postgres::write_checkpoints(group_, checkpoints_of(group))
                               : group[0]->command(group_));
    }
    const auto answers = connection_->run(commands, clock_.now() + options_.wait_max);
    std::vector<PostgresCall*> again;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        const Group& group = groups[i];
        const Result<PostgresRows>& answer = answers[i];
        if (!answer.ok()) {
            // One of them may be at fault, and the others must not suffer. Refused is not applied.
            const bool may_part = group.size() > 1 && !connection_->is_broken();
            for (PostgresCall* call : group) {
                if (may_part) {
                    again.push_back(call);
                } else {
                    call->fail(answer.error());
                }
            }
        } else if (group[0]->checkpoint() != nullptr) {
            const auto results = postgres::checkpoints_written(*answer, checkpoints_of(group));
            for (std::size_t k = 0; k < group.size(); ++k) group[k]->finish_checkpoint(results[k]);
        } else {
            group[0]->finish(*answer);
        }
    }
    if (connection_->is_broken()) {
        lose({ErrorCode::unavailable, "the connection was lost"});
        for (PostgresCall* call : again) {
            call->fail(
                {ErrorCode::unavailable, options_.address.shown() + ": the connection was lost"});
        }
    } else if (!again.empty()) {
        exchange(again, false);
    }
}

bool PostgresWorker::has_changed() {
    if (!connection_) {
        if (clock_.now() < next_try_) return false;
        if (const auto connected = connect(clock_.now() + options_.wait_max); !connected.ok()) {
            lose(connected.error());
            return false;
        }
    }
    const bool is_told = connection_->take_notifications();
    if (connection_->is_broken()) {
        lose({ErrorCode::unavailable, "the server closed the connection"});
        return false;
    }
    return std::exchange(may_have_missed_, false) || is_told;
}

}  // namespace evenkeel::checkpoint
