#include "host/app.h"

#include <gtest/gtest.h>

#include "host/app_fixture.h"

namespace evenkeel::host {
namespace {

constexpr const char* hub_values =
    R"({"IsEncrypted": false, "Values": {
        "HUB": "Endpoint=sb://localhost;SharedAccessKeyName=n;SharedAccessKey=a2V5"}})";
constexpr const char* command_function =
    R"({"bindings": [{"type": "eventHubTrigger", "name": "events", "eventHubName": "homes",
                      "connection": "HUB"}],
        "evenkeel": {"command": "cat > /dev/null"}})";

TEST(App, has_the_functions_of_its_folder) {
    AppFolder folder;
    folder.add("host.json", R"({"version": "2.0"})")
        .add("local.settings.json", hub_values)
        .add("Second/function.json", command_function)
        .add("First/function.json", command_function)
        .add("node_modules/readme", "no function");

    const auto app = load_app(folder.path(), {});

    ASSERT_TRUE(app.ok()) << app.error().detail;
    ASSERT_EQ(app->functions.size(), 2u);
    EXPECT_EQ(app->functions[0].name, "First");
    EXPECT_EQ(app->functions[1].kind, Kind::command);
    EXPECT_EQ(app->store, "sqlite:evenkeel-progress.db");
    EXPECT_TRUE(app->settings.contains("HUB"));
}

TEST(App, takes_overrides_of_host_json_from_the_environment) {
    AppFolder folder;
    folder.add("host.json", R"({"extensions": {"eventHubs": {"maxEventBatchSize": 10}}})")
        .add("local.settings.json", hub_values)
        .add("f/function.json", command_function);

    const auto app = load_app(
        folder.path(), {{"AzureFunctionsJobHost__extensions__eventHubs__maxEventBatchSize", "50"}});

    ASSERT_TRUE(app.ok()) << app.error().detail;
    EXPECT_EQ(app->options.max_batch, 50u);
    EXPECT_EQ(app->functions[0].max_batch, 50u);
}

TEST(App, keeps_progress_where_azure_functions_keeps_it) {
    AppFolder folder;
    folder.add("host.json", "{}")
        .add("local.settings.json", hub_values)
        .add("f/function.json", command_function);
    const Environment azurite = {{"AzureWebJobsStorage", "UseDevelopmentStorage=true"}};

    EXPECT_EQ(load_app(folder.path(), azurite)->store,
              "azblob:UseDevelopmentStorage=true;Container=azure-webjobs-eventhub;Create=true");
    EXPECT_EQ(load_app(folder.path(), azurite, "memory:")->store, "memory:");
}

TEST(App, starts_no_other_store_beside_that_of_an_identity) {
    AppFolder folder;
    folder.add("host.json", "{}")
        .add("local.settings.json", hub_values)
        .add("f/function.json", command_function);

    for (const char* name :
         {"AzureWebJobsStorage__accountName", "AzureWebJobsStorage:blobServiceUri"}) {
        const Environment identity = {{"AzureWebJobsStorage", ""}, {name, "homes"}};
        const auto app = load_app(folder.path(), identity);
        ASSERT_FALSE(app.ok()) << app->store;
        EXPECT_NE(app.error().detail.find("--store"), std::string::npos) << app.error().detail;
        EXPECT_EQ(load_app(folder.path(), identity, "memory:")->store, "memory:");
    }
    const Environment both = {{"AzureWebJobsStorage__accountName", "homes"},
                              {"AzureWebJobsStorage", "UseDevelopmentStorage=true"}};
    EXPECT_TRUE(load_app(folder.path(), both)->store.starts_with("azblob:Use"));
}

TEST(App, says_why_a_folder_is_none) {
    AppFolder empty;
    AppFolder alone;
    alone.add("host.json", "{}");
    AppFolder undecided;
    undecided.add("host.json", "{}")
        .add("local.settings.json", hub_values)
        .add("f/function.json",
             R"({"bindings": [{"type": "eventHubTrigger", "name": "e", "eventHubName": "homes",
                               "connection": "HUB"}]})");

    EXPECT_NE(load_app("/nowhere/app", {}).error().detail.find("/nowhere/app"), std::string::npos);
    EXPECT_NE(load_app(empty.path(), {}).error().detail.find("host.json"), std::string::npos);
    EXPECT_NE(load_app(alone.path(), {}).error().detail.find("no function"), std::string::npos);
    EXPECT_NE(load_app(undecided.path(), {}).error().detail.find("customHandler"),
              std::string::npos);
}

TEST(App, names_file_and_line_of_a_broken_function) {
    AppFolder folder;
    folder.add("host.json", "{}").add("f/function.json", "{\n\n\"bindings\": []}");

    EXPECT_EQ(load_app(folder.path(), {}).error().detail,
              "f/function.json:3: bindings: must be a list with at least one binding");
}

TEST(App, runs_the_other_functions_beside_a_broken_one) {
    AppFolder folder;
    folder.add("host.json", "{}")
        .add("local.settings.json", hub_values)
        .add("broken/function.json", "{\"bindings\": []}")
        .add("f/function.json", command_function)
        .add("nothing/function.json",
             R"({"bindings": [{"type": "eventHubTrigger", "name": "e", "eventHubName": "homes",
                               "connection": "HUB"}]})")
        .add("unset/function.json",
             R"({"bindings": [{"type": "eventHubTrigger", "name": "e", "eventHubName": "homes",
                               "connection": "GONE"}]})");

    const auto app = load_app(folder.path(), {});

    ASSERT_TRUE(app.ok()) << app.error().detail;
    ASSERT_EQ(app->functions.size(), 1u);
    EXPECT_EQ(app->functions[0].name, "f");
    ASSERT_EQ(app->failures.size(), 3u);
    EXPECT_TRUE(app->failures[0].starts_with("broken/function.json:1: bindings"));
    EXPECT_NE(app->failures[1].find("customHandler"), std::string::npos) << app->failures[1];
    EXPECT_NE(app->failures[2].find("'GONE'"), std::string::npos) << app->failures[2];
}

}  // namespace
}  // namespace evenkeel::host
