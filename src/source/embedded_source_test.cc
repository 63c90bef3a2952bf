#include "source/embedded_source.h"

#include <gtest/gtest.h>

#include "hub/hub_fixture.h"
#include "hub/sections.h"
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
        for (const auto& body : bodies) hub::append_data_section(body, events.emplace_back());
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

INSTANTIATE_TEST_SUITE_P(Embedded, Sources, testing::Values([] {
                             return std::unique_ptr<SourceWorld>(std::make_unique<EmbeddedWorld>());
                         }));

}  // namespace
}  // namespace evenkeel::source
