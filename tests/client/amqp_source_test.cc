#include "source/amqp_source.h"

#include <gtest/gtest.h>

#include "client/sim_world.h"
#include "eventhubs/sections.h"
#include "source/source_contract.h"

namespace evenkeel::source {
namespace {

class AmqpWorld final : public SourceWorld {
public:
    AmqpWorld() {
        world.connect();
        source_ = std::make_unique<AmqpSource>(*world.connection, "$Default");
    }
    Source& source() override { return *source_; }
    void append(PartitionId partition, const std::vector<std::string>& bodies) override {
        EXPECT_TRUE(world.hub().append("homes", partition.value, encoded(bodies)).ok());
    }
    bool run_until(Callback<bool()> condition) override {
        return world.run_until(std::move(condition), std::chrono::hours(2));
    }
    void run_for(Duration duration) override { world.run_for(duration); }

    static std::vector<std::string> encoded(const std::vector<std::string>& bodies) {
        std::vector<std::string> events;
        for (const auto& body : bodies) eventhubs::append_data_section(body, events.emplace_back());
        return events;
    }

    test::SimWorld world;

private:
    std::unique_ptr<AmqpSource> source_;
};

INSTANTIATE_TEST_SUITE_P(Amqp, Sources, testing::Values([] {
                             return std::unique_ptr<SourceWorld>(std::make_unique<AmqpWorld>());
                         }));

}  // namespace
}  // namespace evenkeel::source
