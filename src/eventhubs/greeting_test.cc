#include "eventhubs/greeting.h"

#include <gtest/gtest.h>

namespace evenkeel::eventhubs {
namespace {

TEST(Greeting, names_the_hub_and_the_ports_of_its_admin_interface) {
    const auto read = decode_greeting(encode_greeting({"0123abcd", 8080, 8443}));

    EXPECT_EQ(read.identity, "0123abcd");
    EXPECT_EQ(read.http_port, 8080);
    EXPECT_EQ(read.https_port, 8443);
}

TEST(Greeting, of_another_hub_is_empty) {
    EXPECT_EQ(decode_greeting({}).identity, "");
    EXPECT_EQ(decode_greeting({}).http_port, 0);
}

TEST(Greeting, ignores_values_of_another_type_or_range) {
    amqp::Buffer buffer;
    amqp::Encoder encoder(buffer);
    const auto map = encoder.begin_map();
    encoder.symbol("evenkeel-identity");
    encoder.uint(7);
    encoder.symbol("evenkeel-http-port");
    encoder.string("8080");
    encoder.symbol("evenkeel-https-port");
    encoder.uint(70000);
    encoder.end(map, 6);

    const auto read = decode_greeting(buffer);

    EXPECT_EQ(read.identity, "");
    EXPECT_EQ(read.http_port, 0);
    EXPECT_EQ(read.https_port, 0);
}

TEST(Greeting, of_damaged_bytes_is_harmless) {
    amqp::Buffer good = encode_greeting({"0123abcd", 8080, 8443});

    for (std::size_t size = 0; size < good.size(); ++size) {
        const auto read = decode_greeting(ByteView(good).first(size));
        EXPECT_TRUE(read.identity.empty() || read.identity == "0123abcd");
    }
}

}  // namespace
}  // namespace evenkeel::eventhubs
