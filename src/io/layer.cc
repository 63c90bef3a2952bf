#include "io/layer.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/lifetime.h"
#include "io/timer.h"

namespace evenkeel::io {

namespace {

constexpr std::size_t wire_bytes_min = std::size_t{4} * 1024;  // all that an idle stream holds

// All work is done in pump(), which runs on its own or at the end of a callback of the inner
// socket, never inside a call of the user: so a user's callback is the last thing that happens, and
// may destroy us.
class LayeredSocket final : public Socket {
public:
    LayeredSocket(Loop& loop, std::unique_ptr<Socket> inner, std::unique_ptr<Layer> layer)
        : loop_(loop), inner_(std::move(inner)), layer_(std::move(layer)) {
        wake();
    }

    ~LayeredSocket() override {
        loop_.check_here();
        if (!closed_) say_goodbye();
    }

    void read(ByteSpan buffer, Callback<void(Result<std::size_t>)> done) override {
        loop_.check_here();
        EK_CHECK(!buffer.empty(), "read into nothing");
        EK_CHECK(!read_done_, "one read at a time");
        read_buffer_ = buffer;
        read_done_ = std::move(done);
        wake();
    }

    void write(ByteView bytes, Callback<void(Result<>)> done) override {
        loop_.check_here();
        EK_CHECK(!write_done_, "one write at a time");
        write_rest_ = bytes;
        write_done_ = std::move(done);
        wrote_after_finish_ = finishing_;
        wake();
    }

    void finish() override {
        loop_.check_here();
        finishing_ = true;
        wake();
    }

    void close() override {
        loop_.check_here();
        if (closed_) return;
        say_goodbye();
        closed_ = true;
        timer_.cancel();
        inner_->close();
        wake();
    }

    Endpoint peer() const override { return inner_->peer(); }

private:
    void wake() {
        if (woken_) return;
        woken_ = true;
        loop_.post(lifetime_.guard([this] {
            woken_ = false;
            pump();
        }));
    }

    void pump() {
        std::optional<Result<std::size_t>> read_result;
        std::optional<Result<>> write_result;
        if (!closed_ && !error_) {
            watch_greeting();
            read_result = step_read();
        }
        if (!closed_ && !error_) step_write();
        if (!closed_ && !error_) {
            write_result = written();
            if (needs_wire() && !read_result) read_wire();
        }
        if (closed_ || error_) {
            const Error error = closed_ ? closed_error() : *error_;
            if (read_done_ && !read_result) read_result = Result<std::size_t>(error);
            if (write_done_) write_result = Result<>(error);
        }
        answer(std::move(read_result), std::move(write_result));
    }

    // Nothing of this object may be touched afterwards.
    void answer(std::optional<Result<std::size_t>> read_result,
                std::optional<Result<>> write_result) {
        const Lifetime::Watch watch = lifetime_.watch();
        if (write_result) {
            write_rest_ = {};
            auto done = std::exchange(write_done_, nullptr);
            done(std::move(*write_result));
            if (watch.over()) return;
        }
        if (read_result) {
            auto done = std::exchange(read_done_, nullptr);
            done(std::move(*read_result));
        }
    }

    std::optional<Result<std::size_t>> step_read() {
        if (!read_done_ || (!layer_->is_ready() && !layer_->has_ended())) return std::nullopt;
        auto taken = layer_->take(read_buffer_);
        if (!taken) {
            fail(taken.error());
            return std::nullopt;
        }
        if (*taken > 0 || layer_->has_ended()) return taken;
        return std::nullopt;
    }

    // Hands to the wire what there is, if it is free.
    void step_write() {
        if (writing_ || wire_broken_ || wire_finished_) return;
        if (wrote_after_finish_) write_rest_ = {};
        layer_->take_output(output_);
        while (layer_->is_ready() && !write_rest_.empty() && output_.size() < wire_bytes_max) {
            const auto piece = write_rest_.first(std::min(write_rest_.size(), piece_bytes_max));
            const auto sent = layer_->send(piece);
            if (!sent) return fail(sent.error());
            write_rest_ = write_rest_.subspan(piece.size());
            layer_->take_output(output_);
        }
        if (finishing_ && !end_sent_ && layer_->is_ready() && write_rest_.empty()) {
            end_sent_ = true;
            layer_->send_end();
            layer_->take_output(output_);
        }
        write_wire();
        if (!writing_ && end_sent_ && layer_->is_finished()) {
            wire_finished_ = true;
            inner_->finish();
        }
    }

    // The only place that writes to the wire: one write at a time, and none after one has failed or
    // the wire's end was said. What the layer says meanwhile stays with it until the write has
    // ended; what it says afterwards (an answer to a key update, an alert) has no way out any more.
    void write_wire() {
        if (writing_ || wire_broken_ || wire_finished_) return;
        layer_->take_output(output_);
        if (output_.empty()) return;
        writing_ = true;
        inner_->write(output_, [this](const Result<>& result) { wire_written(result); });
    }

    void wire_written(const Result<>& result) {
        writing_ = false;
        output_.clear();
        if (output_.capacity() > 2 * wire_bytes_min && write_rest_.empty()) output_ = {};
        if (!result) {
            wire_broken_ = true;
            wire_failed(result.error());
        } else if (error_ && !closed_) {
            write_wire();  // why the stream ends, which had to wait
        }
        pump();
    }

    // The answer to the user's write, once there is one.
    std::optional<Result<>> written() {
        if (!write_done_) return std::nullopt;
        if (wrote_after_finish_) {
            return Error{ErrorCode::unavailable, "written after the end was said"};
        }
        if (wire_broken_ || (wire_ended_ && !layer_->is_ready())) return gone_error();
        if (writing_ || !write_rest_.empty()) return std::nullopt;
        if (!layer_->is_ready()) return std::nullopt;  // even an empty write waits for the greeting
        return Result<>{};
    }

    bool needs_wire() const {
        if (reading_ || wire_ended_) return false;
        return !layer_->is_ready() || read_done_;
    }

    void read_wire() {
        reading_ = true;
        if (input_size_ != next_input_size_) {
            input_size_ = next_input_size_;
            input_ = std::make_unique_for_overwrite<std::byte[]>(input_size_);
        }
        inner_->read({input_.get(), input_size_},
                     [this](const Result<std::size_t>& size) { wire_read(size); });
    }

    void wire_read(const Result<std::size_t>& size) {
        reading_ = false;
        if (closed_ || error_) return pump();
        if (!size) {
            wire_failed(size.error());
        } else if (*size == 0) {
            end_wire();
        } else {
            next_input_size_ = *size == input_size_ ? std::min(2 * input_size_, wire_bytes_max)
                                                    : std::max(wire_bytes_min, input_size_ / 2);
            const auto received = layer_->receive({input_.get(), *size});
            if (!received) fail(received.error());
        }
        pump();
    }

    void wire_failed(const Error& error) {
        if (closed_ || error_) return;
        if (!layer_->has_begun() && error.code == ErrorCode::unavailable) return end_wire();
        error_ = error;
        timer_.cancel();
    }

    void end_wire() {
        wire_ended_ = true;
        const auto ended = layer_->receive_end();
        if (!ended) fail(ended.error());
    }

    void fail(const Error& error) {
        error_ = error;
        timer_.cancel();
        write_wire();  // the layer's last word about it
    }

    void say_goodbye() {
        if (error_ || writing_ || end_sent_ || !layer_->is_ready()) return;
        end_sent_ = true;
        layer_->send_end();
        write_wire();
    }

    void watch_greeting() {
        if (layer_->is_ready()) return timer_.cancel();
        if (timer_.is_pending()) return;
        timer_.run_after(greeting_time_max, [this] {
            fail({ErrorCode::timed_out, to_string(peer()) + ": no greeting in time"});
            inner_->close();
            pump();
        });
    }

    Error closed_error() const {
        return {ErrorCode::cancelled, to_string(peer()) + " was closed here"};
    }
    Error gone_error() const {
        return {ErrorCode::unavailable, to_string(peer()) + " left before the greeting was over"};
    }

    static constexpr std::size_t piece_bytes_max = std::size_t{16} * 1024;

    Loop& loop_;
    const std::unique_ptr<Socket> inner_;
    const std::unique_ptr<Layer> layer_;
    Timer timer_{loop_};

    ByteSpan read_buffer_;
    Callback<void(Result<std::size_t>)> read_done_;
    ByteView write_rest_;
    Callback<void(Result<>)> write_done_;

    std::unique_ptr<std::byte[]> input_;
    std::size_t input_size_ = 0;
    std::size_t next_input_size_ = wire_bytes_min;
    std::vector<std::byte> output_;  // what is being written to the wire

    bool woken_ = false;
    bool reading_ = false;  // the inner socket
    bool writing_ = false;
    bool finishing_ = false;  // asked for
    bool wrote_after_finish_ = false;
    bool end_sent_ = false;       // by the layer
    bool wire_finished_ = false;  // by us
    bool wire_ended_ = false;     // by the peer
    bool wire_broken_ = false;    // a write has failed
    bool closed_ = false;
    std::optional<Error> error_;
    Lifetime lifetime_;
};

}  // namespace

std::unique_ptr<Socket> layered(Loop& loop, std::unique_ptr<Socket> inner,
                                std::unique_ptr<Layer> layer) {
    return std::make_unique<LayeredSocket>(loop, std::move(inner), std::move(layer));
}

}  // namespace evenkeel::io
