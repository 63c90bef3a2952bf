// The public Event, Properties and EventBatch (include/evenkeel/event.h).
#include <cstring>

#include <fmt/core.h>

#include "amqp/grammar.h"
#include "amqp/message.h"
#include "amqp/performatives.h"
#include "eventhubs/encoding.h"
#include "eventhubs/sections.h"
#include "eventhubs/value.h"
#include "eventhubs/wire_names.h"
#include <evenkeel/event.h>

namespace evenkeel {
namespace {

using eventhubs::decode_value;

static_assert(static_cast<std::uint64_t>(Section::header) == amqp::descriptor::header);
static_assert(static_cast<std::uint64_t>(Section::footer) == amqp::descriptor::footer);

// Those that are members of Event.
bool is_member(std::string_view name) {
    using namespace eventhubs::annotation;
    return name == sequence_number || name == offset || name == enqueued_time ||
           name == partition_key;
}

std::optional<Timestamp> time_in(const Value& value) {
    const auto* const time = std::get_if<Timestamp>(&value);
    return time ? std::optional(*time) : std::nullopt;
}

// Memory of a batch, filled from the front.
class Room {
public:
    explicit Room(std::size_t bytes) : bytes_(std::make_shared<std::vector<std::byte>>(bytes)) {}
    Bytes keep(Bytes bytes) {
        std::byte* const to = bytes_->data() + used_;
        if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
        used_ += bytes.size();
        return {to, bytes.size()};
    }
    std::shared_ptr<const void> owner() const { return bytes_; }

private:
    std::shared_ptr<std::vector<std::byte>> bytes_;
    std::size_t used_ = 0;
};

}  // namespace

void Properties::Iterator::advance() {
    is_end_ = true;
    while (left_ >= 2) {
        left_ -= 2;
        const std::size_t name_bytes = amqp::encoded_bytes(rest_);
        if (name_bytes == 0) return;
        const Value name = decode_value(rest_.first(name_bytes));
        rest_ = rest_.subspan(name_bytes);
        const std::size_t value_bytes = amqp::encoded_bytes(rest_);
        if (value_bytes == 0) return;
        const Bytes value = rest_.first(value_bytes);
        rest_ = rest_.subspan(value_bytes);
        const bool is_text =
            std::holds_alternative<std::string_view>(name) || std::holds_alternative<Symbol>(name);
        if (!is_text || (is_system_ && is_member(name.text()))) continue;
        property_ = {name.text(), decode_value(value)};
        is_end_ = false;
        return;
    }
}

Properties::Iterator Properties::begin() const {
    Iterator iterator;
    amqp::Decoder decoder(map_);
    const auto pairs = map_.empty() ? std::nullopt : decoder.map();
    if (!pairs) return iterator;
    iterator.rest_ = pairs->rest();
    iterator.left_ = pairs->remaining();
    iterator.is_system_ = is_system_;
    iterator.advance();
    return iterator;
}

Value Properties::operator[](std::string_view name) const {
    for (const Property& property : *this) {
        if (property.name == name) return property.value;
    }
    return {};
}

Bytes Event::body() const {
    return eventhubs::first_data_section(sections);
}

Value Event::value() const {
    return decode_value(section(Section::value));
}

Properties Event::properties() const {
    return {section(Section::application_properties), false};
}

Properties Event::annotations() const {
    return {section(Section::message_annotations), true};
}

Bytes Event::section(Section kind) const {
    Bytes rest = sections;
    while (!rest.empty()) {
        const auto found = amqp::next_section(rest);
        if (!found.ok()) return {};
        if (found->kind == static_cast<std::uint64_t>(kind)) return found->value;
    }
    return {};
}

EventData Event::data() const {
    EventData data;
    data.body = text();
    const Bytes list = section(Section::properties);
    amqp::Decoder decoder(list);
    auto fields = list.empty() ? std::nullopt : decoder.list();
    if (!fields) return data;
    const auto next = [&] { return decode_value(fields->value()); };
    data.message_id = next();
    const Value user = next();
    if (const auto* const id = std::get_if<Bytes>(&user)) data.user_id = *id;
    data.to = next().text();
    data.subject = next().text();
    data.reply_to = next().text();
    data.correlation_id = next();
    data.content_type = next().text();
    data.content_encoding = next().text();
    data.absolute_expiry_time = time_in(next());
    data.creation_time = time_in(next());
    data.group_id = next().text();
    const Value sequence = next();
    if (const auto* const number = std::get_if<std::uint32_t>(&sequence)) {
        data.group_sequence = *number;
    }
    data.reply_to_group_id = next().text();
    return data;
}

Result<> Event::check() const {
    amqp::Grammar grammar;
    Bytes rest = sections;
    while (!rest.empty()) {
        EK_TRY_ASSIGN(const auto section, amqp::next_section(rest));
        if (const auto fault = grammar.fault_of(section); !fault.empty()) {
            return Error{ErrorCode::corrupt, fmt::format("event {}: {}", sequence_number, fault)};
        }
    }
    return {};
}

EventBatch EventBatch::of(const std::vector<EventData>& events, const EventBatchOptions& options) {
    amqp::Buffer encoded;
    std::vector<std::size_t> ends;
    for (const EventData& event : events) {
        eventhubs::append_message(event, encoded);
        ends.push_back(encoded.size());
    }
    Room room(encoded.size() + options.partition_key.size());
    const std::string_view key = as_text(room.keep(as_bytes(options.partition_key)));
    std::vector<Event> made;
    std::size_t begin = 0;
    for (const std::size_t end : ends) {
        Event& event = made.emplace_back();
        event.sequence_number =
            options.first_sequence_number + static_cast<std::int64_t>(made.size()) - 1;
        event.offset = static_cast<std::int64_t>(begin);
        event.enqueued_time = options.enqueued_time;
        event.partition_key = key;
        event.sections = room.keep(Bytes(encoded).subspan(begin, end - begin));
        begin = end;
    }
    return {std::move(made), {room.owner()}};
}

EventBatch EventBatch::copy_of(std::span<const Event> events) {
    std::size_t bytes = 0;
    for (const Event& event : events) bytes += event.sections.size() + event.partition_key.size();
    Room room(bytes);
    std::vector<Event> copies(events.begin(), events.end());
    for (Event& event : copies) {
        event.sections = room.keep(event.sections);
        event.partition_key = as_text(room.keep(as_bytes(event.partition_key)));
    }
    return {std::move(copies), {room.owner()}};
}

void EventBatch::append(EventBatch other) {
    if (events_.empty()) {
        *this = std::move(other);
        return;
    }
    events_.insert(events_.end(), other.events_.begin(), other.events_.end());
    for (auto& owner : other.owners_) owners_.push_back(std::move(owner));
}

}  // namespace evenkeel
