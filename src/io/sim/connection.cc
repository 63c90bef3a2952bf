#include "io/sim/connection.h"

#include <algorithm>

#include "base/check.h"
#include "io/sim/network.h"

namespace evenkeel::io::sim {

namespace {

constexpr std::size_t pipe_bytes_max = SimNetwork::pipe_bytes_max;
constexpr std::size_t segment_bytes_max = 16 * 1024;
constexpr std::size_t backlog_max = 128;
constexpr std::uint16_t first_ephemeral_port = 49152;

class SimSocket final : public Socket {
public:
    SimSocket(std::shared_ptr<Connection> connection, int side, SimLoop& loop)
        : connection_(std::move(connection)), side_(side), loop_(loop) {}
    ~SimSocket() override { connection_->abandon(side_); }

    void read(ByteSpan buffer, Callback<void(Result<std::size_t>)> done) override {
        loop_.check_here();
        connection_->read(side_, buffer, std::move(done));
    }
    void write(ByteView bytes, Callback<void(Result<>)> done) override {
        loop_.check_here();
        connection_->write(side_, bytes, std::move(done));
    }
    void finish() override {
        loop_.check_here();
        connection_->finish(side_);
    }
    void close() override {
        loop_.check_here();
        connection_->close(side_);
    }
    Endpoint peer() const override { return connection_->address(1 - side_); }

private:
    std::shared_ptr<Connection> connection_;
    const int side_;
    SimLoop& loop_;
};

}  // namespace

bool Wire::holds(const std::string& from, const std::string& to) const {
    return cuts.contains({from, to}) || frozen.contains(from) || frozen.contains(to);
}

Instant Wire::arrival(const std::string& from, const std::string& to) {
    const auto found = delays.find({from, to});
    const DelayRange& range = found == delays.end() ? delay : found->second;
    return scheduler.now() + Duration(random.between(range.min.count(), range.max.count()));
}

std::uint16_t Wire::free_port(Host& host) {
    do {
        ++host.last_port;
        if (host.last_port < first_ephemeral_port) host.last_port = first_ephemeral_port;
    } while (host.listeners.contains(host.last_port));
    return host.last_port;
}

std::vector<std::shared_ptr<Connection>> Wire::live_connections() {
    std::vector<std::shared_ptr<Connection>> live;
    for (const auto& weak : connections) {
        if (auto connection = weak.lock()) live.push_back(std::move(connection));
    }
    connections.assign(live.begin(), live.end());
    return live;
}

void Wire::release_held() {
    for (const auto& connection : live_connections()) connection->release_held();
}

bool Backlog::add(std::shared_ptr<Connection> connection) {
    if (waiting_.size() >= backlog_max) return false;
    connection->set_acceptor(loop_);
    waiting_.push_back(std::move(connection));
    wake();
    return true;
}

void Backlog::accept(SocketCallback done) {
    EK_CHECK(!done_, "one accept at a time");
    done_ = std::move(done);
    wake();
}

void Backlog::close() {
    const auto dropped = std::exchange(done_, nullptr);
    for (const auto& connection : std::exchange(waiting_, {})) connection->abandon(acceptor);
}

void Backlog::wake() {
    if (!done_ || posted_ || waiting_.empty()) return;
    posted_ = true;
    loop_.post([self = shared_from_this()] { self->end_accept(); });
}

void Backlog::end_accept() {
    posted_ = false;
    if (!done_) return;  // the listener has gone
    auto socket = std::make_unique<SimSocket>(waiting_.front(), acceptor, loop_);
    waiting_.pop_front();
    auto done = std::exchange(done_, nullptr);
    done(std::unique_ptr<Socket>(std::move(socket)));
}

void Connection::connect(SimLoop& loop, Duration timeout, SocketCallback done) {
    End& end = ends_[connector];
    end.loop = &loop;
    end.connect_done = std::move(done);
    if (!wire_.hosts.contains(address(acceptor).host)) {
        return break_end(connector, Broken::unknown_host);
    }
    end.connect_timer = loop.run_after(timeout, [self = shared_from_this()] {
        if (!self->ends_[connector].connect_posted) self->break_end(connector, Broken::timed_out);
    });
    send(connector, {.kind = Kind::open});
}

void Connection::read(int side, ByteSpan buffer, Callback<void(Result<std::size_t>)> done) {
    End& end = ends_[side];
    EK_CHECK(!buffer.empty(), "read into nothing");
    EK_CHECK(!end.read_done, "one read at a time");
    if (!end.loop) return;  // NET-4: the host has crashed
    end.read_buffer = buffer;
    end.read_done = std::move(done);
    wake_reader(side);
}

void Connection::write(int side, ByteView bytes, Callback<void(Result<>)> done) {
    End& end = ends_[side];
    EK_CHECK(!end.write_done, "one write at a time");
    if (!end.loop) return;  // NET-4: the host has crashed
    end.wrote_after_finish = end.finishing;
    if (!end.finishing) end.write_rest = bytes;
    end.write_done = std::move(done);
    pump(side);
}

void Connection::finish(int side) {
    ends_[side].finishing = true;
    pump(side);
}

void Connection::close(int side) {
    End& end = ends_[side];
    if (end.closed) return;
    end.closed = true;
    end.write_rest = {};
    if (end.broken == Broken::no) {
        if (!end.received.empty()) {
            send(side, {.kind = Kind::reset});  // as TCP does: the peer's bytes were not read
        } else if (!end.finish_sent) {
            end.finish_sent = true;
            send(side, {.kind = Kind::finished});
        }
    }
    wake_reader(side);
    wake_writer(side);
}

void Connection::abandon(int side) {
    End& end = ends_[side];
    const auto connect_done = std::exchange(end.connect_done, nullptr);
    const auto read_done = std::exchange(end.read_done, nullptr);
    const auto write_done = std::exchange(end.write_done, nullptr);
    close(side);
    end.loop = nullptr;
}

void Connection::reset() {
    on_the_way_[connector].clear();
    on_the_way_[acceptor].clear();
    break_end(connector, Broken::reset);
    break_end(acceptor, Broken::reset);
}

void Connection::lose(int side) {
    End& end = ends_[side];
    if (end.loop == nullptr) return;  // it had ended before
    if (!end.closed && end.broken == Broken::no) send(side, {.kind = Kind::reset});
    end.broken = Broken::reset;
    abandon(side);
}

void Connection::release_held() {
    for (const int from : {connector, acceptor}) {
        const std::string& sender = ends_[from].self.host;
        const std::string& receiver = ends_[1 - from].self.host;
        if (wire_.holds(sender, receiver)) continue;
        auto& messages = on_the_way_[from];
        if (messages.empty() || messages.front().arrives > wire_.scheduler.now()) continue;
        // What waited is sent again and takes its time again; what follows comes after it.
        Instant last = wire_.arrival(sender, receiver);
        for (Message& message : messages) {
            message.arrives = last = std::max(last, message.arrives);
            schedule_delivery(from, last);
        }
        last_arrival_[from] = std::max(last_arrival_[from], last);
    }
}

void Connection::send(int from, Message message) {
    const Instant arrives = wire_.arrival(ends_[from].self.host, ends_[1 - from].self.host);
    last_arrival_[from] = std::max(last_arrival_[from], arrives);
    message.arrives = last_arrival_[from];
    schedule_delivery(from, message.arrives);
    on_the_way_[from].push_back(std::move(message));
}

void Connection::schedule_delivery(int from, Instant when) {
    wire_.scheduler.run_at(when, [wire = wire_.weak_from_this(), self = shared_from_this(), from] {
        if (!wire.expired()) self->deliver(from);
    });
}

void Connection::deliver(int from) {
    auto& messages = on_the_way_[from];
    while (!messages.empty() && messages.front().arrives <= wire_.scheduler.now() &&
           !wire_.holds(ends_[from].self.host, ends_[1 - from].self.host)) {
        Message message = std::move(messages.front());
        messages.pop_front();
        receive(1 - from, message);
    }
}

void Connection::receive(int to, Message& message) {
    End& end = ends_[to];
    switch (message.kind) {
        case Kind::open: return open_arrived();
        case Kind::accepted:
            if (end.closed || end.broken != Broken::no) return send(to, {.kind = Kind::reset});
            return wake_connect();
        case Kind::refused: return break_end(to, Broken::refused);
        case Kind::data:
            if (end.broken != Broken::no) return;
            if (end.closed) return send(to, {.kind = Kind::reset});
            end.received.insert(end.received.end(), message.bytes.begin(), message.bytes.end());
            EK_CHECK(end.received.size() <= pipe_bytes_max, "NET-2: more than the pipe holds");
            return wake_reader(to);
        case Kind::consumed:
            EK_CHECK(message.size <= end.in_pipe, "NET-1: more was read than sent");
            end.in_pipe -= message.size;
            return pump(to);
        case Kind::finished: end.peer_finished = true; return wake_reader(to);
        case Kind::reset: return break_end(to, Broken::reset);
    }
}

void Connection::open_arrived() {
    const Wire::Host& host = wire_.hosts[ends_[acceptor].self.host];
    const auto found = host.listeners.find(ends_[acceptor].self.port);
    const bool accepted =
        host.up && found != host.listeners.end() && found->second->add(shared_from_this());
    send(acceptor, {.kind = accepted ? Kind::accepted : Kind::refused});
}

void Connection::break_end(int side, Broken why) {
    End& end = ends_[side];
    if (end.broken == Broken::no) end.broken = why;
    end.write_rest = {};
    if (side == connector) wake_connect();
    wake_reader(side);
    wake_writer(side);
}

// Sends what there is room for, and ends the write and our side when all is sent.
void Connection::pump(int side) {
    End& end = ends_[side];
    if (end.closed || end.broken != Broken::no) {
        end.write_rest = {};
        return wake_writer(side);
    }
    while (!end.write_rest.empty() && end.in_pipe < pipe_bytes_max) {
        const std::size_t size =
            std::min({end.write_rest.size(), pipe_bytes_max - end.in_pipe, segment_bytes_max});
        const ByteView part = end.write_rest.first(size);
        send(side, {.kind = Kind::data, .bytes = {part.begin(), part.end()}});
        end.write_rest = end.write_rest.subspan(size);
        end.in_pipe += size;
    }
    if (!end.write_rest.empty()) return;
    wake_writer(side);
    if (end.finishing && !end.finish_sent) {
        end.finish_sent = true;
        send(side, {.kind = Kind::finished});
    }
}

void Connection::wake_connect() {
    End& end = ends_[connector];
    if (!end.connect_done || end.connect_posted) return;
    end.connect_posted = true;
    end.loop->post([self = shared_from_this()] { self->end_connect(); });
}

void Connection::wake_reader(int side) {
    End& end = ends_[side];
    if (!end.read_done || end.read_posted) return;
    if (!end.closed && end.broken == Broken::no && !end.peer_finished && end.received.empty()) {
        return;
    }
    end.read_posted = true;
    end.loop->post([self = shared_from_this(), side] { self->end_read(side); });
}

void Connection::wake_writer(int side) {
    End& end = ends_[side];
    if (!end.write_done || end.write_posted || !end.write_rest.empty()) return;
    end.write_posted = true;
    end.loop->post([self = shared_from_this(), side] { self->end_write(side); });
}

void Connection::end_connect() {
    End& end = ends_[connector];
    auto done = std::exchange(end.connect_done, nullptr);
    if (!done) return;
    end.loop->cancel(end.connect_timer);
    if (end.broken != Broken::no) {
        const Error error = broken_error(connector);
        abandon(connector);
        return done(error);
    }
    done(std::unique_ptr<Socket>(
        std::make_unique<SimSocket>(shared_from_this(), connector, *end.loop)));
}

void Connection::end_read(int side) {
    End& end = ends_[side];
    end.read_posted = false;
    auto done = std::exchange(end.read_done, nullptr);
    if (!done) return;
    if (end.closed) {
        return done(Error{ErrorCode::cancelled, to_string(address(1 - side)) + " was closed here"});
    }
    std::size_t size = std::min(end.received.size(), end.read_buffer.size());
    if (size == 0 && end.broken != Broken::no) return done(broken_error(side));
    if (size > 1 && wire_.random.chance(1, 4)) size = 1 + wire_.random.below(size);
    if (size > 0) {
        const auto last = end.received.begin() + static_cast<std::ptrdiff_t>(size);
        std::copy(end.received.begin(), last, end.read_buffer.begin());
        end.received.erase(end.received.begin(), last);
        if (end.broken == Broken::no) send(side, {.kind = Kind::consumed, .size = size});
    }
    done(size);
}

void Connection::end_write(int side) {
    End& end = ends_[side];
    end.write_posted = false;
    auto done = std::exchange(end.write_done, nullptr);
    if (!done) return;
    if (end.closed) {
        return done(Error{ErrorCode::cancelled, to_string(address(1 - side)) + " was closed here"});
    }
    if (end.wrote_after_finish) {
        return done(
            Error{ErrorCode::unavailable, "write after finish to " + to_string(address(1 - side))});
    }
    if (end.broken != Broken::no) return done(broken_error(side));
    done({});
}

Error Connection::broken_error(int side) const {
    const std::string peer = to_string(address(1 - side));
    switch (ends_[side].broken) {
        case Broken::unknown_host:
            return {ErrorCode::not_found, "connect to " + peer + ": no such host"};
        case Broken::refused: return {ErrorCode::unavailable, "connect to " + peer + ": refused"};
        case Broken::timed_out:
            return {ErrorCode::timed_out, "connect to " + peer + ": no answer in time"};
        case Broken::no:
        case Broken::reset: break;
    }
    return {ErrorCode::unavailable, peer + ": connection reset"};
}

}  // namespace evenkeel::io::sim
