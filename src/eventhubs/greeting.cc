#include "eventhubs/greeting.h"

#include <string_view>

#include "amqp/message.h"

namespace evenkeel::eventhubs {
namespace {

constexpr std::string_view identity_key = "evenkeel-identity";
constexpr std::string_view http_port_key = "evenkeel-http-port";
constexpr std::string_view https_port_key = "evenkeel-https-port";

std::uint16_t port_in(ByteView map, std::string_view key) {
    const auto number = amqp::integer_in(map, key).value_or(0);
    return number > 0 && number <= 0xffff ? static_cast<std::uint16_t>(number) : std::uint16_t{0};
}

}  // namespace

amqp::Buffer encode_greeting(const Greeting& greeting) {
    amqp::Buffer buffer;
    amqp::Encoder encoder(buffer);
    const auto map = encoder.begin_map();
    encoder.symbol(identity_key);
    encoder.string(greeting.identity);
    encoder.symbol(http_port_key);
    encoder.uint(greeting.http_port);
    encoder.symbol(https_port_key);
    encoder.uint(greeting.https_port);
    encoder.end(map, 6);
    return buffer;
}

Greeting decode_greeting(ByteView map) {
    return {std::string(amqp::text_in(map, identity_key).value_or("")), port_in(map, http_port_key),
            port_in(map, https_port_key)};
}

}  // namespace evenkeel::eventhubs
