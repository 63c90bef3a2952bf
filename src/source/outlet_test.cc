#include "source/outlet.h"

#include <gtest/gtest.h>

#include "base/promise.h"
#include "eventhubs/encoding.h"
#include "eventhubs/forward.h"
#include "support/temporary_directory.h"

namespace evenkeel::source {
namespace {

struct EmbeddedOutlet : testing::Test {
    EmbeddedOutlet() { loop.start(); }
    ~EmbeddedOutlet() override {
        loop.stop();
        outlet.reset();
    }
    void open(const std::string& event_hub) {
        io::system::run_and_wait(loop, [&] {
            outlet = open_outlet({.embedded = hub.get(), .event_hub = event_hub}, loop).value();
        });
    }
    template <typename Call>
    Result<> ask(Call call) {
        Promise<Result<>> promise;
        loop.post([&] {
            call(Callback<void(Result<>)>([&](Result<> r) { promise.set(std::move(r)); }));
        });
        return promise.wait();
    }

    test::TemporaryDirectory folder;
    std::unique_ptr<Hub> hub =
        Hub::open({.directory = folder.path() + "/data", .sync_to_disk = false}).value();
    io::system::LoopThread loop{"loop/1"};
    std::unique_ptr<Outlet> outlet;
};

TEST_F(EmbeddedOutlet, says_whether_the_event_hub_is_there) {
    open("letters");
    const auto opened = [&] { return ask([&](auto done) { outlet->open(std::move(done)); }); };

    EXPECT_EQ(opened().error().code, ErrorCode::not_found);
    ASSERT_TRUE(hub->create("letters", {.partitions = 1}).ok());
    EXPECT_TRUE(opened().ok());
}

TEST_F(EmbeddedOutlet, stores_an_event_with_its_key_as_it_is) {
    ASSERT_TRUE(hub->create("letters", {.partitions = 1}).ok());
    open("letters");
    amqp::Buffer body;
    amqp::Encoder encoder(body);
    encoder.descriptor(0x75);
    encoder.binary(as_bytes("door opened"));
    const Property cause{"cause", "no such house"};
    const auto sections = eventhubs::with_properties(body, {&cause, 1});

    ASSERT_TRUE(ask([&](auto done) { outlet->send(sections, "home-17", std::move(done)); }).ok());

    auto reader = hub->open_reader("letters", "$Default", 0, Position::earliest()).value();
    const auto batch = reader->read(10, std::chrono::seconds(20)).value();
    ASSERT_EQ(batch.size(), 1u);
    EXPECT_EQ(batch[0].text(), "door opened");
    EXPECT_EQ(batch[0].partition_key, "home-17");
    EXPECT_EQ(as_text(batch[0].sections), as_text(sections));
}

TEST(Outlet, names_what_is_wrong_with_its_address) {
    io::system::LoopThread loop("loop/1");

    EXPECT_EQ(open_outlet({.client = {.connection = "amqp://localhost"}}, loop).error().code,
              ErrorCode::invalid_argument);
    EXPECT_TRUE(
        open_outlet(
            {.event_hub = "letters", .client = {.connection = "amqp://a:b@localhost/homes"}}, loop)
            .ok());
}

}  // namespace
}  // namespace evenkeel::source
