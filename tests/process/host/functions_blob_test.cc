// The account of AzureWebJobsStorage, on Azurite if a script has started it: what the host writes
// there is what Azure Functions reads, and the other way round.
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include <boost/json.hpp>

#include "checkpoint/blob/account.h"
#include "checkpoint/blob/service.h"
#include "io/system/loop.h"
#include "process/host/host_fixture.h"

namespace evenkeel::fault {
namespace {

constexpr const char* container = "azure-webjobs-eventhub";

class FunctionsBlob : public FunctionHost, public testing::WithParamInterface<std::string> {
protected:
    FunctionsBlob() { setenv("AzureWebJobsStorage", account().c_str(), 1); }
    ~FunctionsBlob() override { unsetenv("AzureWebJobsStorage"); }

    static std::string account() { return "UseDevelopmentStorage=true;BlobEndpoint=" + GetParam(); }
    static std::string store_address() { return account() + ";Container=" + container; }

    // Five events in each of two partitions, and an app that writes down what it gets.
    void make_hub_and_app(const std::string& hub) {
        expect_done({"hub", "create", hub, "--partitions", "2"});
        for (const char* partition : {"0", "1"}) {
            expect_done({"send", hub, "-q", "--partition", partition, "a", "b", "c", "d", "e"});
        }
        app_.add("host.json", "{}")
            .add("f/function.json", R"({"bindings": [{"type":
            "eventHubTrigger", "name": "events", "connection": "HUB", "eventHubName": ")" +
                                        hub + R"("}], "evenkeel": {"command": "cat >> out"}})");
    }
    // "0:3 0:4 1:0" of partition and sequence number, sorted.
    std::string handled() const {
        const std::string file = app_.path() + "/f/out";
        if (access(file.c_str(), F_OK) != 0) return "";
        const std::string text = test::read_whole_file(file);
        std::set<std::string> all;
        std::size_t begin = 0;
        for (auto end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
            const auto event = boost::json::parse(text.substr(begin, end - begin));
            all.insert(std::to_string(event.at("partition").as_int64()) + ":" +
                       std::to_string(event.at("sequence_number").as_int64()));
            begin = end + 1;
        }
        std::string joined;
        for (const auto& each : all) joined += (joined.empty() ? "" : " ") + each;
        return joined;
    }
    // One instance, until it has handled these.
    void run_until(const std::string& wanted) const {
        Process host({test::evenkeel_program(), "host", app_.path(), "--instance", "a"});
        EXPECT_TRUE(eventually([&] { return handled() == wanted; })) << handled();
        stop(host);
        EXPECT_EQ(handled(), wanted);
    }

    checkpoint::BlobAnswer ask(const checkpoint::BlobRequest& request) {
        const auto service = checkpoint::BlobService::open(
            checkpoint::parse_blob_account(store_address()).value(), {}, loop_);
        return service.value()->ask_now(request).value();
    }
    // As the extension of Azure Functions writes it.
    void put(const std::string& name, const checkpoint::Metadata& metadata, std::string body = {}) {
        EXPECT_TRUE(ask({.method = "PUT",
                         .blob = name,
                         .metadata = metadata,
                         .is_block_blob = true,
                         .body = std::move(body)})
                        .is_good())
            << name;
    }
    void make_container() {
        const int status = ask({.method = "PUT", .query = {{"restype", "container"}}}).status;
        EXPECT_TRUE(status == 201 || status == 409) << status;
    }
    // "none" if there is no such blob, or it has no such field.
    std::string field(const std::string& blob, const std::string& name) {
        const auto answer = ask({.method = "GET", .blob = blob});
        for (const auto& [key, value] : answer.metadata) {
            if (key == name) return value;
        }
        return "none";
    }

private:
    io::system::LoopThread loop_{"fixture"};  // for its clock
};

const std::string all_of_both = "0:0 0:1 0:2 0:3 0:4 1:0 1:1 1:2 1:3 1:4";

// The suite interop_blob_host starts it with Azurite.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(FunctionsBlob);

TEST_P(FunctionsBlob, has_what_the_host_wrote_as_functions_own) {
    make_hub_and_app("ours");
    run_until(all_of_both);
    const std::string to = "sqlite:" + folder_.path() + "/imported.db";
    const std::string group = "localhost/ours/$default/";

    const std::string imported =
        evenkeel({"checkpoint", "import", "ours", "--namespace", "localhost", "--from",
                  "azblob:" + store_address(), "--to", to});

    EXPECT_TRUE(has(imported, "2 checkpoints in the layout 'metadata' under '" + group + "'"))
        << imported;
    for (const char* partition : {"0", "1"}) {
        EXPECT_TRUE(has(imported, std::string("partition ") + partition + ": -1 -> 4")) << imported;
        const std::string checkpoint = group + "checkpoint/" + partition;
        EXPECT_EQ(field(checkpoint, "sequencenumber"), "4");
        const std::string offset = field(checkpoint, "offset");
        EXPECT_EQ(offset.find_first_not_of("0123456789"), std::string::npos) << offset;
        EXPECT_EQ(field(group + "ownership/" + partition, "ownerid"), "") << "free for Functions";
    }
}

TEST_P(FunctionsBlob, lets_the_host_go_on_behind_what_functions_wrote) {
    make_hub_and_app("theirs");
    const std::string group = "localhost/theirs/$default/";
    const auto third = boost::json::parse(evenkeel(
        {"read", "theirs", "--partition", "0", "--from", "seq:2", "-n", "1", "-o", "json"}));
    ASSERT_EQ(third.at("sequence_number"), 2);
    std::string offset = boost::json::serialize(third.at("offset"));
    std::erase(offset, '"');
    make_container();
    put(group + "checkpoint/0", {{"offset", offset},
                                 {"sequencenumber", "2"},
                                 {"clientidentifier", "0f8a6c2e-6f0a-4f4c-9d53-3e2b6a1c7d10"}});
    for (const char* partition : {"0", "1"}) {
        put(group + "ownership/" + partition, {{"ownerid", ""}});
    }

    run_until("0:3 0:4 1:0 1:1 1:2 1:3 1:4");

    EXPECT_EQ(field(group + "checkpoint/0", "sequencenumber"), "4");
    EXPECT_EQ(field(group + "checkpoint/1", "sequencenumber"), "4");
}

std::vector<std::string> endpoints() {
    const char* const azurite = std::getenv("EVENKEEL_AZURITE");
    return azurite == nullptr ? std::vector<std::string>() : std::vector<std::string>{azurite};
}
INSTANTIATE_TEST_SUITE_P(Azurite, FunctionsBlob, testing::ValuesIn(endpoints()));

}  // namespace
}  // namespace evenkeel::fault
