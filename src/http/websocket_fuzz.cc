// Any bytes after a greeting, cut anywhere, give bytes, an end, or an error; what is held and
// answered stays bounded. The first byte chooses the role and the pieces.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/check.h"
#include "http/websocket.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace evenkeel;
    if (size == 0) return 0;
    const std::size_t piece = 1 + (data[0] >> 1);
    const auto layer = (data[0] & 1) ? http::websocket_client_layer({.host = "hub"})
                                     : http::websocket_server_layer();
    ByteView rest(reinterpret_cast<const std::byte*>(data + 1), size - 1);
    std::vector<std::byte> plain(64);
    std::vector<std::byte> output;
    std::size_t taken = 0;
    layer->take_output(output);
    while (!rest.empty()) {
        const auto wire = rest.first(std::min(piece, rest.size()));
        rest = rest.subspan(wire.size());
        if (!layer->receive(wire)) break;
        if (!layer->is_ready()) continue;
        bool broken = false;
        while (true) {
            const auto got = layer->take(plain);
            broken = !got.ok();
            if (broken || *got == 0) break;
            taken += *got;
        }
        output.clear();
        layer->take_output(output);
        EK_CHECK(output.size() <= 256, "at most a pong and a close");
        if (broken) return 0;
    }
    EK_CHECK(taken <= size, "nothing comes from nothing");
    (void)layer->receive_end();
    layer->send_end();
    layer->take_output(output);
    return 0;
}
