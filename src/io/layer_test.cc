#include "io/layer.h"

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "io/sim/scheduler.h"
#include "support/seed.h"

namespace evenkeel::io {
namespace {

// What the wire did, and what it is to do next. Keeps the contract of Socket, and counts who does
// not.
struct Wire {
    ByteSpan read_buffer;
    Callback<void(Result<std::size_t>)> read_done;
    Callback<void(Result<>)> write_done;
    std::string writing;            // the write that is under way
    std::deque<std::string> wrote;  // those that have ended
    int writes_at_once = 0;
    int writes_after_end = 0;
    bool finished = false;
    bool closed = false;

    void receive(std::string_view bytes) {
        ASSERT_TRUE(read_done);
        std::ranges::copy(as_bytes(bytes), read_buffer.begin());
        std::exchange(read_done, nullptr)(bytes.size());
    }
    void end_write(Result<> result = {}) {
        ASSERT_TRUE(write_done);
        wrote.push_back(std::exchange(writing, {}));
        std::exchange(write_done, nullptr)(std::move(result));
    }
};

class WireSocket final : public Socket {
public:
    explicit WireSocket(Wire& wire) : wire_(wire) {}
    ~WireSocket() override {
        wire_.read_done = nullptr;
        wire_.write_done = nullptr;
    }
    void read(ByteSpan buffer, Callback<void(Result<std::size_t>)> done) override {
        EXPECT_FALSE(wire_.read_done) << "two reads at once";
        wire_.read_buffer = buffer;
        wire_.read_done = std::move(done);
    }
    void write(ByteView bytes, Callback<void(Result<>)> done) override {
        if (wire_.write_done) ++wire_.writes_at_once;
        if (wire_.finished) ++wire_.writes_after_end;
        wire_.writing = as_text(bytes);
        wire_.write_done = std::move(done);
    }
    void finish() override { wire_.finished = true; }
    void close() override { wire_.closed = true; }
    Endpoint peer() const override { return {"peer", 1}; }

private:
    Wire& wire_;
};

// Passes bytes through; "!" from the wire is an error with a last word about it.
class Shouting final : public Layer {
public:
    bool is_ready() const override { return true; }
    bool has_begun() const override { return begun_; }
    Result<> receive(ByteView wire) override {
        begun_ = true;
        input_ += as_text(wire);
        return {};
    }
    Result<> receive_end() override { return {}; }
    Result<std::size_t> take(ByteSpan plain) override {
        if (input_.starts_with('!')) {
            output_ += "<bad>";
            return Error{ErrorCode::invalid_argument, "shouted at"};
        }
        const std::size_t size = std::min(plain.size(), input_.size());
        std::ranges::copy(as_bytes(input_).first(size), plain.begin());
        input_.erase(0, size);
        return size;
    }
    bool has_ended() const override { return false; }
    Result<> send(ByteView plain) override {
        output_ += as_text(plain);
        return {};
    }
    void send_end() override { output_ += "<end>"; }
    void take_output(std::vector<std::byte>& into) override {
        const ByteView bytes = as_bytes(output_);
        into.insert(into.end(), bytes.begin(), bytes.end());
        output_.clear();
    }
    bool is_finished() const override { return true; }

private:
    bool begun_ = false;
    std::string input_;
    std::string output_;
};

class Layered : public testing::Test {
protected:
    ~Layered() override { socket_.reset(); }

    void read() {
        socket_->read(buffer_, [this](auto size) { read_.emplace(std::move(size)); });
        settle();
    }
    void write(std::string_view bytes) {
        socket_->write(as_bytes(bytes), [this](auto done) { written_.emplace(std::move(done)); });
        settle();
    }
    void settle() {
        scheduler_.run_until([] { return false; }, std::chrono::milliseconds(1));
    }

    io::sim::Scheduler scheduler_{test::test_seed()};
    io::sim::SimLoop loop_{scheduler_, "loop"};
    Wire wire_;
    std::unique_ptr<Socket> socket_ =
        layered(loop_, std::make_unique<WireSocket>(wire_), std::make_unique<Shouting>());
    std::vector<std::byte> buffer_ = std::vector<std::byte>(100);
    std::optional<Result<std::size_t>> read_;
    std::optional<Result<>> written_;
};

TEST_F(Layered, writes_nothing_after_its_end_was_said) {
    socket_->finish();
    settle();
    wire_.end_write();
    settle();
    ASSERT_TRUE(wire_.finished);
    read();
    wire_.receive("!");
    settle();

    ASSERT_TRUE(read_);
    EXPECT_EQ(read_->error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(wire_.wrote, std::deque<std::string>{"<end>"});
    EXPECT_EQ(wire_.writes_after_end, 0);
}

TEST_F(Layered, says_why_it_ends_when_what_was_read_is_bad) {
    read();
    wire_.receive("!");
    settle();

    ASSERT_TRUE(read_);
    EXPECT_EQ(read_->error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(wire_.writing, "<bad>");
    EXPECT_EQ(wire_.writes_at_once, 0);
}

TEST_F(Layered, ends_a_write_that_waits_when_what_was_read_is_bad) {
    read();
    socket_->write(as_bytes("answer"), [this](auto done) { written_.emplace(std::move(done)); });
    wire_.receive("!");
    settle();

    ASSERT_TRUE(read_ && written_);
    EXPECT_EQ(written_->error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(wire_.writing, "<bad>");
    EXPECT_EQ(wire_.writes_at_once, 0);
}

TEST_F(Layered, says_why_it_ends_after_the_write_that_is_under_way) {
    read();
    write("answer");
    wire_.receive("!");
    settle();
    EXPECT_EQ(wire_.writing, "answer");

    wire_.end_write();

    EXPECT_EQ(wire_.writing, "<bad>");
    EXPECT_EQ(wire_.writes_at_once, 0);
}

TEST_F(Layered, writes_nothing_after_a_failed_write) {
    read();
    wire_.receive("a");
    settle();
    write("answer");

    wire_.end_write(Error{ErrorCode::unavailable, "gone"});
    settle();

    ASSERT_TRUE(written_);
    EXPECT_EQ(written_->error().code, ErrorCode::unavailable);
    socket_->close();
    EXPECT_FALSE(wire_.write_done);
    EXPECT_TRUE(wire_.closed);
}

TEST_F(Layered, fails_writes_when_the_wire_broke_before_the_peer_spoke) {
    write("first");
    wire_.end_write(Error{ErrorCode::unavailable, "gone"});
    settle();
    ASSERT_TRUE(written_);
    EXPECT_EQ(written_->error().code, ErrorCode::unavailable);

    written_.reset();
    write(std::string(100'000, 'x'));

    ASSERT_TRUE(written_);
    EXPECT_EQ(written_->error().code, ErrorCode::unavailable);
}

TEST_F(Layered, says_goodbye_once_whether_it_is_closed_or_destroyed) {
    socket_->close();
    EXPECT_EQ(wire_.writing, "<end>");
    socket_->close();
    settle();
    socket_.reset();

    EXPECT_EQ(wire_.writes_at_once, 0);
}

}  // namespace
}  // namespace evenkeel::io
