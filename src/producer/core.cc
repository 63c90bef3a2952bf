// tidy: no test: tests/client tests it against a door
#include "producer/core.h"

#include <fmt/core.h>

namespace evenkeel::producer {

void Core::open(Done done) {
    sender(std::nullopt)->open(std::move(done));
}

void Core::send(std::optional<std::uint32_t> partition, Sender::Bytes message, Done done) {
    Sender* const to = sender(partition);
    if (!to) {
        return done(Error{ErrorCode::overloaded,
                          fmt::format("a producer sends to at most {} partitions", senders_max)});
    }
    to->send(std::move(message), std::move(done));
}

std::uint64_t Core::message_bytes_max() const {
    const auto found = senders_.find(std::nullopt);
    return found == senders_.end() ? 0 : found->second->message_bytes_max();
}

Sender* Core::sender(std::optional<std::uint32_t> partition) {
    const auto found = senders_.find(partition);
    if (found != senders_.end()) return found->second.get();
    if (senders_.size() >= senders_max) return nullptr;
    const std::string& event_hub = connection_.options().target.event_hub;
    auto made = std::make_unique<Sender>(
        connection_, partition ? fmt::format("{}/Partitions/{}", event_hub, *partition) : event_hub,
        in_flight_max_);
    return senders_.emplace(partition, std::move(made)).first->second.get();
}

}  // namespace evenkeel::producer
