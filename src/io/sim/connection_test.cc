#include "io/sim/connection.h"

#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "io/sim/network.h"
#include "support/seed.h"

namespace evenkeel::io::sim {
namespace {

using namespace std::chrono_literals;
using test::test_seed;

// Two hosts, a and b, with one connection from a to b, and a log of what b has read.
class Pair {
public:
    explicit Pair(std::uint64_t seed = test_seed()) : scheduler(seed) {
        listener = *network.host("b", loop_b).listen({"b", 5672});
        listener->accept([this](auto accepted) { b = std::move(*accepted); });
        network.host("a", loop_a).connect({"b", 5672}, 30s, [this](auto connected) {
            a = std::move(*connected);
        });
        EXPECT_TRUE(scheduler.run_until([this] { return a && b; }, 1s));
    }

    // b reads until its end or an error.
    void read_at_b() {
        b->read(buffer, [this](Result<std::size_t> size) {
            if (!size) {
                error_at_b = size.error();
                return;
            }
            ended_at_b = *size == 0;
            pieces.push_back(*size);
            received += as_text(ByteView(buffer).first(*size));
            if (!ended_at_b) read_at_b();
        });
    }

    void write_at_a(std::string text) {
        written = std::move(text);
        write_done = false;
        a->write(as_bytes(written), [this](Result<> result) {
            write_done = true;
            if (!result) error_at_a = result.error();
        });
    }

    Scheduler scheduler;
    SimLoop loop_a{scheduler, "a"};
    SimLoop loop_b{scheduler, "b"};
    SimNetwork network{scheduler};
    std::unique_ptr<Listener> listener;
    std::unique_ptr<Socket> a;
    std::unique_ptr<Socket> b;
    std::string written;
    bool write_done = false;
    std::vector<std::byte> buffer = std::vector<std::byte>(4096);
    std::vector<std::size_t> pieces;
    std::string received;
    bool ended_at_b = false;
    std::optional<Error> error_at_a;
    std::optional<Error> error_at_b;
};

std::string a_text(std::size_t size) {
    std::string text(size, ' ');
    for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>('a' + i * 7 % 26);
    return text;
}

// NET-1
TEST(SimConnection, keeps_the_bytes_in_order_and_cuts_them_into_pieces) {
    Pair pair;
    pair.read_at_b();

    pair.write_at_a(a_text(200'000));
    ASSERT_TRUE(pair.scheduler.run_until([&] { return pair.received.size() == 200'000; }, 60s));

    EXPECT_TRUE(pair.received == pair.written);
    EXPECT_GT(pair.pieces.size(), 200'000 / pair.buffer.size());
}

// NET-2
TEST(SimConnection, takes_no_more_than_the_pipe_holds_until_the_peer_reads) {
    Pair pair;

    pair.write_at_a(a_text(SimNetwork::pipe_bytes_max));
    pair.scheduler.run_for(10s);
    EXPECT_TRUE(pair.write_done);
    pair.write_at_a("x");
    pair.scheduler.run_for(10s);
    EXPECT_FALSE(pair.write_done);
    pair.read_at_b();
    pair.scheduler.run_for(10s);

    EXPECT_TRUE(pair.write_done);
    EXPECT_EQ(pair.received.size(), SimNetwork::pipe_bytes_max + 1);
}

// NET-3
TEST(SimConnection, holds_bytes_at_a_cut_and_delivers_them_after_heal) {
    Pair pair;
    pair.read_at_b();

    pair.network.cut("a", "b");
    pair.write_at_a("hello");
    pair.scheduler.run_for(1h);
    EXPECT_EQ(pair.received, "");
    EXPECT_FALSE(pair.error_at_a || pair.error_at_b);
    pair.network.heal("a", "b");
    pair.scheduler.run_for(1s);

    EXPECT_EQ(pair.received, "hello");
}

// NET-3
TEST(SimConnection, cuts_one_way_only_if_asked_to) {
    Pair pair;
    pair.read_at_b();
    std::vector<std::byte> answer(10);
    std::size_t answered = 0;
    pair.a->read(answer, [&](Result<std::size_t> size) { answered = *size; });

    pair.network.cut_one_way("b", "a");
    pair.write_at_a("hello");
    pair.b->write(as_bytes("x"), [](Result<>) {});
    pair.scheduler.run_for(1h);

    EXPECT_EQ(pair.received, "hello");
    EXPECT_EQ(answered, 0u);
    pair.network.heal("a", "b");
    pair.scheduler.run_for(1s);
    EXPECT_EQ(answered, 1u);
}

// NET-3
TEST(SimConnection, passes_nothing_to_a_frozen_host_until_it_thaws) {
    Pair pair;
    pair.read_at_b();

    pair.network.freeze("b");
    pair.write_at_a("hello");
    pair.scheduler.run_for(1h);
    EXPECT_EQ(pair.received, "");
    pair.network.thaw("b");
    pair.scheduler.run_for(1s);

    EXPECT_EQ(pair.received, "hello");
}

// NET-1
TEST(SimConnection, keeps_the_order_across_a_cut) {
    Pair pair;
    pair.read_at_b();
    pair.network.set_delay("a", "b", 1ms, 500ms);

    pair.write_at_a(a_text(60'000));
    for (int i = 0; i < 20; ++i) {
        pair.network.cut("a", "b");
        pair.scheduler.run_for(30ms);
        pair.network.heal("a", "b");
        pair.scheduler.run_for(30ms);
    }
    pair.scheduler.run_for(60s);

    EXPECT_TRUE(pair.received == pair.written);
}

TEST(SimConnection, ends_both_sides_with_unavailable_on_reset_even_across_a_cut) {
    Pair pair;
    pair.read_at_b();
    pair.network.cut("a", "b");
    pair.write_at_a("lost");

    pair.network.reset("b", "a");
    pair.scheduler.run_for(1s);
    pair.write_at_a("more");
    pair.scheduler.run_for(1s);

    EXPECT_EQ(pair.received, "");
    ASSERT_TRUE(pair.error_at_a && pair.error_at_b);
    EXPECT_EQ(pair.error_at_a->code, ErrorCode::unavailable);
    EXPECT_EQ(pair.error_at_b->code, ErrorCode::unavailable);
}

// NET-4
TEST(SimConnection, reports_a_crash_to_peers_after_the_delay) {
    Pair pair;
    pair.network.set_delay(10ms, 10ms);
    pair.read_at_b();
    bool called = false;
    std::vector<std::byte> buffer(10);
    pair.a->read(buffer, [&](Result<std::size_t>) { called = true; });

    pair.network.crash("a");
    pair.loop_a.discard();
    pair.scheduler.run_for(9ms);
    EXPECT_FALSE(pair.error_at_b);
    pair.scheduler.run_for(1ms);

    ASSERT_TRUE(pair.error_at_b);
    EXPECT_EQ(pair.error_at_b->code, ErrorCode::unavailable);
    EXPECT_FALSE(called);
}

TEST(SimConnection, refuses_a_crashed_host_until_it_listens_again) {
    Pair pair;
    std::optional<Error> refused;
    std::unique_ptr<Socket> again;
    pair.network.crash("b");
    pair.loop_b.discard();

    Network& a = pair.network.host("a", pair.loop_a);
    a.connect({"b", 5672}, 30s, [&](auto result) { refused = result.error(); });
    pair.scheduler.run_for(1s);

    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->code, ErrorCode::unavailable);
    SimLoop next_life(pair.scheduler, "b");
    const auto listener = pair.network.host("b", next_life).listen({"b", 5672});
    ASSERT_TRUE(listener);
    pair.b.reset();
    pair.listener.reset();  // what is left of the first life does not take the port along
    a.connect({"b", 5672}, 30s, [&](auto result) { again = std::move(*result); });
    EXPECT_TRUE(pair.scheduler.run_until([&] { return again != nullptr; }, 1s));
}

TEST(SimConnection, ends_a_connect_across_a_cut_with_timed_out) {
    Pair pair;
    std::optional<Error> error;
    const Instant begin = pair.scheduler.now();
    Instant end;
    pair.network.cut("a", "b");

    pair.network.host("a", pair.loop_a).connect({"b", 5672}, 30s, [&](auto result) {
        error = result.error();
        end = pair.scheduler.now();
    });
    pair.scheduler.run_for(60s);

    ASSERT_TRUE(error);
    EXPECT_EQ(error->code, ErrorCode::timed_out);
    EXPECT_EQ(end - begin, 30s);
}

TEST(SimConnection, fails_a_write_after_finish_but_still_reads) {
    Pair pair;
    std::vector<std::byte> buffer(10);
    std::size_t answered = 0;
    pair.a->read(buffer, [&](Result<std::size_t> size) { answered = *size; });

    pair.a->finish();
    pair.write_at_a("too late");
    pair.b->write(as_bytes("x"), [](Result<>) {});
    pair.scheduler.run_for(1s);

    ASSERT_TRUE(pair.error_at_a);
    EXPECT_EQ(pair.error_at_a->code, ErrorCode::unavailable);
    EXPECT_EQ(answered, 1u);
}

TEST(SimConnection, runs_the_same_way_for_the_same_seed) {
    const auto run = [](std::uint64_t seed) {
        Pair pair(seed);
        pair.read_at_b();
        pair.write_at_a(a_text(100'000));
        pair.scheduler.run_for(10s);
        return std::pair(pair.scheduler.trace_hash(), pair.pieces);
    };

    EXPECT_EQ(run(7741), run(7741));
    EXPECT_NE(run(7741), run(7742));
}

}  // namespace
}  // namespace evenkeel::io::sim
