// tidy: no test: tests/client tests it against a door
#include "producer/sender.h"

#include <algorithm>

#include <fmt/core.h>

#include "amqp/message.h"
#include "base/random.h"
#include "eventhubs/wire_names.h"

namespace evenkeel::producer {
namespace {

// Of a hub that names no limit.
constexpr std::uint64_t message_bytes_default = std::uint64_t{1} << 20;

// Below 2^53, which clients in JavaScript can read too.
Numbering fresh_numbering() {
    return {static_cast<std::int64_t>(secure_number() >> 11), 0};
}

// The hub has it already: an answer was lost on the way.
bool is_repeat(const amqp::DeliveryState& state) {
    return state.kind == amqp::DeliveryState::Kind::rejected && state.error &&
           state.error->name == eventhubs::condition::out_of_order &&
           state.error->description.find("old sequence") != std::string::npos;
}

}  // namespace

Sender::Sender(client::Connection& connection, std::string address, std::uint32_t in_flight_max,
               const SenderOptions& options)
    : connection_(connection),
      address_(std::move(address)),
      in_flight_max_(options.numbered ? 1 : in_flight_max),
      options_(options),
      pause_(connection.loop()) {
    if (options.numbered) numbering_ = fresh_numbering();
}

Sender::~Sender() {
    connection_.drop(*this);
    fail_all({ErrorCode::cancelled, "the producer was closed"});
}

void Sender::open(Done done) {
    opened_ = std::move(done);
    connection_.want(*this);
}

void Sender::send(Bytes message, Done done, std::optional<amqp::Receipt>* receipt) {
    queue_.push_back({std::move(message), std::move(done), receipt});
    if (!link_) return connection_.want(*this);
    pump();
}

amqp::Attach Sender::attach() {
    amqp::Attach attach;
    attach.name = address_;
    attach.role = amqp::Role::sender;
    attach.sender_settle = amqp::SenderSettle::unsettled;
    attach.source = amqp::terminus(amqp::descriptor::source, connection_.options().name);
    attach.target = amqp::terminus(amqp::descriptor::target, address_);
    if (options_.receipts) attach.desired_capabilities.emplace_back(amqp::receipt_capability);
    if (options_.restores) attach.desired_capabilities.emplace_back(amqp::restore_capability);
    if (numbering_) {
        attach.desired_capabilities.emplace_back(eventhubs::capability::idempotent_producer);
        attach.properties = producer_properties(*numbering_);
    }
    return attach;
}

void Sender::on_attached(amqp::Link& link) {
    const auto offers = [&](std::string_view capability) {
        const auto& offered = link.peer().offered_capabilities;
        return std::find(offered.begin(), offered.end(), capability) != offered.end();
    };
    const auto give_up = [this](std::string_view what) {
        const Error why{ErrorCode::unsupported, std::string(what)};
        connection_.drop(*this);
        opened(why);
        fail_all(why);
    };
    if (numbering_ && !offers(eventhubs::capability::idempotent_producer)) {
        return give_up("the hub does not count events: open the producer without `idempotent`");
    }
    if (options_.restores && !offers(amqp::restore_capability)) {
        return give_up("the hub cannot restore events with their keys and times");
    }
    link_ = &link;
    message_bytes_max_ = link.peer().max_message_bytes;
    if (message_bytes_max_ == 0) message_bytes_max_ = message_bytes_default;
    opened({});
    pump();
}

void Sender::pump() {
    bool sent = false;
    while (link_ && !pause_.is_pending() && !queue_.empty() && in_flight_.size() < in_flight_max_) {
        if (queue_.front().bytes->size() > message_bytes_max_) {
            Message message = std::move(queue_.front());
            queue_.pop_front();
            message.done(Error{ErrorCode::invalid_argument,
                               fmt::format("a batch of {} bytes; the hub takes {} at most",
                                           message.bytes->size(), message_bytes_max_)});
            continue;
        }
        if (!link_->can_send()) break;
        if (const auto good = number(queue_.front()); !good.ok()) {
            Message message = std::move(queue_.front());
            queue_.pop_front();
            message.done(good.error());
            continue;
        }
        const auto id = link_->send({}, *queue_.front().bytes, amqp::batch_format, false);
        in_flight_.emplace(id, std::move(queue_.front()));
        queue_.pop_front();
        sent = true;
    }
    if (sent) connection_.flush_soon();
}

// Once, and for good: what goes again goes with the same numbers.
Result<> Sender::number(Message& message) {
    if (!numbering_ || message.events > 0) return {};
    EK_TRY_ASSIGN(auto with_numbers, stamped(*message.bytes, *numbering_));
    message.bytes = std::make_shared<const std::vector<std::byte>>(std::move(with_numbers.message));
    message.events = with_numbers.events;
    return {};
}

void Sender::on_disposition(const amqp::Disposition& disposition) {
    if (disposition.state.kind == amqp::DeliveryState::Kind::received) return;  // not final
    const std::uint32_t last = disposition.last.value_or(disposition.first);
    // Those of other links of the session are not ours, and a range may be of any size. From the
    // last to the first: what is sent again keeps its order.
    while (true) {
        auto found = in_flight_.upper_bound(last);
        if (found == in_flight_.begin()) break;
        --found;
        if (found->first < disposition.first) break;
        auto ended = in_flight_.extract(found);
        settle(std::move(ended.mapped()), disposition.state);
    }
    pump();
}

void Sender::settle(Message message, const amqp::DeliveryState& state) {
    using Kind = amqp::DeliveryState::Kind;
    if (state.kind == Kind::accepted || (numbering_ && is_repeat(state))) {
        connection_.progressed(*this);
        if (message.receipt && options_.receipts) *message.receipt = state.receipt;
        if (numbering_) numbering_->last = number_after(numbering_->last, message.events);
        return message.done({});
    }
    client::Failure failure{{ErrorCode::unavailable, "the hub gave the batch back"}, true, {}};
    if (state.kind == Kind::rejected) failure = client::failure_of(state.error);
    const RetryOptions& retry = connection_.options().retry;
    if (!failure.retry || ++message.retries > retry.retries_max) {
        // The hub counts otherwise than we do: it has forgotten this producer.
        if (numbering_ && failure.error.code == ErrorCode::conflict) numbering_ = fresh_numbering();
        return message.done(failure.error);
    }
    const Duration pause = std::max(connection_.retry_pause(message.retries), failure.delay_min);
    queue_.push_front(std::move(message));
    if (!pause_.is_pending()) pause_.run_after(pause, [this] { pump(); });
}

bool Sender::on_lost(const client::Failure& failure, std::uint32_t failures) {
    link_ = nullptr;
    // Whether these were stored is not known: they go again, in their order, before the others.
    for (auto message = in_flight_.rbegin(); message != in_flight_.rend(); ++message) {
        queue_.push_front(std::move(message->second));
    }
    in_flight_.clear();
    if (!failure.retry || failures > connection_.options().retry.retries_max) {
        opened(failure.error);
        fail_all(failure.error);
        return false;
    }
    return !queue_.empty() || opened_;
}

void Sender::fail_all(const Error& why) {
    // SEND-2: the hub may have counted one of those, so that its number would be another's.
    if (numbering_) numbering_ = fresh_numbering();
    auto queue = std::move(queue_);
    auto in_flight = std::move(in_flight_);
    queue_.clear();
    in_flight_.clear();
    for (auto& [id, message] : in_flight) message.done(why);
    for (auto& message : queue) message.done(why);
}

void Sender::opened(Result<> result) {
    if (!opened_) return;
    Done done = std::move(opened_);
    opened_ = nullptr;
    done(std::move(result));
}

}  // namespace evenkeel::producer
