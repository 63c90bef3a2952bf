// Any bytes, cut anywhere, give requests within their bounds, or a refusal.
#include <algorithm>
#include <cstdint>

#include "base/check.h"
#include "base/percent.h"
#include "http/parser.h"
#include "http/websocket.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace evenkeel;
    if (size == 0) return 0;
    const std::size_t piece = 1 + data[0];
    ByteView rest(reinterpret_cast<const std::byte*>(data + 1), size - 1);
    http::RequestParser parser;
    while (!rest.empty() && !parser.refusal()) {
        const std::size_t taken = parser.receive(rest.first(std::min(piece, rest.size())));
        EK_CHECK(taken > 0 || parser.is_done() || parser.refusal(), "it goes on");
        rest = rest.subspan(taken);
        if (!parser.is_done()) continue;
        const http::Request request = parser.take();
        EK_CHECK(request.body.size() <= http::body_bytes_max, "bounded body");
        EK_CHECK(request.fields.size() <= http::fields_max, "bounded fields");
        EK_CHECK(request.path.starts_with('/') || request.path == "*", "a path");
        (void)percent_decoded_strictly(request.path);
        if (http::is_upgrade(request)) (void)http::answer_upgrade(request, {"AMQPWSB10", "amqp"});
    }
    return 0;
}
