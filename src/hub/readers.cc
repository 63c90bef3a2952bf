#include "hub/readers.h"

#include <fmt/core.h>

#include "base/text.h"

namespace evenkeel::hub {
namespace {

std::string name_of(const ReaderRequest& request) {
    return request.name.empty() ? "nil" : shown(request.name);
}

}  // namespace

Result<std::vector<ReaderSet::Displaced>> ReaderSet::admit(ReaderId reader,
                                                           const ReaderRequest& request) {
    if (request.epoch && request.epoch->value < 0) {
        return Error{ErrorCode::invalid_argument,
                     fmt::format("epoch {} of receiver '{}' is negative; use 0 or more",
                                 request.epoch->value, name_of(request))};
    }
    const Entry* owner = nullptr;
    for (const auto& entry : readers_) {
        if (entry.request.epoch) owner = &entry;
    }
    if (owner && !request.epoch) {
        return Error{
            ErrorCode::fenced,
            fmt::format("At least one receiver for the endpoint is created with epoch of '{}', and "
                        "so non-epoch receiver is not allowed. Either reconnect with a higher "
                        "epoch, or make sure all epoch receivers are closed or disconnected.",
                        owner->request.epoch->value)};
    }
    if (owner && *request.epoch < *owner->request.epoch) {
        return Error{
            ErrorCode::fenced,
            fmt::format("Receiver '{}' with a higher epoch '{}' already exists. Receiver '{}' with "
                        "epoch {} cannot be created. Make sure you are creating receiver with "
                        "increasing epoch value to ensure connectivity, or ensure all old epoch "
                        "receivers are closed or disconnected",
                        name_of(owner->request), owner->request.epoch->value, name_of(request),
                        request.epoch->value)};
    }
    if (!request.epoch && readers_.size() >= readers_max) {
        std::string names;
        for (const auto& entry : readers_) {
            names += (names.empty() ? "" : ", ") + name_of(entry.request);
        }
        return Error{
            ErrorCode::overloaded,
            fmt::format("Exceeded the maximum number of allowed receivers per partition in "
                        "a consumer group which is {}. List of connected receivers - {}",
                        readers_max, names)};
    }
    std::vector<Displaced> displaced;
    if (request.epoch) {
        for (const auto& entry : readers_) {
            const std::string epoch =
                entry.request.epoch ? std::to_string(entry.request.epoch->value) : "";
            displaced.push_back(
                {entry.id,
                 {ErrorCode::fenced,
                  fmt::format(
                      "New receiver '{}' with higher epoch of '{}' is created hence current "
                      "receiver '{}' with epoch '{}' is getting disconnected. If you are "
                      "recreating the receiver, make sure a higher epoch is used.",
                      name_of(request), request.epoch->value, name_of(entry.request), epoch)}});
        }
        readers_.clear();
    }
    readers_.push_back({reader, request});
    return displaced;
}

void ReaderSet::remove(ReaderId reader) {
    std::erase_if(readers_, [&](const Entry& entry) { return entry.id == reader; });
}

}  // namespace evenkeel::hub
