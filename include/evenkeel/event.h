// Events: as they are sent (EventData) and read (Event, EventBatch), and the positions in a
// partition where reading can start.
//
// Numbers of partitions and events are plain integers, as in all Event Hubs SDKs. Times are points
// of the system clock. Threads: none of these types has state of its own that it shares.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include <evenkeel/error.h>

namespace evenkeel {

using Bytes = std::span<const std::byte>;
using Timestamp = std::chrono::sys_time<std::chrono::milliseconds>;
using Uuid = std::array<std::byte, 16>;
struct Symbol {
    std::string_view text;
};
// What has no type here (lists, maps, arrays, decimals, characters), as AMQP encodes it.
struct Encoded {
    Bytes bytes;
};

// A value of AMQP 1.0; texts and bytes are views. std::monostate is null. The C++ type decides how
// a value is sent: std::int32_t as an AMQP int. `Encoded` that is not one AMQP value is sent as
// null.
struct Value
    : std::variant<std::monostate, bool, std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                   std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, float, double,
                   Timestamp, std::string_view, Symbol, Bytes, Uuid, Encoded> {
    using variant::variant;

    bool is_null() const { return index() == 0; }
    // Of a string or symbol; otherwise empty.
    std::string_view text() const;
    // Of any integer type, if it fits.
    std::optional<std::int64_t> integer() const;
    // Of any integer or floating-point type.
    std::optional<double> number() const;
};

struct Property {
    std::string_view name;
    Value value;
};

// An event to send. Empty fields are not sent.
struct EventData {
    std::string_view body = {};
    std::string_view content_type = {};
    Value message_id = {};  // text, std::uint64_t, Uuid or Bytes; others are not sent
    Value correlation_id = {};
    std::span<const Property> properties = {};  // the application's
    std::string_view content_encoding = {};
    std::string_view subject = {};
    std::string_view to = {};
    std::string_view reply_to = {};
    std::string_view group_id = {};
    std::optional<std::uint32_t> group_sequence = {};
    std::string_view reply_to_group_id = {};
    Bytes user_id = {};
    std::optional<Timestamp> absolute_expiry_time = {};
    std::optional<Timestamp> creation_time = {};
};

// Names and values in an event, decoded one by one; nothing is allocated. Ends where the event is
// malformed (Event::check() reports that). Lives as long as the event's bytes.
class Properties {
public:
    class Iterator {
    public:
        using value_type = Property;
        using difference_type = std::ptrdiff_t;
        const Property& operator*() const { return property_; }
        const Property* operator->() const { return &property_; }
        Iterator& operator++() {
            advance();
            return *this;
        }
        void operator++(int) { advance(); }
        bool operator==(std::default_sentinel_t) const { return is_end_; }

    private:
        friend class Properties;
        void advance();
        Bytes rest_;
        std::uint32_t left_ = 0;
        bool is_end_ = true;
        bool is_system_ = false;
        Property property_;
    };

    Iterator begin() const;
    std::default_sentinel_t end() const { return {}; }
    bool empty() const { return begin() == end(); }
    // Null if there is no property of that name.
    Value operator[](std::string_view name) const;

private:
    friend class Event;
    Properties(Bytes map, bool is_system) : map_(map), is_system_(is_system) {}
    Bytes map_;
    bool is_system_;
};

enum class Section : std::uint8_t {
    header = 0x70,
    delivery_annotations = 0x71,
    message_annotations = 0x72,
    properties = 0x73,
    application_properties = 0x74,
    data = 0x75,
    sequence = 0x76,
    value = 0x77,
    footer = 0x78,
};

// A view of one stored event. The bytes belong to the batch it was read in and live as long as
// that; EventBatch::copy_of() keeps it longer. Methods decode on demand and allocate nothing.
class Event {
public:
    std::int64_t sequence_number = -1;  // dense from 0 in its partition
    std::int64_t offset = -1;           // byte position in the partition's stream
    Timestamp enqueued_time = {};       // when the hub took it; never falls
    std::string_view partition_key;     // empty if none was given
    Bytes sections;                     // the encoded AMQP sections, as they came

    // The first data section; empty if the event has none.
    Bytes body() const;
    std::string_view text() const {
        return {reinterpret_cast<const char*>(body().data()), body().size()};
    }
    // The body of an event that was sent as an AMQP value instead of bytes; null if it was not.
    Value value() const;
    // What the sender set (EventData); fields that are missing or malformed are empty.
    Properties properties() const;
    Value message_id() const { return data().message_id; }
    Value correlation_id() const { return data().correlation_id; }
    std::string_view content_type() const { return data().content_type; }
    EventData data() const;  // all but `properties`
    // System properties: the message annotations, without those that are members above.
    Properties annotations() const;
    // The encoded value of the first section of this kind; empty if there is none.
    Bytes section(Section kind) const;
    // `corrupt` if the sections, their lists and their maps are not well-formed AMQP.
    Result<> check() const;
};

struct EventBatchOptions {
    std::int64_t first_sequence_number = 0;
    Timestamp enqueued_time = {};
    std::string_view partition_key = {};
};

// Events that were read together, and the memory that holds them.
class EventBatch {
public:
    EventBatch() = default;
    EventBatch(std::vector<Event> events, std::vector<std::shared_ptr<const void>> owners)
        : events_(std::move(events)), owners_(std::move(owners)) {}
    // Events as a hub would deliver them, for tests of handlers.
    static EventBatch of(const std::vector<EventData>& events,
                         const EventBatchOptions& options = {});
    // For handlers that keep events after they have returned.
    static EventBatch copy_of(std::span<const Event> events);

    bool empty() const { return events_.empty(); }
    std::size_t size() const { return events_.size(); }
    auto begin() const { return events_.begin(); }
    auto end() const { return events_.end(); }
    const Event& operator[](std::size_t index) const { return events_[index]; }
    const Event& back() const { return events_.back(); }
    std::span<const Event> events() const { return events_; }

    // What was read after this one, behind it.
    void append(EventBatch other);
    // Not of an empty one.
    void drop_first() { events_.erase(events_.begin()); }

private:
    std::vector<Event> events_;
    std::vector<std::shared_ptr<const void>> owners_;
};

// Where reading starts. Event Hubs' rules: an event hub that has removed the asked-for event starts
// at the first one it still has; a position beyond the last event is an error.
struct Position {
    enum class Kind : std::uint8_t { earliest, latest, offset, sequence_number, enqueued_time };

    Kind kind = Kind::earliest;
    std::int64_t value = 0;  // of a time: milliseconds since 1970
    bool inclusive = false;

    static Position earliest() { return {Kind::earliest, 0, false}; }
    // Only what comes after this moment.
    static Position latest() { return {Kind::latest, 0, false}; }
    static Position after_offset(std::int64_t offset) { return {Kind::offset, offset, false}; }
    static Position at_offset(std::int64_t offset) { return {Kind::offset, offset, true}; }
    static Position after_sequence(std::int64_t number) {
        return {Kind::sequence_number, number, false};
    }
    static Position at_sequence(std::int64_t number) {
        return {Kind::sequence_number, number, true};
    }
    // The first event enqueued later than this, or at that very millisecond if inclusive.
    static Position after_time(Timestamp time) {
        return {Kind::enqueued_time, time.time_since_epoch().count(), false};
    }
    static Position at_time(Timestamp time) {
        return {Kind::enqueued_time, time.time_since_epoch().count(), true};
    }
};

}  // namespace evenkeel
