// tidy: no test: the tests of the function host in tests/process send through it to real hubs
#include "host/outputs.h"

#include <utility>

#include <fmt/core.h>

namespace evenkeel::host {
namespace {

Error output_failed(const EventHubOutput& output, const Error& error) {
    return {ErrorCode::unavailable,
            fmt::format("cannot send the output '{}' to the event hub '{}': {}", output.name,
                        output.event_hub, error.detail)};
}

}  // namespace

Result<> Outputs::send(const Function& function, const Outcome& outcome) {
    for (const BoundOutput& written : outcome.outputs) {
        for (const EventHubOutput& output : function.outputs) {
            if (output.name == written.binding) EK_TRY(send(output, written.bodies));
        }
    }
    return {};
}

Result<> Outputs::send(const EventHubOutput& output, const std::vector<std::string>& bodies) {
    if (bodies.empty()) return {};
    auto found = producer(output);
    if (!found.ok()) return output_failed(output, found.error());
    Producer& to = **found;
    auto batch = to.make_batch();
    if (!batch.ok()) return output_failed(output, batch.error());
    for (const std::string& body : bodies) {
        if (batch->try_add(body)) continue;
        if (!batch->empty()) {
            if (const auto sent = to.send(*batch); !sent.ok()) {
                return output_failed(output, sent.error());
            }
            batch->clear();
            if (batch->try_add(body)) continue;
        }
        return Error{ErrorCode::handler_failed,
                     fmt::format("an event of {} bytes in the output '{}' is too large for the "
                                 "event hub '{}'",
                                 body.size(), output.name, output.event_hub)};
    }
    if (const auto sent = to.send(*batch); !sent.ok()) return output_failed(output, sent.error());
    return {};
}

Result<std::shared_ptr<Producer>> Outputs::producer(const EventHubOutput& output) {
    auto known = producers_.with([&](auto& all) {
        const auto found = all.find(output.connection);
        return found == all.end() ? nullptr : found->second;
    });
    if (known) return known;
    EK_TRY_ASSIGN(auto opened, Producer::open(output.connection));
    std::shared_ptr<Producer> made = std::move(opened);
    producers_.with([&](auto& all) { all[output.connection] = made; });
    return made;
}

}  // namespace evenkeel::host
