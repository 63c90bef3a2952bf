#include "checkpoint/blob/records.h"

#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "checkpoint/contract/golden_fixture.h"
#include "support/golden.h"

namespace evenkeel::checkpoint {
namespace {

Result<Checkpoint> read(const Metadata& metadata) {
    return checkpoint_of(PartitionId{3}, metadata, WallTime{1000});
}

TEST(BlobNames, are_those_of_the_official_sdks_in_lower_case) {
    const BlobNames names({"MyNs.servicebus.windows.net", "Homes", "$Default"});

    EXPECT_EQ(names.ownership({3}), "myns.servicebus.windows.net/homes/$default/ownership/3");
    EXPECT_EQ(names.checkpoint({10}), "myns.servicebus.windows.net/homes/$default/checkpoint/10");
    EXPECT_EQ(partition_of(names.checkpoint({10}), names.checkpoints()), PartitionId{10});
    EXPECT_EQ(partition_of(names.prefix() + "checkpoint/1x", names.checkpoints()), std::nullopt);
    EXPECT_EQ(partition_of(names.prefix() + "checkpoint/", names.checkpoints()), std::nullopt);
    EXPECT_EQ(partition_of(names.ownership({1}), names.checkpoints()), std::nullopt);
}

TEST(BlobNames, of_ours_hold_any_id_and_sort_dead_letters) {
    const BlobNames names({"ns", "hub", "g"});
    const std::string odd("a/b %=.\0\xFF.", 10);

    EXPECT_EQ(names.member("host-1.local"), "ns/hub/g/members/host-1.local");
    EXPECT_EQ(names.member(odd), "ns/hub/g/members/a=2Fb=20=25=3D.=00=FF=2E");
    EXPECT_EQ(name_decoded("a=2Fb=20=25=3D.=00=FF=2E"), odd);
    EXPECT_EQ(names.member(".."), "ns/hub/g/members/=2E=2E");
    EXPECT_LT(names.dead_letter({2}, {9}), names.dead_letter({2}, {10}));
    EXPECT_LT(names.dead_letter({2}, {-1}), names.dead_letter({2}, {0}));
    EXPECT_LT(names.dead_letter({9}, {5}), names.dead_letter({10}, {1}));
    EXPECT_EQ(names.record("moves/3"), "evenkeel/ns/hub/g/record/moves/3");
    EXPECT_TRUE(names.record("moves/3").starts_with(names.records_like("moves/")));
    EXPECT_EQ(names.record("request/pause"), "ns/hub/g/request/pause");
    EXPECT_EQ(names.record_key("ns/hub/g/request/drain/a=2Eb"), "request/drain/a.b");
    EXPECT_EQ(names.record_key(names.record("moves/3")), "moves/3");
    for (const char* key : {"a//b", "/a", "a/", "a.b", "..", "a/../b"}) {
        EXPECT_EQ(name_decoded(names.record(key).substr(names.records().size())), key);
        EXPECT_EQ(names.record(key).find("//"), std::string::npos);
        EXPECT_EQ(names.record(key).find(".."), std::string::npos);
    }
}

TEST(BlobOwnership, of_ours_has_the_official_key_and_a_released_one_only_that) {
    Ownership ownership{.partition = {3}, .owner = "me", .epoch = {7}, .since_ms = 5, .load = 0.5};

    EXPECT_EQ(to_metadata(ownership),
              (Metadata{{"ownerid", "me"}, {"ekepoch", "7"}, {"eksince", "5"}, {"ekload", "0.5"}}));
    ownership.owner.clear();
    EXPECT_EQ(to_metadata(ownership), (Metadata{{"ownerid", ""}}));
}

TEST(BlobOwnership, of_others_has_no_epoch_and_may_lack_its_owner) {
    EXPECT_EQ(ownership_of({3}, {{"ownerid", "js%41"}}).owner, "js%41") << "not decoded";
    EXPECT_EQ(ownership_of({3}, {{"ownerid", "js"}}).epoch, Epoch{0});
    EXPECT_EQ(ownership_of({3}, {}).owner, "");
    EXPECT_EQ(ownership_of({3}, {{"ownerid", "x"}, {"ekepoch", "many"}}).epoch, Epoch{0});
}

TEST(BlobCheckpoint, of_ours_has_both_official_keys_and_never_an_empty_one) {
    const Checkpoint full{.partition = {3}, .sequence = {42}, .offset = "4294967296", .epoch = {2}};
    const Checkpoint none{.partition = {3}, .sequence = {-1}, .epoch = {2}};

    const Metadata written = to_metadata(full, "proc-7f3c");
    EXPECT_EQ(*find(written, "offset"), "4294967296");
    EXPECT_EQ(*find(written, "sequencenumber"), "42");
    EXPECT_EQ(*find(written, "clientidentifier"), "proc-7f3c");
    const Metadata sealed = to_metadata(none, "p");
    EXPECT_EQ(*find(sealed, "offset"), "-1") << "the beginning, to every SDK";
    EXPECT_EQ(*find(sealed, "sequencenumber"), "-1");
    EXPECT_EQ(read(sealed)->offset, "");
    EXPECT_EQ(read(sealed)->epoch, Epoch{2});
}

TEST(BlobCheckpoint, of_any_sdk_is_read) {
    EXPECT_EQ(read({{"offset", "100"}, {"sequencenumber", "1"}})->offset, "100");
    EXPECT_EQ(read({{"offset", "100"}, {"sequencenumber", "1"}})->written_ms, 1000);
    EXPECT_EQ(read({{"offset", "no offset"}, {"sequencenumber", "7"}})->sequence,
              SequenceNumber{7});
    EXPECT_EQ(read({{"offset", "no offset"}, {"sequencenumber", "7"}})->offset, "");
    EXPECT_EQ(read({{"offset", ""}, {"sequencenumber", "7"}})->sequence, SequenceNumber{7});
    EXPECT_EQ(read({{"sequencenumber", "7"}})->sequence, SequenceNumber{7});
    EXPECT_EQ(read({{"offset", "100"}, {"sequencenumber", ""}})->offset, "100");
    EXPECT_EQ(read({{"offset", "100"}, {"sequencenumber", "NaN"}})->sequence, SequenceNumber{-1});
}

TEST(BlobCheckpoint, without_any_position_is_none_and_says_so) {
    for (const Metadata& metadata :
         {Metadata{}, Metadata{{"offset", ""}}, Metadata{{"offset", "no offset"}},
          Metadata{{"offset", "no offset"}, {"sequencenumber", "NaN"}}}) {
        const auto checkpoint = read(metadata);
        ASSERT_FALSE(checkpoint.ok());
        EXPECT_EQ(checkpoint.error().code, ErrorCode::corrupt);
    }
    EXPECT_NE(read({{"sequencenumber", "NaN"}}).error().detail.find("NaN"), std::string::npos);
}

class BlobGolden : public testing::Test {
protected:
    static std::string blob(const std::string& name, const Metadata& metadata) {
        std::string text = name;
        for (const auto& [key, value] : metadata) text += fmt::format("\n{}={}", key, value);
        return text;
    }
    // The metadata of a golden blob, read back.
    Metadata metadata(const std::string& name) {
        Metadata read;
        std::istringstream lines(golden[name]);
        std::string line;
        std::getline(lines, line);  // its name
        while (std::getline(lines, line)) {
            const std::size_t equals = line.find('=');
            read.emplace_back(line.substr(0, equals), line.substr(equals + 1));
        }
        return read;
    }

    const BlobNames names{{"ns.servicebus.windows.net", "Homes", "$Default"}};
    std::map<std::string, std::string> golden = test::golden_texts("blob_v1");
};

TEST_F(BlobGolden, an_ownership_is_as_layout_1_says) {
    const Ownership held = golden_ownership();
    const Ownership released = golden_released_ownership();

    EXPECT_EQ(blob(names.ownership({3}), to_metadata(held)), golden["ownership"]);
    EXPECT_EQ(blob(names.ownership({3}), to_metadata(released)), golden["ownership released"]);
    EXPECT_EQ(to_metadata(ownership_of({3}, metadata("ownership"))), metadata("ownership"));
}

TEST_F(BlobGolden, a_checkpoint_is_as_layout_1_says) {
    const Checkpoint full{.partition = {3},
                          .sequence = {42},
                          .offset = "4294967296",
                          .epoch = {7},
                          .attempts = 1,
                          .hub_created_ms = 1'767'225'600'123,
                          .enqueued_ms = 1'767'225'600'124,
                          .written_ms = 1'767'225'600'125};
    const Checkpoint none{
        .partition = {3}, .sequence = {-1}, .epoch = {7}, .written_ms = 1'767'225'600'125};

    EXPECT_EQ(blob(names.checkpoint({3}), to_metadata(full, "alice")), golden["checkpoint"]);
    EXPECT_EQ(blob(names.checkpoint({3}), to_metadata(none, "alice")),
              golden["checkpoint without a position"]);
    EXPECT_EQ(to_metadata(*read(metadata("checkpoint")), "alice"), metadata("checkpoint"));
}

TEST_F(BlobGolden, a_member_is_as_layout_1_says) {
    const Member member = golden_member();

    EXPECT_EQ(blob(names.member("alice"), to_metadata(member)), golden["member"]);
    EXPECT_EQ(to_metadata(*member_of("alice", metadata("member"))), metadata("member"));
}

TEST_F(BlobGolden, records_and_dead_letters_are_as_layout_1_says) {
    const Record record{.key = "moves/3", .value = "the value"};
    const DeadLetter letter = golden_dead_letter();

    EXPECT_EQ(blob(names.record(record.key), to_metadata(record)), golden["record"]);
    EXPECT_EQ(blob(names.record("request/pause"), to_metadata(record)), golden["request"]);
    EXPECT_EQ(record_of("moves/3", metadata("record"))->value, "the value");
    const std::string body = to_body(letter);
    EXPECT_EQ(names.dead_letter({3}, {42}) + "\n" + body, golden["dead letter"]);
    EXPECT_EQ(to_body(*dead_letter_of(body)), body);
}

TEST(BlobContent, goes_into_the_body_when_it_is_long) {
    const Metadata small = {{"a", "1"}, {"b", ""}};
    const Metadata large = {{"a", "1"}, {"b", std::string(5000, 'x')}};

    EXPECT_EQ(pack(small).metadata, small);
    EXPECT_EQ(pack(small).body, "");
    const BlobContent packed = pack(large);
    EXPECT_EQ(packed.metadata, (Metadata{{"ekbody", "1"}}));
    EXPECT_EQ(*unpack(packed.metadata, packed.body), large);
    EXPECT_FALSE(unpack(packed.metadata, packed.body.substr(0, 100)).ok()) << "half of it";
    EXPECT_FALSE(unpack(packed.metadata, "no equals sign\n").ok());
}

// STORE-9
TEST(BlobMember, in_an_unknown_state_reads_as_leaving) {
    const Metadata fields = {{"v", "1"}, {"generation", "1"}, {"state", "asleep"}};

    EXPECT_EQ(member_of("a", fields)->state, MemberState::leaving);
    EXPECT_EQ(member_of("a", {{"v", "1"}, {"generation", "1"}})->state, MemberState::active)
        << "written before there were states (STORE-8)";
}

TEST(BlobMember, that_is_half_written_is_named) {
    EXPECT_FALSE(member_of("a", {}).ok());
    EXPECT_FALSE(member_of("a", {{"v", "2"}}).ok()) << "of a later version";
    EXPECT_FALSE(member_of("a", {{"v", "1"}, {"generation", "x"}}).ok());
    EXPECT_FALSE(member_of("a", {{"v", "1"}, {"generation", "1"}, {"offers", "1"}}).ok());
    EXPECT_TRUE(member_of("a", {{"v", "1"}, {"generation", "1"}}).ok());
}

TEST(BlobDeadLetter, that_is_half_written_is_named) {
    EXPECT_FALSE(dead_letter_of("").ok());
    EXPECT_FALSE(dead_letter_of("v=1\nsequence=1\n").ok());
    EXPECT_FALSE(dead_letter_of("v=9\n\n").ok());
    EXPECT_TRUE(dead_letter_of("v=1\n\n").ok());
}

}  // namespace
}  // namespace evenkeel::checkpoint
