// Any bytes as a message: refused, or stored in a form that readers can take apart.
#include "amqp/message.h"
#include "base/check.h"
#include "door/amqp/events.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace evenkeel;
    const ByteView bytes(reinterpret_cast<const std::byte*>(data), size);
    for (const std::uint32_t format : {std::uint32_t{0}, amqp::batch_format}) {
        door::Incoming incoming;
        if (!incoming.decode(bytes, format).ok()) continue;
        for (const auto& event : incoming.events()) {
            commitlog::Record record{};
            record.key = event.key;
            record.body = event.body;
            amqp::Buffer out;
            ByteView rest;
            door::encode_prefix(record, door::RuntimeMetric{}, out, rest);
            out.insert(out.end(), rest.begin(), rest.end());
            door::Incoming again;
            EK_CHECK(again.decode(out, 0).ok(), "what is delivered is well formed");
        }
    }
    return 0;
}
