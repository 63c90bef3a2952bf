// The engine as a server: any bytes and any order of frames, from before the handshake on.
#include "amqp/fuzz_fixture.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace evenkeel;
    using namespace evenkeel::amqp;
    Script script(ByteView(reinterpret_cast<const std::byte*>(data), size));
    Instant now{1'000'000'000};
    FuzzHandler handler(script);
    Connection engine(fuzz_options(), handler, now);
    handler.engine = &engine;
    const std::uint8_t start = script.byte() % 4;
    if (start >= 1) {
        engine.receive(as_bytes(std::string_view("AMQP\0\1\0\0", 8)), now);
        Buffer body;
        Open open;
        open.max_frame_bytes = 512;
        encode(open, body);
        engine.receive(fuzz_frame(0, body, {}, 0), now);
    }
    if (start >= 2) {
        Buffer body;
        encode(Begin{std::nullopt, 0xfffffffd, start == 2 ? 1u : 100u, 10, 0xffffffff}, body);
        engine.receive(fuzz_frame(0, body, {}, 0), now);
    }
    while (!script.at_end()) fuzz_step(script, engine, handler, now);
    check_output(engine);
    engine.lost();
    EK_CHECK(engine.is_closed() && handler.is_closed() && handler.links.empty(), "all is reported");
    return 0;
}
