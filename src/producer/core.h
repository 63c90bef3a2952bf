// The part of a producer that runs on the loop: the senders of one event hub, by address.
// Threads: pinned to the loop.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/lifetime.h"
#include "client/connection.h"
#include "producer/sender.h"

namespace evenkeel::producer {

class Core {
public:
    using Done = Sender::Done;

    // Addresses that one producer may send to.
    static constexpr std::size_t senders_max = 4096;

    // The connection outlives this.
    Core(client::Connection& connection, std::uint32_t in_flight_max,
         const SenderOptions& options = {})
        : connection_(connection), in_flight_max_(in_flight_max), options_(options) {}

    // Attaches to the event hub; afterwards message_bytes_max() is known.
    void open(Done done);
    // To the partition, or to one that the hub chooses. For numbered events the partition is chosen
    // here, by key or in turn: numbers are counted in each partition.
    void send(std::optional<std::uint32_t> partition, Sender::Bytes message, Done done,
              const std::string& key = {}, std::optional<amqp::Receipt>* receipt = nullptr);
    std::uint64_t message_bytes_max() const;

    client::Connection& connection() { return connection_; }

private:
    Sender* sender(std::optional<std::uint32_t> partition);
    std::uint32_t choose(const std::string& key);

    client::Connection& connection_;
    const std::uint32_t in_flight_max_;
    const SenderOptions options_;
    std::uint32_t partitions_ = 1;  // of the event hub, if it matters here
    std::uint32_t turn_ = 0;
    std::map<std::optional<std::uint32_t>, std::unique_ptr<Sender>> senders_;
    Lifetime lifetime_;  // the last member
};

}  // namespace evenkeel::producer
