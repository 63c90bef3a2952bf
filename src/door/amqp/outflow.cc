#include "door/amqp/outflow.h"

#include <utility>

#include <fmt/core.h>

#include "base/log.h"
#include "door/amqp/conditions.h"
#include "eventhubs/names.h"

namespace evenkeel::door {
namespace {

// What a link reads from disk at a time: little at first, more for a client that keeps up.
constexpr hub::PartitionStream::Options stream_options{
    .read_bytes_min = std::size_t{16} << 10,
    .read_bytes_max = std::size_t{256} << 10,
    .from_page_cache = true,
};

// Without the name of the file, which is the server's. client/failure.cc parses it.
std::string range_text(const commitlog::Damage& damage) {
    return fmt::format("events {} to {} are damaged (stream positions {} to {})", damage.from.value,
                       damage.to.value - 1, damage.begin.value, damage.end.value);
}

}  // namespace

Outflow::Outflow(LinkHost& host, amqp::Link& link, Wishes wishes)
    : host_(host),
      wire_(host.wire()),
      link_(link),
      wishes_(wishes),
      reads_(host.context().loop, host.context().reads),
      stream_(*this, reads_, stream_options) {}

Outflow::~Outflow() = default;

Result<> Outflow::attach(hub::EventHub& event_hub, const eventhubs::Address& address,
                         PartitionId partition, const Position& position,
                         const hub::ReaderRequest& request) {
    entity_ = address.hub;
    traffic_ = host_.context().activity.hub(eventhubs::folded(address.hub));
    EK_TRY_ASSIGN(partition_, event_hub.partition(partition));
    EK_TRY_ASSIGN(auto reader,
                  event_hub.attach(address.group, partition, position, request, stream_.ended()));
    stream_.start(std::move(reader));
    return {};
}

void Outflow::on_ended(const Error& why) {
    if (dropped_) return;
    end(why.code == ErrorCode::not_found ? entity_not_found(entity_) : storage_condition(why));
}

void Outflow::on_credit() {
    pump();
    give_back_credit();
}

// Drain: only when there is nothing more to send, not while something is being read from disk.
void Outflow::give_back_credit() {
    const bool goes_on = !stream_.has_ended() && !is_waiting();
    if (!link_.drain() || (goes_on && link_.credit() > 0)) return;
    link_.drained();
    wire_.flush_soon();
}

void Outflow::pump() {
    check_state();
    if (is_waiting() || stream_.has_ended()) return;
    const auto metric = runtime_metric();
    UsualPrefix usual(amqp::Link::head_bytes);
    while (can_send()) {
        if (!wire_.has_room()) {
            wire_.wait_for_room(link_);
            break;
        }
        if (left_.empty() && !fill()) break;
        if (half_sent_ && (*left_.begin()).sequence != half_sent_->sequence) {
            return end({std::string(amqp::condition::detach_forced),
                        fmt::format("Event {} was removed while it was being sent.",
                                    half_sent_->sequence.value)});
        }
        send_left(metric, usual);
    }
    give_back_credit();
    wire_.flush_soon();
}

void Outflow::send_left(const std::optional<RuntimeMetric>& metric, UsualPrefix& usual) {
    std::size_t sent = 0;
    std::int64_t events = 0;
    for (const commitlog::Record& record : left_) {
        if (!can_send() || !wire_.has_room()) break;
        const bool whole = !half_sent_ && record.body.size() <= whole_bytes_max;
        if (whole && !metric && UsualPrefix::suits(record)) {
            link_.send_behind_head(usual.encode(record), record.body);
        } else if (whole) {
            send(record, metric);
        } else if (!send_part(record, metric)) {
            break;
        }
        sent += commitlog::stored_bytes(record);
        ++events;
    }
    stream_.count_sent(events);
    traffic_->events_out += static_cast<std::uint64_t>(events);
    if (use) use->info.events += events;
    traffic_->bytes_out += sent;
    left_ = left_.without_first(sent);
    if (left_.empty()) left_ = {};  // lets go of the bytes, which may be a large event's
}

std::optional<RuntimeMetric> Outflow::runtime_metric() const {
    if (!wishes_.metric) return std::nullopt;
    const auto log = partition_->log();
    if (!log.ok()) return std::nullopt;
    const auto now = (*log)->properties();
    return RuntimeMetric{now.last_sequence, now.last_offset, now.last_enqueued,
                         host_.context().loop.clock().wall()};
}

amqp::Condition Outflow::read_failed(const Error& error) const {
    trace(TraceLevel::warning, "events could not be read for a client",
          {{"event_hub", entity_}, {"cause", error.detail}});
    return storage_condition(error);
}

bool Outflow::fill() {
    while (true) {
        auto step = stream_.next();
        if (!step.ok()) {
            end(read_failed(step.error()));
            return false;
        }
        if (auto* const events = std::get_if<commitlog::Slice>(&*step)) {
            left_ = std::move(*events);
            return true;
        }
        const auto* const damage = std::get_if<commitlog::Damage>(&*step);
        if (!damage) return false;
        // The log has reported it to operators. Clients that do not ask for reports just go on
        // behind it: they would come back to the same place for ever.
        if (wishes_.damage) {
            // Reported once, on this link; a client that comes back starts behind the damage.
            end({std::string(amqp::condition::internal_error), range_text(*damage)});
            return false;
        }
    }
}

bool Outflow::on_stall() {
    if (!stream_.release(left_)) return false;
    left_ = {};
    prefix_ = {};
    return true;
}

void Outflow::send(const commitlog::Record& record, const std::optional<RuntimeMetric>& metric) {
    prefix_.clear();
    ByteView body;
    encode_prefix(record, metric, prefix_, body);
    link_.send(prefix_, body, 0, true);
}

bool Outflow::send_part(const commitlog::Record& record,
                        const std::optional<RuntimeMetric>& metric) {
    if (!half_sent_) {
        half_sent_ = HalfSent{record.sequence, metric};
        prefix_.clear();
    }
    if (prefix_.empty()) {
        ByteView body;
        encode_prefix(record, half_sent_->metric, prefix_, body);
        half_sent_->body_from = record.body.size() - body.size();
    }
    const ByteView body = record.body.subspan(half_sent_->body_from);
    const std::size_t bytes_max = std::max(wire_.room(), part_bytes_min);
    half_sent_->bytes += link_.send_part(prefix_, body, half_sent_->bytes, bytes_max);
    if (half_sent_->bytes < prefix_.size() + body.size()) return false;
    half_sent_.reset();
    return true;
}

void Outflow::end(const amqp::Condition& why) {
    if (std::exchange(dropped_, true)) return;
    host_.context().activity.reader_displaced(host_.visitor(), entity_,
                                              why.name + ": " + why.description);
    left_ = {};
    stream_.end({ErrorCode::cancelled, why.description});
    check_state();
    host_.links().drop(link_, host_.tracked(why, entity_));
}

void Outflow::check_state() const {
    EK_CHECK(dropped_ == stream_.has_ended(), "a link goes with its stream");
    EK_CHECK(left_.empty() || !(dropped_ || is_waiting()), "waits and ends with nothing left");
}

}  // namespace evenkeel::door
