// Any bytes as a filter set, and as a filter's text.
#include "door/amqp/filter.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const evenkeel::ByteView bytes(reinterpret_cast<const std::byte*>(data), size);
    (void)evenkeel::door::position_of_filter(bytes);
    (void)evenkeel::door::parse_filter(evenkeel::as_text(bytes));
    return 0;
}
