#include "io/sim/network.h"

#include <memory>

#include <gtest/gtest.h>

#include "io/sim/scheduler.h"
#include "io/socket_contract.h"
#include "support/seed.h"

namespace evenkeel::io {
namespace {

using namespace std::chrono_literals;

class SimulatedWorld final : public NetworkWorld {
public:
    explicit SimulatedWorld(std::uint64_t seed) : scheduler_(seed) {}

    Network& server() override { return network_.host("server", server_loop_); }
    Network& client() override { return network_.host("client", client_loop_); }
    std::string server_host() const override { return "server"; }
    void run(Task task) override { task(); }
    bool run_until(Callback<bool()> condition) override {
        return scheduler_.run_until(std::move(condition), 1h);
    }

private:
    sim::Scheduler scheduler_;
    sim::SimLoop server_loop_{scheduler_, "server"};
    sim::SimLoop client_loop_{scheduler_, "client"};
    sim::SimNetwork network_{scheduler_};
};

std::unique_ptr<NetworkWorld> a_simulated_world() {
    return std::make_unique<SimulatedWorld>(test::test_seed());
}

INSTANTIATE_TEST_SUITE_P(Simulated, NetworkContract, testing::Values(&a_simulated_world));

TEST(SimNetwork, knows_only_the_hosts_it_was_told_of) {
    sim::Scheduler scheduler(test::test_seed());
    sim::SimLoop loop(scheduler, "a");
    sim::SimNetwork network(scheduler);
    std::optional<Error> error;

    network.host("a", loop).connect({"b", 1}, 30s, [&](auto result) { error = result.error(); });
    scheduler.run_until_idle();

    ASSERT_TRUE(error);
    EXPECT_EQ(error->code, ErrorCode::not_found);
}

TEST(SimNetwork, gives_the_loops_of_one_host_one_set_of_ports) {
    sim::Scheduler scheduler(test::test_seed());
    sim::SimLoop first(scheduler, "loop/0");
    sim::SimLoop second(scheduler, "loop/1");
    sim::SimLoop elsewhere(scheduler, "loop/2");
    sim::SimNetwork network(scheduler);

    const auto listener = network.host("a", first).listen({"0.0.0.0", 5672});
    const auto same = network.host("a", second).listen({"localhost", 5672});
    const auto other = network.host("b", elsewhere).listen({"0.0.0.0", 5672});

    ASSERT_TRUE(listener);
    EXPECT_EQ((*listener)->local(), (Endpoint{"a", 5672}));
    EXPECT_FALSE(same);
    EXPECT_TRUE(other);
}

}  // namespace
}  // namespace evenkeel::io
