// tidy: no test: the tests of the function host in tests/process send through it to real hubs
#include "host/outputs.h"

#include <algorithm>
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

Result<> Outputs::send(const Function& function, Outcome& outcome) {
    for (auto& written = outcome.outputs; !written.empty(); written.erase(written.begin())) {
        const auto output =
            std::ranges::find(function.outputs, written.front().binding, &EventHubOutput::name);
        if (output == function.outputs.end()) continue;
        EK_TRY(send(*output, written.front().bodies));
    }
    return {};
}

Result<> Outputs::send(const EventHubOutput& output, std::vector<std::string>& bodies) {
    if (bodies.empty()) return {};
    auto found = producer(output);
    if (!found.ok()) return output_failed(output, found.error());
    Producer& to = **found;
    auto batch = to.make_batch();
    if (!batch.ok()) return output_failed(output, batch.error());
    while (!bodies.empty()) {
        std::ptrdiff_t added = 0;
        for (const std::string& body : bodies) {
            if (!batch->try_add(body)) break;
            ++added;
        }
        if (added == 0) {
            return Error{ErrorCode::handler_failed,
                         fmt::format("an event of {} bytes in the output '{}' is too large for the "
                                     "event hub '{}'",
                                     bodies.front().size(), output.name, output.event_hub)};
        }
        if (const auto sent = to.send(*batch); !sent.ok()) {
            return output_failed(output, sent.error());
        }
        batch->clear();
        bodies.erase(bodies.begin(), bodies.begin() + added);
    }
    return {};
}

Result<std::shared_ptr<Producer>> Outputs::producer(const EventHubOutput& output) {
    auto known = producers_.with([&](auto& all) {
        const auto found = all.find(output.connection);
        return found == all.end() ? nullptr : found->second;
    });
    if (known) return known;
    EK_TRY_ASSIGN(auto opened, Producer::open(output.connection));
    // Another thread may have opened one meanwhile. The surplus one ends here, not under the lock:
    // its end may wait for the hub.
    const std::shared_ptr<Producer> made = std::move(opened);
    return producers_.with(
        [&](auto& all) { return all.try_emplace(output.connection, made).first->second; });
}

}  // namespace evenkeel::host
