#include "processor/ownership/parked.h"

#include <chrono>

#include <gtest/gtest.h>

#include "checkpoint/faulty_store.h"
#include "checkpoint/memory/store.h"
#include "io/sim/scheduler.h"
#include "processor/ownership/requests.h"
#include "support/golden.h"
#include "support/seed.h"

namespace evenkeel::processor {
namespace {

using namespace std::chrono_literals;

TEST(ParkedRecord, reads_back_what_was_written) {
    const Parked parked{.at_ms = 12, .is_storm = true, .by = "a", .reason = "20 in a row"};
    EXPECT_EQ(decode_parked(encode(parked)), parked);
    EXPECT_EQ(partition_of_parked(parked_key({7})), PartitionId{7});
    for (const char* key : {"request/pause", "request/parked/", "request/parked/x", ""}) {
        EXPECT_FALSE(partition_of_parked(key)) << key;
    }
}

TEST(ParkedRecord, is_the_golden_text) {
    auto golden = test::golden_texts("records_v1");
    const Parked by_event{1'767'225'600'123, false, "alice", "event 42: bad event"};
    const Parked by_storm{1'767'225'600'123, true, "alice", "20 dead letters in a row"};

    EXPECT_EQ(encode(by_event), golden["parked by an event"]);
    EXPECT_EQ(decode_parked(golden["parked by an event"]), by_event);
    EXPECT_EQ(encode(by_storm), golden["parked by a storm"]);
    EXPECT_EQ(decode_parked(golden["parked by a storm"]), by_storm);
}

TEST(ParkedRecord, has_no_control_characters_and_an_end) {
    const std::string text = encode({.by = "a\tb", .reason = "x\ny" + std::string(100'000, 'z')});
    const Parked parked = decode_parked(text);
    EXPECT_EQ(parked.by, "a?b");
    EXPECT_TRUE(parked.reason.starts_with("x?yz")) << parked.reason.substr(0, 10);
    EXPECT_LT(text.size(), checkpoint::record_value_bytes_max);
}

TEST(ParkedRecord, that_cannot_be_read_still_parks) {
    for (const char* text : {"x", "\t\t", "1", "99999999999999999999\tpark"}) {
        const auto found = read_requests({{parked_key({1}), text, "1"}}, "").parked;
        EXPECT_TRUE(found.contains({1})) << text;
    }
}

class ParkedTest : public testing::Test {
protected:
    // A look that begins now.
    std::map<PartitionId, Parked> stored() {
        std::optional<std::map<PartitionId, Parked>> found;
        store_.list_records(request_prefix, [&](const auto& listed) {
            found =
                listed.ok() ? read_requests(*listed, "").parked : std::map<PartitionId, Parked>();
        });
        EXPECT_TRUE(scheduler_.run_until([&] { return found.has_value(); }, 1min));
        return *found;
    }
    void remove(PartitionId partition) {
        bool is_done = false;
        store_.list_records(parked_key(partition), [&](const auto& listed) {
            store_.write_record({parked_key(partition), "", listed->at(0).version},
                                [&](const auto& written) {
                                    EXPECT_TRUE(written.ok());
                                    is_done = true;
                                });
        });
        EXPECT_TRUE(scheduler_.run_until([&] { return is_done; }, 1min));
    }

    io::sim::Scheduler scheduler_{test::test_seed()};
    checkpoint::MemoryServer server_{scheduler_.clock()};
    io::sim::SimLoop loop_{scheduler_, "me"}, store_loop_{scheduler_, "store"};
    checkpoint::Faults faults_ = checkpoint::Faults::none();
    checkpoint::FaultyStore store_{
        loop_, store_loop_,
        std::make_shared<checkpoint::MemoryStore>(
            store_loop_, server_, checkpoint::GroupName{"sim", "homes", "$Default"}),
        faults_, scheduler_.fork_random()};
    int changes_ = 0;
    int failures_ = 0;
    ParkedPartitions parked_{
        loop_,
        store_,
        scheduler_.fork_random(),
        {[this] { ++changes_; }, [this](PartitionId, const Error&, Duration) { ++failures_; }}};
};

TEST_F(ParkedTest, is_stored_and_ends_when_an_operator_removes_it) {
    parked_.park({2}, {.by = "me", .reason = "poison"});
    EXPECT_TRUE(parked_.contains({2})) << "at once";
    ASSERT_TRUE(scheduler_.run_until([&] { return stored().contains({2}); }, 1min));
    parked_.seen(stored());
    EXPECT_TRUE(parked_.contains({2}));
    EXPECT_EQ(changes_, 0);

    remove({2});
    parked_.seen(stored());

    EXPECT_FALSE(parked_.contains({2}));
    EXPECT_EQ(changes_, 1);
}

TEST_F(ParkedTest, does_not_end_by_a_look_that_is_older_than_it) {
    const auto before = stored();
    parked_.park({2}, {.reason = "poison"});
    parked_.seen(before);
    ASSERT_TRUE(scheduler_.run_until([&] { return stored().contains({2}); }, 1min));
    parked_.seen(before);

    EXPECT_TRUE(parked_.contains({2}));
}

TEST_F(ParkedTest, holds_while_the_store_is_away_and_is_stored_later) {
    faults_.outage = true;
    parked_.park({2}, {.reason = "poison"});
    scheduler_.run_for(30s);
    EXPECT_TRUE(parked_.contains({2}));
    EXPECT_GT(failures_, 0);

    faults_.outage = false;

    EXPECT_TRUE(scheduler_.run_until([&] { return stored().contains({2}); }, 1min));
}

TEST_F(ParkedTest, obeys_what_another_owner_stored) {
    parked_.seen({{{1}, {.reason = "of another"}}});
    EXPECT_EQ(changes_, 1);
    EXPECT_EQ(parked_.find({1})->reason, "of another");

    parked_.unpark({1});

    EXPECT_FALSE(parked_.contains({1}));
}

}  // namespace
}  // namespace evenkeel::processor
