// `evenkeel process` behind a relay that is stopped: nothing goes through, and no connection ends.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "process/cli/process_fixture.h"
#include "support/faulty_proxy.h"

namespace evenkeel::cli_tests {
namespace {

class ProcessPath : public ProcessTest {
protected:
    std::string connection_through(const test::FaultyProxy& relay) const {
        std::string connection = hub_->connection();
        const std::string port = ":" + hub_->amqp_port();
        return connection.replace(connection.find(port), port.size(),
                                  ":" + std::to_string(relay.port()));
    }
    std::string processors() const {
        return evenkeel({"processor", "ls", name_, "--store", store_}).output;
    }
};

TEST_F(ProcessPath, partitions_move_when_the_relay_stops) {
    create(4);
    test::FaultyProxy relay(static_cast<std::uint16_t>(std::stoi(hub_->amqp_port())));
    setenv("EVENKEEL_HUB", connection_through(relay).c_str(), 1);
    Process behind(process({"--id", "behind", "--exec", "cat > /dev/null"}));
    hub_->make_default();
    Process direct(process({"--id", "direct", "--exec", "cat > /dev/null"}));
    ASSERT_TRUE(eventually([&] { return owned_by("behind") == 2 && owned_by("direct") == 2; }));

    relay.hold(true);
    for (const std::string partition : {"0", "1", "2", "3"}) send({"-p", partition, "hello"});

    EXPECT_TRUE(eventually([&] { return has(processors(), "cannot read"); })) << processors();
    EXPECT_TRUE(eventually([&] { return owned_by("direct") == 4 && is_done(); })) << processors();

    relay.hold(false);
    EXPECT_TRUE(eventually([&] { return owned_by("behind") == 2 && owned_by("direct") == 2; }))
        << processors();
}

}  // namespace
}  // namespace evenkeel::cli_tests
