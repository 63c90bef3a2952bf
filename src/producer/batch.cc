#include "amqp/codec.h"
#include "amqp/message.h"
#include "amqp/performatives.h"
#include "eventhubs/encoding.h"
#include "eventhubs/wire_names.h"
#include "producer/batch_access.h"

// A batch on the wire: message annotations with the key, if there is one, then the events.
namespace evenkeel {

SendBatch::SendBatch(const Route& route, std::size_t bytes_max, std::size_t reserved_bytes)
    : partition_(route.partition),
      key_(route.partition_key),
      bytes_max_(bytes_max),
      reserved_bytes_(reserved_bytes) {
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
    if (message_.size() + (count_ + 1) * reserved_bytes_ > bytes_max_) {
        message_.resize(before);
        return false;
    }
    ++count_;
    return true;
}

EventBatch SendBatch::events() const {
    std::vector<Event> views;
    ByteView rest = message_;
    while (!rest.empty()) {
        const auto section = amqp::next_section(rest);
        if (!section.ok()) break;
        if (section->kind != amqp::descriptor::data) continue;
        Event& event = views.emplace_back();
        event.partition_key = key_;
        event.sections = amqp::Decoder(section->value).binary().value_or(ByteView());
    }
    return EventBatch::copy_of(views);
}

bool producer::BatchAccess::try_add(SendBatch& batch, ByteView section) {
    auto& message = batch.message_;
    const std::size_t reserved = (batch.count_ + 1) * batch.reserved_bytes_;
    if (message.size() + section.size() + reserved > batch.bytes_max_) return false;
    message.insert(message.end(), section.begin(), section.end());
    ++batch.count_;
    return true;
}

std::vector<std::byte> producer::BatchAccess::in_batch(ByteView sections) {
    amqp::Buffer section;
    amqp::Encoder encoder(section);
    encoder.descriptor(static_cast<std::uint8_t>(amqp::descriptor::data));
    encoder.binary(sections);
    return section;
}

}  // namespace evenkeel
