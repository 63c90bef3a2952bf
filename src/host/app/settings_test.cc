#include "host/app/settings.h"

#include <gtest/gtest.h>

namespace evenkeel::host {
namespace {

constexpr const char* hub_string =
    "Endpoint=sb://localhost:5672;SharedAccessKeyName=n;SharedAccessKey=c2VjcmV0LWtleQ==;"
    "UseDevelopmentEmulator=true";

Settings settings_of(const Environment& environment, const std::string& local = "{}") {
    Settings settings(environment);
    const auto file = JsonFile::parse("local.settings.json", local);
    EXPECT_TRUE(file.ok());
    const auto added = settings.add(*file);
    EXPECT_TRUE(added.ok()) << added.error().detail;
    return settings;
}

TEST(Settings, of_the_environment_win_over_the_file) {
    const auto settings = settings_of({{"A", "1"}}, R"({"Values": {"a": "2", "B": "3"}})");

    EXPECT_EQ(settings.find("A"), "1");
    EXPECT_EQ(settings.find("b"), "3");
    EXPECT_EQ(settings.all(), (Environment{{"A", "1"}, {"B", "3"}}));
}

TEST(Settings, with_two_underscores_or_a_colon_are_the_same) {
    const auto settings = settings_of({{"AzureFunctionsJobHost__extensions__eventHubs__x", "5"}});

    EXPECT_EQ(settings.find("azurefunctionsjobhost:Extensions:eventHubs:X"), "5");
    const auto below = settings.below("AzureFunctionsJobHost");
    ASSERT_EQ(below.size(), 1u);
    EXPECT_EQ(below[0].first, (std::vector<std::string>{"extensions", "eventhubs", "x"}));
}

TEST(Settings, that_are_encrypted_are_refused_with_a_hint) {
    Settings settings(Environment{});
    const auto file = JsonFile::parse("local.settings.json", R"({"IsEncrypted": true})");

    const auto added = settings.add(*file);

    ASSERT_FALSE(added.ok());
    EXPECT_NE(added.error().detail.find("func settings decrypt"), std::string::npos);
}

TEST(Settings, replace_names_between_percent_signs) {
    const auto settings = settings_of({{"HUB", "homes"}, {"G", "agg"}});

    EXPECT_EQ(settings.expanded("%HUB%-%g%").value(), "homes-agg");
    EXPECT_EQ(settings.expanded("100%").value(), "100%");
    EXPECT_NE(settings.expanded("%NONE%").error().detail.find("'NONE'"), std::string::npos);
}

TEST(Settings, find_a_connection_by_each_of_its_names) {
    for (const char* name : {"HUB", "AzureWebJobsHUB", "ConnectionStrings__HUB"}) {
        const auto found = settings_of({{name, hub_string}}).connection("HUB", "homes", false);

        ASSERT_TRUE(found.ok()) << name << found.error().detail;
        EXPECT_EQ(found->text, std::string(hub_string) + ";EntityPath=homes");
        EXPECT_EQ(found->event_hub, "homes");
    }
}

TEST(Settings, let_the_entity_path_win_over_the_binding) {
    const auto settings = settings_of({{"HUB", std::string(hub_string) + ";EntityPath=other"}});

    EXPECT_EQ(settings.connection("HUB", "homes", false)->event_hub, "other");
}

TEST(Settings, never_show_a_key_in_an_error) {
    const auto settings = settings_of({{"HUB", "Endpoint=sb://;SharedAccessKey=c2VjcmV0LWtleQ=="},
                                       {"ID__fullyQualifiedNamespace", "ns"}});

    for (const char* name : {"HUB", "ID", "NONE", "Endpoint=x;SharedAccessKey=c2VjcmV0LWtleQ=="}) {
        const auto found = settings.connection(name, "homes", false);
        ASSERT_FALSE(found.ok()) << name;
        EXPECT_EQ(found.error().detail.find("c2VjcmV0"), std::string::npos) << found.error().detail;
    }
}

}  // namespace
}  // namespace evenkeel::host
