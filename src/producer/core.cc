// tidy: no test: tests/client tests it against a door
#include "producer/core.h"

#include <algorithm>

#include <fmt/core.h>

#include "client/requests.h"
#include "eventhubs/partition_key.h"

namespace evenkeel::producer {

void Core::open(Done done) {
    if (!options_.numbered) return sender(std::nullopt)->open(std::move(done));
    connection_.read_event_hub(lifetime_.guard(
        [this, done = std::move(done)](const Result<client::NodeReply>& reply) mutable {
            if (!reply.ok()) return done(reply.error());
            const auto properties = client::decode_event_hub(reply->body);
            if (!properties.ok()) return done(properties.error());
            partitions_ = std::max<std::uint32_t>(1, properties->partitions);
            sender(0)->open(std::move(done));
        }));
}

std::uint32_t Core::choose(const std::string& key) {
    if (!key.empty()) return eventhubs::partition_of_key(key, partitions_).value;
    return turn_++ % partitions_;
}

void Core::send(std::optional<std::uint32_t> partition, Sender::Bytes message, Done done,
                const std::string& key, std::optional<amqp::Receipt>* receipt) {
    if (options_.numbered && !partition) partition = choose(key);
    Sender* const to = sender(partition);
    if (!to) {
        return done(Error{ErrorCode::overloaded,
                          fmt::format("a producer sends to at most {} partitions", senders_max)});
    }
    to->send(std::move(message), std::move(done), receipt);
}

std::uint64_t Core::message_bytes_max() const {
    const auto found = options_.numbered ? senders_.find(0) : senders_.find(std::nullopt);
    return found == senders_.end() ? 0 : found->second->message_bytes_max();
}

Sender* Core::sender(std::optional<std::uint32_t> partition) {
    const auto found = senders_.find(partition);
    if (found != senders_.end()) return found->second.get();
    if (senders_.size() >= senders_max) return nullptr;
    const std::string& event_hub = connection_.options().target.event_hub;
    SenderOptions options = options_;
    options.restores = options.restores && partition;  // the address of the hub is only looked at
    auto made = std::make_unique<Sender>(
        connection_, partition ? fmt::format("{}/Partitions/{}", event_hub, *partition) : event_hub,
        in_flight_max_, options);
    return senders_.emplace(partition, std::move(made)).first->second.get();
}

}  // namespace evenkeel::producer
