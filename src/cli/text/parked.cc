#include "cli/text/parked.h"

#include <algorithm>

#include <boost/json.hpp>
#include <fmt/core.h>

#include "base/text.h"
#include "cli/text/listing.h"

namespace evenkeel::cli {
namespace {

// The store is named if that shows no password.
std::string resume_command(const ParkedPlace& place, PartitionId partition) {
    std::string command = fmt::format("evenkeel processor resume {}", place.event_hub);
    if (place.group != "$Default") command += " --group " + place.group;
    if (place.store.starts_with("sqlite:")) command += " --store " + place.store;
    return command + fmt::format(" -p {}", partition.value);
}

}  // namespace

std::string parked_lines(const std::map<PartitionId, processor::Parked>& parked,
                         const ParkedPlace& place, std::int64_t now_ms) {
    std::string text;
    for (const auto& [partition, why] : parked) {
        text += fmt::format(
            "partition {}: parked{}: {}; '{}' resumes it\n", partition.value,
            why.at_ms > 0 ? " " + age_text(std::max<std::int64_t>(0, now_ms - why.at_ms)) + " ago"
                          : "",
            printable(why.reason), printable(resume_command(place, partition)));
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
