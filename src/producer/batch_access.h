// What producers do with a batch that its users need not see.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include <evenkeel/producer.h>

namespace evenkeel::producer {

struct BatchAccess {
    // Encoded, as it is sent.
    static const std::vector<std::byte>& message(const SendBatch& batch) { return batch.message_; }
    static const std::string& key(const SendBatch& batch) { return batch.key_; }
    // `section` as append_event() makes it, or in_batch() of the event's own sections.
    static bool try_add(SendBatch& batch, ByteView section);
    static std::vector<std::byte> in_batch(ByteView sections);
};

}  // namespace evenkeel::producer
