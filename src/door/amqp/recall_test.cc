#include "door/amqp/recall.h"

#include <limits>
#include <utility>

#include <gtest/gtest.h>

#include "base/trace_fixture.h"
#include "door/amqp/producers_fixture.h"
#include "hub/hub_fixture.h"

namespace evenkeel::door {
namespace {

constexpr std::int32_t number_max = std::numeric_limits<std::int32_t>::max();

std::string text_of(const Buffer& event) {
    return std::string(as_text(event));
}
// An event of no idempotent producer that takes a little more than `bytes` of the log.
std::string plain(std::size_t bytes = 1) {
    return text_of(a_data(std::string(bytes, 'p')));
}

// A hub that was started again after events were stored, and what its door asks.
class RecallWorld {
public:
    explicit RecallWorld(const HubOptions& options = {}) : hub(options) {
        hub::opened(hub);
        EXPECT_TRUE(hub.create("eh", {.partitions = 2}).ok());
    }
    ~RecallWorld() {
        reads.discard();
        hub.kill();
    }
    RecallWorld(const RecallWorld&) = delete;
    RecallWorld& operator=(const RecallWorld&) = delete;

    void store(const std::vector<std::string>& bodies) {
        EXPECT_TRUE(hub.append("eh", 0, bodies).ok());
    }
    void store_megabytes(int count) {
        for (int i = 0; i < count; ++i) store({plain(std::size_t{1023} << 10)});
    }
    void purge(std::int64_t first_kept) {
        const auto purged =
            hub.start([&](auto done) { log().purge({first_kept}, std::move(done)); });
        EXPECT_TRUE(hub.wait(purged).ok());
    }
    void restart() {
        recall.reset();
        producers.reset();
        EXPECT_TRUE(hub.reopen().ok());
        producers.emplace();
        recall.emplace(hub.node->loop, reads, *producers);
    }
    // Adds 1 to `answers` when it is answered.
    void ask(std::uint32_t partition = 0) {
        recall->prepare(**hub.hub->find("eh"), {partition}, [this] { ++answers; });
    }
    // The answer to a producer that names nothing but its id.
    ProducerState told(std::int64_t id) {
        ask();
        hub.run();
        ProducerState state;
        EXPECT_FALSE(producers->attach(place(), {id, std::nullopt, std::nullopt}, state));
        return state;
    }
    ProducerPlace place() { return {(*hub.hub->find("eh"))->record().incarnation, {0}}; }
    commitlog::Log& log() { return **(**(*hub.hub->find("eh"))->partition({0})).log(); }
    std::string log_folder() { return hub::partition_path("data", place().first, {0}); }

    hub::HubFixture hub;
    io::sim::SimExecutor reads{hub.scheduler, "read/0"};
    std::optional<Producers> producers;
    std::optional<Recall> recall;
    int answers = 0;
};

std::string event(std::int64_t id, std::int64_t epoch, std::int64_t sequence) {
    return text_of(stamped(id, epoch, sequence));
}

TEST(Recall, finds_the_last_number_of_each_producer_among_others) {
    RecallWorld world;
    world.store({event(7, 0, 1), event(7, 0, 2), plain()});
    world.store({event(8, 0, 1), plain(), event(7, 0, 3)});
    world.store({plain()});

    world.restart();

    EXPECT_EQ(world.told(7), (ProducerState{7, 0, 3}));
    EXPECT_EQ(world.told(8), (ProducerState{8, 0, 1}));
    EXPECT_EQ(world.told(9), (ProducerState{9, 0, 0}));
}

TEST(Recall, takes_the_highest_epoch_and_the_last_number_of_that_one) {
    RecallWorld world;
    world.store({event(7, 1, 90), event(7, 2, 4), event(7, 2, 5), event(7, 1, 91)});
    world.store({event(8, 0, 1000), event(8, 0, 1), event(8, 0, 2)});

    world.restart();

    EXPECT_EQ(world.told(7), (ProducerState{7, 2, 5}));
    EXPECT_EQ(world.told(8), (ProducerState{8, 0, 2})) << "the last one, not the largest";
}

TEST(Recall, finds_what_came_before_the_numbers_began_anew_at_0) {
    RecallWorld world;
    world.store({event(7, 0, number_max - 1), event(7, 0, number_max), event(7, 0, 0)});
    world.store({event(7, 0, 1)});
    world.restart();
    world.ask();
    world.hub.run();

    ProducerState state;
    EXPECT_FALSE(world.producers->attach(world.place(), {7, 0, number_max - 2}, state));

    EXPECT_EQ(state.sequence, number_max - 2) << "it knows less than the hub";
    EXPECT_FALSE(world.producers->attach(world.place(), {7, 0, std::nullopt}, state));
    EXPECT_EQ(state.sequence, 1);
    for (const std::int64_t repeated : {number_max - 1, number_max, 0, 1}) {
        const auto why = world.producers->admit(world.place(), {7, 0, repeated}, 1);
        ASSERT_TRUE(why);
        EXPECT_EQ(why->name, "com.microsoft:out-of-order-sequence");
        EXPECT_NE(why->description.find("old sequence"), std::string::npos) << repeated;
    }
    EXPECT_FALSE(world.producers->admit(world.place(), {7, 0, 2}, 1));
}

TEST(Recall, passes_over_what_cannot_be_a_producers_stamp) {
    RecallWorld world;
    Buffer two_parts;
    append_section(two_parts, amqp::descriptor::message_annotations,
                   a_map({{"com.microsoft:producer-id", a_long(7)},
                          {"com.microsoft:producer-sequence-number", a_long(9)}}));
    world.store({event(7, 0, 3), event(7, 0, -1), event(7, 40'000, 4), event(-7, 0, 5),
                 event(7, 0, std::int64_t{1} << 40), text_of(two_parts), "no sections at all"});

    world.restart();

    EXPECT_EQ(world.told(7), (ProducerState{7, 0, 3}));
    EXPECT_EQ(world.producers->size(), 1u);
}

TEST(Recall, reads_the_last_16_megabytes_and_no_more) {
    RecallWorld world({.segment_bytes_max = std::uint64_t{5} << 20});
    world.store({event(7, 0, 1)});
    world.store_megabytes(2);
    world.store({event(8, 0, 1)});
    world.store_megabytes(15);

    world.restart();

    EXPECT_EQ(world.told(8), (ProducerState{8, 0, 1}));
    EXPECT_EQ(world.told(7), (ProducerState{7, 0, 0})) << "forgotten: too much came after it";
}

TEST(Recall, finds_nothing_in_what_was_purged) {
    RecallWorld world;
    world.store({event(7, 0, 1), event(7, 0, 2), event(8, 0, 1)});

    world.purge(2);
    world.restart();
    EXPECT_EQ(world.told(7), (ProducerState{7, 0, 0}));
    EXPECT_EQ(world.told(8), (ProducerState{8, 0, 1}));

    world.purge(3);
    world.restart();
    EXPECT_EQ(world.told(8), (ProducerState{8, 0, 0}));
}

TEST(Recall, reads_once_for_all_who_ask_and_lets_them_wait_for_it_alone) {
    RecallWorld world;
    world.store({event(7, 0, 1)});
    world.restart();
    world.reads.pause(1h);

    world.ask();
    world.ask();
    world.hub.run_for(30min);
    EXPECT_EQ(world.answers, 0);
    world.ask(1);
    EXPECT_EQ(world.answers, 1) << "an empty partition needs no reading";
    world.hub.run_for(31min);
    EXPECT_EQ(world.answers, 3);

    world.reads.pause(1h);
    world.ask();
    EXPECT_EQ(world.answers, 4) << "it was read";
}

TEST(Recall, finds_what_is_still_in_memory_too) {
    RecallWorld world;
    world.restart();
    world.store({event(7, 0, 1)});

    EXPECT_EQ(world.told(7), (ProducerState{7, 0, 1}));
}

TEST(Recall, answers_when_the_event_hub_goes_while_it_is_read) {
    RecallWorld world({.segment_bytes_max = std::uint64_t{1} << 20});
    world.store({event(7, 0, 1)});
    world.store_megabytes(3);
    world.restart();
    world.reads.pause(1min);
    world.ask();

    EXPECT_TRUE(world.hub.remove("eh").ok());
    world.hub.run_for(2min);

    EXPECT_EQ(world.answers, 1);
}

TEST(Recall, goes_on_behind_what_retention_took_while_it_was_read) {
    RecallWorld world({.segment_bytes_max = std::uint64_t{1} << 20});
    world.store({event(7, 0, 1)});
    world.store_megabytes(3);
    world.store({event(8, 0, 1)});
    world.restart();
    world.reads.pause(1min);
    world.ask();

    world.purge(3);
    world.hub.run_for(2min);

    EXPECT_EQ(world.answers, 1);
    EXPECT_EQ(world.told(8), (ProducerState{8, 0, 1}));
}

TEST(Recall, may_end_while_it_reads) {
    RecallWorld world;
    world.store({event(7, 0, 1)});
    world.restart();
    world.ask();

    world.recall.reset();
    world.hub.run();

    EXPECT_EQ(world.answers, 0);
}

TEST(Recall, that_cannot_read_answers_all_the_same_and_warns_once) {
    RecallWorld world({.segment_bytes_max = std::uint64_t{1} << 20});
    world.store({event(7, 0, 1)});
    world.store_megabytes(2);
    world.store({event(7, 0, 2)});
    world.restart();
    world.hub.disk->fail(
        {.kind = io::sim::OperationKind::read, .path_contains = ".log", .after = 1, .times = 9});

    CapturedTrace warnings(TraceLevel::warning);
    EXPECT_EQ(world.told(7), (ProducerState{7, 0, 1})) << "what could be read counts";
    world.ask();
    world.hub.run();
    const std::string lines = warnings.take();

    EXPECT_EQ(world.answers, 2);
    EXPECT_EQ(count_of("the end of a partition could not be read", lines), 1u) << lines;
}

TEST(Recall, reads_on_behind_damage) {
    RecallWorld world;
    world.store({event(7, 0, 1)});
    world.store({plain(1000)});
    world.store({event(8, 0, 1)});
    world.restart();
    for (const auto& path : world.hub.disk->files()) {
        const bool ours = path.find(world.log_folder()) != std::string::npos;
        if (ours && path.ends_with(".log") && world.hub.disk->file_size(path) > 1000) {
            world.hub.disk->flip_bit(path, 700, 3);
        }
    }

    CapturedTrace warnings(TraceLevel::warning);
    const auto behind = world.told(8);
    const std::string lines = warnings.take();

    EXPECT_EQ(behind, (ProducerState{8, 0, 1}));
    EXPECT_EQ(world.told(7), (ProducerState{7, 0, 1}));
    EXPECT_EQ(count_of("the end of a partition could not be read", lines), 1u) << lines;
}

TEST(Recall, reads_on_behind_a_file_that_vanished) {
    RecallWorld world({.segment_bytes_max = std::uint64_t{1} << 20});
    world.store({event(7, 0, 1)});
    world.store_megabytes(2);
    world.store({event(8, 0, 1)});
    world.restart();
    std::string first;
    for (const auto& path : world.hub.disk->files()) {
        const bool ours = path.find(world.log_folder()) != std::string::npos;
        if (ours && path.ends_with(".log") && (first.empty() || path < first)) first = path;
    }
    ASSERT_TRUE(world.hub.disk->remove(first).ok());

    CapturedTrace warnings(TraceLevel::warning);
    const auto behind = world.told(8);
    const std::string lines = warnings.take();

    EXPECT_EQ(behind, (ProducerState{8, 0, 1}));
    EXPECT_EQ(count_of("the end of a partition could not be read", lines), 1u) << lines;
}

}  // namespace
}  // namespace evenkeel::door
