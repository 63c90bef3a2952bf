#include "dashboard/json_writer.h"

#include <vector>

#include <gtest/gtest.h>

namespace evenkeel::dashboard {
namespace {

TEST(JsonWriter, separates_members_and_elements) {
    JsonWriter json;
    json.object([&] {
        json.member("a", 1).member("b", true).key("c").array([&] { json.value(1).value("x"); });
        json.key("d").object([] {}).member("e", std::optional<int>());
    });
    EXPECT_EQ(json.text(), R"({"a":1,"b":true,"c":[1,"x"],"d":{},"e":null})");
}

TEST(JsonWriter, escapes_hostile_text) {
    JsonWriter json;
    json.object([&] { json.member("a\"b", std::string_view("</script>\n\xff\0", 12)); });
    EXPECT_EQ(json.text(), "{\"a\\\"b\":\"</script>\\n\xef\xbf\xbd\\u0000\"}");
}

TEST(JsonWriter, knows_no_numbers_that_json_does_not) {
    JsonWriter json;
    json.array([&] { json.value(0.25).value(1e300 * 1e10).value(-3); });
    EXPECT_EQ(json.text(), "[0.2,null,-3]");
}

}  // namespace
}  // namespace evenkeel::dashboard
