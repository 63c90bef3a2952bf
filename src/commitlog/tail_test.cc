#include "commitlog/tail.h"

#include <gtest/gtest.h>

#include "commitlog/segment_fixture.h"

namespace evenkeel::commitlog {
namespace {

using Field = Target::Field;

// Appends a record of 64 bytes.
void add(Tail& tail, std::int64_t sequence, std::int64_t time = 0) {
    const Record record{{sequence}, tail.end(), {time}, 0, 0, {0}, {}, as_bytes("x")};
    encode(record, fixture_seed, tail.append(stored_bytes(record)));
}

Tail a_tail(int records, Offset start = {0}) {
    Tail tail(start);
    for (int i = 0; i < records; ++i) add(tail, i, i / 2);
    return tail;
}

std::vector<std::int64_t> sequences(const Slice& slice) {
    std::vector<std::int64_t> all;
    for (const Record& record : slice) all.push_back(record.sequence.value);
    return all;
}

TEST(Tail, gives_back_the_records_between_two_places) {
    const Tail tail = a_tail(5, {640});

    EXPECT_EQ(tail.start().value, 640);
    EXPECT_EQ(tail.end().value, 640 + 5 * 64);
    EXPECT_EQ(sequences(tail.slice({640 + 64}, {640 + 4 * 64})),
              (std::vector<std::int64_t>{1, 2, 3}));
}

TEST(Tail, gives_a_piece_for_each_chunk) {
    const Tail tail = a_tail(100);  // the first chunk has 4 KiB

    const auto first = tail.piece({0}, tail.end());
    const auto second = tail.piece(first.to, tail.end());

    EXPECT_EQ(first.to.value, 4096);
    EXPECT_EQ(second.from.value, 4096);
    EXPECT_EQ(second.to.value, 100 * 64);
    EXPECT_EQ(view(second.bytes().data()).sequence.value, 64);
}

TEST(Tail, has_room_for_a_record_larger_than_a_chunk) {
    Tail tail({0});

    std::byte* const at = tail.append(5 << 20);
    at[(5 << 20) - 1] = std::byte{1};

    EXPECT_EQ(tail.end().value, 5 << 20);
}

TEST(Tail, starts_a_chunk_where_it_is_told_to) {
    Tail tail = a_tail(2);
    tail.break_chunk();
    add(tail, 2);

    EXPECT_EQ(tail.piece({0}, tail.end()).to.value, 128);
    EXPECT_EQ(tail.piece({128}, tail.end()).to.value, 192);
}

TEST(Tail, forgets_what_is_cut_and_never_fills_its_bytes_again) {
    Tail tail = a_tail(5);
    const auto under_way = tail.piece({0}, tail.end());

    tail.cut({128});
    add(tail, 100);

    EXPECT_EQ(tail.end().value, 192);
    EXPECT_EQ(sequences(tail.slice({0}, tail.end())), (std::vector<std::int64_t>{0, 1}));
    EXPECT_EQ(sequences(tail.slice({128}, tail.end())), (std::vector<std::int64_t>{100}));
    EXPECT_EQ(view(under_way.bytes().data() + 128).sequence.value, 2);
}

TEST(Tail, can_be_cut_to_nothing) {
    Tail tail = a_tail(5);

    tail.cut({0});
    add(tail, 7);

    EXPECT_EQ(sequences(tail.slice({0}, tail.end())), (std::vector<std::int64_t>{7}));
}

TEST(Tail, keeps_what_is_not_durable_however_much_it_is) {
    Tail tail = a_tail(1000);

    tail.shrink({0}, 0);
    EXPECT_EQ(tail.start().value, 0);
    tail.shrink({4096}, 0);
    EXPECT_EQ(tail.start().value, 4096);
    tail.shrink(tail.end(), 32 << 10);
    EXPECT_LE(tail.end().value - tail.start().value, 40 << 10);
}

TEST(Tail, finds_the_chunk_to_scan_for_a_target) {
    Tail tail = a_tail(2);
    tail.break_chunk();
    add(tail, 2, 1);
    add(tail, 3, 1);
    tail.break_chunk();
    add(tail, 4, 2);

    EXPECT_EQ(tail.scan_start({Field::sequence, 3}, tail.end())->value, 128);
    EXPECT_EQ(tail.scan_start({Field::sequence, 4}, tail.end())->value, 256);
    EXPECT_EQ(tail.scan_start({Field::sequence, 0}, tail.end())->value, 0);
    EXPECT_EQ(tail.scan_start({Field::offset, 192}, tail.end())->value, 128);
    EXPECT_EQ(tail.scan_start({Field::sequence, 99}, tail.end())->value, 256);
    EXPECT_EQ(tail.scan_start({Field::sequence, 99}, {256})->value, 128);
}

TEST(Tail, finds_the_chunk_before_the_first_event_of_a_time) {
    Tail tail = a_tail(2);  // time 0
    tail.break_chunk();
    add(tail, 2, 1);
    tail.break_chunk();
    add(tail, 3, 1);

    EXPECT_EQ(tail.scan_start({Field::enqueued, 1}, tail.end())->value, 0);
    EXPECT_EQ(tail.scan_start({Field::enqueued, 2}, tail.end())->value, 192);
    EXPECT_EQ(tail.scan_start({Field::enqueued, 0}, tail.end()), std::nullopt);
}

TEST(Tail, keeps_little_more_than_it_is_asked_to) {
    constexpr std::size_t kept = std::size_t{256} << 10;
    Tail tail(Offset{0}, Tail::chunk_bytes_for(kept));

    for (int i = 0; i < 100'000; ++i) {
        tail.append(128);
        tail.shrink(tail.end(), kept);
    }

    EXPECT_LE(static_cast<std::size_t>(tail.end().value - tail.start().value),
              kept + Tail::chunk_bytes_for(kept));
    EXPECT_EQ(Tail::chunk_bytes_for(kept), kept / 4);
    EXPECT_EQ(Tail::chunk_bytes_for(0), std::size_t{4} << 10);
    EXPECT_EQ(Tail::chunk_bytes_for(std::size_t{1} << 30), Tail::chunk_bytes_usual);
}

}  // namespace
}  // namespace evenkeel::commitlog
