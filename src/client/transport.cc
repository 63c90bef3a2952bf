// tidy: no test: tests/client tests it against a door
#include "client/transport.h"

#include <algorithm>

namespace evenkeel::client {
namespace {

constexpr std::size_t input_bytes = std::size_t{256} << 10;
constexpr auto tick_interval_max = std::chrono::seconds(15);
// How long the hub may take to say good-bye too.
constexpr auto close_patience = std::chrono::seconds(1);

class Slot final : public amqp::LinkUser {
public:
    explicit Slot(LinkEvents& to) : events(&to) {}
    LinkEvents* events;  // null once we have detached
};

LinkEvents* events_of(const amqp::Link& link) {
    return link.user ? static_cast<Slot&>(*link.user).events : nullptr;
}

// A refused link is answered without the terminus that we asked for; a detach follows.
bool is_refused(const amqp::Link& link) {
    return link.role() == amqp::Role::sender ? !link.peer().target.present
                                             : !link.peer().source.present;
}

}  // namespace

Transport::Transport(io::Loop& loop, std::unique_ptr<io::Socket> socket,
                     amqp::ConnectionOptions options, Events events)
    : loop_(loop),
      socket_(std::move(socket)),
      events_(std::move(events)),
      connection_(std::move(options), *this, loop.clock().now()) {
    input_.resize(input_bytes);
}

Transport::~Transport() = default;

void Transport::start() {
    loop_.check_here();
    tick();
    flush();
    read();
}

void Transport::read() {
    if (finished_) return;
    socket_->read(input_, [this](Result<std::size_t> got) {
        if (abandoned_) return;
        if (!got.ok()) return lose(got.error());
        if (*got == 0) return lose({ErrorCode::unavailable, "the hub closed the connection"});
        connection_.receive(ByteView(input_).first(*got), loop_.clock().now());
        flush();
        if (!connection_.is_closed()) read();
    });
}

void Transport::flush_soon() {
    if (flush_posted_) return;
    flush_posted_ = true;
    loop_.post(lifetime_.guard([this] {
        flush_posted_ = false;
        flush();
    }));
}

void Transport::flush() {
    if (writing_ || finished_) return;
    if (connection_.output_bytes() == 0) {
        if (connection_.is_closed()) finish();
        return;
    }
    connection_.take_output(sending_);
    writing_ = true;
    socket_->write(sending_, [this](const Result<>& written) {
        writing_ = false;
        if (abandoned_) return;
        if (!written.ok()) return lose(written.error());
        flush();
    });
}

void Transport::tick() {
    const Instant now = loop_.clock().now();
    if (!writing_) sending_ = {};  // little work, seldom
    const Instant next = std::min(connection_.tick(now), now + tick_interval_max);
    timer_.run_at(next, [this] {
        if (abandoned_) return;
        tick();
        flush();
    });
}

void Transport::close() {
    loop_.check_here();
    if (finished_ || closing_) return;
    closing_ = true;
    connection_.close(std::nullopt);
    close_timer_.run_after(close_patience, [this] {
        if (abandoned_) return;
        lose({ErrorCode::timed_out, "the hub did not answer our good-bye"});
    });
    flush();
}

void Transport::lose(const Error& why) {
    if (!why_) why_ = failure_of(why);
    connection_.lost();
    finish();
}

void Transport::finish() {
    if (finished_) return;
    finished_ = true;
    socket_->close();
    loop_.post(lifetime_.guard([this] {
        if (abandoned_) return;
        const Failure why =
            why_.value_or(Failure{{ErrorCode::unavailable, "the connection ended"}, true, {}});
        auto closed = std::move(events_.closed);
        closed(why);
    }));
}

void Transport::abandon() {
    abandoned_ = true;
    finished_ = true;
    socket_->close();
}

amqp::Link& Transport::attach(amqp::Attach attach, LinkEvents& events, amqp::Session* session) {
    amqp::Link& link =
        connection_.attach(session ? *session : connection_.begin(), std::move(attach));
    link.user = std::make_unique<Slot>(events);
    flush_soon();
    return link;
}

void Transport::detach(amqp::Link& link) {
    link.user.reset();
    amqp::Session& session = link.session();
    link.detach(std::nullopt);
    session.end(std::nullopt);
    flush_soon();
}

void Transport::on_open(const amqp::Open&) {
    opened_ = true;
    tick();  // now that the hub's idle time-out is known
    events_.opened();
}

void Transport::on_attach(amqp::Link& link) {
    link.refuse({std::string(amqp::condition::not_allowed), "a client takes no links"});
}

void Transport::on_attached(amqp::Link& link) {
    LinkEvents* const events = events_of(link);
    if (events && !is_refused(link)) events->on_attached(link);
}

void Transport::on_delivery(amqp::Link& link, const amqp::Delivery& delivery) {
    if (LinkEvents* const events = events_of(link)) events->on_delivery(link, delivery);
}

void Transport::on_credit(amqp::Link& link) {
    LinkEvents* const events = events_of(link);
    if (events && !is_refused(link)) events->on_credit(link);
}

void Transport::on_disposition(amqp::Link& link, const amqp::Disposition& disposition) {
    if (LinkEvents* const events = events_of(link)) events->on_disposition(link, disposition);
}

void Transport::on_detach(amqp::Link& link, const std::optional<amqp::Condition>& error) {
    LinkEvents* const events = events_of(link);
    link.user.reset();
    if (!events) return;
    events->on_detached(error);
    if (!is_open()) return;
    // The session has served its purpose; what else is in it ends too.
    link.session().end(std::nullopt);
    flush_soon();
}

void Transport::on_closed(const std::optional<amqp::Condition>& error) {
    if (!why_) why_ = failure_of(error);
    flush_soon();
}

}  // namespace evenkeel::client
