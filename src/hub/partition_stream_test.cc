#include "hub/partition_stream.h"

#include <array>

#include <gtest/gtest.h>

#include "hub/hub_fixture.h"

namespace evenkeel::hub {
namespace {

using State = PartitionStream::State;

// Plays a log: gives out the steps it was told to.
class FakeCursor final : public LogCursor {
public:
    struct Script {
        std::deque<Result<commitlog::ReadStep>> steps;
        std::vector<Offset> missed;
        std::vector<std::size_t> asked;  // bytes_max of each read
        int advanced = 0;
        Task woken;
        bool is_woken_at_once = false;
        bool is_gone = false;
    };
    explicit FakeCursor(Script& script) : script_(script) {}
    ~FakeCursor() override { script_.is_gone = true; }

    Result<commitlog::ReadStep> read(std::size_t bytes_max) override {
        script_.asked.push_back(bytes_max);
        if (script_.steps.empty()) return commitlog::ReadStep();
        auto step = std::move(script_.steps.front());
        script_.steps.pop_front();
        return step;
    }
    void advance(const commitlog::ReadOutcome&) override { ++script_.advanced; }
    void missed(Offset from) override { script_.missed.push_back(from); }
    bool rewind(SequenceNumber) override { return true; }
    void wait(Task task) override {
        if (std::exchange(script_.is_woken_at_once, false)) return task();
        script_.woken = std::move(task);
    }
    void cancel_wait() override { script_.woken = nullptr; }
    Offset next() const override { return Offset{0}; }
    void count_sent(std::int64_t) override {}

private:
    Script& script_;
};

// A stream whose cold reads end when the test says so.
class StreamRig final : public PartitionStream::Owner, public ColdReads {
public:
    explicit StreamRig(const PartitionStream::Options& options = {})
        : stream(*this, *this, options) {
        stream.start(std::make_unique<FakeCursor>(log));
    }
    void on_ready() override { ++ready; }
    void on_ended(const Error& why) override { ends.push_back(why.detail); }
    bool keeps_up() const override { return true; }
    void perform(commitlog::ColdRead, Done done) override { performing = std::move(done); }
    void performed(Result<commitlog::ReadOutcome> outcome, bool events_taken = false) {
        std::exchange(performing, nullptr)({std::move(outcome), events_taken});
    }

    FakeCursor::Script log;
    int ready = 0;
    std::vector<std::string> ends;
    Done performing = nullptr;
    PartitionStream stream;
};

commitlog::ColdRead a_cold_read(std::int64_t from = 0) {
    commitlog::ColdRead read;
    read.from = Offset{from};
    return read;
}

commitlog::Damage a_damage(std::int64_t from, std::int64_t to) {
    return {SequenceNumber{from}, SequenceNumber{to}, Offset{0}, Offset{100}, "a.log"};
}

// One event without key and body.
commitlog::Slice a_slice() {
    static const auto bytes = [] {
        std::array<std::byte, commitlog::stored_bytes(0, 0)> record{};
        commitlog::encode({}, 0, record.data());
        return record;
    }();
    return {nullptr, bytes};
}

commitlog::ReadOutcome an_outcome(commitlog::Slice events,
                                  std::optional<commitlog::Damage> damage) {
    commitlog::ReadOutcome outcome;
    outcome.events = std::move(events);
    outcome.damage = std::move(damage);
    return outcome;
}

bool is_nothing(const Result<StreamStep>& step) {
    return step.ok() && std::holds_alternative<std::monostate>(*step);
}
bool is_events(const Result<StreamStep>& step) {
    return step.ok() && std::holds_alternative<commitlog::Slice>(*step);
}
bool is_damage(const Result<StreamStep>& step) {
    return step.ok() && std::holds_alternative<commitlog::Damage>(*step);
}

TEST(PartitionStream, waits_at_the_end_and_is_woken_once) {
    StreamRig rig;

    EXPECT_TRUE(is_nothing(rig.stream.next()));
    EXPECT_EQ(rig.stream.state(), State::waiting);
    rig.log.steps.emplace_back(a_slice());
    rig.log.woken();

    EXPECT_EQ(rig.ready, 1);
    EXPECT_TRUE(is_events(rig.stream.next()));
}

TEST(PartitionStream, reads_again_when_the_wait_ends_within_the_call) {
    StreamRig rig;
    rig.log.is_woken_at_once = true;
    rig.log.steps.emplace_back(commitlog::ReadStep());
    rig.log.steps.emplace_back(a_slice());

    EXPECT_TRUE(is_events(rig.stream.next()));
    EXPECT_EQ(rig.ready, 0) << "the owner is asking already";
}

TEST(PartitionStream, cancels_a_wait_without_waking_the_owner) {
    StreamRig rig;
    EXPECT_TRUE(is_nothing(rig.stream.next()));

    rig.stream.cancel_wait();

    EXPECT_FALSE(rig.log.woken);
    EXPECT_EQ(rig.ready, 0);
    EXPECT_EQ(rig.stream.state(), State::ready);
}

// STREAM-1
TEST(PartitionStream, reports_damage_once_behind_the_events_before_it) {
    StreamRig rig;
    rig.log.steps.emplace_back(a_cold_read());
    EXPECT_TRUE(is_nothing(rig.stream.next()));
    EXPECT_EQ(rig.stream.state(), State::reading);

    rig.performed(an_outcome(a_slice(), a_damage(5, 7)));

    EXPECT_EQ(rig.ready, 1);
    EXPECT_EQ(rig.log.advanced, 1);
    EXPECT_TRUE(is_events(rig.stream.next()));
    const auto damage = rig.stream.next();
    ASSERT_TRUE(is_damage(damage));
    EXPECT_EQ(std::get<commitlog::Damage>(*damage), a_damage(5, 7));
    EXPECT_TRUE(is_nothing(rig.stream.next()));
}

// STREAM-2
TEST(PartitionStream, does_not_report_damage_that_holds_no_event) {
    StreamRig rig;
    rig.log.steps.emplace_back(a_cold_read());
    rig.log.steps.emplace_back(a_slice());
    EXPECT_TRUE(is_nothing(rig.stream.next()));

    rig.performed(an_outcome({}, a_damage(5, 5)));

    EXPECT_EQ(rig.log.advanced, 1) << "the log hears of it";
    EXPECT_TRUE(is_events(rig.stream.next()));
}

TEST(PartitionStream, skips_events_that_the_performer_has_taken) {
    StreamRig rig;
    rig.log.steps.emplace_back(a_cold_read());
    EXPECT_TRUE(is_nothing(rig.stream.next()));

    rig.performed(an_outcome(a_slice(), a_damage(5, 7)), true);

    EXPECT_TRUE(is_damage(rig.stream.next()));
}

// STREAM-3
TEST(PartitionStream, tells_the_log_that_a_file_is_missing_and_goes_on) {
    StreamRig rig;
    rig.log.steps.emplace_back(a_cold_read(40));
    rig.log.steps.emplace_back(a_slice());
    EXPECT_TRUE(is_nothing(rig.stream.next()));

    rig.performed(Error{ErrorCode::not_found, "no file"});

    EXPECT_EQ(rig.log.missed, std::vector<Offset>{Offset{40}});
    EXPECT_TRUE(is_events(rig.stream.next()));
}

TEST(PartitionStream, gives_a_disk_error_once_and_tries_again) {
    StreamRig rig;
    rig.log.steps.emplace_back(a_cold_read());
    rig.log.steps.emplace_back(a_slice());
    EXPECT_TRUE(is_nothing(rig.stream.next()));

    rig.performed(Error{ErrorCode::unavailable, "the disk failed"});

    EXPECT_EQ(rig.stream.next().error().detail, "the disk failed");
    EXPECT_TRUE(is_events(rig.stream.next()));
}

TEST(PartitionStream, ends_once_and_lets_go_of_everything) {
    StreamRig rig;
    rig.log.steps.emplace_back(a_cold_read());
    EXPECT_TRUE(is_nothing(rig.stream.next()));

    rig.stream.ended()({ErrorCode::fenced, "displaced"});
    rig.stream.end({ErrorCode::cancelled, "closed"});
    rig.performed(an_outcome(a_slice(), {}));

    EXPECT_EQ(rig.ends, std::vector<std::string>{"displaced"});
    EXPECT_TRUE(rig.log.is_gone);
    EXPECT_EQ(rig.ready, 0);
    EXPECT_EQ(rig.stream.next().error().code, ErrorCode::fenced);
}

TEST(PartitionStream, may_end_before_it_starts) {
    StreamRig rig;
    PartitionStream early(rig, rig, {});
    FakeCursor::Script log;

    early.ended()({ErrorCode::fenced, "displaced"});
    early.start(std::make_unique<FakeCursor>(log));

    EXPECT_TRUE(log.is_gone);
    EXPECT_EQ(early.next().error().code, ErrorCode::fenced);
}

TEST(PartitionStream, survives_a_cold_read_that_outlives_it) {
    FakeCursor::Script log;
    StreamRig rig;
    auto stream = std::make_unique<PartitionStream>(rig, rig, PartitionStream::Options{});
    stream->start(std::make_unique<FakeCursor>(log));
    log.steps.emplace_back(a_cold_read());
    EXPECT_TRUE(is_nothing(stream->next()));
    stream.reset();

    rig.performed(an_outcome(a_slice(), {}));

    EXPECT_EQ(rig.ready, 0);
}

// STREAM-4
TEST(PartitionStream, reads_more_and_ahead_for_an_owner_that_keeps_up) {
    StreamRig rig({.read_bytes_min = 100, .read_bytes_max = 300});
    for (int i = 0; i < 3; ++i) rig.log.steps.emplace_back(a_cold_read());
    EXPECT_TRUE(is_nothing(rig.stream.next()));

    rig.performed(an_outcome(a_slice(), {}));
    EXPECT_TRUE(is_events(rig.stream.next()));
    EXPECT_EQ(rig.stream.state(), State::reading) << "ahead of the owner";
    rig.performed(an_outcome(a_slice(), {}));
    EXPECT_TRUE(is_events(rig.stream.next()));

    EXPECT_EQ(rig.log.asked, (std::vector<std::size_t>{100, 200, 300}));
}

TEST(PartitionStream, releases_what_was_read_but_not_damage) {
    StreamRig rig({.read_bytes_min = 100, .read_bytes_max = 300});
    rig.log.steps.emplace_back(a_slice());
    const auto first = rig.stream.next();
    ASSERT_TRUE(is_events(first));
    EXPECT_FALSE(rig.stream.release({})) << "there is nothing to let go";
    EXPECT_TRUE(rig.stream.release(std::get<commitlog::Slice>(*first)));

    rig.log.steps.emplace_back(a_cold_read());
    EXPECT_TRUE(is_nothing(rig.stream.next()));
    EXPECT_FALSE(rig.stream.release(std::get<commitlog::Slice>(*first))) << "a read is under way";
    rig.performed(an_outcome(a_slice(), a_damage(5, 7)));

    EXPECT_FALSE(rig.stream.release({}));
}

// STREAM-3: a partition whose only segment file vanishes while the hub runs.
TEST(PartitionStream, reports_a_vanished_file_of_a_running_hub_as_damage) {
    HubFixture world;
    opened(world);
    ASSERT_TRUE(world.create("h", {.partitions = 1}).ok());
    for (const char* body : {"0", "1", "2"}) ASSERT_TRUE(world.append("h", 0, {body}).ok());
    ASSERT_TRUE(world.reopen().ok());  // nothing is in memory now
    for (const auto& path : world.disk->files()) {
        if (!path.ends_with(".log")) continue;
        EXPECT_TRUE(world.disk->remove(path).ok());
    }
    StreamRig owner;
    io::sim::SimExecutor executor(world.scheduler, "read/0");
    ExecutorReads reads(world.node->loop, executor);
    PartitionStream stream(owner, reads, {});
    auto reader = world.attach("h", 0, Position::earliest(), {"r", std::nullopt}, stream.ended());
    ASSERT_TRUE(reader.ok());
    stream.start(std::move(*reader));

    std::optional<commitlog::Damage> damage;
    for (int i = 0; i < 10 && !damage; ++i) {
        const auto step = stream.next();
        ASSERT_TRUE(step.ok());
        if (is_damage(step)) damage = std::get<commitlog::Damage>(*step);
        world.run();
    }
    ASSERT_TRUE(world.append("h", 0, {"3"}).ok());

    ASSERT_TRUE(damage);
    EXPECT_EQ(damage->from, SequenceNumber{0});
    EXPECT_EQ(damage->to, SequenceNumber{3});
    EXPECT_TRUE(is_events(stream.next()));
}

}  // namespace
}  // namespace evenkeel::hub
