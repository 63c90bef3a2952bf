#include "cli/text/parked.h"

#include <algorithm>
#include <cstdlib>

#include <boost/json.hpp>
#include <fmt/core.h>

#include "base/text.h"
#include "cli/text/json_text.h"
#include "cli/text/listing.h"
#include "cli/text/secrets.h"

namespace evenkeel::cli {

std::string group_command(std::string_view command, const ParkedPlace& place) {
    std::string text = fmt::format("evenkeel {} {}", command, place.event_hub);
    if (place.group != "$Default") text += " --group " + place.group;
    // The environment holds for the next command too.
    const char* usual = std::getenv("EVENKEEL_STORE");
    if (usual != nullptr && place.store == usual) return text;
    if (without_secrets(place.store) != place.store) return text + " --store STORE";
    // In the message the command stands in single quotes.
    const bool is_plain = place.store.find_first_of(" \t'\"?&;*$|<>()#\\`") == std::string::npos;
    return text + " --store " + (is_plain ? place.store : '"' + place.store + '"');
}

std::string parked_lines(const std::map<PartitionId, processor::Parked>& parked,
                         const ParkedPlace& place, std::int64_t now_ms) {
    std::string text;
    for (const auto& [partition, why] : parked) {
        text += fmt::format(
            "partition {}: parked{}: {}; '{}' resumes it\n", partition.value,
            why.at_ms > 0 ? " " + age_text(std::max<std::int64_t>(0, now_ms - why.at_ms)) + " ago"
                          : "",
            printable(why.reason),
            printable(fmt::format("{} -p {}", group_command("processor resume", place),
                                  partition.value)));
    }
    return text;
}

boost::json::value parked_json(const std::map<PartitionId, processor::Parked>& parked,
                               PartitionId partition) {
    const auto found = parked.find(partition);
    if (found == parked.end()) return nullptr;
    const processor::Parked& why = found->second;
    return boost::json::object{{"reason", json_text(why.reason)},
                               {"is_storm", why.is_storm},
                               {"by", json_text(why.by)},
                               {"at", time_json(why.at_ms)}};
}

}  // namespace evenkeel::cli
