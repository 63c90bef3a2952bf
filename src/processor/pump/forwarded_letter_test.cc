#include "processor/pump/forwarded_letter.h"

#include <gtest/gtest.h>

#include "eventhubs/encoding.h"
#include "eventhubs/forward.h"
#include "support/golden.h"

namespace evenkeel::processor {
namespace {

std::vector<std::byte> message_of(const EventData& data) {
    std::vector<std::byte> sections;
    eventhubs::append_message(data, sections);
    return sections;
}

checkpoint::DeadLetter a_letter(std::vector<std::byte> sections) {
    return {.partition = {3},
            .sequence = {41},
            .offset = "4100",
            .enqueued_ms = 1'000,
            .partition_key = "home-17",
            .cause = "no such house",
            .attempts = 5,
            .at_ms = 2'000,
            .sections = std::move(sections)};
}

std::optional<ForwardedLetter> read_back(ByteView sections) {
    Event event;
    event.partition_key = "home-17";
    event.sections = sections;
    return read_forwarded(event);
}

const LetterOrigin origin{"homes", "billing"};

TEST(ForwardedLetter, is_read_back_as_it_was) {
    const Property colour{"colour", "red"};
    const auto letter = a_letter(message_of({.body = "b", .properties = {&colour, 1}}));

    const auto sent = forwarded(letter, origin);
    const auto found = read_back(sent);

    ASSERT_TRUE(found);
    EXPECT_FALSE(found->is_removal);
    EXPECT_EQ(found->origin.event_hub, "homes");
    EXPECT_EQ(found->origin.group, "billing");
    EXPECT_EQ(found->letter.partition, letter.partition);
    EXPECT_EQ(found->letter.sequence, letter.sequence);
    EXPECT_EQ(found->letter.offset, letter.offset);
    EXPECT_EQ(found->letter.enqueued_ms, letter.enqueued_ms);
    EXPECT_EQ(found->letter.partition_key, letter.partition_key);
    EXPECT_EQ(found->letter.cause, letter.cause);
    EXPECT_EQ(found->letter.attempts, letter.attempts);
    EXPECT_EQ(found->letter.at_ms, letter.at_ms);
    EXPECT_EQ(found->letter.sections, letter.sections);
}

std::vector<std::byte> bytes_of(const std::string& hex) {
    std::vector<std::byte> bytes;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
        bytes.push_back(static_cast<std::byte>(std::stoi(hex.substr(i, 2), nullptr, 16)));
    }
    return bytes;
}

checkpoint::DeadLetter golden_letter() {
    const Property colour{"colour", "red"};
    return {.partition = {3},
            .sequence = {42},
            .offset = "4294967296",
            .enqueued_ms = 1'767'225'600'123,
            .partition_key = "home-17",
            .cause = "bad event",
            .attempts = 3,
            .at_ms = 1'767'225'600'125,
            .sections = message_of({.body = "b", .properties = {&colour, 1}})};
}

TEST(ForwardedLetter, is_the_golden_event) {
    const auto golden = bytes_of(test::golden_texts("records_v1")["forwarded dead letter"]);

    EXPECT_EQ(forwarded(golden_letter(), origin), golden);
    const auto found = read_back(golden);

    ASSERT_TRUE(found);
    EXPECT_EQ(found->letter.sequence, golden_letter().sequence);
    EXPECT_EQ(found->letter.cause, golden_letter().cause);
    EXPECT_EQ(found->letter.sections, golden_letter().sections);
}

TEST(ForwardedLetter, has_the_golden_event_as_its_removal) {
    const std::string name = "removal of a forwarded dead letter";
    const auto golden = bytes_of(test::golden_texts("records_v1")[name]);

    EXPECT_EQ(removal_of(golden_letter(), origin, 1'767'225'600'200), golden);
    const auto found = read_back(golden);

    ASSERT_TRUE(found && found->is_removal);
    EXPECT_EQ(found->letter.sequence, golden_letter().sequence);
    EXPECT_EQ(found->letter.enqueued_ms, golden_letter().enqueued_ms);
}

TEST(ForwardedLetter, is_removed_by_an_event_that_names_it) {
    const auto removal = removal_of(a_letter({}), origin, 3'000);
    const auto found = read_back(removal);

    ASSERT_TRUE(found);
    EXPECT_TRUE(found->is_removal);
    EXPECT_EQ(found->letter.partition, PartitionId{3});
    EXPECT_EQ(found->letter.sequence, SequenceNumber{41});
    EXPECT_EQ(found->letter.enqueued_ms, 1'000);
}

TEST(ForwardedLetter, cannot_hide_itself_as_a_removal) {
    const Property forged[] = {{"evenkeel-removed-at-ms", std::int64_t{1}},
                               {"evenkeel-sequence", std::int64_t{7}}};

    const auto sent = forwarded(a_letter(message_of({.body = "b", .properties = forged})), origin);
    const auto found = read_back(sent);

    ASSERT_TRUE(found);
    EXPECT_FALSE(found->is_removal);
    EXPECT_EQ(found->letter.sequence, SequenceNumber{41});
}

TEST(ForwardedLetter, is_no_event_with_impossible_values) {
    EXPECT_FALSE(read_back(message_of({.body = "b"})));
    for (const std::int64_t partition : {std::int64_t{-1}, std::int64_t{1} << 40}) {
        const Property forged[] = {{"evenkeel-cause", "c"},
                                   {"evenkeel-partition", partition},
                                   {"evenkeel-sequence", std::int64_t{7}}};
        EXPECT_FALSE(read_back(message_of({.body = "b", .properties = forged}))) << partition;
    }
    const Property odd[] = {{"evenkeel-cause", "c"},
                            {"evenkeel-partition", std::int64_t{1}},
                            {"evenkeel-sequence", std::int64_t{7}},
                            {"evenkeel-attempts", std::int64_t{-5}},
                            {"evenkeel-at-ms", std::numeric_limits<std::int64_t>::max()}};
    const auto sections = message_of({.body = "b", .properties = odd});
    const auto found = read_back(sections);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->letter.attempts, 0u);
    EXPECT_EQ(found->letter.at_ms, 0);
}

TEST(ForwardedLetter, has_a_long_cause_cut_between_characters) {
    auto letter = a_letter(message_of({.body = "b"}));
    letter.cause.assign(1023, 'x');
    letter.cause += "\xc3\xa9 and more";

    const auto sent = forwarded(letter, origin);

    EXPECT_EQ(read_back(sent)->letter.cause, std::string(1023, 'x'));
}

}  // namespace
}  // namespace evenkeel::processor
