#include "server/emulator_config.h"

#include <gtest/gtest.h>

namespace evenkeel::server {
namespace {

std::string config(const std::string& entities, const std::string& more = "") {
    return R"({"UserConfig": {"NamespaceConfig": [{"Type": "EventHub", "Name": "emulatorNs1",
               "Entities": [)" +
           entities + R"(]}])" + more + "}}";
}
std::string entity(const std::string& name, const std::string& partitions = "2",
                   const std::string& groups = R"({"Name": "cg1"})") {
    return R"({"Name": ")" + name + R"(", "PartitionCount": )" + partitions +
           R"(, "ConsumerGroups": [)" + groups + "]}";
}
std::string problem(const std::string& text) {
    const auto parsed = parse_emulator_config(text);
    return parsed.ok() ? "none" : parsed.error().detail;
}
constexpr std::string_view first = "UserConfig.NamespaceConfig[0].";

TEST(EmulatorConfig, reads_the_file_the_emulator_ships) {
    const auto hubs =
        parse_emulator_config(config(entity("eh1", "\"2\"") + "," + entity("team/eh2", "32"),
                                     R"(, "LoggingConfig": {"Type": "File"})"));

    ASSERT_TRUE(hubs.ok()) << hubs.error().detail;
    EXPECT_EQ(*hubs, (std::vector<EmulatorHub>{{"eh1", 2, {"cg1"}}, {"team/eh2", 32, {"cg1"}}}));
}

TEST(EmulatorConfig, error_names_the_position) {
    const auto place = [](const std::string& text) {
        const std::string all = problem(text);
        return all.substr(0, all.find(':'));
    };
    const std::string entities = std::string(first) + "Entities";

    EXPECT_EQ(place("{"), "Config.json");
    EXPECT_EQ(place("[]"), "UserConfig.NamespaceConfig");
    EXPECT_EQ(place(R"({"UserConfig": {"NamespaceConfig": []}})"), "UserConfig.NamespaceConfig");
    EXPECT_EQ(place(config("")), entities);
    EXPECT_EQ(place(config("1")), entities + "[0].Name");
    EXPECT_EQ(place(config(entity("eh1") + "," + entity("-x"))), entities + "[1].Name");
    EXPECT_EQ(place(config(entity("eh1") + "," + entity("EH1"))), entities + "[1].Name");
    for (const char* const count : {"0", "33", "-1", "1.5", "\"x\"", "null", "\"\"", "1e30"}) {
        EXPECT_EQ(place(config(entity("eh1", count))), entities + "[0].PartitionCount") << count;
    }
    EXPECT_EQ(place(config(entity("eh1", "1", ""))), entities + "[0].ConsumerGroups");
    EXPECT_EQ(place(config(entity("eh1", "1", R"({"Name": "$Default"})"))),
              entities + "[0].ConsumerGroups[0].Name");
    EXPECT_EQ(place(config(entity("eh1", "1", R"({"Name": "a"}, {"Name": "A"})"))),
              entities + "[0].ConsumerGroups[1].Name");
    EXPECT_EQ(place(config(entity("eh1"), R"(, "LoggingConfig": {"Type": "Syslog"})")),
              "UserConfig.LoggingConfig.Type");
    std::string many = entity("eh0");
    for (int i = 1; i < 11; ++i) many += "," + entity("eh" + std::to_string(i));
    EXPECT_EQ(problem(config(many)), entities + ": 1 to 10 entries are allowed, not 11");
}

}  // namespace
}  // namespace evenkeel::server
