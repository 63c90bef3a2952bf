// Any bytes as a performative: what decodes, encodes to something that decodes to the same. The
// short way to a transfer takes nothing that the long one does not, and reads it alike.
#include "amqp/allocation_fixture.h"
#include "amqp/performatives.h"
#include "base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace evenkeel;
    using namespace evenkeel::amqp;
    ByteView bytes(reinterpret_cast<const std::byte*>(data), size);
    ByteView usual_rest = bytes;
    const auto usual = decode_usual_transfer(usual_rest);
    count_allocations();
    auto first = decode_performative(bytes);
    check_allocated(size);
    EK_CHECK(!usual || first.ok(), "what is usual is right");
    if (!first.ok()) return 0;
    const auto written = [](const Performative& performative) {
        Buffer to;
        std::visit([&](const auto& body) { encode(body, to); }, performative);
        return to;
    };
    const Buffer once = written(*first);
    if (usual) {
        EK_CHECK(written(*usual) == once, "both ways read the same");
        EK_CHECK(usual_rest.data() == bytes.data() && usual_rest.size() == bytes.size(),
                 "and leave the same");
    }
    ByteView left = once;
    auto second = decode_performative(left);
    EK_CHECK(second.ok() && left.empty(), "what we write, we read");
    EK_CHECK(written(*second) == once, "and it says the same");
    return 0;
}
