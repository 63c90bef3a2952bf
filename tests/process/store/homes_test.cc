// `evenkeel demo` with the programs of examples/home-security, as ./run starts it: processors that
// meet on PostgreSQL, Redis or Blob storage, and aggregates in Blob storage, which goes away. On
// Azurite if a script has installed it (tests/interop/interop_blob_homes).
#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "support/paths.h"
#include "support/process.h"
#include "support/store_servers.h"
#include "support/temporary_directory.h"

namespace evenkeel::lab {
namespace {

// Few homes and no picture, or with $EVENKEEL_LONG all that `./run --for 60s` shows.
std::vector<std::string> homes_command(const std::string& store, const std::string& aggregates) {
    const bool is_long = std::getenv("EVENKEEL_LONG") != nullptr;
    return {test::evenkeel_program(),
            "demo",
            "--programs",
            test::built_path("examples/home-security"),
            "--for",
            is_long ? "60s" : "4s",
            "--homes",
            is_long ? "100000" : "1000",
            "--store",
            store,
            "--aggregates",
            aggregates,
            "--json",
            "-"};
}

// Of a field with a number; -1 if there is none.
long number_in(const std::string& json, const std::string& field) {
    const std::size_t at = json.find("\"" + field + "\": ");
    return at == std::string::npos ? -1 : std::atol(json.c_str() + at + field.size() + 4);
}

// What one process of each kind used at most, in megabytes.
void expect_bounded_memory(const std::string& json) {
    const std::string memory = json.substr(std::min(json.find("\"memory_mb_max\""), json.size()));
    for (const auto& [processes, megabytes_max] : std::map<std::string, long>{{"hub", 512},
                                                                              {"devices", 256},
                                                                              {"aggregators", 256},
                                                                              {"alarms", 256},
                                                                              {"page", 256}}) {
        EXPECT_GT(number_in(memory, processes), 0) << processes << " in " << json;
        EXPECT_LE(number_in(memory, processes), megabytes_max) << processes << " in " << json;
    }
}

void expect_good_homes(const std::string& json) {
    EXPECT_EQ(number_in(json, "aggregates_wrong"), 0) << json;
    EXPECT_GT(number_in(json, "aggregates_checked"), 0) << json;
    EXPECT_GE(number_in(json, "homes"), 1000) << json;
    EXPECT_GT(number_in(json, "handled"), 0) << json;
    for (const char* fault : {"lost", "out_of_order", "past_fence", "repeated_at_handover"}) {
        EXPECT_EQ(number_in(json, fault), 0) << fault << " in " << json;
    }
    EXPECT_GE(number_in(json, "cores"), 0) << json;
    expect_bounded_memory(json);
    std::printf("%s", json.c_str());
}

// The same server, another container.
std::string in_container(std::string address, const std::string& name) {
    const std::string field = "Container=";
    const std::size_t at = address.find(field) + field.size();
    return address.replace(at, address.find(';', at) - at, name);
}

class HomesStore : public testing::TestWithParam<StoreKind> {};

TEST_P(HomesStore, keeps_every_aggregate_right) {
    std::string why;
    const StoreServer store = GetParam().start(why);
    ASSERT_TRUE(store.kept || !GetParam().must_start) << why;
    if (!store.kept) GTEST_SKIP() << why;
    const test::TemporaryDirectory folder;

    const auto outcome = fault::run_to_end(homes_command(store.address, folder.path()));

    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    expect_good_homes(outcome.output);
}

INSTANTIATE_TEST_SUITE_P(Stores, HomesStore, testing::ValuesIn(store_kinds()),
                         [](const auto& kind) { return name_of(kind.param); });

class HomesBlobs : public testing::TestWithParam<StoreKind> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(HomesBlobs);

TEST_P(HomesBlobs, are_right_with_store_and_aggregates_in_them) {
    std::string why;
    const StoreServer blobs = GetParam().start(why);
    ASSERT_TRUE(blobs.kept) << why;
    const std::string aggregates = in_container(blobs.address, "aggregates");

    // The second run finds the container with what the first has left.
    for (int run = 0; run < 2; ++run) {
        const auto outcome = fault::run_to_end(homes_command(blobs.address, aggregates));
        EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
        expect_good_homes(outcome.output);
    }
}

// Reads what it says until a line has these words; false if there is none.
bool wait_for(fault::Process& demo, const std::string& words) {
    std::string line;
    do {
        line = demo.read_error_line();
    } while (!line.empty() && line.find(words) == std::string::npos);
    return !line.empty();
}

TEST_P(HomesBlobs, that_are_away_for_a_while_lose_no_event) {
    std::string why;
    const StoreServer blobs = GetParam().start(why);
    ASSERT_TRUE(blobs.kept) << why;
    const test::TemporaryDirectory folder;
    fault::Process demo(homes_command("sqlite:" + folder.path() + "/progress.db",
                                      in_container(blobs.address, "aggregates")));

    ASSERT_TRUE(wait_for(demo, "share 16 partitions")) << "the demo does not start";
    blobs.go_away();
    EXPECT_TRUE(wait_for(demo, "cannot reach")) << "nobody notices that the blobs are away";
    blobs.come_back();
    const std::string errors = demo.rest_of_errors();
    const std::string verdict = demo.rest_of_output();

    EXPECT_EQ(demo.wait().code, 0) << errors;
    expect_good_homes(verdict);
}

TEST_P(HomesBlobs, that_are_away_at_the_start_are_waited_for) {
    std::string why;
    const StoreServer blobs = GetParam().start(why);
    ASSERT_TRUE(blobs.kept) << why;
    const test::TemporaryDirectory folder;

    blobs.go_away();
    fault::Process demo(homes_command("sqlite:" + folder.path() + "/progress.db",
                                      in_container(blobs.address, "aggregates")));
    EXPECT_TRUE(wait_for(demo, "trying again")) << "nobody waits for the blobs";
    blobs.come_back();
    const std::string errors = demo.rest_of_errors();
    const std::string verdict = demo.rest_of_output();

    EXPECT_EQ(demo.wait().code, 0) << errors;
    expect_good_homes(verdict);
}

INSTANTIATE_TEST_SUITE_P(Azurite, HomesBlobs, testing::ValuesIn(azurite_kinds()),
                         [](const auto& kind) { return name_of(kind.param); });

}  // namespace
}  // namespace evenkeel::lab
