// An event as text: by a format, or with a header line above it for terminals. event_json.h has it
// as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/text/terminal.h"
#include <evenkeel/event.h>

namespace evenkeel::cli {

// What the sections of an event say besides its body.
struct EventDetails {
    std::string content_type;
    // Names, and their values as JSON.
    std::vector<std::pair<std::string, std::string>> properties;
};
EventDetails details_of(const Event& event);

struct EventPlace {
    std::string_view event_hub;
    std::uint32_t partition = 0;
};

// `invalid_argument` names the escape that is none.
Result<> check_format(std::string_view format);
// By a format that is good:
//   %t event hub   %p partition   %s sequence number   %o offset   %k key   %d time
//   %d{strftime[%H:%M]}   %v body   %v{hex}   %v{base64}   %V its length   %h properties
//   %c content type   %%   \n \t \r \\ .
// What the event contains is made visible() for a terminal; what the format contains is not.
std::string formatted(std::string_view format, const EventPlace& place, const Event& event,
                      const Terminal& terminal = {});
// "orders/3 seq 160588  2026-03-09 10:22:31.118  key=c-881  application/json  212 B"
std::string headline(const Terminal& terminal, const EventPlace& place, const Event& event);

}  // namespace evenkeel::cli
