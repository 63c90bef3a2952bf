#include "host/handler/bodies.h"

#include <gtest/gtest.h>

#include "host/handler/invocation_fixture.h"

namespace evenkeel::host {
namespace {

const EventBatch mixed = EventBatch::of(
    {{.body = R"({"t": 1.10})"}, {.body = "plain \"text\""}, {.body = "42"}, {.body = "\xff\xfe"}});

TEST(JsonBodies, keep_json_as_it_is_and_pass_the_rest_as_text) {
    const auto bodies = json_bodies(mixed.events(), false);

    ASSERT_TRUE(bodies.ok());
    EXPECT_EQ(bodies->array,
              "[{\"t\": 1.10},\"plain \\\"text\\\"\",42,\"\xef\xbf\xbd\xef\xbf\xbd\"]");
    EXPECT_EQ(bodies->not_json, 2u);
}

TEST(JsonBodies, fail_the_batch_as_azure_does_if_strict) {
    const auto bodies = json_bodies(mixed.events(), true);

    ASSERT_FALSE(bodies.ok());
    EXPECT_EQ(bodies.error().code, ErrorCode::handler_failed);
    EXPECT_TRUE(bodies.error().detail.starts_with("event 1:")) << bodies.error().detail;
}

TEST(JsonBodies, may_be_deep_but_not_without_end) {
    const auto nested = [](std::size_t depth) {
        return std::string(depth, '[') + std::string(depth, ']');
    };
    const std::string deep = nested(json_depth_max), deeper = nested(json_depth_max + 1);
    const EventBatch batch = EventBatch::of({{.body = deep}, {.body = deeper}});

    const auto bodies = json_bodies(batch.events(), false);

    ASSERT_TRUE(bodies.ok());
    EXPECT_EQ(bodies->array, "[" + deep + ",\"" + deeper + "\"]");
}

TEST(Bodies, are_strings_of_text_or_of_base64) {
    EXPECT_EQ(text_bodies(mixed.events().first(2)),
              "[\"{\\\"t\\\": 1.10}\",\"plain \\\"text\\\"\"]");
    EXPECT_EQ(byte_bodies(mixed.events().subspan(3)), "[\"//4=\"]");
    EXPECT_EQ(text_bodies({}), "[]");
}

TEST(Bodies, have_a_shape_for_each_cardinality_and_type) {
    using enum Cardinality;

    EXPECT_EQ(shape_of(a_function(one)), Shape::text);
    EXPECT_EQ(shape_of(a_function(one, DataType::binary)), Shape::bytes);
    EXPECT_EQ(shape_of(a_function(many)), Shape::values);
    EXPECT_EQ(shape_of(a_function(many, DataType::text)), Shape::texts);
    EXPECT_EQ(shape_of(a_function(many, DataType::binary)), Shape::byte_list);
}

}  // namespace
}  // namespace evenkeel::host
