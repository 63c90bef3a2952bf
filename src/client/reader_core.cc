// tidy: no test: tests/client tests it against a door
#include "client/reader_core.h"

#include <algorithm>
#include <cstring>

#include <fmt/core.h>

#include "amqp/message.h"
#include "base/time_point.h"
#include "eventhubs/wire_names.h"

namespace evenkeel::client {
namespace {

constexpr std::size_t chunk_bytes = std::size_t{64} << 10;

}  // namespace

ReaderCore::ReaderCore(Connection& connection, std::string_view group, std::uint32_t partition,
                       const Position& position, RemoteReaderOptions options)
    : connection_(connection),
      loop_(connection.loop()),
      address_(fmt::format("{}/ConsumerGroups/{}/Partitions/{}",
                           connection.options().target.event_hub, group, partition)),
      partition_(partition),
      options_(std::move(options)),
      position_(position) {}

ReaderCore::~ReaderCore() {
    connection_.drop(*this);
}

void ReaderCore::open(Callback<void(Result<>)> done) {
    opened_ = std::move(done);
    if (position_.kind != Position::Kind::latest) return connection_.want(*this);
    // "The end" must stay the same place when the link is lost before the first event.
    connection_.read_partition(partition_, lifetime_.guard([this](Result<NodeReply> reply) {
        if (!reply.ok()) return end(reply.error());
        const auto info = decode_partition(reply->body);
        if (!info.ok()) return end(info.error());
        position_ = Position::after_sequence(info->last_enqueued_sequence_number);
        connection_.want(*this);
    }));
}

amqp::Attach ReaderCore::attach() {
    amqp::Attach attach;
    attach.name = address_;
    attach.role = amqp::Role::receiver;
    attach.sender_settle = amqp::SenderSettle::settled;
    attach.source = eventhubs::source_of(address_, position_);
    attach.target = amqp::terminus(amqp::descriptor::target, options_.name);
    attach.properties = eventhubs::reader_properties(options_);
    attach.desired_capabilities = {std::string(amqp::damage_capability)};
    if (options_.track_last_enqueued) {
        attach.desired_capabilities.emplace_back(eventhubs::capability::runtime_metric);
    }
    return attach;
}

void ReaderCore::on_attached(amqp::Link& link) {
    link_ = &link;
    is_first_ = true;
    give_credit();
    opened({});
}

void ReaderCore::on_delivery(const amqp::Delivery& delivery) {
    if (!delivery.settled && link_) {
        link_->settle(delivery.id, {amqp::DeliveryState::Kind::accepted, std::nullopt});
    }
    if (delivery.too_large) {
        return end(
            {ErrorCode::unsupported,
             fmt::format("an event of {} bytes is too large to be received", delivery.size)});
    }
    const ByteView kept = keep(delivery.bytes);
    Event& event = waiting_.emplace_back();
    if (!eventhubs::decode_usual_arrival(kept, event)) {
        const auto arrival = eventhubs::decode_arrival(kept);
        if (!arrival.ok()) return end(arrival.error());
        event = arrival->event;
        if (arrival->last_enqueued) last_enqueued_ = arrival->last_enqueued;
    }
    if (is_first_ && !is_known(event)) {  // CLIENT-4
        return end({ErrorCode::conflict,
                    fmt::format("event {} of partition {} is not the one that was read before: "
                                "the event hub was restored to an older state, or is another one",
                                last_sequence_, partition_)});
    }
    is_first_ = false;
    if (event.sequence_number <= last_sequence_) return waiting_.pop_back();  // CLIENT-1
    last_sequence_ = event.sequence_number;
    last_offset_ = event.offset;
    last_time_ms_ = wall_time(event.enqueued_time).milliseconds;
    position_ = Position::at_sequence(last_sequence_);
    if (chunks_.empty() || chunks_.back().chunk != chunk_) chunks_.push_back({chunk_, 0});
    ++chunks_.back().events;
    waiting_bytes_ += kept.size();
    // Follows larger ones at once, smaller ones slowly.
    event_bytes_ = std::max(kept.size(), (event_bytes_ * 63 + kept.size()) / 64);
    if (!is_progress_told_) connection_.progressed(*this);
    is_progress_told_ = true;
    if (answer_) return answer_soon();
    give_credit();
}

bool ReaderCore::is_known(const Event& event) const {
    if (event.sequence_number != last_sequence_ || last_time_ms_ == 0) return true;
    return event.offset == last_offset_ &&
           wall_time(event.enqueued_time).milliseconds == last_time_ms_;
}

// With all that came in one piece from the socket, not with the first of it.
void ReaderCore::answer_soon() {
    if (is_answering_) return;
    is_answering_ = true;
    loop_.post(lifetime_.guard([this] {
        is_answering_ = false;
        if (!answer_ || waiting() == 0) return;
        reply(take(events_max_));
        give_credit();
    }));
}

ByteView ReaderCore::keep(ByteView message) {
    if (!chunk_ || chunk_->size - chunk_->used < message.size()) {
        chunk_ = std::make_shared<Chunk>();
        chunk_->size = std::max(chunk_bytes, message.size());
        chunk_->bytes = std::make_unique_for_overwrite<std::byte[]>(chunk_->size);
    }
    std::byte* const to = chunk_->bytes.get() + chunk_->used;
    if (!message.empty()) std::memcpy(to, message.data(), message.size());
    chunk_->used += message.size();
    return {to, message.size()};
}

// As many as fit, in steps of at least half of what may wait, so that flows are few.
void ReaderCore::give_credit() {
    if (!link_) return;
    const std::uint32_t granted = link_->granted();
    const bool has_room = waiting_bytes_ < options_.prefetch_bytes;
    if (has_room && granted > options_.prefetch_events / 2) return;  // whatever fits
    std::size_t fits = 0;
    if (has_room && waiting() < options_.prefetch_events) {
        const std::size_t by_bytes = (options_.prefetch_bytes - waiting_bytes_) / event_bytes_;
        fits = std::min<std::size_t>(options_.prefetch_events - waiting(),
                                     std::max<std::size_t>(1, by_bytes));
    }
    const auto wanted = static_cast<std::uint32_t>(fits);
    const bool too_many = !has_room && granted > 0;
    const bool worth_it = wanted > granted && (granted == 0 || wanted - granted >= wanted / 2);
    if (!too_many && !worth_it) return;
    link_->grant(wanted);
    connection_.flush_soon();
}

bool ReaderCore::on_lost(const Failure& failure, std::uint32_t failures) {
    link_ = nullptr;
    is_progress_told_ = false;
    if (failure.damaged_to && *failure.damaged_to > last_sequence_) {
        pass_damage(failure);
        return false;
    }
    if (failure.damaged_to == last_sequence_ && last_sequence_ >= 0) {
        // We have it: it is only not known again.
        position_ = Position::after_sequence(last_sequence_);
        return true;
    }
    if (!failure.retry) {
        end(failure.error);
        return false;
    }
    if (failures <= connection_.options().retry.retries_max) return true;
    if (opened_) {
        end(failure.error);
        return false;
    }
    park(failure.error);
    return false;
}

// Until the next read, which hears of it, behind what came before.
void ReaderCore::park(const Error& why) {
    is_parked_ = true;
    if (answer_ && waiting() == 0) {
        reply(why);
    } else {
        paused_ = why;
    }
}

// Told once; the reads after that go on behind it.
void ReaderCore::pass_damage(const Failure& failure) {
    last_sequence_ = *failure.damaged_to;
    last_time_ms_ = 0;
    position_ = Position::after_sequence(last_sequence_);
    park({failure.error.code, failure.error.detail + "; the next read goes on behind them"});
}

void ReaderCore::read(std::size_t events_max, Duration wait, Answer answer) {
    loop_.check_here();
    EK_CHECK(!answer_, "one read at a time");
    answer_ = std::move(answer);
    events_max_ = events_max;
    if (ended_) return reply(*ended_);
    if (waiting() > 0) {
        reply(take(events_max));
        return give_credit();
    }
    if (is_parked_) {
        is_parked_ = false;
        connection_.want(*this);
        if (!answer_) return;
    }
    if (paused_) {
        const Error why = *paused_;
        paused_.reset();
        return reply(why);
    }
    if (wait <= Duration(0)) return reply(EventBatch());
    timer_.run_after(wait, [this] { reply(EventBatch()); });
}

void ReaderCore::cancel_read() {
    loop_.check_here();
    if (answer_) reply(Error{ErrorCode::cancelled, "a stop was requested"});
}

EventBatch ReaderCore::take(std::size_t events_max) {
    std::vector<Event> events;
    const std::size_t count = std::min(events_max, waiting());
    if (count == waiting_.size()) {
        events.reserve(count);  // for those that come next
        events.swap(waiting_);
        waiting_bytes_ = 0;
    } else {
        const auto first = waiting_.begin() + static_cast<std::ptrdiff_t>(taken_);
        events.assign(first, first + static_cast<std::ptrdiff_t>(count));
        for (const Event& event : events) waiting_bytes_ -= event.sections.size();
        taken_ += count;
        if (taken_ * 2 >= waiting_.size()) {
            waiting_.erase(waiting_.begin(),
                           waiting_.begin() + static_cast<std::ptrdiff_t>(taken_));
            taken_ = 0;
        }
    }
    std::vector<std::shared_ptr<const void>> owners;
    for (std::size_t left = count; left > 0;) {
        Held& held = chunks_.front();
        const std::size_t here = std::min(left, held.events);
        owners.push_back(held.chunk);
        held.events -= here;
        left -= here;
        if (held.events == 0) chunks_.pop_front();
    }
    return {std::move(events), std::move(owners)};
}

void ReaderCore::reply(Result<EventBatch> batch) {
    timer_.cancel();
    Answer answer = std::move(answer_);
    answer_ = nullptr;
    answer(std::move(batch));
}

void ReaderCore::opened(Result<> result) {
    if (!opened_) return;
    auto done = std::move(opened_);
    opened_ = nullptr;
    done(std::move(result));
}

// CLIENT-2: what waits is not handed out any more.
void ReaderCore::end(const Error& why) {
    if (!ended_) ended_ = why;
    link_ = nullptr;
    waiting_.clear();
    taken_ = 0;
    chunks_.clear();
    waiting_bytes_ = 0;
    connection_.drop(*this);
    if (answer_) reply(*ended_);
    opened(*ended_);
}

void ReaderCore::close() {
    loop_.check_here();
    end({ErrorCode::cancelled, "the reader was closed"});
}

}  // namespace evenkeel::client
