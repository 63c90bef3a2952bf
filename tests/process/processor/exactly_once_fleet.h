// Processors in processes of their own that deliver exactly once into a sink in their store, and
// what can be done to them; in the end the sink is compared with a replay of the log.
#pragma once

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <poll.h>

#include "base/clock.h"
#include "base/random.h"
#include "client/hub_process.h"
#include "process/processor/exactly_once_sink.h"
#include "process/processor/sink_difference.h"
#include "support/paths.h"
#include "support/process.h"
#include "support/seed.h"
#include <evenkeel/consumer.h>
#include <evenkeel/producer.h>

namespace evenkeel::test {

using std::chrono::milliseconds;
using std::chrono::seconds;

inline constexpr std::uint32_t partitions = 8;
inline constexpr std::size_t members = 4;
// The fast profile's lease is 2.55 s; the others take over 3 s after a member's last heartbeat.
inline constexpr milliseconds longer_than_a_lease{3500};
inline constexpr std::int64_t lead = 2000;  // events that wait for the processors, at most

// `Sink` is an ExactlyOnceSink or a PostgresSink, made with the store's address.
template <typename Sink>
class Fleet {
public:
    Fleet(const std::string& delivery, const std::string& store, const std::string& where)
        : delivery_(delivery), store_(store), sink_(where) {
        EXPECT_TRUE(hub_.create("homes", partitions).ok());
        producer_ = Producer::open(hub_.connection_string("homes")).value();
        for (std::size_t i = 0; i < members; ++i) start("m" + std::to_string(++named_));
    }
    ~Fleet() {
        for (auto& [id, process] : processes_) process->signal(SIGCONT);
    }

    // Lets time pass with events coming in, until the sink has grown by `rows`; false if that takes
    // too long.
    bool wait_for_rows(std::int64_t rows) {
        const std::int64_t wanted = sink_.count() + rows;
        return wait_until([&] { return sink_.count() >= wanted; });
    }
    template <typename Condition>
    bool wait_until(Condition condition) {
        const Instant end = clock_.now() + seconds(120);
        while (!condition()) {
            if (clock_.now() > end) return false;
            resume_due();
            if (is_sending_ && sent_ - sink_.count() < lead) send();
            pass(milliseconds(5));
        }
        return true;
    }
    void pass(milliseconds time) {
        poll(nullptr, 0, static_cast<int>(time.count()));  // tidy: allow sleep: time passes
    }

    // Kills one, most often the one that has just committed, and starts it again or another one.
    void kill_one(Random& random) {
        const std::string last = sink_.last_owner();
        const std::string victim = any(random);
        if (victim.empty()) return;
        processes_.at(victim)->signal(SIGKILL);
        processes_.at(victim)->wait();
        processes_.erase(victim);
        ++killed_;
        if (victim == last) ++struck_;
        start(random.chance(1, 2) ? victim : "m" + std::to_string(++named_));
    }
    void stop_one(Random& random) {
        const std::string victim = any(random);
        if (victim.empty() || !stopped_.empty()) return;
        processes_.at(victim)->signal(SIGSTOP);
        stopped_ = victim;
        resume_at_ = clock_.now() + longer_than_a_lease;
        ++stops_;
    }
    void restart_hub() {
        hub_.restart();
        ++hub_restarts_;
    }

    // All that is in the log is in the sink; the members end gracefully.
    void finish() {
        is_sending_ = false;
        resume_at_ = clock_.now();
        EXPECT_TRUE(wait_until([&] { return sink_.distinct() >= sent_; }))
            << sink_.distinct() << " of " << sent_ << " events are in the sink";
        for (auto& [id, process] : processes_) process->signal(SIGTERM);
        for (auto& [id, process] : processes_) {
            const fault::Ended ended = process->wait();
            EXPECT_TRUE(ended.exited && ended.code == 0) << id << " ended with " << ended.code;
        }
        processes_.clear();
    }

    // What differs between the sink and the log, in all partitions.
    SinkDifference difference() {
        auto client = Client::open(hub_.connection_string("homes")).value();
        SinkDifference all;
        for (std::uint32_t p = 0; p < partitions; ++p) {
            const auto log = read_log(*client, p);
            if (!log) {
                ++all.unreadable;
                continue;
            }
            const std::vector<SinkRow> rows = sink_.rows(p);
            for (std::size_t row = 1; row < rows.size(); ++row) {
                if (rows[row].epoch != rows[row - 1].epoch) ++changes_;
            }
            all += compare_with_log(*log, rows, sink_.total(p));
        }
        return all;
    }
    // Rows beyond one for each event: what was written twice, counted by the sink alone.
    std::int64_t surplus() { return sink_.count() - sink_.distinct(); }
    void print_ledger() const {
        std::printf(
            "ledger: %lld events, %d kills (%d of the one that had just committed), %d stops, %d "
            "restarts of the hub, %d changes of owners in the sink\n",
            static_cast<long long>(sent_), killed_, struck_, stops_, hub_restarts_, changes_);
    }

    int killed() const { return killed_; }
    int faults() const { return killed_ + stops_ + hub_restarts_; }

private:
    // All of a partition; none if it cannot be read to its end.
    static std::optional<std::vector<LogEntry>> read_log(Client& client, std::uint32_t partition) {
        auto reader =
            RemoteReader::open(client, "$Default", partition, Position::earliest()).value();
        const std::int64_t end = client.properties(partition)->last_enqueued_sequence_number + 1;
        std::vector<LogEntry> log;
        for (std::int64_t next = 0; next < end;) {
            const auto batch = reader->read(1000, seconds(60)).value();
            if (batch.empty()) return std::nullopt;
            for (const Event& event : batch) {
                log.push_back({event.sequence_number, std::string(event.text())});
                next = event.sequence_number + 1;
            }
        }
        return log;
    }
    void start(const std::string& id) {
        processes_[id] = std::make_unique<fault::Process>(
            std::vector<std::string>{test::built_path("tests/process/processor/processor_member"),
                                     hub_.connection_string("homes"), store_, id, delivery_});
    }
    // That runs; for the most part the one whose transaction was the last.
    std::string any(Random& random) {
        std::string id = sink_.last_owner();
        if (!processes_.contains(id) || random.chance(1, 4)) {
            auto found = processes_.begin();
            std::advance(found, random.below(processes_.size()));
            id = found->first;
        }
        return id == stopped_ ? "" : id;
    }
    void resume_due() {
        if (stopped_.empty() || clock_.now() < resume_at_) return;
        processes_.at(stopped_)->signal(SIGCONT);
        stopped_.clear();
    }
    void send() {
        for (std::uint32_t p = 0; p < partitions; ++p) {
            auto batch = producer_->make_batch({.partition = p}).value();
            for (int i = 0; i < 5; ++i) ASSERT_TRUE(batch.try_add(std::to_string(++sent_ * 7)));
            const Result<> sent = producer_->send(batch);
            ASSERT_TRUE(sent.ok()) << to_string(sent.error());
        }
    }

    const std::string delivery_;
    const std::string store_;
    Sink sink_;
    const SystemClock clock_;
    HubProcess hub_;
    std::unique_ptr<Producer> producer_;
    std::map<std::string, std::unique_ptr<fault::Process>> processes_;
    std::string stopped_;
    Instant resume_at_;
    std::int64_t sent_ = 0;
    bool is_sending_ = true;
    int named_ = 0, killed_ = 0, struck_ = 0, changes_ = 0, stops_ = 0, hub_restarts_ = 0;
};

// Kills processors in the middle of what they do, stops them, restarts their hub; and `besides`
// after every kill.
template <typename Sink, typename Besides>
void strike(Fleet<Sink>& fleet, int count, Besides besides) {
    Random random(fresh_seed());
    for (const int end = fleet.killed() + count; fleet.killed() < end;) {
        ASSERT_TRUE(fleet.wait_for_rows(random.between(1, 200))) << "nothing moves any more";
        fleet.pass(milliseconds(random.between(0, 20)));
        if (fleet.killed() % 8 == 4) fleet.stop_one(random);
        if (fleet.killed() % 8 == 7) fleet.restart_hub();
        fleet.kill_one(random);
        besides();
    }
}

}  // namespace evenkeel::test
