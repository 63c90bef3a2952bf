#include "demo/stream_body.h"

#include "base/check.h"
#include "base/crc32c.h"

namespace evenkeel::demo {

void encode(const StreamBody& body, ByteSpan to) {
    EK_CHECK(to.size() >= stream_body_bytes_min, "a body has room for its header");
    store(to.data() + 4, body.producer);
    store(to.data() + 8, body.run);
    store(to.data() + 16, body.number);
    store(to.data() + 24, body.partition);
    store(to.data() + 28, std::uint32_t{0});
    std::uint64_t filling = body.number * 0x9e3779b97f4a7c15 + body.producer;
    for (std::size_t at = stream_body_bytes_min; at < to.size(); ++at) {
        to[at] = static_cast<std::byte>(filling >> (at % 8 * 8));
        if (at % 8 == 7) filling = filling * 6364136223846793005 + 1442695040888963407;
    }
    store(to.data(), crc32c(to.subspan(4)));
}

std::optional<StreamBody> decode_stream_body(ByteView bytes) {
    if (bytes.size() < stream_body_bytes_min) return std::nullopt;
    if (load<std::uint32_t>(bytes.data()) != crc32c(bytes.subspan(4))) return std::nullopt;
    StreamBody body;
    body.producer = load<std::uint32_t>(bytes.data() + 4);
    body.run = load<std::uint64_t>(bytes.data() + 8);
    body.number = load<std::uint64_t>(bytes.data() + 16);
    body.partition = load<std::uint32_t>(bytes.data() + 24);
    return body;
}

}  // namespace evenkeel::demo
