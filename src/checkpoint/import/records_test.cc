#include "checkpoint/import/records.h"

#include <gtest/gtest.h>

namespace evenkeel::checkpoint {
namespace {

const GroupName legacy_group{"MyNs.servicebus.windows.net", "Homes", "$Default"};

std::string path_of(LegacyLayout layout, std::string_view name, std::string_view path = "") {
    const auto place = legacy_place(layout, name, legacy_group, path);
    return place ? place->path : "none";
}

std::string why(const Result<LegacyRecord>& record) {
    return record.ok() ? "usable" : record.error().detail;
}

TEST(LegacyPlaces, are_the_groups_in_any_case) {
    using enum LegacyLayout;
    const std::string theirs = "myns.servicebus.windows.net/homes/$default/";
    EXPECT_EQ(path_of(metadata, theirs + "checkpoint/3"), theirs);
    EXPECT_EQ(path_of(functions, theirs + "3"), theirs);
    EXPECT_EQ(path_of(jedis, theirs + "3"), theirs);
    EXPECT_EQ(path_of(lease, "$DEFAULT/12"), "$DEFAULT/");
    EXPECT_TRUE(legacy_place(metadata, theirs + "ownership/3", legacy_group, "")->is_ownership);
    EXPECT_EQ(legacy_place(lease, "$Default/12", legacy_group, "")->partition, PartitionId{12});
}

TEST(LegacyPlaces, are_nothing_else) {
    using enum LegacyLayout;
    const std::string theirs = "myns.servicebus.windows.net/homes/$default/";
    EXPECT_EQ(path_of(metadata, theirs + "3"), "none");
    EXPECT_EQ(path_of(functions, theirs + "checkpoint/3"), "none");
    EXPECT_EQ(path_of(lease, "other/3"), "none");
    EXPECT_EQ(path_of(lease, "$Default/x"), "none");
    EXPECT_EQ(path_of(lease, "$Default/-1"), "none");
    EXPECT_EQ(path_of(lease, "$Default/99999999999"), "none");
    EXPECT_EQ(path_of(lease, ""), "none");
}

TEST(LegacyPlaces, are_where_users_say_exactly) {
    using enum LegacyLayout;
    EXPECT_EQ(path_of(lease, "old$Default/3", "old$Default/"), "old$Default/");
    EXPECT_EQ(path_of(lease, "old$default/3", "old$Default/"), "none");
    EXPECT_EQ(path_of(metadata, "a/B/c/checkpoint/3", "a/B/c/"), "a/B/c/");
}

TEST(LegacyPlaces, of_functions_have_escaped_names) {
    EXPECT_EQ(functions_escaped("My-Hub_1.x"), "my-hub_1.x");
    EXPECT_EQ(functions_escaped("a b$"), "a:20b:24");
    const auto place =
        legacy_place(LegacyLayout::functions, "ns/a:20b/$Default/0", {"ns", "A b", "$default"}, "");
    ASSERT_TRUE(place);
    EXPECT_EQ(place->path, "ns/a:20b/$Default/");
}

TEST(LeaseRecords, have_a_position_in_json) {
    const auto record =
        lease_record({3}, R"({"Offset":"4294967296","SequenceNumber":42,"PartitionId":"3",)"
                          R"("Owner":"host-1","Token":"t","Epoch":7})");

    ASSERT_TRUE(record.ok()) << why(record);
    EXPECT_EQ(record->checkpoint->sequence, SequenceNumber{42});
    EXPECT_EQ(record->checkpoint->offset, "4294967296");
    EXPECT_EQ(record->remark, "");
}

TEST(LeaseRecords, of_other_languages_are_understood) {
    const auto python =
        lease_record({3}, R"({"partition_id":"3","sequence_number":42,"offset":"77"})");
    const auto go = lease_record(
        {3}, R"({"partitionID":"3","epoch":1,"checkpoint":{"offset":"77","sequenceNumber":42}})");
    for (const auto& record : {python, go}) {
        ASSERT_TRUE(record.ok()) << why(record);
        EXPECT_EQ(record->checkpoint->sequence, SequenceNumber{42});
        EXPECT_EQ(record->checkpoint->offset, "77");
    }
}

TEST(LeaseRecords, without_an_offset_have_no_position_yet) {
    for (const char* json : {R"({"Offset":null,"SequenceNumber":0})", R"({"Offset":""})",
                             R"({"SequenceNumber":0,"Epoch":1})", R"({"Offset":"-1"})"}) {
        const auto record = lease_record({0}, json);
        ASSERT_TRUE(record.ok()) << json;
        EXPECT_FALSE(record->checkpoint) << json;
        EXPECT_NE(record->remark, "") << json;
    }
}

TEST(LeaseRecords, with_the_text_no_offset_count_by_sequence_number) {
    const auto record = lease_record({0}, R"({"Offset":"no offset","SequenceNumber":42})");
    ASSERT_TRUE(record.ok()) << why(record);
    EXPECT_EQ(record->checkpoint->sequence, SequenceNumber{42});
    EXPECT_EQ(record->checkpoint->offset, "");
    EXPECT_NE(record->remark.find("'no offset'"), std::string::npos);
}

TEST(LeaseRecords, that_are_damaged_say_how) {
    EXPECT_NE(why(lease_record({0}, R"({"Offset":"1","Sequen)")).find("half written"),
              std::string::npos);
    EXPECT_NE(why(lease_record({0}, "")).find("empty"), std::string::npos);
    EXPECT_NE(why(lease_record({0}, "[1]")).find("not an object"), std::string::npos);
    EXPECT_NE(why(lease_record({0}, R"({"colour":"red"})")).find("no checkpoint"),
              std::string::npos);
    EXPECT_NE(why(lease_record({0}, R"({"Offset":"1"})")).find("sequence number"),
              std::string::npos);
    EXPECT_NE(
        why(lease_record({0}, R"({"Offset":"1","SequenceNumber":-5})")).find("sequence number"),
        std::string::npos);
    EXPECT_NE(
        why(lease_record({0}, R"({"Offset":"1","SequenceNumber":1.5})")).find("sequence number"),
        std::string::npos);
    EXPECT_NE(why(lease_record({0}, R"({"Offset":"1","SequenceNumber":1,"PartitionId":"7"})"))
                  .find("partition '7'"),
              std::string::npos);
}

TEST(JedisRecords, have_a_position_in_json) {
    const auto whole = jedis_record(
        {3}, R"({"fullyQualifiedNamespace":"ns","eventHubName":"homes","consumerGroup":"$default",)"
             R"("partitionId":"3","offset":77,"offsetString":"77","sequenceNumber":42})");
    const auto old = jedis_record({3}, R"({"partitionId":"3","offset":77,"sequenceNumber":42})");
    for (const auto& record : {whole, old}) {
        ASSERT_TRUE(record.ok()) << why(record);
        EXPECT_EQ(record->checkpoint->sequence, SequenceNumber{42});
        EXPECT_EQ(record->checkpoint->offset, "77");
    }
    const auto by_sequence = jedis_record({3}, R"({"sequenceNumber":42})");
    ASSERT_TRUE(by_sequence.ok());
    EXPECT_EQ(by_sequence->checkpoint->offset, "");
    const auto by_offset = jedis_record({3}, R"({"offsetString":"a:b"})");
    ASSERT_TRUE(by_offset.ok());
    EXPECT_EQ(by_offset->checkpoint->sequence, SequenceNumber{-1});
}

TEST(JedisRecords, that_are_damaged_say_how) {
    EXPECT_NE(why(jedis_record({0}, "{")).find("half written"), std::string::npos);
    EXPECT_NE(why(jedis_record({0}, "{}")).find("neither"), std::string::npos);
    EXPECT_NE(
        why(jedis_record({0}, R"({"offset":1,"sequenceNumber":"x"})")).find("sequence number"),
        std::string::npos);
}

TEST(JedisRecords, tell_an_owner) {
    const auto owner =
        jedis_owner(R"({"ownerId":"me","lastModifiedTime":1700000000000,"eTag":""})");
    EXPECT_EQ(owner.owner, "me");
    EXPECT_EQ(owner.modified_ms, 1'700'000'000'000);
    EXPECT_EQ(jedis_owner("x").owner, "");
}

}  // namespace
}  // namespace evenkeel::checkpoint
