#include "host/handler/shim_handler.h"

#include <gtest/gtest.h>

#include "host/handler/invocation_fixture.h"

namespace evenkeel::host {
namespace {

std::string line_of(const GivenEvents& given) {
    const auto request = shim_request(given.invocation(1), {});
    return request.ok() ? request->line : request.error().detail;
}

TEST(ShimRequest, has_bodies_by_cardinality_and_type) {
    using enum Cardinality;
    const auto begins = [](const GivenEvents& given, const std::string& data) {
        return line_of(given).starts_with(
            R"({"id":"8c1f0a52-0000-4000-8000-000000000001","function":"many",)" + data +
            R"(,"meta":{"PartitionContext":)");
    };

    EXPECT_TRUE(begins({a_function(one), {{.body = "hi"}}}, R"("kind":"string","data":"hi")"));
    EXPECT_TRUE(begins({a_function(one, DataType::binary), {{.body = "hi"}}},
                       R"("kind":"bytes","data":"aGk=")"));
    EXPECT_TRUE(begins({a_function(many), {{.body = "1"}, {.body = "x"}}},
                       R"("kind":"json","data":"[1,\"x\"]")"));
    EXPECT_TRUE(begins({a_function(many, DataType::text), {{.body = "1"}}},
                       R"("kind":"collection_string","data":["1"])"));
    EXPECT_TRUE(begins({a_function(many, DataType::binary), {{.body = "hi"}}},
                       R"("kind":"collection_bytes","data":["aGk="])"));
}

TEST(ShimRequest, is_one_line_and_tells_of_retries) {
    GivenEvents given(a_function(Cardinality::many), {{.body = "[1,\n2]"}});
    const std::string plain = line_of(given);
    given.function().retry = RetryRule{.retries_max = std::nullopt};

    EXPECT_TRUE(plain.ends_with("\"retry\":null}\n")) << plain;
    EXPECT_EQ(plain.find('\n'), plain.size() - 1);
    EXPECT_TRUE(line_of(given).ends_with(R"("retry":{"count":1,"max":-1,"error":""}})"
                                         "\n"));
}

TEST(ShimAnswer, has_outputs_as_text_or_bytes) {
    std::string trace;

    const auto outcome = shim_outcome(
        R"({"id":"1","ok":true,"outputs":{"$return":["a",{"base64":"aGk="}]}})", trace);

    ASSERT_TRUE(outcome.ok());
    EXPECT_EQ(outcome->outputs, (std::vector<BoundOutput>{{"$return", {"a", "hi"}}}));
}

TEST(ShimAnswer, may_have_a_deep_output) {
    std::string trace;
    const std::string deep = std::string(40, '[') + std::string(40, ']');

    const auto outcome =
        shim_outcome(R"({"id":"1","ok":true,"outputs":{"$return":[)" + deep + "]}}", trace);

    ASSERT_TRUE(outcome.ok());
    EXPECT_EQ(outcome->outputs, (std::vector<BoundOutput>{{"$return", {deep}}}));
}

TEST(ShimAnswer, tells_why_the_function_failed) {
    std::string trace;

    const auto failed =
        shim_outcome(R"({"id":"1","ok":false,"error":"boom","trace":"at x"})", trace);

    ASSERT_FALSE(failed.ok());
    EXPECT_EQ(failed.error().detail, "boom");
    EXPECT_EQ(trace, "at x");
    EXPECT_FALSE(shim_outcome("{\"id\":\"1\"}", trace).ok());
    EXPECT_FALSE(shim_outcome("{\"id\":\"1\"", trace).ok());
}

}  // namespace
}  // namespace evenkeel::host
