#include "processor/ownership/group_home.h"

#include <chrono>
#include <optional>

#include <gtest/gtest.h>

#include "checkpoint/memory/store.h"
#include "io/sim/scheduler.h"
#include "support/seed.h"

namespace evenkeel::processor {
namespace {

using checkpoint::GroupName;
using checkpoint::MemoryStore;
using checkpoint::Store;

// One server of stores, and processors that look for the entries of their hub.
class GroupHomes : public testing::Test {
protected:
    ~GroupHomes() override { loop.discard(); }

    GroupName named(const std::string& host) { return {host, "homes", "g"}; }

    struct Finder {
        std::unique_ptr<Store> given;
        std::unique_ptr<GroupHome> home;
        std::optional<Result<Store*>> found;
    };
    std::unique_ptr<Finder> look(const std::string& host, const std::string& identity) {
        auto finder = std::make_unique<Finder>();
        finder->given = std::make_unique<MemoryStore>(loop, server, named(host));
        finder->home = std::make_unique<GroupHome>(
            GroupHome::Place{loop,
                             [this](const GroupName& group) -> Result<std::unique_ptr<Store>> {
                                 return std::unique_ptr<Store>(
                                     std::make_unique<MemoryStore>(loop, server, group));
                             },
                             {}},
            *finder->given, named(host), identity, Random(test::test_seed()));
        Finder& self = *finder;
        self.home->find([&self](Result<Store*> found) { self.found = std::move(found); });
        return finder;
    }
    // The host under which its entries are, "refused" if they are another's.
    std::string host_of(const Finder& finder) {
        EXPECT_TRUE(
            scheduler.run_until([&] { return finder.found.has_value(); }, std::chrono::minutes(1)));
        if (!finder.found) return "no answer";
        if (!finder.found->ok()) {
            told = finder.found->error();
            return "refused";
        }
        bool is_marked = false;
        (**finder.found)->write_record({"mark", std::to_string(++marks)}, [&](auto written) {
            is_marked = written.ok();
        });
        EXPECT_TRUE(scheduler.run_until([&] { return is_marked; }, std::chrono::minutes(1)));
        for (const char* host : {"localhost", "127.0.0.1", "hub.example"}) {
            MemoryStore store(loop, server, named(host));
            std::optional<std::vector<checkpoint::Record>> listed;
            store.list_records("mark", [&](auto records) { listed = std::move(*records); });
            EXPECT_TRUE(
                scheduler.run_until([&] { return listed.has_value(); }, std::chrono::minutes(1)));
            if (listed->empty()) continue;
            store.write_record({"mark", "", listed->front().version}, [](auto) {});
            scheduler.run_for(std::chrono::seconds(1));
            return host;
        }
        return "elsewhere";
    }
    std::string find(const std::string& host, const std::string& identity) {
        return host_of(*look(host, identity));
    }

    io::sim::Scheduler scheduler{test::test_seed()};
    checkpoint::MemoryServer server{scheduler.clock()};
    io::sim::SimLoop loop{scheduler, "me"};
    std::optional<Error> told;
    int marks = 0;
};

TEST_F(GroupHomes, belong_to_the_hub_that_used_them_first) {
    EXPECT_EQ(find("localhost", "aa"), "localhost");
    EXPECT_EQ(find("localhost", "aa"), "localhost");
}

TEST_F(GroupHomes, are_refused_to_another_hub_of_that_name) {
    EXPECT_EQ(find("localhost", "aa"), "localhost");

    EXPECT_EQ(find("localhost", "bb"), "refused");

    ASSERT_TRUE(told);
    EXPECT_EQ(told->code, ErrorCode::invalid_argument);
    EXPECT_NE(told->detail.find("evenkeel checkpoint adopt homes --group 'g'"), std::string::npos)
        << told->detail;
}

TEST_F(GroupHomes, are_one_for_a_hub_with_several_names) {
    EXPECT_EQ(find("localhost", "aa"), "localhost");

    EXPECT_EQ(find("127.0.0.1", "aa"), "localhost");
    EXPECT_EQ(find("hub.example", "aa"), "localhost");
    EXPECT_EQ(find("127.0.0.1", "bb"), "127.0.0.1");
}

TEST_F(GroupHomes, are_found_by_every_name_after_the_store_was_emptied) {
    ASSERT_EQ(find("localhost", "aa"), "localhost");
    const auto member = look("127.0.0.1", "aa");
    ASSERT_EQ(host_of(*member), "localhost");
    for (const char* host : {"localhost", "127.0.0.1", "aa"}) server.restore(named(host), {});

    member->home->restore();
    scheduler.run_for(std::chrono::seconds(1));

    EXPECT_EQ(find("hub.example", "aa"), "localhost");
}

TEST_F(GroupHomes, are_one_for_two_names_that_begin_at_once) {
    const auto one = look("localhost", "aa");
    const auto two = look("127.0.0.1", "aa");

    const std::string first = host_of(*one);
    EXPECT_EQ(host_of(*two), first);
}

TEST_F(GroupHomes, of_a_hub_without_identity_are_those_of_its_host) {
    EXPECT_EQ(find("localhost", ""), "localhost");
    EXPECT_EQ(find("127.0.0.1", ""), "127.0.0.1");
}

}  // namespace
}  // namespace evenkeel::processor
