// What AMQP allows in a section of a message, checked to the last value: what does not keep to it
// can stop a reader that decodes it, and is not stored for one.
//
// Values may be nested nesting_max deep. An array of elements without bytes of their own (null,
// true, an empty list) is small on the wire and as large as it says in a reader's memory: a message
// may have empty_elements_max of them.
#pragma once

#include <cstdint>
#include <string_view>

#include "amqp/message.h"

namespace evenkeel::amqp {

class Grammar {
public:
    static constexpr int nesting_max = 32;
    static constexpr std::uint32_t empty_elements_max = 1024;

    // What is wrong with the section; empty if it is well formed. One pass, no allocation. Call it
    // for all sections of a message with one Grammar. Null is allowed instead of any value but
    // annotations: an SDK writes an empty body so.
    std::string_view fault_of(const Section& section);

private:
    std::uint32_t empty_elements_left_ = empty_elements_max;
};

}  // namespace evenkeel::amqp
