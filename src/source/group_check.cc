#include "source/group_check.h"

#include <string>

#include <fmt/core.h>

#include "base/text.h"

namespace evenkeel::source {
namespace {

Error no_such_group(std::string_view event_hub, std::string_view group) {
    return {ErrorCode::not_found,
            fmt::format("event hub '{}' has no consumer group '{}'; 'evenkeel group create {} {}' "
                        "creates it",
                        printable(event_hub), printable(group), printable(event_hub),
                        printable(group))};
}

}  // namespace

void check_group(Source& source, std::string_view group, Callback<void(Result<>)> answer) {
    // A reader at the end, without an epoch: it gets no events and displaces nobody.
    source.open(PartitionId{0}, Position::latest(), {.name = "check of the consumer group"},
                [event_hub = source.name().event_hub, group = std::string(group),
                 answer = std::move(answer)](Result<std::unique_ptr<Reader>> reader) mutable {
                    if (reader.ok()) {
                        reader->reset();
                        return answer({});
                    }
                    switch (reader.error().code) {
                        case ErrorCode::not_found: return answer(no_such_group(event_hub, group));
                        case ErrorCode::not_allowed: return answer(reader.error());
                        case ErrorCode::invalid_argument:
                        case ErrorCode::already_exists:
                        case ErrorCode::unsupported:
                        case ErrorCode::conflict:
                        case ErrorCode::fenced:
                        case ErrorCode::overloaded:
                        case ErrorCode::unavailable:
                        case ErrorCode::timed_out:
                        case ErrorCode::cancelled:
                        case ErrorCode::handler_failed:
                        case ErrorCode::corrupt: return answer({});
                    }
                });
}

}  // namespace evenkeel::source
