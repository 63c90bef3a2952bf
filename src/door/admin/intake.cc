// tidy: no test: tested by event_resource_test.cc and group_actions_test.cc
#include "door/admin/intake.h"

#include <utility>

#include <fmt/core.h>

#include "eventhubs/names.h"

namespace evenkeel::door {

std::optional<http::Response> Intake::refuse(const Claim& claim, const io::Endpoint& from,
                                             std::string_view hub, Size size) {
    if (!quotas_) return std::nullopt;
    const auto quotas = quotas_->of(claim.rule, eventhubs::folded(hub));
    const auto excess = take(quotas, size.events, size.bytes, now());
    if (!excess) return std::nullopt;
    const std::string why =
        fmt::format("the {} is being throttled ({}); try again in a few seconds",
                    excess->quota->name(), excess->limit);
    if (activity_) {
        activity_->refused(reason_of(*excess->quota), {from, "http"}, hub, why);
    }
    auto response = http::error_response(429, to_string(ErrorCode::overloaded), why);
    response.fields.push_back({"Retry-After", "4"});
    return response;
}

void Intake::note_stored(std::string_view hub, Size size, Instant began) {
    if (!activity_) return;
    const auto traffic = activity_->hub(eventhubs::folded(hub));
    traffic->events_in += size.events;
    traffic->bytes_in += size.bytes;
    activity_->stored(now() - began);
}

}  // namespace evenkeel::door
