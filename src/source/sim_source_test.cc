#include "source/sim_source.h"

#include <chrono>

#include <gtest/gtest.h>

#include "io/sim/scheduler.h"
#include "source/source_contract.h"
#include "support/seed.h"

namespace evenkeel::source {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class SimSourceWorld : public SourceWorld {
public:
    Source& source() override { return source_; }
    void append(PartitionId partition, const std::vector<std::string>& bodies) override {
        for (const auto& body : bodies) hub.append(partition, body, scheduler.clock().wall());
    }
    bool run_until(Callback<bool()> condition) override {
        return scheduler.run_until(std::move(condition), std::chrono::hours(2));
    }
    void run_for(Duration duration) override { scheduler.run_for(duration); }

    io::sim::Scheduler scheduler{test::test_seed()};
    SimHub hub{{.partitions = 2,
                .latency_min = milliseconds(1),
                .latency_max = milliseconds(9),
                .cut_after = milliseconds(100)}};
    io::sim::SimLoop loop{scheduler, "a"};

private:
    SimSource source_{hub, loop};
};

INSTANTIATE_TEST_SUITE_P(Sim, Sources, testing::Values([] {
                             return std::unique_ptr<SourceWorld>(
                                 std::make_unique<SimSourceWorld>());
                         }));

struct Rig : SimSourceWorld {
    std::unique_ptr<Reader> open(const ReadOptions& options) {
        std::unique_ptr<Reader> reader;
        source().open({0}, Position::earliest(), options,
                      [&](auto opened) { reader = std::move(*opened); });
        EXPECT_TRUE(run_until([&] { return reader != nullptr; }));
        return reader;
    }
    Result<EventBatch> read(Reader& reader) {
        std::optional<Result<EventBatch>> answer;
        reader.read(1, seconds(1), [&](auto batch) { answer = std::move(batch); });
        EXPECT_TRUE(run_until([&] { return answer.has_value(); }));
        return std::move(*answer);
    }
};

TEST(SimHub, lets_the_older_reader_read_on_until_it_is_cut) {
    Rig rig;
    rig.append({0}, {"a", "b", "c"});
    const auto old = rig.open({.epoch = Epoch{1}});
    const auto young = rig.open({.epoch = Epoch{2}});

    const auto before = rig.read(*old);
    rig.run_for(milliseconds(100));
    const auto after = rig.read(*old);

    EXPECT_TRUE(before.ok());
    ASSERT_FALSE(after.ok());
    EXPECT_EQ(after.error().code, ErrorCode::fenced);
}

TEST(SimHub, goes_on_where_it_was_after_a_cut_and_after_a_restart) {
    Rig rig;
    rig.append({0}, {"a", "b"});
    const auto reader = rig.open({});
    EXPECT_EQ((*rig.read(*reader))[0].text(), "a");

    rig.hub.cut({0});
    EXPECT_EQ(rig.read(*reader).error().code, ErrorCode::unavailable);
    rig.hub.stop();
    EXPECT_EQ(rig.read(*reader).error().code, ErrorCode::unavailable);
    rig.hub.start();
    (void)rig.read(*reader);  // the link comes back

    EXPECT_EQ((*rig.read(*reader))[0].text(), "b");
}

TEST(SimHub, reports_damage_once_and_goes_on_behind_it) {
    Rig rig;
    rig.append({0}, {"a", "b"});
    rig.hub.damage({0}, {0});
    const auto reader = rig.open({});

    EXPECT_EQ(rig.read(*reader).error().code, ErrorCode::corrupt);
    EXPECT_EQ((*rig.read(*reader))[0].text(), "b");
}

}  // namespace
}  // namespace evenkeel::source
