#include "door/amqp/outflow.h"

#include <array>

#include <gtest/gtest.h>
#include <malloc.h>

#include "door/door_fixture.h"

namespace evenkeel::door {
namespace {

// Three events that are on disk and not in memory.
struct Stored {
    Stored() {
        Client& before = world.client();
        const auto link = before.sender("eh1/Partitions/0");
        for (const char c : {'a', 'b', 'c'}) {
            EXPECT_EQ(before.outcome(link, a_data(std::string(1000, c))), "");
        }
        world.restart();
        for (const auto& path : world.disk.files()) {
            if (path.ends_with(".log") && world.disk.file_size(path) > 3000) file = path;
        }
        client = &world.client();
    }
    static std::string letters(const ClientLinkRef& link) {
        std::string all;
        for (const auto& text : link->texts()) all += text.substr(0, 1);
        return all;
    }
    bool is_counted() const {
        return world.metrics.to_text().find("evenkeel_damaged_ranges_total 0") == std::string::npos;
    }
    DoorFixture world;
    std::string file;
    Client* client = nullptr;
};

// The second of them is damaged.
struct Damaged : Stored {
    Damaged() { world.disk.flip_bit(file, 1600, 3); }
};

TEST(Outflow, skips_damaged_events_for_official_clients) {
    Damaged damaged;

    const auto from_the_start = damaged.client->receiver(reading_address);
    const auto at_the_damage = damaged.client->receiver(
        reading_address, {.filter = a_filter("amqp.annotation.x-opt-sequence-number > '0'")});
    damaged.client->run_for(1s);

    EXPECT_EQ(Stored::letters(from_the_start), "ac");
    EXPECT_TRUE(from_the_start->is_open());
    EXPECT_EQ(Stored::letters(at_the_damage), "c");
    EXPECT_TRUE(damaged.is_counted());
}

TEST(Outflow, tells_readers_that_ask_for_it_which_events_are_damaged) {
    Damaged damaged;

    const auto link =
        damaged.client->receiver(reading_address, {.desired = {"evenkeel:report-damage"}});
    damaged.client->run_for(1s);

    EXPECT_EQ(link->answer.offered_capabilities,
              std::vector<std::string>{"evenkeel:report-damage"});
    EXPECT_EQ(Stored::letters(link), "a");
    EXPECT_TRUE(link->detached);
    EXPECT_EQ(link->error.name, "amqp:internal-error");
    EXPECT_TRUE(link->error.description.starts_with("events 1 to 1 are damaged (stream positions "))
        << link->error.description;
    EXPECT_EQ(link->error.description.find(".log"), std::string::npos) << "no file of the server";
}

// The second of them is a smaller one than was stored, so that the bytes behind it belong to none.
struct StrayBytes : Stored {
    StrayBytes() {
        const auto opened = world.disk.open(file, io::OpenMode::write);
        Buffer bytes(world.disk.file_size(file));
        EXPECT_TRUE((*opened)->read(0, bytes).ok());
        const auto header = commitlog::decode_segment_header(bytes);
        const std::size_t first = commitlog::segment_header_bytes;
        const std::size_t second = first + commitlog::stored_bytes_at(bytes.data() + first);
        const Buffer body = a_data(std::string(100, 'b'));
        commitlog::Record record = commitlog::view(bytes.data() + second);
        record.body = body;
        Buffer smaller(commitlog::stored_bytes(record));
        commitlog::encode(record, commitlog::checksum_seed(header->incarnation, header->partition),
                          smaller.data());
        EXPECT_TRUE((*opened)->write(second, smaller).ok());
    }
};

// STREAM-2
TEST(Outflow, reports_no_range_for_bytes_that_belong_to_no_event) {
    StrayBytes stray;

    const auto told =
        stray.client->receiver(reading_address, {.desired = {"evenkeel:report-damage"}});
    const auto untold = stray.client->receiver(reading_address);
    stray.client->run_for(1s);

    for (const auto& link : {told, untold}) {
        EXPECT_EQ(Stored::letters(link), "abc");
        EXPECT_TRUE(link->is_open()) << link->error.description;
    }
    EXPECT_TRUE(stray.is_counted()) << "operators see it";
}

// They are in a file that somebody else removed.
struct FileGone : Stored {
    FileGone() { EXPECT_TRUE(world.disk.remove(file).ok()); }
};

TEST(Outflow, goes_on_behind_a_file_that_was_removed_under_it) {
    FileGone gone;
    const auto link = gone.client->receiver(reading_address);
    gone.client->run_for(1s);
    EXPECT_EQ(Stored::letters(link), "");
    EXPECT_TRUE(gone.is_counted());

    gone.client->send(gone.client->sender("eh1/Partitions/0"), a_data("d"));
    gone.client->run_for(1s);

    EXPECT_EQ(Stored::letters(link), "d");
    EXPECT_TRUE(link->is_open());
}

TEST(Outflow, reports_a_removed_file_to_readers_that_ask_for_it) {
    FileGone gone;

    const auto link =
        gone.client->receiver(reading_address, {.desired = {"evenkeel:report-damage"}});
    gone.client->run_for(1s);

    EXPECT_TRUE(link->detached);
    EXPECT_EQ(link->error.name, "amqp:internal-error");
    EXPECT_TRUE(link->error.description.starts_with("events 0 to 2 are damaged (stream positions "))
        << link->error.description;
}

TEST(Outflow, delivers_within_50_ms_settled_and_annotated) {
    DoorFixture world;
    Client& client = world.client();
    LinkWish wish;
    wish.filter = a_filter("amqp.annotation.x-opt-offset > '@latest'");
    const auto reader = client.receiver(reading_address, wish);
    client.run_for(1s);

    client.send(client.sender("eh1/Partitions/0"), a_batch({a_data("body")}, "key"),
                amqp::batch_format);
    client.run_for(50ms);

    ASSERT_EQ(reader->messages.size(), 1u);
    const Message& message = reader->messages[0];
    EXPECT_TRUE(message.settled);
    EXPECT_EQ(message.format, 0u);
    EXPECT_EQ(message.number("x-opt-sequence-number"), 0);
    EXPECT_EQ(message.annotation("x-opt-offset"), "0");
    EXPECT_EQ(message.annotation("x-opt-partition-key"), "key");
    EXPECT_TRUE(message.section(amqp::descriptor::delivery_annotations).empty());
    EXPECT_EQ(message.text(), "body");
}

TEST(Outflow, adds_the_runtime_metric_when_asked) {
    DoorFixture world;
    Client& client = world.client();
    client.send(client.sender("eh1/Partitions/0"), a_batch({a_data("1"), a_data("2")}),
                amqp::batch_format);

    const auto reader = client.receiver(
        reading_address, {.desired = {"com.microsoft:enable-receiver-runtime-metric"}});
    EXPECT_TRUE(client.wait([&] { return reader->messages.size() == 2; }));

    EXPECT_EQ(reader->answer.offered_capabilities.size(), 1u);
    EXPECT_EQ(amqp::integer_in(reader->messages[0].section(amqp::descriptor::delivery_annotations),
                               "last_enqueued_sequence_number"),
              1);
}

TEST(Outflow, never_sends_more_than_the_credit) {
    DoorFixture world;
    Client& client = world.client();
    std::vector<Buffer> many(20, a_data("x"));
    client.send(client.sender("eh1/Partitions/0"), a_batch(many), amqp::batch_format);
    const auto reader = client.receiver(reading_address, {.credit = 0});
    const auto after = [&](std::uint32_t credit) {
        reader->link->grant(credit);
        client.flush();
        client.run_for(200ms);
        return reader->messages.size();
    };

    client.run_for(200ms);
    EXPECT_EQ(reader->messages.size(), 0u);
    EXPECT_EQ(after(1), 1u);
    EXPECT_EQ(after(7), 8u);
    EXPECT_EQ(after(1000), 20u);
}

TEST(Outflow, gives_all_credit_back_when_drained_at_the_end) {
    DoorFixture world;
    Client& client = world.client();
    const auto reader = client.receiver(reading_address);  // waits, with credit
    client.run_for(100ms);
    amqp::Flow drain;
    drain.next_incoming_id = 2;  // one reply of $cbs came
    drain.incoming_window = drain.outgoing_window = 1000;
    drain.handle = 2;  // behind the two of $cbs
    drain.delivery_count = 0;
    drain.link_credit = 1000;
    drain.drain = true;
    Buffer frame(8);
    amqp::encode(drain, frame);
    frame[3] = static_cast<std::byte>(frame.size());
    frame[4] = std::byte{2};

    client.write_raw(as_text(frame));
    client.run_for(100ms);
    client.send(client.sender("eh1/Partitions/0"), a_data("x"));
    client.run_for(1s);

    EXPECT_TRUE(reader->is_open());
    EXPECT_EQ(reader->messages.size(), 0u);
}

TEST(Outflow, serves_two_groups_independently) {
    DoorFixture world;
    world.wait([&](hub::Namespace::Done done) {
        world.hubs->create_group("eh1", "other", std::move(done));
    });
    Client& client = world.client();
    client.send(client.sender("eh1/Partitions/0"), a_data("x"));

    const auto one = client.receiver(reading_address);
    const auto two = client.receiver("eh1/ConsumerGroups/OTHER/Partitions/0");

    EXPECT_TRUE(client.wait([&] { return one->messages.size() + two->messages.size() == 2; }));
}

TEST(Outflow, counts_events_sent_not_events_read) {
    DoorFixture world;
    Client& client = world.client();
    const auto link = client.sender("eh1/Partitions/0");
    for (int i = 0; i < 50; ++i) ASSERT_EQ(client.outcome(link, a_data("x")), "");
    const auto reader = client.receiver(reading_address, {.credit = 5});
    ASSERT_TRUE(client.wait([&] { return reader->messages.size() == 5; }));

    const auto traffic =
        (*(*world.hubs->find("eh1"))->partition({0}))->traffic(world.loop.clock().now());

    EXPECT_GT(traffic.out, 0);
    EXPECT_NEAR(traffic.out * 10, traffic.in, traffic.in / 100);
}

TEST(Outflow, of_a_client_that_does_not_read_does_not_slow_others) {
    DoorFixture world;
    Client& slow = world.client();
    const auto stuck = slow.receiver(reading_address, {.credit = 100'000});
    slow.run_for(1s);
    slow.reads = false;
    Client& client = world.client();
    const auto link = client.sender("eh1/Partitions/0");
    const auto reader = client.receiver(reading_address);

    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(client.outcome(link, a_data(std::string(50'000, 'x'))), "");
    }

    EXPECT_TRUE(client.wait([&] { return reader->messages.size() == 100; }));
    EXPECT_LT(stuck->messages.size(), 100u);
}

// How much more memory the process has in use once so many readers have stood still in front of
// events of 250 KB; what the network and the readers themselves hold counts as well. 0 if the
// allocator does not tell.
std::size_t memory_for_stopped_readers(std::size_t count) {
    DoorFixture world;
    Client& client = world.client();
    const auto link = client.sender("eh1/Partitions/0");
    std::vector<ClientLinkRef> stuck;
    for (std::size_t i = 0; i < count; ++i) {
        const std::string group = "group" + std::to_string(i / 5);  // of five readers at most
        if (i % 5 == 0) {
            world.wait([&](hub::Namespace::Done done) {
                world.hubs->create_group("eh1", group, std::move(done));
            });
        }
        Client& slow = world.client();
        const std::string address = "eh1/ConsumerGroups/" + group + "/Partitions/0";
        stuck.push_back(slow.receiver(address, {.credit = 1000}));
        slow.reads = false;
    }
    client.run_for(1s);
    const auto in_use = [] {
        const auto info = mallinfo2();
        return info.uordblks + info.hblkhd;
    };
    const std::size_t before = in_use();
    for (int i = 0; i < 8; ++i) {
        EXPECT_EQ(client.outcome(link, a_data(std::string(250'000, 'x'))), "");
    }
    client.run_for(5s);
    for (const auto& reader : stuck) EXPECT_TRUE(reader->is_open() && reader->messages.empty());
    return in_use() - before;
}

TEST(Outflow, holds_little_of_large_events_for_readers_that_stop) {
    constexpr std::size_t count = 40;
    const std::size_t without = memory_for_stopped_readers(0);
    if (without < 250'000) GTEST_SKIP() << "this allocator does not tell how much is in use";

    const std::size_t with = memory_for_stopped_readers(count);

    ASSERT_GT(with, without);
    constexpr std::size_t last_read = 64 << 10;  // of the reader: part of an event
    EXPECT_LE((with - without) / count, (128 << 10) + last_read);
}

// `cached`: whether the files are in memory on the way to each stop.
void expect_order_through_stops(const std::array<bool, 3>& cached) {
    DoorFixture world;
    Client& client = world.client();
    const auto link = client.sender("eh1/Partitions/0");
    constexpr std::size_t count = 400;
    for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(
            client.outcome(link, a_data(std::string(50'000, static_cast<char>('a' + i % 26)))), "");
    }
    // Far enough for the hub to read ahead, and again when it has given all of that back.
    Client& reader = world.client();
    const auto events = reader.receiver(reading_address, {.credit = 100'000});
    const std::array<std::size_t, 3> stops{20, count / 2, count / 2 + 100};
    for (std::size_t i = 0; i < stops.size(); ++i) {
        const std::size_t stop = stops[i];
        world.disk.set_cached(cached[i]);
        ASSERT_TRUE(reader.wait([&] { return events->messages.size() >= stop; }));
        reader.reads = false;
        reader.run_for(5s);
        ASSERT_LT(events->messages.size(), count);
        reader.read_on();
    }

    ASSERT_TRUE(reader.wait([&] { return events->messages.size() == count; }));

    reader.run_for(1s);
    ASSERT_EQ(events->messages.size(), count);
    for (std::size_t i = 0; i < count; ++i) {
        EXPECT_EQ(events->messages[i].number("x-opt-sequence-number"),
                  static_cast<std::int64_t>(i));
        EXPECT_EQ(events->messages[i].text()[0], static_cast<char>('a' + i % 26));
    }
}

std::string large_text() {
    std::string text(700'000, 'x');
    for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>('a' + i / 7 % 26);
    return text;
}

TEST(Outflow, sends_the_rest_of_a_large_event_after_a_stall) {
    for (const bool metric : {false, true}) {
        DoorFixture world;
        Client& client = world.client();
        const auto link = client.sender("eh1/Partitions/0");
        Client& reader = world.client();
        std::vector<std::string> wish;
        if (metric) wish = {"com.microsoft:enable-receiver-runtime-metric"};
        const auto events = reader.receiver(reading_address, {.desired = wish, .credit = 100});
        reader.run_for(1s);
        reader.reads = false;
        ASSERT_EQ(client.outcome(link, a_data(large_text())), "");
        // Half of it is under way, and its bytes are let go; the partition's end changes.
        reader.run_for(5s);
        ASSERT_EQ(client.outcome(link, a_data("next")), "");
        ASSERT_TRUE(events->messages.empty());

        reader.read_on();
        ASSERT_TRUE(reader.wait([&] { return events->messages.size() == 2; }));

        EXPECT_TRUE(events->messages[0].text() == large_text());
        EXPECT_EQ(events->messages[1].text(), "next");
    }
}

TEST(Outflow, ends_the_link_if_a_half_sent_event_is_purged) {
    DoorFixture world;
    Client& client = world.client();
    const auto link = client.sender("eh1/Partitions/0");
    Client& reader = world.client();
    const auto events = reader.receiver(reading_address, {.credit = 100});
    reader.run_for(1s);
    reader.reads = false;
    ASSERT_EQ(client.outcome(link, a_data(large_text())), "");
    reader.run_for(5s);
    bool purged = false;
    (*(*(*world.hubs->find("eh1"))->partition({0}))->log())->purge({1}, [&](const Result<>& done) {
        purged = done.ok();
    });
    ASSERT_TRUE(client.wait([&] { return purged; }));
    ASSERT_EQ(client.outcome(link, a_data("next")), "");

    reader.read_on();
    ASSERT_TRUE(reader.wait([&] { return !events->is_open(); }));

    EXPECT_EQ(events->error.name, "amqp:link:detach-forced");
    EXPECT_TRUE(events->messages.empty());
    const auto again = reader.receiver(reading_address);
    ASSERT_TRUE(reader.wait([&] { return again->messages.size() == 1; }));
    EXPECT_EQ(again->messages[0].text(), "next");
}

TEST(Outflow, keeps_the_order_after_a_stall_from_disk) {
    expect_order_through_stops({false, false, false});
}

TEST(Outflow, keeps_the_order_after_a_stall_from_memory) {
    expect_order_through_stops({true, true, true});
}

TEST(Outflow, keeps_the_order_after_a_stall_from_both) {
    expect_order_through_stops({true, false, true});
    expect_order_through_stops({false, true, false});
}

}  // namespace
}  // namespace evenkeel::door
