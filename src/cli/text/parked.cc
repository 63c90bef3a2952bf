#include "cli/text/parked.h"

#include <algorithm>

#include <boost/json.hpp>
#include <fmt/core.h>

#include "base/text.h"
#include "cli/text/listing.h"

namespace evenkeel::cli {

std::string group_command(std::string_view command, const ParkedPlace& place) {
    std::string text = fmt::format("evenkeel {} {}", command, place.event_hub);
    if (place.group != "$Default") text += " --group " + place.group;
    if (place.store.starts_with("sqlite:")) text += " --store " + place.store;
    return text;
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
    return boost::json::object{
        {"reason", why.reason}, {"is_storm", why.is_storm}, {"by", why.by}, {"at_ms", why.at_ms}};
}

}  // namespace evenkeel::cli
