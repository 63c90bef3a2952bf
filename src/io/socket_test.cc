#include "io/socket.h"

#include <gtest/gtest.h>

namespace evenkeel::io {
namespace {

TEST(Endpoint, is_written_with_brackets_around_a_v6_address) {
    EXPECT_EQ(to_string(Endpoint{"localhost", 5672}), "localhost:5672");
    EXPECT_EQ(to_string(Endpoint{"::1", 5672}), "[::1]:5672");
}

TEST(Endpoint, is_read_from_what_was_written) {
    for (const Endpoint& endpoint : {Endpoint{"localhost", 5672}, Endpoint{"::1", 0}}) {
        EXPECT_EQ(parse_endpoint(to_string(endpoint)), endpoint);
    }
    for (const auto* text :
         {"", ":", ":1", "a", "a:", "a:x", "a:65536", "a:-1", "::1:1", "[]:1", "a:1 ", "[::1]"}) {
        EXPECT_FALSE(parse_endpoint(text)) << text;
    }
}

TEST(Endpoint, knows_addresses_of_this_host_only) {
    for (const auto* host : {"localhost", "127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"}) {
        EXPECT_TRUE(is_loopback(host)) << host;
    }
    for (const auto* host : {"", "0.0.0.0", "::", "10.0.0.1", "127.example", "localhost.example",
                             "128.0.0.1", "::ffff:10.0.0.1"}) {
        EXPECT_FALSE(is_loopback(host)) << host;
    }
}

TEST(Endpoint, tells_addresses_from_names) {
    for (const auto* host : {"127.0.0.1", "10.0.0.1", "::1", "fe80::1", "::ffff:10.0.0.1"}) {
        EXPECT_TRUE(is_address(host)) << host;
    }
    for (const auto* host : {"", "localhost", "10.0.0", "10.0.0.1.example", "256.0.0.1", "[::1]"}) {
        EXPECT_FALSE(is_address(host)) << host;
    }
    EXPECT_FALSE(is_address(std::string_view("10.0.0.1\0x", 10)));
}

TEST(Endpoint, knows_the_network_of_an_address) {
    EXPECT_EQ(network_of("10.0.0.1"), "10.0.0.1");
    EXPECT_EQ(network_of("::ffff:10.0.0.1"), "10.0.0.1");
    EXPECT_EQ(network_of("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
    EXPECT_EQ(network_of("::1"), "::/64");
    EXPECT_EQ(network_of("client"), "client");
}

}  // namespace
}  // namespace evenkeel::io
