// Processors in processes of their own, one of them killed.
#include <algorithm>
#include <csignal>
#include <map>
#include <set>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "base/mutex.h"
#include "client/hub_process.h"
#include "support/paths.h"
#include "support/process.h"
#include "support/temporary_directory.h"
#include <evenkeel/producer.h>

namespace evenkeel::test {
namespace {

constexpr std::uint32_t partitions = 4;

// What all members have said they handled.
class Heard {
public:
    void add(const std::string& member, std::uint32_t partition, std::int64_t sequence) {
        const Lock lock(mutex_);
        by_[member][partition].push_back(sequence);
        ++count_[member];
        distinct_.insert({partition, sequence});
        changed_.notify_all();
    }
    bool has(const std::string& member) {
        const Lock lock(mutex_);
        return count_.contains(member);
    }
    void wait_for_distinct(std::size_t count) {
        const Lock lock(mutex_);
        while (distinct_.size() < count) changed_.wait(mutex_);
    }
    // Each member in order for each partition; how many events were handled twice.
    std::size_t judge() {
        const Lock lock(mutex_);
        std::size_t all = 0;
        for (const auto& [member, by_partition] : by_) {
            for (const auto& [partition, handled] : by_partition) {
                EXPECT_TRUE(std::is_sorted(handled.begin(), handled.end()))
                    << member << ", partition " << partition;
                all += handled.size();
            }
        }
        return all - distinct_.size();
    }

private:
    Mutex mutex_;
    Condition changed_;
    std::map<std::string, std::map<std::uint32_t, std::vector<std::int64_t>>> by_
        EK_GUARDED_BY(mutex_);
    std::map<std::string, std::size_t> count_ EK_GUARDED_BY(mutex_);
    std::set<std::pair<std::uint32_t, std::int64_t>> distinct_ EK_GUARDED_BY(mutex_);
};

// A member process, and a thread that listens to it.
class Member {
public:
    Member(const HubProcess& hub, const std::string& store, const std::string& id, Heard& heard)
        : process_({test::built_path("tests/process/processor/processor_member"),
                    hub.connection_string("homes"), store, id}),
          listener_([this, id, &heard] { listen(id, heard); }) {}
    ~Member() { end(SIGKILL); }
    fault::Ended end(int signal) {
        if (!listener_.joinable()) return {};
        process_.signal(signal);
        listener_.join();
        return process_.wait();
    }

private:
    void listen(const std::string& id, Heard& heard) {
        std::string line;
        for (char byte = 0; process_.read_output(&byte, 1);) {
            if (byte != '\n') {
                line += byte;
                continue;
            }
            const std::size_t blank = line.find(' ');
            heard.add(id, static_cast<std::uint32_t>(std::stoul(line.substr(0, blank))),
                      std::stoll(line.substr(blank + 1)));
            line.clear();
        }
    }
    fault::Process process_;
    std::thread listener_;
};

void send(Producer& producer, int events) {
    for (std::uint32_t p = 0; p < partitions; ++p) {
        auto batch = producer.make_batch({.partition = p}).value();
        for (int i = 0; i < events; ++i) ASSERT_TRUE(batch.try_add("event"));
        ASSERT_TRUE(producer.send(batch).ok());
    }
}

TEST(ProcessorProcesses, lose_nothing_when_one_is_killed) {
    HubProcess hub;
    TemporaryDirectory folder;
    ASSERT_TRUE(hub.create("homes", partitions).ok());
    const std::string store = "sqlite:" + folder.path() + "/progress.db";
    auto producer = Producer::open(hub.connection_string("homes")).value();
    Heard heard;
    Member a(hub, store, "a", heard);
    Member b(hub, store, "b", heard);
    // Both have their share once both have handled something of what is sent now and then.
    std::size_t sent = 0;
    for (int round = 0; round < 100 || !heard.has("a") || !heard.has("b"); ++round, sent += 5) {
        send(*producer, 5);
    }
    heard.wait_for_distinct(sent * partitions);

    a.end(SIGKILL);
    for (int round = 0; round < 100; ++round, sent += 5) send(*producer, 5);
    heard.wait_for_distinct(sent * partitions);
    const std::size_t repeated = heard.judge();
    Member c(hub, store, "c", heard);
    for (int round = 0; round < 100; ++round, sent += 5) send(*producer, 5);
    heard.wait_for_distinct(sent * partitions);

    for (Member* member : {&b, &c}) {
        const fault::Ended ended = member->end(SIGTERM);
        EXPECT_TRUE(ended.exited);
        EXPECT_EQ(ended.code, 0);
    }
    EXPECT_LE(repeated, partitions * (100 + 256)) << "what the policy says, and a batch";
    EXPECT_EQ(heard.judge(), repeated) << "a hand-over repeats nothing";
}

}  // namespace
}  // namespace evenkeel::test
