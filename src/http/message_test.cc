#include "http/message.h"

#include <string>

#include <gtest/gtest.h>

namespace evenkeel::http {
namespace {

constexpr WallTime monday{1'772'442'840'123};  // 2026-03-02T09:14:00.123Z

TEST(Response, has_length_date_and_security_fields) {
    const std::string wire = to_wire({.body = "{}"}, monday, Body::sent, Afterwards::keep_alive);

    EXPECT_TRUE(wire.starts_with("HTTP/1.1 200 OK\r\nDate: Mon, 02 Mar 2026 09:14:00 GMT\r\n"))
        << wire;
    EXPECT_TRUE(wire.ends_with("\r\n\r\n{}"));
    for (const std::string line :
         {"Content-Type: application/json", "Content-Length: 2", "Connection: keep-alive",
          "X-Content-Type-Options: nosniff", "X-Frame-Options: DENY", "Cache-Control: no-store",
          "Referrer-Policy: no-referrer",
          "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'"}) {
        EXPECT_NE(wire.find("\r\n" + line + "\r\n"), std::string::npos) << line;
    }
}

TEST(Response, has_security_fields_on_errors_too) {
    const std::string wire = to_wire(error_response(404, "not_found", "no \"x\""), monday,
                                     Body::sent, Afterwards::close);

    EXPECT_TRUE(wire.starts_with("HTTP/1.1 404 Not Found\r\n"));
    EXPECT_NE(wire.find("X-Frame-Options: DENY\r\n"), std::string::npos);
    EXPECT_NE(wire.find("Connection: close\r\n"), std::string::npos);
    EXPECT_TRUE(wire.ends_with(
        "\r\n\r\n{\"error\":{\"code\":\"not_found\",\"message\":\"no \\\"x\\\"\"}}\n"));
}

TEST(Response, may_replace_a_security_field) {
    const std::string wire =
        to_wire({.fields = {{"content-security-policy", "default-src 'self'"}}}, monday, Body::sent,
                Afterwards::close);

    EXPECT_NE(wire.find("content-security-policy: default-src 'self'\r\n"), std::string::npos);
    EXPECT_EQ(wire.find("Content-Security-Policy"), std::string::npos);
}

TEST(Response, cannot_be_split_by_a_value) {
    const std::string wire = to_wire({.fields = {{"Location", "/x\r\nSet-Cookie: evil"}}}, monday,
                                     Body::sent, Afterwards::close);

    EXPECT_NE(wire.find("Location: /xSet-Cookie: evil\r\n"), std::string::npos);
}

TEST(Response, to_head_has_the_length_and_no_body) {
    const std::string wire =
        to_wire({.body = "12345"}, monday, Body::left_out, Afterwards::keep_alive);

    EXPECT_NE(wire.find("Content-Length: 5\r\n"), std::string::npos);
    EXPECT_TRUE(wire.ends_with("\r\n\r\n"));
}

TEST(Response, without_content_has_no_length) {
    const std::string wire = to_wire({.status = 204}, monday, Body::sent, Afterwards::keep_alive);
    EXPECT_EQ(wire.find("Content-"), wire.find("Content-Security-Policy"));
}

TEST(Request, joins_a_field_that_comes_twice) {
    const Request request{.method = "GET",
                          .path = "/",
                          .query = "",
                          .fields = {{"A", "1"}, {"b", "2"}, {"a", "3"}},
                          .body = "",
                          .peer = {}};
    EXPECT_EQ(request.field("a"), "1, 3");
    EXPECT_EQ(request.field("B"), "2");
    EXPECT_EQ(request.field("c"), "");
}

TEST(Word, is_found_in_a_list_without_regard_to_case) {
    EXPECT_TRUE(has_word("keep-alive, Upgrade", "upgrade"));
    EXPECT_TRUE(has_word("\tUPGRADE ", "upgrade"));
    EXPECT_FALSE(has_word("keep-alive, Upgrades", "upgrade"));
    EXPECT_FALSE(has_word("", "upgrade"));
}

}  // namespace
}  // namespace evenkeel::http
