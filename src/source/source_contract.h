// What every source keeps to. A test program includes this and instantiates Sources with a world
// for each implementation; all of them run in virtual time.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "source/source.h"

namespace evenkeel::source {

// An event hub "homes" with two partitions, the group $Default, and a source that reads it.
struct SourceWorld {
    virtual ~SourceWorld() = default;
    virtual Source& source() = 0;
    virtual void append(PartitionId partition, const std::vector<std::string>& bodies) = 0;
    virtual bool run_until(Callback<bool()> condition) = 0;
    virtual void run_for(Duration duration) = 0;
};

class Sources : public testing::TestWithParam<std::function<std::unique_ptr<SourceWorld>()>> {
public:
    using Bodies = std::vector<std::string>;
    static constexpr PartitionId p0{0}, p1{1};

    std::unique_ptr<SourceWorld> world = GetParam()();

    template <typename T, typename Start>
    Result<T> wait(Start start) {
        auto answer = std::make_shared<std::optional<Result<T>>>();
        bool is_within = true;
        start([answer, &is_within](Result<T> result) {
            EXPECT_FALSE(is_within) << "answered within the call";
            EXPECT_FALSE(answer->has_value()) << "answers once";
            answer->emplace(std::move(result));
        });
        is_within = false;
        if (!world->run_until([&] { return answer->has_value(); })) {
            return Error{ErrorCode::timed_out, "no answer within an hour"};
        }
        return std::move(**answer);
    }
    Result<std::unique_ptr<Reader>> open(PartitionId partition, const Position& position,
                                         ReadOptions options = {}) {
        return wait<std::unique_ptr<Reader>>([&](auto answer) {
            world->source().open(partition, position, options, std::move(answer));
        });
    }
    std::unique_ptr<Reader> opened(PartitionId partition, const Position& position,
                                   ReadOptions options = {}) {
        auto reader = open(partition, position, options);
        EXPECT_TRUE(reader.ok()) << to_string(reader.error());
        return reader.ok() ? std::move(*reader) : nullptr;
    }
    Result<EventBatch> read(Reader& reader, std::size_t events_max,
                            Duration wait_max = std::chrono::seconds(60)) {
        return wait<EventBatch>(
            [&](auto answer) { reader.read(events_max, wait_max, std::move(answer)); });
    }
    Bodies read_bodies(Reader& reader, std::size_t count) {
        Bodies bodies;
        while (bodies.size() < count) {
            const auto batch = read(reader, count - bodies.size());
            if (!batch.ok() || batch->empty()) {
                ADD_FAILURE() << (batch.ok() ? "nothing came" : to_string(batch.error()));
                break;
            }
            for (const auto& event : *batch) bodies.emplace_back(event.text());
        }
        return bodies;
    }
    PartitionProperties properties(PartitionId partition) {
        const auto known = wait<PartitionProperties>(
            [&](auto answer) { world->source().properties(partition, std::move(answer)); });
        EXPECT_TRUE(known.ok());
        return known.ok() ? *known : PartitionProperties();
    }
};

TEST_P(Sources, tell_how_many_partitions_there_are_and_since_when) {
    const auto known =
        wait<HubProperties>([&](auto answer) { world->source().properties(std::move(answer)); });

    ASSERT_TRUE(known.ok());
    EXPECT_EQ(known->partitions, 2u);
    EXPECT_GT(known->created_ms, 0);
    EXPECT_EQ(world->source().name().event_hub, "homes");
}

TEST_P(Sources, tell_where_a_partition_begins_and_ends) {
    EXPECT_EQ(properties(p0).last.value, -1);

    world->append(p0, {"a", "b", "c"});

    EXPECT_EQ(properties(p0).first.value, 0);
    EXPECT_EQ(properties(p0).last.value, 2);
    EXPECT_EQ(properties(p1).last.value, -1);
}

TEST_P(Sources, refuse_a_partition_that_is_not_there) {
    EXPECT_FALSE(open({7}, Position::earliest()).ok());
}

TEST_P(Sources, hand_events_out_in_order_and_no_more_than_asked_for) {
    world->append(p0, {"a", "b", "c", "d", "e"});
    const auto reader = opened(p0, Position::earliest());
    ASSERT_TRUE(reader);

    const auto batch = read(*reader, 2);

    ASSERT_TRUE(batch.ok());
    ASSERT_LE(batch->size(), 2u);
    ASSERT_GE(batch->size(), 1u);
    EXPECT_EQ((*batch)[0].text(), "a");
    EXPECT_EQ((*batch)[0].sequence_number, 0);
    EXPECT_EQ(read_bodies(*reader, 5 - batch->size()).back(), "e");
}

TEST_P(Sources, wait_for_an_event_and_no_longer_than_asked_for) {
    const auto reader = opened(p0, Position::earliest());
    ASSERT_TRUE(reader);

    const auto nothing = read(*reader, 10, std::chrono::seconds(1));
    std::optional<Result<EventBatch>> answer;
    reader->read(10, std::chrono::hours(1), [&](auto batch) { answer = std::move(batch); });
    world->run_for(std::chrono::seconds(1));
    const bool is_early = answer.has_value();
    world->append(p0, {"a"});

    ASSERT_TRUE(nothing.ok());
    EXPECT_TRUE(nothing->empty());
    EXPECT_FALSE(is_early);
    EXPECT_TRUE(world->run_until([&] { return answer.has_value(); }));
    ASSERT_TRUE(answer->ok());
    EXPECT_EQ((**answer)[0].text(), "a");
}

TEST_P(Sources, begin_behind_a_sequence_number_or_an_offset) {
    world->append(p0, {"a", "b", "c"});
    const auto first = opened(p0, Position::earliest());
    ASSERT_TRUE(first);
    const auto a = read(*first, 1);
    ASSERT_TRUE(a.ok() && !a->empty());

    const auto by_sequence = opened(p0, Position::after_sequence(0));
    const auto by_offset = opened(p0, Position::after_offset((*a)[0].offset));
    ASSERT_TRUE(by_sequence && by_offset);

    EXPECT_EQ(read_bodies(*by_sequence, 2), (Bodies{"b", "c"}));
    EXPECT_EQ(read_bodies(*by_offset, 2), (Bodies{"b", "c"}));
}

TEST_P(Sources, begin_at_the_end_behind_the_last_event) {
    world->append(p0, {"a", "b"});
    const auto latest = opened(p0, Position::latest());
    const auto behind = opened(p0, Position::after_sequence(1));
    ASSERT_TRUE(latest && behind);

    world->append(p0, {"c"});

    EXPECT_EQ(read_bodies(*latest, 1), Bodies{"c"});
    EXPECT_EQ(read_bodies(*behind, 1), Bodies{"c"});
}

TEST_P(Sources, refuse_a_position_beyond_the_end) {
    world->append(p0, {"a"});

    EXPECT_FALSE(open(p0, Position::after_sequence(5)).ok());
}

TEST_P(Sources, cut_a_reader_for_one_with_a_higher_epoch) {
    world->append(p0, {"a", "b"});
    const auto old = opened(p0, Position::earliest(), {.epoch = Epoch{1}});
    ASSERT_TRUE(old);
    EXPECT_EQ(read_bodies(*old, 2), (Bodies{"a", "b"}));

    const auto young = opened(p0, Position::earliest(), {.epoch = Epoch{2}});
    ASSERT_TRUE(young);

    const auto cut = read(*old, 1);
    ASSERT_FALSE(cut.ok());
    EXPECT_EQ(cut.error().code, ErrorCode::fenced);
    EXPECT_EQ(read_bodies(*young, 2), (Bodies{"a", "b"}));
}

TEST_P(Sources, refuse_a_reader_with_a_lower_epoch) {
    const auto young = opened(p0, Position::earliest(), {.epoch = Epoch{2}});
    ASSERT_TRUE(young);

    const auto old = open(p0, Position::earliest(), {.epoch = Epoch{1}});

    ASSERT_FALSE(old.ok());
    EXPECT_EQ(old.error().code, ErrorCode::fenced);
}

TEST_P(Sources, answer_nothing_once_the_reader_is_gone) {
    auto reader = opened(p0, Position::earliest());
    ASSERT_TRUE(reader);
    bool is_answered = false;

    reader->read(1, std::chrono::hours(1), [&](auto) { is_answered = true; });
    world->append(p0, {"a"});
    reader.reset();
    world->run_for(std::chrono::seconds(5));

    EXPECT_FALSE(is_answered);
}

TEST_P(Sources, let_a_reader_be_destroyed_by_whom_it_answers) {
    world->append(p0, {"a"});
    auto reader = opened(p0, Position::earliest());
    ASSERT_TRUE(reader);

    bool is_gone = false;
    reader->read(1, std::chrono::seconds(1), [&](auto) {
        reader.reset();
        is_gone = true;
    });

    EXPECT_TRUE(world->run_until([&] { return is_gone; }));
    world->run_for(std::chrono::seconds(1));
}

TEST_P(Sources, know_the_end_of_what_they_have_read) {
    world->append(p0, {"a", "b", "c"});
    const auto reader = opened(p0, Position::earliest(), {.track_end = true});
    ASSERT_TRUE(reader);

    EXPECT_EQ(read_bodies(*reader, 3).size(), 3u);

    EXPECT_EQ(reader->last_enqueued().value, 2);
}

TEST_P(Sources, close_and_say_when_they_have) {
    bool is_closed = false;

    world->source().close([&] { is_closed = true; });

    EXPECT_TRUE(world->run_until([&] { return is_closed; }));
}

}  // namespace evenkeel::source
