// Many clients that break every rule beside an honest one, in virtual time: the hub serves the
// honest one, never fails a check of its own, and keeps nothing of the others once they are gone.
// EVENKEEL_SEED repeats a run; EVENKEEL_SCHEDULE=N runs one schedule.
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include <unistd.h>

#include <gtest/gtest.h>

#include "base/lifetime.h"
#include "door/hostile_fixture.h"
#include "http/server.h"
#include "http/websocket.h"
#include "io/tls.h"

namespace evenkeel::door {
namespace {

enum class Transport : std::uint8_t { plain, tls, websocket, websocket_over_tls };

constexpr std::uint16_t port_of(Transport way) {
    constexpr std::uint16_t ports[] = {5672, 5671, 80, 443};
    return ports[static_cast<std::size_t>(way)];
}

struct Certificates {
    io::TlsIdentity identity = *io::make_self_signed({"hub"});
    std::unique_ptr<io::TlsServerContext> server = *io::TlsServerContext::make(identity);
    std::unique_ptr<io::TlsClientContext> client =
        *io::TlsClientContext::make({.ca_pem = identity.certificate_pem});
};
const Certificates& certificates() {
    static const Certificates all;
    return all;
}

// Passes on what is read; of what is written, changes some.
class NoisySocket final : public io::Socket {
public:
    NoisySocket(std::unique_ptr<io::Socket> inner, Random random)
        : inner_(std::move(inner)), random_(random), good_(random_.below(20)) {}

    void read(ByteSpan buffer, Callback<void(Result<std::size_t>)> done) override {
        inner_->read(buffer, std::move(done));
    }
    void write(ByteView bytes, Callback<void(Result<>)> done) override {
        wire_.assign(bytes.begin(), bytes.end());
        if (good_ > 0) {
            --good_;
        } else if (random_.chance(1, 3)) {
            wire_[random_.below(wire_.size())] = static_cast<std::byte>(random_.below(256));
        } else if (random_.chance(1, 3)) {
            wire_.resize(1 + random_.below(wire_.size()));
        } else if (random_.chance(1, 3)) {
            wire_.insert(wire_.end(), bytes.begin(), bytes.end());
        }
        inner_->write(wire_, std::move(done));
    }
    void finish() override { inner_->finish(); }
    void close() override { inner_->close(); }
    io::Endpoint peer() const override { return inner_->peer(); }

private:
    const std::unique_ptr<io::Socket> inner_;
    Random random_;
    std::uint64_t good_;  // writes that are passed on as they are
    Buffer wire_;
};

// Writes a script in pieces, reads or does not, and leaves in the middle or at the end, or stays.
class Hostile {
public:
    Hostile(DoorFixture& world, Transport way, Random random)
        : loop_(world.client_loop),
          random_(random),
          way_(way),
          script_(HostileScript(random_.fork(), world.now()).write()),
          reads_(random_.chance(4, 5)),
          input_(4096) {
        if (random_.chance(1, 3)) script_.resize(random_.below(script_.size() + 1));
        world.network.host("hostile", loop_)
            .connect({"hub", port_of(way)}, 60s,
                     lifetime_.guard([this](Result<std::unique_ptr<io::Socket>> made) {
                         if (!made.ok()) return;
                         socket_ = layered(std::move(*made));
                         if (reads_) read();
                         write();
                     }));
    }

private:
    std::unique_ptr<io::Socket> layered(std::unique_ptr<io::Socket> socket) {
        if (way_ == Transport::plain) return socket;
        if (random_.chance(1, 3)) socket = noisy(std::move(socket));
        if (way_ == Transport::tls || way_ == Transport::websocket_over_tls) {
            socket = io::tls_client(loop_, std::move(socket), *certificates().client, "hub");
        }
        if (way_ == Transport::tls) return socket;
        if (way_ == Transport::websocket_over_tls && random_.chance(1, 3)) {
            socket = noisy(std::move(socket));
        }
        return http::websocket_client(loop_, std::move(socket), {.host = "hub"});
    }
    std::unique_ptr<io::Socket> noisy(std::unique_ptr<io::Socket> socket) {
        return std::make_unique<NoisySocket>(std::move(socket), random_.fork());
    }

    void read() {
        socket_->read(input_, [this](Result<std::size_t> got) {
            if (got.ok() && *got > 0) read();
        });
    }
    void write() {
        if (written_ == script_.size()) return leave();
        const std::size_t most = random_.chance(1, 8) ? 10 : random_.chance(1, 2) ? 500 : 20'000;
        const std::size_t size = std::min(1 + random_.below(most), script_.size() - written_);
        const ByteView piece = ByteView(script_).subspan(written_, size);
        written_ += size;
        socket_->write(piece, [this](const Result<>& done) {
            if (!done.ok()) return;
            // Mostly at once, sometimes later than a deadline of the hub.
            Duration pause{};
            if (random_.chance(1, 3)) pause = std::chrono::milliseconds(random_.below(50));
            if (random_.chance(1, 60)) pause = std::chrono::seconds(random_.below(40));
            loop_.run_after(pause, lifetime_.guard([this] { write(); }));
        });
    }
    void leave() {
        switch (random_.below(3)) {
            case 0: return socket_->close();
            case 1: return socket_->finish();
            default: return;
        }
    }

    io::sim::SimLoop& loop_;
    Random random_;
    const Transport way_;
    Buffer script_;
    const bool reads_;
    std::vector<std::byte> input_;
    std::size_t written_ = 0;
    std::unique_ptr<io::Socket> socket_;
    Lifetime lifetime_;
};

// How far the hostile clients got.
struct Reached {
    std::uint64_t clients = 0;
    std::uint64_t logins = 0;
    std::uint64_t events_in = 0;
    std::uint64_t events_out = 0;
};

class HostileWorld {
public:
    HostileWorld(std::uint64_t seed, bool by_all_ways)
        : random_(seed),
          ways_(by_all_ways ? 4 : 1),
          world_({.message_bytes_max = 65'536,
                  .quotas = {{"guest", "", {.events_per_second = 50}, 6}, {"", "eh2", {}, 1}},
                  .metrics = &metrics_},
                 {{"guest", "", guest_key, {}, {true, true, false}}}, random_.next()),
          server_(
              world_.loop, {},
              [](const http::Request&, Callback<void(http::Response)> answer) { answer({}); },
              [this](const std::string&, const std::string&, std::unique_ptr<io::Socket> socket) {
                  world_.door->adopt(std::move(socket));
              }) {
        world_.create("eh2", 1);
        world_.wait(
            [&](auto done) { world_.hubs->create_group("eh1", "honest", std::move(done)); });
        if (!by_all_ways) return;
        world_.door->serve(listener(Transport::tls));
        server_.serve(listener(Transport::websocket));
        server_.serve(listener(Transport::websocket_over_tls));
    }
    ~HostileWorld() {
        hostiles_.clear();
        world_.clients.clear();
    }

    void run() {
        Client& honest = world_.client();
        const auto sender = honest.sender("eh1/Partitions/0");
        const auto reader =
            honest.receiver("eh1/ConsumerGroups/honest/Partitions/0",
                            {.filter = a_filter("amqp.annotation.x-opt-offset > '-1'")});
        const auto bait = honest.sender("eh1/Partitions/1");
        ASSERT_EQ(honest.outcome(bait, a_batch({a_data("a"), a_data("b")}), amqp::batch_format),
                  "");
        std::vector<std::string> sent;
        for (int i = 0; i < 10; ++i) {
            disturb();
            honest.run_for(random_.chance(1, 10)
                               ? std::chrono::milliseconds(1000 * random_.below(15))
                               : std::chrono::milliseconds(random_.below(100)));
            sent.push_back("honest " + std::to_string(i));
            ASSERT_EQ(honest.outcome(sender, a_data(sent.back())), "");
        }
        EXPECT_TRUE(honest.wait([&] { return of_honest(*reader).size() == sent.size(); }, 5s));
        EXPECT_EQ(of_honest(*reader), sent);
        reached_.logins += metrics_.counter("evenkeel_logins_total", "").value() - 1;
        for (const std::string name : {"eh1", "eh2"}) {
            const auto traffic = world_.door->activity().hub(name);
            reached_.events_in += traffic->events_in;
            reached_.events_out += traffic->events_out;
        }
        reached_.events_in -= sent.size() + 2;
        reached_.events_out -= sent.size();
        random_.chance(1, 5) ? expect_stop() : expect_nothing_left(honest);
    }
    const Reached& reached() const { return reached_; }

private:
    std::unique_ptr<io::Listener> listener(Transport way) {
        auto made = *world_.network.host("hub", world_.loop).listen({"hub", port_of(way)});
        if (way == Transport::websocket) return made;
        return io::tls_listener(world_.loop, std::move(made), *certificates().server);
    }
    // More clients come, some go, and what their links are attached to changes.
    void disturb() {
        for (std::uint64_t more = random_.below(3); more > 0; --more) {
            const auto way = static_cast<Transport>(random_.below(ways_));
            ++reached_.clients;
            hostiles_.push_back(std::make_unique<Hostile>(world_, way, random_.fork()));
        }
        if (!hostiles_.empty() && random_.chance(1, 6)) {
            hostiles_.erase(hostiles_.begin() +
                            static_cast<std::ptrdiff_t>(random_.below(hostiles_.size())));
        }
        if (random_.chance(1, 20)) {
            world_.wait([&](auto done) { world_.hubs->remove("eh2", std::move(done)); });
            world_.create("eh2", 1);
        }
    }
    // A client that holds its key may also write there.
    static std::vector<std::string> of_honest(const ClientLink& reader) {
        auto texts = reader.texts();
        std::erase_if(texts, [](const auto& text) { return !text.starts_with("honest "); });
        return texts;
    }
    std::int64_t links(std::string_view role) {
        return metrics_.gauge("evenkeel_links", "", {{"role", role}}).value();
    }
    std::size_t reader_count() {
        std::size_t count = 0;
        for (const std::string_view name : {"eh1", "eh2"}) {
            hub::EventHub& event_hub = **world_.hubs->find(name);
            for (std::uint32_t i = 0; i < event_hub.partition_count(); ++i) {
                count += (*event_hub.partition({i}))->reader_count();
            }
        }
        return count;
    }
    void expect_nothing_left(Client& honest) {
        hostiles_.clear();
        EXPECT_TRUE(honest.wait(
            [&] { return world_.door->connection_count() == 1 && server_.connection_count() == 0; },
            30s));
        EXPECT_EQ(world_.door->connection_count(), 1u);
        EXPECT_EQ(server_.connection_count(), 0u);
        EXPECT_EQ(metrics_.gauge("evenkeel_connections", "").value(), 1);
        EXPECT_EQ(links("sender"), 3);  // two for events, one for tokens
        EXPECT_EQ(links("receiver"), 2);
        EXPECT_EQ(reader_count(), 1u);
        // Their places in quotas are free again.
        Client& guest = world_.stranger();
        EXPECT_EQ(guest
                      .put_token(make_sas("sb://hub/", "guest", guest_key, world_.now() + 1h),
                                 "sb://hub/")
                      .code,
                  202);
        EXPECT_TRUE(guest.sender("eh2")->is_open());
        Client& late = world_.client();
        EXPECT_EQ(late.outcome(late.sender("eh1/Partitions/0"), a_data("late")), "");
    }
    void expect_stop() {
        bool stopped = false;
        world_.door->stop([&] { world_.hubs->close([&] { stopped = true; }); });
        EXPECT_TRUE(world_.scheduler.run_until([&] { return stopped; }, 60s));
        EXPECT_EQ(world_.door->connection_count(), 0u);
        EXPECT_EQ(metrics_.gauge("evenkeel_connections", "").value(), 0);
        EXPECT_EQ(links("receiver") + links("sender"), 0);
        world_.scheduler.run_for(1s);  // lets the last tasks end
    }

    Metrics metrics_;
    Random random_;
    const std::uint64_t ways_;
    DoorFixture world_;
    http::Server server_;
    std::vector<std::unique_ptr<Hostile>> hostiles_;
    Reached reached_;
};

// A failed check ends the process: it must still be known which schedule it was.
std::uint64_t current_schedule = 0;  // NOLINT
void tell_schedule(int) {
    char text[100];
    const int size = std::snprintf(text, sizeof text, "again: EVENKEEL_SCHEDULE=%llu\n",
                                   static_cast<unsigned long long>(current_schedule));
    [[maybe_unused]] const auto written =
        ::write(STDERR_FILENO, text, static_cast<std::size_t>(size));
}

Reached run_schedule(std::uint64_t schedule, bool by_all_ways) {
    current_schedule = schedule;
    SCOPED_TRACE(testing::Message() << "again: EVENKEEL_SCHEDULE=" << schedule);
    HostileWorld world(schedule, by_all_ways);
    world.run();
    return world.reached();
}

int schedules() {
    if (std::getenv("EVENKEEL_LONG") != nullptr) return 100'000;
    return std::getenv("EVENKEEL_SANITIZED") != nullptr ? 200 : 2'000;
}

void run_schedules(int count, std::uint64_t seed, bool by_all_ways) {
    const auto before = std::signal(SIGABRT, tell_schedule);
    Random random(seed);
    Reached sum;
    for (int i = 0; i < count && !testing::Test::HasFailure(); ++i) {
        const Reached reached = run_schedule(random.next(), by_all_ways);
        sum.clients += reached.clients;
        sum.logins += reached.logins;
        sum.events_in += reached.events_in;
        sum.events_out += reached.events_out;
    }
    std::signal(SIGABRT, before);
    const auto number = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
    std::printf("%d schedules, %llu hostile clients, %llu logins, %llu events stored, %llu sent\n",
                count, number(sum.clients), number(sum.logins), number(sum.events_in),
                number(sum.events_out));
    // Clients that get nowhere show nothing.
    EXPECT_GT(sum.logins, sum.clients / 4);
    EXPECT_GT(sum.events_in, sum.clients / 20);
    EXPECT_GT(sum.events_out, sum.clients / 20);
}

TEST(HostileClients, harm_no_honest_one_and_leave_nothing_behind) {
    if (const char* one = std::getenv("EVENKEEL_SCHEDULE")) {
        run_schedule(std::strtoull(one, nullptr, 10), false);
        return;
    }
    run_schedules(schedules(), test::test_seed(), false);
}

// What TLS and WebSocket write is not decided by a seed.
TEST(HostileClients, harm_no_honest_one_by_tls_and_websocket_unseeded) {
    run_schedules(schedules() / 10, test::fresh_seed(), true);
}

}  // namespace
}  // namespace evenkeel::door
