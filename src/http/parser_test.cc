#include "http/parser.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "support/seed.h"

namespace evenkeel::http {
namespace {

// Feeds the text in pieces that chance cuts, until the request is done or refused.
std::size_t feed(RequestParser& parser, std::string_view text, Random& random) {
    std::size_t taken = 0;
    while (taken < text.size() && !parser.is_done() && !parser.refusal()) {
        const std::size_t size = 1 + random.below(std::min<std::size_t>(text.size() - taken, 40));
        taken += parser.receive(as_bytes(text.substr(taken, size)));
    }
    return taken;
}

int status_of(std::string_view text) {
    Random random(test::test_seed());
    RequestParser parser;
    feed(parser, text, random);
    return parser.refusal() ? parser.refusal()->status : parser.is_done() ? 200 : 0;
}

TEST(RequestParser, reads_the_same_request_however_it_is_cut) {
    const std::string wire =
        "POST /api/v1/hubs?x=1&y HTTP/1.1\r\nHost: localhost:5300\r\nX-Empty:\r\n"
        "Content-Type:  application/json \r\nContent-Length: 11\r\n\r\nhello worldGET / HTTP/1.1";
    Random random(test::test_seed());
    for (int i = 0; i < 200; ++i) {
        RequestParser parser;

        const std::size_t taken = feed(parser, wire, random);

        ASSERT_TRUE(parser.is_done());
        EXPECT_EQ(wire.substr(taken), "GET / HTTP/1.1");
        EXPECT_TRUE(parser.keeps_alive());
        const Request request = parser.take();
        EXPECT_EQ(request.method, "POST");
        EXPECT_EQ(request.path, "/api/v1/hubs");
        EXPECT_EQ(request.query, "x=1&y");
        EXPECT_EQ(request.field("content-type"), "application/json");
        EXPECT_EQ(request.field("X-Empty"), "");
        EXPECT_EQ(request.fields.size(), 4u);
        EXPECT_EQ(request.body, "hello world");
        EXPECT_FALSE(parser.has_begun());
    }
}

TEST(RequestParser, joins_chunks_and_forgets_extensions_and_trailers) {
    const std::string wire =
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n\r\n"
        "5\r\nhello\r\n1;name=\"v\"\r\n \r\n0005\r\nworld\r\n0\r\nTrailer: x\r\n\r\nrest";
    Random random(test::test_seed());
    for (int i = 0; i < 200; ++i) {
        RequestParser parser;

        const std::size_t taken = feed(parser, wire, random);

        ASSERT_TRUE(parser.is_done()) << parser.refusal()->reason;
        EXPECT_EQ(wire.substr(taken), "rest");
        const Request request = parser.take();
        EXPECT_EQ(request.body, "hello world");
        EXPECT_EQ(request.field("Trailer"), "");
    }
}

TEST(RequestParser, takes_one_request_after_another) {
    const std::string wire =
        "\r\nGET /1 HTTP/1.1\r\nHost: x\r\n\r\n\r\nHEAD /2 HTTP/1.1\r\nHost: x\r\n\r\n";
    Random random(test::test_seed());
    RequestParser parser;

    const std::size_t first = feed(parser, wire, random);
    ASSERT_TRUE(parser.is_done());
    EXPECT_FALSE(parser.is_head());
    EXPECT_EQ(parser.take().path, "/1");
    feed(parser, std::string_view(wire).substr(first), random);

    ASSERT_TRUE(parser.is_done());
    EXPECT_TRUE(parser.is_head());
    const Request second = parser.take();
    EXPECT_EQ(second.path, "/2");
    EXPECT_EQ(second.method, "GET");
}

TEST(RequestParser, understands_what_a_proxy_would_ask) {
    RequestParser parser;
    const std::string wire = "GET http://hub.example:80/a?b HTTP/1.1\r\nHost: hub.example\r\n\r\n";
    parser.receive(as_bytes(wire));
    ASSERT_TRUE(parser.is_done());
    EXPECT_EQ(parser.take().path, "/a");
}

TEST(RequestParser, says_when_the_client_waits_for_a_word) {
    RequestParser parser;
    const std::string wire =
        "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n";
    parser.receive(as_bytes(wire));
    EXPECT_TRUE(parser.expects_continue());

    parser.continued();
    EXPECT_FALSE(parser.expects_continue());
    parser.receive(as_bytes("ab"));
    EXPECT_TRUE(parser.is_done());
}

TEST(RequestParser, ends_the_connection_when_asked_or_with_http_1_0) {
    for (const std::string text :
         {"GET / HTTP/1.1\r\nHost: x\r\nConnection: Close\r\n\r\n", "GET / HTTP/1.0\r\n\r\n"}) {
        RequestParser parser;
        parser.receive(as_bytes(text));
        ASSERT_TRUE(parser.is_done());
        EXPECT_FALSE(parser.keeps_alive()) << text;
    }
}

struct Malformed {
    std::string text;
    int status;
};

std::string post(const std::string& fields, const std::string& body = "") {
    return "POST / HTTP/1.1\r\nHost: x\r\n" + fields + "\r\n" + body;
}

TEST(RequestParser, refuses_every_malformed_shape_with_its_status) {
    const std::string host = "Host: x\r\n";
    const std::string chunked = "Transfer-Encoding: chunked\r\n";
    const Malformed cases[] = {
        {std::string("\x16\x03\x01\x02\x00\x01", 6), 400},
        {std::string("AMQP\3\1\0\0", 8), 400},
        {"GET /\r\n\r\n", 400},
        {"GET  HTTP/1.1\r\n\r\n", 400},
        {"GET / / HTTP/1.1\r\n" + host + "\r\n", 400},
        {" GET / HTTP/1.1\r\n" + host + "\r\n", 400},
        {"G(T / HTTP/1.1\r\n" + host + "\r\n", 400},
        {"GET x HTTP/1.1\r\n" + host + "\r\n", 400},
        {"GET /#a HTTP/1.1\r\n" + host + "\r\n", 400},
        {"GET /\x7f HTTP/1.1\r\n" + host + "\r\n", 400},
        {"GET /\xc3\xa4 HTTP/1.1\r\n" + host + "\r\n", 400},
        {"GET / HTTP/1.1 \r\n" + host + "\r\n", 400},
        {"GET / http/1.1\r\n" + host + "\r\n", 400},
        {"GET / HTTP/2.0\r\n" + host + "\r\n", 505},
        {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
        {"GET / HTTP/1.1\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\n" + host + host + "\r\n", 400},
        {"GET / HTTP/1.1\n" + host + "\r\n", 400},
        {"GET / HTTP/1.1\nHost: x\n\n", 400},
        {"\nGET / HTTP/1.1\r\n", 400},
        {"GET / HTTP/1.1\rHost: x\r", 400},
        {"GET / HTTP/1.1\r\n" + host + " folded\r\n\r\n", 400},
        {post("no colon\r\n"), 400},
        {post(": no name\r\n"), 400},
        {post("A : space before the colon\r\n"), 400},
        {post("A: bare\rreturn\r\n"), 400},
        {post("A: bare\nnewline\r\n"), 400},
        {post(std::string("A: nul\0\r\n", 9)), 400},
        {post("Content-Length: -1\r\n"), 400},
        {post("Content-Length: +1\r\n"), 400},
        {post("Content-Length: 1x\r\n"), 400},
        {post("Content-Length:\r\n"), 400},
        {post("Content-Length: 99999999999999999999\r\n"), 400},
        {post("Content-Length: 1\r\nContent-Length: 1\r\n", "a"), 400},
        {post("Content-Length: 1, 1\r\n", "a"), 400},
        {post("Content-Length: 1048577\r\n"), 413},
        {post("Content-Length: 1\r\n" + chunked, "0\r\n\r\n"), 400},
        {"POST / HTTP/1.0\r\n" + chunked + "\r\n", 400},
        {post("Transfer-Encoding: gzip, chunked\r\n"), 501},
        {post(chunked + chunked), 501},
        {post("Expect: miracles\r\n"), 417},
        {post(chunked, "x\r\n"), 400},
        {post(chunked, "\r\n"), 400},
        {post(chunked, "-1\r\n"), 400},
        {post(chunked, "0x1\r\na\r\n"), 400},
        {post(chunked, "1\na\r\n"), 400},
        {post(chunked, "1\r\nab\r\n"), 400},
        {post(chunked, "100001\r\n"), 413},
        {post(chunked, "FFFFFFFFFFFFFFFF\r\n"), 413},
        {post(chunked, "11111111111111111\r\n"), 400},
        {post(chunked, "1;" + std::string(300, 'x') + "\r\n"), 400},
        {post(chunked, "0\r\nno colon\r\n\r\n"), 400},
        {"GET /" + std::string(head_bytes_max, 'x') + " HTTP/1.1\r\n", 431},
        {post("A: " + std::string(head_bytes_max, 'x') + "\r\n"), 431},
    };
    for (const auto& bad : cases) {
        EXPECT_EQ(status_of(bad.text), bad.status) << bad.text.substr(0, 200);
    }
}

TEST(RequestParser, bounds_fields_and_trailers) {
    std::string fields;
    for (std::size_t i = 0; i < fields_max - 1; ++i) fields += "A: b\r\n";
    EXPECT_EQ(status_of(post(fields)), 200);
    EXPECT_EQ(status_of(post(fields + "A: b\r\n")), 431);

    std::string trailers;
    for (int i = 0; i < 100; ++i) trailers += "A: " + std::string(100, 'x') + "\r\n";
    EXPECT_EQ(status_of(post("Transfer-Encoding: chunked\r\n", "0\r\n" + trailers + "\r\n")), 431);
}

TEST(RequestParser, takes_a_body_of_a_mebibyte_and_no_byte_more) {
    const std::string body(body_bytes_max, 'x');
    EXPECT_EQ(status_of(post("Content-Length: 1048576\r\n", body)), 200);
    const std::string chunked = "Transfer-Encoding: chunked\r\n";
    EXPECT_EQ(status_of(post(chunked, "100000\r\n" + body + "\r\n0\r\n\r\n")), 200);
    EXPECT_EQ(status_of(post(chunked, "100000\r\n" + body + "\r\n1\r\n")), 413);
}

}  // namespace
}  // namespace evenkeel::http
