#include "door/amqp/wire.h"

#include <algorithm>
#include <utility>

namespace evenkeel::door {
namespace {

// A client that is quiet costs little; one that is busy gets room for many frames at once.
constexpr std::size_t input_bytes_min = std::size_t{4} << 10;
constexpr std::size_t input_bytes_max = std::size_t{256} << 10;
constexpr std::size_t input_growth = 8;
constexpr std::uint32_t small_reads_max = 64;  // then the large buffer is given back
// Of events, then the log waits. With what the kernel takes (io/system/network.h) a client that
// does not read holds 128 KiB at most, and one that never did 96 KiB.
constexpr std::size_t output_bytes_min = std::size_t{16} << 10;
constexpr std::size_t output_bytes_max = std::size_t{48} << 10;  // of a client that keeps up
// More than the kernel of a client that does not read takes for it.
constexpr std::uint64_t trusted_after_bytes = std::uint64_t{8} << 20;
constexpr std::size_t answer_bytes_max = std::size_t{512} << 10;  // then the client waits

}  // namespace

Wire::Wire(io::Loop& loop, std::unique_ptr<io::Socket> socket, amqp::Connection& connection,
           Owner& owner)
    : loop_(loop), socket_(std::move(socket)), connection_(connection), owner_(owner) {
    input_.resize(input_bytes_min);
}

bool Wire::wants_input() const {
    if (reading_ || state_ == State::closed) return false;
    // Closed: to see the client end its own side.
    if (connection_.is_closed()) return state_ == State::half_closed;
    return owner_.takes_input() && connection_.output_bytes() <= answer_bytes_max;
}

void Wire::read() {
    if (!wants_input()) return;
    reading_ = true;
    socket_->read(input_, [this](Result<std::size_t> got) {
        reading_ = false;
        if (!got.ok() || *got == 0) {
            return owner_.on_lost(got.ok() ? "the client ended the connection"
                                           : got.error().detail);
        }
        if (!connection_.is_closed()) take_input(*got);
        read();
    });
}

void Wire::take_input(std::size_t bytes) {
    connection_.receive(ByteView(input_).first(bytes), loop_.clock().now());
    small_reads_ = bytes < input_bytes_min ? small_reads_ + 1 : 0;
    if (bytes == input_.size() && input_.size() < input_bytes_max) {
        input_.resize(std::min(input_.size() * input_growth, input_bytes_max));
    } else if (small_reads_ > small_reads_max && input_.size() > input_bytes_min) {
        input_ = std::vector<std::byte>(input_bytes_min);
    }
    flush();
}

void Wire::flush_soon() {
    if (flush_posted_) return;
    flush_posted_ = true;
    loop_.post(lifetime_.guard([this] {
        flush_posted_ = false;
        flush();
        read();
    }));
}

void Wire::flush() {
    check_state();
    if (writing_ || state_ == State::closed) return;
    if (connection_.output_bytes() == 0) {
        if (connection_.is_closed()) end_our_side();
        return;
    }
    connection_.take_output(sending_);
    writing_ = true;
    ++writes_;
    socket_->write(sending_, [this](const Result<>& written) {
        writing_ = false;
        if (!written.ok()) return owner_.on_lost(written.error().detail);
        taken_bytes_ += sending_.size();
        // There is room again: let the links go on before the next write.
        give_room();
        flush();
        read();
    });
}

void Wire::end_our_side() {
    if (state_ != State::open) return;
    state_ = State::half_closed;
    owner_.on_all_sent();
    socket_->finish();
    read();
}

void Wire::close() {
    if (state_ == State::closed) return;
    state_ = State::closed;
    socket_->close();
}

std::size_t Wire::room() const {
    const std::size_t used = connection_.output_bytes();
    const std::size_t all = keeps_up() ? output_bytes_max : output_bytes_min;
    return writing_ || used >= all ? 0 : all - used;
}

bool Wire::keeps_up() const {
    return taken_bytes_ > trusted_after_bytes;
}

void Wire::wait_for_room(amqp::Link& link) {
    if (std::find(blocked_.begin(), blocked_.end(), &link) == blocked_.end()) {
        blocked_.push_back(&link);
    }
}

void Wire::forget(amqp::Link& link) {
    std::erase(blocked_, &link);
}

// In the order in which they ran out of it, each once.
void Wire::give_room() {
    for (std::size_t left = blocked_.size(); left > 0 && !blocked_.empty() && has_room(); --left) {
        amqp::Link& link = *blocked_.front();
        blocked_.pop_front();
        owner_.on_room(link);
    }
}

bool Wire::check_stall() {
    const bool stalled = writing_ && writes_ == writes_at_tick_;
    writes_at_tick_ = writes_;
    if (!writing_) sending_ = {};
    if (stalled) taken_bytes_ = 0;
    return stalled;
}

void Wire::check_state() const {
    EK_CHECK(state_ != State::half_closed || connection_.is_closed(),
             "our side ends after the connection");
    EK_CHECK(writes_ >= writes_at_tick_, "writes are counted up");
}

}  // namespace evenkeel::door
