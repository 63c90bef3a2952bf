#include "cli/commands/send.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "base/hex.h"

namespace evenkeel::cli {
namespace {

std::string encoding_of(std::string_view text) {
    const auto property = property_of(text);
    return property.ok() ? property->name + " " + to_hex(property->value) : property.error().detail;
}

TEST(SendKey, is_a_field_of_a_json_object) {
    const auto value = boost::json::parse(R"({"id":"c-1","n":7})");
    EXPECT_EQ(*key_in(value, "id"), "c-1");
    EXPECT_EQ(*key_in(value, "n"), "7");
    EXPECT_FALSE(key_in(value, "x").ok());
    EXPECT_FALSE(key_in(boost::json::parse("[1]"), "x").ok());
}

TEST(SendProperty, has_a_name_a_value_and_perhaps_a_type) {
    EXPECT_EQ(encoding_of("room=hall"), "room a10468616c6c");
    EXPECT_EQ(encoding_of("room="), "room a100");
    EXPECT_EQ(encoding_of("n:int=5"), "n 5405");
    EXPECT_EQ(encoding_of("n:string=a=b:c"), "n a105613d623a63");
    EXPECT_EQ(encoding_of("urn:x:bool=true"), "urn:x 41");
}

TEST(SendProperty, says_what_is_wrong_with_it) {
    EXPECT_EQ(encoding_of("room"), "'room' is no property; give NAME=VALUE or NAME:TYPE=VALUE");
    EXPECT_EQ(encoding_of("=x"), "'=x' is no property; give NAME=VALUE or NAME:TYPE=VALUE");
    EXPECT_EQ(encoding_of(":int=5"), "':int=5' is no property; give NAME=VALUE or NAME:TYPE=VALUE");
    EXPECT_EQ(encoding_of("n:int=x"),
              "property 'n' is not of type int: a whole number from -2147483648 to 2147483647 is "
              "needed");
    EXPECT_EQ(encoding_of("n:intt=5").find("property 'n' is of an unknown type 'intt': "), 0u)
        << encoding_of("n:intt=5");
    EXPECT_EQ(encoding_of("\xff=5"), "the name of a property is not UTF-8");
}

}  // namespace
}  // namespace evenkeel::cli
