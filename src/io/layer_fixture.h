// A layered socket between a user and a wire that are both played by the bytes of a fuzzer.
//
//     FuzzUser ──▶ socket under test ──▶ FuzzWire ──▶ FuzzPeer
//
// Each step begins with a byte: the user reads, writes, finishes, closes, goes away; the wire takes
// what is written at once, in parts, late, never, or fails; it delivers in pieces, ends, breaks;
// the peer speaks the protocol, or something else; time goes by. Checked on the way:
//   IO-1  At most one read and one write of the wire at a time, none after it was closed, and no
//         write after its end was said. Buffers stay as they are until the callback.
//   IO-2  Each call of the user is answered once, never inside the call, and never after it has
//         gone.
//   IO-3  What is read is what an honest peer sent, without a gap; what was written and answered
//         has reached an honest peer.
//   IO-4  When the wire has ended and none of its writes is open, no call is left unanswered.
#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/lifetime.h"
#include "base/script_fixture.h"
#include "io/layer.h"
#include "io/sim/scheduler.h"
#include "io/socket.h"

namespace evenkeel::io {

// What both ends send: the byte at each position of a stream.
inline std::byte fuzz_pattern(std::size_t position) {
    return static_cast<std::byte>((position * 7 + (position >> 8) * 13) & 0xff);
}

inline std::vector<std::byte> fuzz_bytes(std::size_t position, std::size_t size) {
    std::vector<std::byte> bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = fuzz_pattern(position + i);
    return bytes;
}

// The far end of the wire.
class FuzzPeer {
public:
    virtual ~FuzzPeer() = default;

    // Bytes of the wire, from the socket under test.
    virtual void receive(ByteView wire) = 0;
    // Sends something, honest or not.
    virtual void step(Script& script) = 0;
    // For the wire to the socket under test.
    std::vector<std::byte> take_output() { return std::exchange(output_, {}); }

    // Plain bytes that were understood.
    std::size_t received() const { return received_; }
    // Plain bytes that were sent as they should be.
    std::size_t sent() const { return sent_; }
    // It has kept to the protocol so far, and understands what it gets.
    bool is_honest() const { return honest_; }

protected:
    void understood(ByteView plain) {
        for (const std::byte byte : plain) {
            EK_CHECK(byte == fuzz_pattern(received_), "IO-3: what was written arrives in order");
            ++received_;
        }
    }
    void emit(ByteView wire) { output_.insert(output_.end(), wire.begin(), wire.end()); }

    // Spoils what is on its way: a bit, a part that is lost, sent twice, or bytes of no protocol.
    void spoil(Script& script) {
        honest_ = false;
        switch (script.byte() % 4) {
            case 0:
                if (output_.empty()) break;
                output_[script.number() % output_.size()] ^= static_cast<std::byte>(script.byte());
                return;
            case 1: output_.resize(output_.size() - script.byte() % (output_.size() + 1)); return;
            case 2: {
                const auto again = output_;
                return emit(again);
            }
            default: break;
        }
        emit(script.bytes(script.byte()));
    }

    std::vector<std::byte> output_;
    std::size_t received_ = 0;
    std::size_t sent_ = 0;
    bool honest_ = true;
};

// The inner socket. It checks IO-1 and belongs to the socket under test; the wire outlives it.
class FuzzWire {
public:
    FuzzWire(Loop& loop, FuzzPeer& peer) : loop_(loop), peer_(peer) {}

    std::unique_ptr<Socket> socket() { return std::make_unique<End>(*this); }

    // Completes writes at once from now on, or lets them wait.
    void set_quick(bool quick) {
        quick_ = quick;
        if (quick) complete_write();
    }
    bool is_reading() const { return static_cast<bool>(read_done_); }
    bool is_writing() const { return static_cast<bool>(write_done_); }
    bool is_whole() const { return whole_; }

    void deliver(std::size_t size_max) {
        pull();
        if (!read_done_ || queue_.empty()) return;
        const std::size_t size = std::min({size_max, queue_.size(), read_buffer_.size()});
        std::copy_n(queue_.begin(), size, read_buffer_.begin());
        queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(size));
        answer_read(size);
    }
    void end_read() {
        ended_ = true;
        answer_read(std::size_t{0});
    }
    void fail_read() {
        whole_ = false;
        answer_read(Error{ErrorCode::unavailable, "the wire broke"});
    }
    // A part of what is being written arrives; the write goes on.
    void take_part(std::size_t size) {
        if (!write_done_) return;
        check_written();
        const ByteView part = written_.first(std::min(size, written_.size()));
        written_ = written_.subspan(part.size());
        copy_.erase(copy_.begin(), copy_.begin() + static_cast<std::ptrdiff_t>(part.size()));
        peer_.receive(part);
    }
    void complete_write() {
        if (!write_done_) return;
        take_part(written_.size());
        answer_write({});
    }
    void fail_write() {
        if (!write_done_) return;
        whole_ = false;
        check_written();
        answer_write(Error{ErrorCode::unavailable, "the wire broke"});
    }

private:
    class End final : public Socket {
    public:
        explicit End(FuzzWire& wire) : wire_(wire) {}
        ~End() override {
            wire_.closed_ = true;
            wire_.whole_ = false;
            wire_.read_done_ = nullptr;
            wire_.write_done_ = nullptr;
            wire_.lifetime_.end();
        }
        void read(ByteSpan buffer, Callback<void(Result<std::size_t>)> done) override {
            wire_.read(buffer, std::move(done));
        }
        void write(ByteView bytes, Callback<void(Result<>)> done) override {
            wire_.write(bytes, std::move(done));
        }
        void finish() override { wire_.finished_ = true; }
        void close() override {
            wire_.closed_ = true;
            wire_.whole_ = false;
            const Error error{ErrorCode::cancelled, "closed here"};
            if (wire_.read_done_) wire_.answer_read(error);
            if (wire_.write_done_) wire_.answer_write(error);
        }
        Endpoint peer() const override { return {"peer", 1}; }

    private:
        FuzzWire& wire_;
    };

    void read(ByteSpan buffer, Callback<void(Result<std::size_t>)> done) {
        EK_CHECK(!read_done_ && !read_answered_, "IO-1: one read at a time");
        EK_CHECK(!buffer.empty(), "IO-1: read into nothing");
        EK_CHECK(!closed_, "IO-1: no read after close");
        read_buffer_ = buffer;
        read_done_ = std::move(done);
        if (ended_) answer_read(std::size_t{0});
    }

    void write(ByteView bytes, Callback<void(Result<>)> done) {
        EK_CHECK(!write_done_ && !write_answered_, "IO-1: one write at a time");
        EK_CHECK(!bytes.empty(), "IO-1: nothing is written");
        EK_CHECK(!closed_, "IO-1: no write after close");
        EK_CHECK(!finished_, "IO-1: no write after the end");
        written_ = bytes;
        copy_.assign(bytes.begin(), bytes.end());
        write_done_ = std::move(done);
        if (quick_) complete_write();
    }

    void check_written() const {
        EK_CHECK(std::ranges::equal(written_, copy_), "IO-1: what is being written stays");
    }
    void pull() {
        const auto more = peer_.take_output();
        queue_.insert(queue_.end(), more.begin(), more.end());
    }

    // Callbacks run as a task of their own, as those of real sockets do; until then the call is
    // under way.
    void answer_read(Result<std::size_t> result) {
        if (!read_done_) return;
        read_answered_ = true;
        loop_.post(lifetime_.guard([this, result = std::move(result),
                                    done = std::exchange(read_done_, nullptr)]() mutable {
            read_answered_ = false;
            done(std::move(result));
        }));
    }
    void answer_write(Result<> result) {
        write_answered_ = true;
        loop_.post(lifetime_.guard([this, result = std::move(result),
                                    done = std::exchange(write_done_, nullptr)]() mutable {
            write_answered_ = false;
            done(std::move(result));
        }));
    }

    Loop& loop_;
    FuzzPeer& peer_;
    std::vector<std::byte> queue_;  // on its way to the socket under test
    ByteSpan read_buffer_;
    Callback<void(Result<std::size_t>)> read_done_;
    ByteView written_;
    std::vector<std::byte> copy_;  // of what is left of it
    Callback<void(Result<>)> write_done_;
    bool read_answered_ = false;  // its callback has not run yet
    bool write_answered_ = false;
    bool quick_ = false;
    bool whole_ = true;  // neither broken nor closed
    bool ended_ = false;
    bool finished_ = false;
    bool closed_ = false;
    Lifetime lifetime_;  // of the socket
};

// Who uses the socket under test. It checks IO-2 and IO-3.
class FuzzUser {
public:
    FuzzUser(Script& script, FuzzWire& wire, FuzzPeer& peer, std::unique_ptr<Socket> socket)
        : script_(script), wire_(wire), peer_(peer), socket_(std::move(socket)) {}

    bool waits() const { return reading_ || writing_; }
    bool is_gone() const { return !socket_; }
    void leave() { socket_.reset(); }
    // Nothing is done inside of callbacks any more.
    void rest() { reacts_ = false; }

    void read(std::size_t size) {
        if (!socket_ || reading_ || size == 0) return;
        reading_ = in_call_ = true;
        buffer_.assign(size, std::byte{0});
        socket_->read(buffer_, [this](Result<std::size_t> result) { was_read(std::move(result)); });
        in_call_ = false;
    }
    void write(std::size_t size) {
        if (!socket_ || writing_) return;
        writing_ = in_call_ = true;
        bytes_ = fuzz_bytes(written_, size);
        socket_->write(bytes_, [this](const Result<>& result) { was_written(result); });
        in_call_ = false;
    }
    void finish() {
        if (socket_) socket_->finish();
    }
    void close() {
        if (!socket_) return;
        socket_->close();
        closed_ = true;
    }

private:
    void was_read(Result<std::size_t> result) {
        EK_CHECK(socket_ && !in_call_ && std::exchange(reading_, false), "IO-2");
        if (result.ok()) {
            EK_CHECK(*result <= buffer_.size(), "IO-2: no more than there is room for");
            if (peer_.is_honest()) {
                EK_CHECK(read_ + *result <= peer_.sent(), "IO-3: nothing comes from nothing");
                for (std::size_t i = 0; i < *result; ++i) {
                    EK_CHECK(buffer_[i] == fuzz_pattern(read_ + i), "IO-3: what was sent arrives");
                }
            }
            read_ += *result;
        }
        react();
    }
    void was_written(const Result<>& result) {
        EK_CHECK(socket_ && !in_call_ && std::exchange(writing_, false), "IO-2");
        if (result.ok() && intact_) {
            written_ += bytes_.size();
            EK_CHECK(!peer_.is_honest() || !wire_.is_whole() || peer_.received() >= written_,
                     "IO-3: what was answered has arrived");
        } else {
            intact_ = false;  // some of it may have arrived
        }
        react();
    }
    // Inside a callback everything is allowed, leaving too.
    void react() {
        if (!reacts_ || script_.at_end()) return;
        switch (script_.byte() % 16) {
            case 0:
            case 1:
            case 2: return read(1 + script_.byte());
            case 3:
            case 4: return write(script_.byte());
            case 5: return finish();
            case 6: return script_.byte() % 8 == 0 ? close() : void();
            case 7: return script_.byte() % 8 == 0 ? leave() : void();
            default: return;
        }
    }

    Script& script_;
    FuzzWire& wire_;
    FuzzPeer& peer_;
    std::unique_ptr<Socket> socket_;
    std::vector<std::byte> buffer_;
    std::vector<std::byte> bytes_;
    std::size_t read_ = 0;
    std::size_t written_ = 0;
    bool intact_ = true;
    bool in_call_ = false;
    bool reading_ = false;
    bool writing_ = false;
    bool closed_ = false;
    bool reacts_ = true;
};

// All of one run. `make` puts the socket under test over the wire's.
class FuzzRun {
public:
    template <typename Make>
    FuzzRun(Script& script, FuzzPeer& peer, Make make)
        : script_(script), peer_(peer), wire_(loop_, peer) {
        user_.emplace(script, wire_, peer, make(loop_, wire_.socket()));
    }

    void run() {
        while (!script_.at_end()) {
            const std::uint8_t what = script_.byte();
            step(what % 16);
            if (what & 0x10) run_for(Duration{0});
        }
        end();
    }

private:
    static constexpr int rounds_max = 50;

    void run_for(Duration duration) { scheduler_.run_for(duration); }

    void step(unsigned what) {
        switch (what) {
            case 0: return wire_.deliver(1 + script_.byte());
            case 1: return wire_.deliver(std::size_t{64} * script_.byte());
            case 2: return settle();
            case 3: return script_.byte() % 4 == 0 ? wire_.end_read() : wire_.deliver(1);
            case 4: return script_.byte() % 4 == 0 ? wire_.fail_read() : wire_.complete_write();
            case 5: return wire_.take_part(1 + script_.byte());
            case 6: return script_.byte() % 4 == 0 ? wire_.fail_write() : wire_.complete_write();
            case 7: return wire_.set_quick(script_.byte() % 2 == 0);
            case 8: return user_->read(1 + script_.byte());
            case 9: return user_->read(std::size_t{256} * script_.byte());
            case 10: return user_->write(script_.byte());
            case 11: return user_->write(std::size_t{1024} * script_.byte());
            case 12: return script_.byte() % 2 == 0 ? user_->finish() : user_->read(100);
            case 13: {
                const std::uint8_t how = script_.byte();
                return how % 8 == 0   ? user_->close()
                       : how % 8 == 1 ? user_->leave()
                                      : user_->read(50);
            }
            case 14: return run_for(std::chrono::milliseconds(100) * script_.byte());
            default: return peer_.step(script_);
        }
    }

    // Both ends talk until neither has anything to say.
    void settle() {
        for (int i = 0; i < rounds_max; ++i) {
            run_for(Duration{0});
            const bool writing = wire_.is_writing();
            wire_.complete_write();
            run_for(Duration{0});
            if (!wire_.is_reading() && !writing) return;
            wire_.deliver(wire_bytes_max);
        }
    }

    // The wire ends, all writes come to an end, the greeting's time is over.
    void end() {
        user_->rest();
        wire_.set_quick(true);
        settle();
        wire_.end_read();
        wire_.set_quick(true);
        run_for(2 * greeting_time_max);
        EK_CHECK(user_->is_gone() || !user_->waits(), "IO-4: every call is answered");
        user_->leave();
        run_for(2 * greeting_time_max);
    }

    Script& script_;
    FuzzPeer& peer_;
    sim::Scheduler scheduler_{1};
    sim::SimLoop loop_{scheduler_, "loop"};
    FuzzWire wire_;
    std::optional<FuzzUser> user_;
};

}  // namespace evenkeel::io
