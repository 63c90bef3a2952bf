#include "amqp/codec.h"
#include "amqp/performatives.h"
#include "eventhubs/encoding.h"
#include "eventhubs/wire_names.h"

// A batch on the wire: message annotations with the key, if there is one, then the events.
namespace evenkeel {

SendBatch::SendBatch(std::optional<std::uint32_t> partition, std::string partition_key,
                     std::size_t bytes_max, std::size_t event_overhead)
    : partition_(partition),
      key_(std::move(partition_key)),
      bytes_max_(bytes_max),
      event_overhead_(event_overhead) {
    clear();
}

void SendBatch::clear() {
    count_ = 0;
    message_.clear();
    if (key_.empty()) return;
    amqp::Encoder encoder(message_);
    encoder.descriptor(static_cast<std::uint8_t>(amqp::descriptor::message_annotations));
    const auto map = encoder.begin_map();
    encoder.symbol(eventhubs::annotation::partition_key);
    encoder.string(key_);
    encoder.end(map, 2);
}

bool SendBatch::try_add(const EventData& event) {
    const std::size_t before = message_.size();
    // Not worth encoding: it cannot fit, and a size must not leave its 32 bits.
    if (before + eventhubs::content_bytes(event) > bytes_max_) return false;
    eventhubs::append_event(event, message_);
    if (message_.size() + (count_ + 1) * event_overhead_ > bytes_max_) {
        message_.resize(before);
        return false;
    }
    ++count_;
    return true;
}

bool SendBatch::try_add_encoded(std::span<const std::byte> section) {
    if (message_.size() + section.size() + (count_ + 1) * event_overhead_ > bytes_max_) {
        return false;
    }
    message_.insert(message_.end(), section.begin(), section.end());
    ++count_;
    return true;
}

}  // namespace evenkeel
