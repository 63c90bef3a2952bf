// Sends batches to one address: an event hub, or one of its partitions. Batches are sent in order,
// wait for their acknowledgement, and are sent again after a loss or while the hub is busy.
//
//     send ──▶ [queue] ──credit──▶ [in flight] ──accepted──▶ done
//                 ▲──── link lost, hub busy ────┘
//
// Invariants
//   SEND-1  With in_flight_max 1, batches are stored in the order of send(), repeats aside.
//   SEND-2  Numbered batches are stored once, as long as the hub remembers the producer: a batch
//           keeps its numbers when it is sent again. After one without an answer, a new producer id
//           is used.
// Threads: pinned to the loop.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/task.h"
#include "client/connection.h"
#include "io/timer.h"
#include "producer/numbering.h"

namespace evenkeel::producer {

struct SenderOptions {
    bool numbered = false;
    bool receipts = false;  // the hub says where it stored a batch
    bool restores = false;  // events keep their key and enqueued time
};

class Sender final : public client::WantedLink {
public:
    using Done = Callback<void(Result<>)>;
    using Bytes = std::shared_ptr<const std::vector<std::byte>>;

    // The connection outlives this.
    Sender(client::Connection& connection, std::string address, std::uint32_t in_flight_max,
           const SenderOptions& options = {});
    // Batches that are not acknowledged end with `cancelled`.
    ~Sender() override;

    // `done` is called when the hub has accepted or finally refused the link.
    void open(Done done);
    // `receipt` is set before `done` is called, if the hub says where it stored the batch.
    void send(Bytes message, Done done, std::optional<amqp::Receipt>* receipt = nullptr);
    // The largest message that the hub accepts; 0 before the link was attached.
    std::uint64_t message_bytes_max() const { return message_bytes_max_; }

    amqp::Attach attach() override;
    void on_attached(amqp::Link& link) override;
    void on_credit() override { pump(); }
    void on_disposition(const amqp::Disposition& disposition) override;
    bool on_lost(const client::Failure& failure, std::uint32_t failures) override;

private:
    struct Message {
        Bytes bytes;
        Done done;
        std::optional<amqp::Receipt>* receipt = nullptr;
        std::uint32_t retries = 0;
        std::size_t events = 0;  // of a numbered one, once it was under way
    };

    void pump();
    Result<> number(Message& message);
    void settle(Message message, const amqp::DeliveryState& state);
    void fail_all(const Error& why);
    void opened(Result<> result);

    client::Connection& connection_;
    const std::string address_;
    const std::uint32_t in_flight_max_;
    const SenderOptions options_;
    std::uint64_t message_bytes_max_ = 0;
    amqp::Link* link_ = nullptr;
    std::deque<Message> queue_;
    std::map<std::uint32_t, Message> in_flight_;  // by delivery id
    io::Timer pause_;                             // the hub is busy
    Done opened_;
    std::optional<Numbering> numbering_;  // none: not numbered
};

}  // namespace evenkeel::producer
