// What idempotent producers attach with and send, for tests.
#pragma once

#include <optional>

#include "door/door_fixture.h"

namespace evenkeel::door {

inline LinkWish idempotent(std::optional<std::int64_t> id, std::optional<std::int64_t> epoch = 0,
                           std::optional<std::int64_t> sequence = 0) {
    LinkWish wish;
    wish.desired = {"com.microsoft:idempotent-producer"};
    if (!id) return wish;
    std::vector<std::pair<std::string, Buffer>> pairs{{"com.microsoft:producer-id", a_long(*id)}};
    if (epoch) pairs.emplace_back("com.microsoft:producer-epoch", a_long(*epoch));
    if (sequence) pairs.emplace_back("com.microsoft:producer-sequence-number", a_long(*sequence));
    wish.properties = a_map(pairs);
    return wish;
}

inline Buffer a_stamp(std::int64_t id, std::int64_t epoch, std::int64_t sequence) {
    Buffer section;
    append_section(section, amqp::descriptor::message_annotations,
                   a_map({{"com.microsoft:producer-id", a_long(id)},
                          {"com.microsoft:producer-epoch", a_long(epoch)},
                          {"com.microsoft:producer-sequence-number", a_long(sequence)}}));
    return section;
}
inline Buffer stamped(std::int64_t id, std::int64_t epoch, std::int64_t sequence,
                      std::string_view text = "x") {
    Buffer event = a_stamp(id, epoch, sequence);
    const Buffer data = a_data(text);
    event.insert(event.end(), data.begin(), data.end());
    return event;
}

}  // namespace evenkeel::door
