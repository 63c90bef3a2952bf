#include "source/embedded_source.h"

#include <gtest/gtest.h>

#include "eventhubs/sections.h"
#include "hub/hub_fixture.h"
#include "source/source_contract.h"

namespace evenkeel::source {
namespace {

class EmbeddedWorld final : public SourceWorld {
public:
    EmbeddedWorld() {
        hub::opened(hub_);
        EXPECT_TRUE(hub_.create("homes", {.partitions = 2}).ok());
        source_ = std::make_unique<EmbeddedSource>(
            EmbeddedPlace{loop_, hub_.node->loop, reads_, *hub_.hub}, Name{"data", "homes"},
            "$Default");
    }
    ~EmbeddedWorld() override {
        source_.reset();
        hub_.run_for(std::chrono::seconds(1));
    }
    Source& source() override { return *source_; }
    void append(PartitionId partition, const std::vector<std::string>& bodies) override {
        std::vector<std::string> events;
        for (const auto& body : bodies) eventhubs::append_data_section(body, events.emplace_back());
        EXPECT_TRUE(hub_.append("homes", partition.value, events).ok());
    }
    bool run_until(Callback<bool()> condition) override {
        return hub_.scheduler.run_until(std::move(condition), std::chrono::hours(2));
    }
    void run_for(Duration duration) override { hub_.run_for(duration); }

private:
    hub::HubFixture hub_;
    io::sim::SimExecutor reads_{hub_.scheduler, "read/0"};
    io::sim::SimLoop loop_{hub_.scheduler, "processor"};
    std::unique_ptr<EmbeddedSource> source_;
};

TEST(EmbeddedSource, reports_a_file_that_was_removed_under_it_and_goes_on) {
    hub::HubFixture hub;
    hub::opened(hub);
    ASSERT_TRUE(hub.create("homes", {.partitions = 1}).ok());
    std::string event;
    eventhubs::append_data_section("a", event);
    ASSERT_TRUE(hub.append("homes", 0, {event}).ok());
    ASSERT_TRUE(hub.reopen().ok());  // nothing is in memory now
    for (const auto& path : hub.disk->files()) {
        if (!path.ends_with(".log")) continue;
        EXPECT_TRUE(hub.disk->remove(path).ok());
    }
    io::sim::SimExecutor reads(hub.scheduler, "read/0");
    io::sim::SimLoop loop(hub.scheduler, "processor");
    EmbeddedSource source({loop, hub.node->loop, reads, *hub.hub}, {"data", "homes"}, "$Default");
    std::unique_ptr<Reader> reader;
    source.open({0}, Position::earliest(), {}, [&](Result<std::unique_ptr<Reader>> opened) {
        ASSERT_TRUE(opened.ok());
        reader = std::move(*opened);
    });
    hub.run_for(std::chrono::seconds(1));
    ASSERT_TRUE(reader);
    const auto read = [&] {
        std::optional<Result<EventBatch>> answer;
        reader->read(10, std::chrono::seconds(1),
                     [&](Result<EventBatch> batch) { answer = std::move(batch); });
        hub.run_for(std::chrono::seconds(5));
        EXPECT_TRUE(answer);
        return answer ? std::move(*answer) : Error{ErrorCode::timed_out, "no answer"};
    };

    const auto gone = read();
    ASSERT_TRUE(hub.append("homes", 0, {event}).ok());
    const auto next = read();

    ASSERT_FALSE(gone.ok());
    EXPECT_EQ(gone.error().code, ErrorCode::corrupt);
    EXPECT_TRUE(gone.error().detail.starts_with("events 0 to 0 in ")) << gone.error().detail;
    ASSERT_TRUE(next.ok()) << next.error().detail;
    EXPECT_EQ(next->size(), 1U);
    reader.reset();
    hub.run_for(std::chrono::seconds(1));
}

INSTANTIATE_TEST_SUITE_P(Embedded, Sources, testing::Values([] {
                             return std::unique_ptr<SourceWorld>(std::make_unique<EmbeddedWorld>());
                         }));

}  // namespace
}  // namespace evenkeel::source
