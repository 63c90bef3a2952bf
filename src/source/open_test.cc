#include "source/open.h"

#include <gtest/gtest.h>

#include "base/promise.h"
#include "support/temporary_directory.h"

namespace evenkeel::source {
namespace {

TEST(OpenSource, takes_the_last_part_of_an_embedded_address_as_the_event_hub) {
    const auto name = parse_embedded("embedded:/var/lib/data/homes");

    ASSERT_TRUE(name.ok());
    EXPECT_EQ(name->hub_namespace, "/var/lib/data");
    EXPECT_EQ(name->event_hub, "homes");
}

TEST(OpenSource, names_what_is_wrong_with_an_address) {
    io::system::LoopThread loop("loop/0");

    for (const auto* wrong : {"embedded:", "embedded:homes", "embedded:/homes", "embedded:data/"}) {
        EXPECT_EQ(open_source({.hub = wrong}, loop).error().code, ErrorCode::invalid_argument);
    }
    EXPECT_EQ(open_source({.hub = "amqp://localhost"}, loop).error().code,
              ErrorCode::invalid_argument);
}

TEST(OpenSource, reads_a_hub_in_this_process_whether_it_opened_it_or_not) {
    test::TemporaryDirectory folder;
    const std::string data = folder.path() + "/data";
    const auto read_one = [](Source& source) {
        Promise<Result<std::string>> promise;
        std::unique_ptr<Reader> reader;
        source.open({0}, Position::earliest(), {}, [&](auto opened) {
            if (!opened.ok()) return promise.set(opened.error());
            reader = std::move(*opened);
            reader->read(1, std::chrono::seconds(20), [&](Result<EventBatch> batch) {
                if (!batch.ok()) return promise.set(batch.error());
                std::string text(batch->empty() ? "nothing" : (*batch)[0].text());
                reader.reset();
                promise.set(std::move(text));
            });
        });
        return promise.wait();
    };
    {
        auto hub = Hub::open({.directory = data, .sync_to_disk = false}).value();
        ASSERT_TRUE(hub->create("homes", {.partitions = 1}).ok());
        ASSERT_TRUE(hub->send("homes", "a").ok());
        io::system::LoopThread loop("loop/1");
        auto source = open_source({.hub = "homes", .embedded = hub.get()}, loop).value();
        loop.start();

        Promise<Result<std::string>> seen;
        EXPECT_EQ(read_one(*source).value(), "a");
        loop.stop();
    }
    io::system::LoopThread loop("loop/1");
    auto source = open_source({.hub = "embedded:" + data + "/homes"}, loop).value();
    loop.start();

    EXPECT_EQ(read_one(*source).value(), "a");
    loop.stop();
}

}  // namespace
}  // namespace evenkeel::source
