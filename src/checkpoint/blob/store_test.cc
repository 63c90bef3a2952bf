#include "checkpoint/blob/store.h"

#include <atomic>

#include <gtest/gtest.h>

#include "base/trace_fixture.h"
#include "checkpoint/blob/records.h"
#include "checkpoint/blob/server_fixture.h"
#include "checkpoint/contract/blocking_client_fixture.h"

namespace evenkeel::checkpoint {
namespace {

using namespace std::chrono_literals;
using Fault = BlobServer::Fault;

constexpr BlobOptions patient{.try_max = 30s, .wait_max = 60s, .pause_min = 1ms};
const GroupName blob_group{"localhost", "Homes", "$Default"};
const std::string prefix = "localhost/homes/$default/";

std::unique_ptr<BlockingClient> a_client(const BlobServer& server,
                                         const BlobOptions& options = patient) {
    return std::make_unique<BlockingClient>([&](io::Loop& loop) {
        auto store = BlobStore::open(server.address(), blob_group, loop, options);
        EXPECT_TRUE(store.ok()) << to_string(store.error());
        return std::move(*store);
    });
}

Result<> opening(const std::string& address, const BlobOptions& options = patient) {
    io::system::LoopThread loop("opening");
    const auto store = BlobStore::open(address, blob_group, loop, options);
    return store.ok() ? Result<>() : Result<>(store.error());
}

Member a_member(std::string version = "") {
    return {.id = "me", .incarnation = "1", .version = std::move(version)};
}

Ownership a_claim(std::int64_t epoch, std::string version = "", std::string owner = "me") {
    return {.partition = {3},
            .owner = std::move(owner),
            .epoch = {epoch},
            .version = std::move(version)};
}

Checkpoint at(std::int64_t sequence, std::int64_t epoch = 1) {
    return {.partition = {3},
            .sequence = {sequence},
            .offset = std::to_string(sequence) + "00",
            .epoch = {epoch}};
}

// The next request that writes is struck, and no other.
void strike_next_write(BlobServer& server, Fault fault) {
    server.set_fault([fault, is_done = false](const http::Request& request) mutable {
        if (is_done || request.method != "PUT") return Fault::none;
        is_done = true;
        return fault;
    });
}

// --- layout

TEST(BlobStore, writes_what_the_official_sdks_read) {
    BlobServer server;
    const auto client = a_client(server);
    ASSERT_TRUE(client->write(a_member()));
    ASSERT_TRUE(client->write(a_claim(1)));
    ASSERT_TRUE(client->write(at(42)));

    const auto blobs = server.blobs();

    const auto& ownership = blobs.at(prefix + "ownership/3");
    EXPECT_EQ(*find(ownership.metadata, "ownerid"), "me");
    EXPECT_EQ(ownership.body, "");
    const auto& checkpoint = blobs.at(prefix + "checkpoint/3");
    EXPECT_EQ(*find(checkpoint.metadata, "offset"), "4200");
    EXPECT_EQ(*find(checkpoint.metadata, "sequencenumber"), "42");
    EXPECT_EQ(*find(checkpoint.metadata, "clientidentifier"), "me");
    EXPECT_EQ(checkpoint.body, "");
    EXPECT_TRUE(blobs.contains(prefix + "members/me"));
}

TEST(BlobStore, releases_to_an_empty_owner_and_keeps_the_epoch) {
    BlobServer server;
    const auto client = a_client(server);
    const auto claimed = client->write(a_claim(7));

    ASSERT_TRUE(client->write(a_claim(7, *claimed, "")));

    EXPECT_EQ(server.blobs().at(prefix + "ownership/3").metadata, (Metadata{{"ownerid", ""}}));
    const auto listed = client->ownerships();
    EXPECT_EQ(listed->at(0).owner, "");
    EXPECT_EQ(listed->at(0).epoch, Epoch{7});
}

TEST(BlobStore, sees_owners_that_know_no_epochs_and_their_checkpoints) {
    BlobServer server;
    const auto client = a_client(server);
    ASSERT_TRUE(client->write(a_claim(5)));
    ASSERT_TRUE(client->write(at(10, 5)));
    server.put(prefix + "ownership/3", {{"ownerid", "a-js-processor"}});
    server.put(prefix + "checkpoint/3", {{"offset", "1200"}, {"sequencenumber", "12"}});

    const auto owned = client->ownerships();
    const auto sealed = client->seal(3, 1);

    EXPECT_EQ(owned->at(0).owner, "a-js-processor");
    EXPECT_EQ(owned->at(0).epoch, Epoch{0});
    ASSERT_TRUE(sealed) << to_string(sealed.error());
    EXPECT_EQ(sealed->sequence, SequenceNumber{12});
    EXPECT_EQ(sealed->offset, "1200");
    EXPECT_EQ(client->write(at(11, 1)).error().code, ErrorCode::conflict) << "it is behind theirs";
    EXPECT_TRUE(client->write(at(13, 1)));
}

TEST(BlobStore, leaves_out_what_it_cannot_use) {
    BlobServer server;
    server.put(prefix + "checkpoint/0", {{"offset", "no offset"}, {"sequencenumber", "7"}});
    server.put(prefix + "checkpoint/1", {{"offset", "no offset"}});
    server.put(prefix + "checkpoint/2", {});
    server.put(prefix + "checkpoint/x", {{"offset", "1"}, {"sequencenumber", "1"}});
    server.put(prefix + "ownership/0", {});
    server.put(prefix + "ownership/", {{"hdi_isfolder", "true"}});
    server.put(prefix + "members/half", {{"v", "1"}});
    server.put(prefix + "else/0", {{"ownerid", "x"}});
    const auto client = a_client(server);

    const auto checkpoints = client->checkpoints();
    const auto ownerships = client->ownerships();

    ASSERT_EQ(checkpoints->size(), 1u);
    EXPECT_EQ(checkpoints->at(0).sequence, SequenceNumber{7});
    ASSERT_EQ(ownerships->size(), 1u);
    EXPECT_EQ(ownerships->at(0).owner, "");
    EXPECT_TRUE(client->members()->empty());
    EXPECT_EQ(client->seal(1, 1)->sequence, SequenceNumber{-1});
}

TEST(BlobStore, lists_everything_of_one_task_with_one_request) {
    BlobServer server;
    const auto client = a_client(server);
    ASSERT_TRUE(client->write(a_member()));
    ASSERT_TRUE(client->write(Record{.key = "request/pause", .value = "all"}));
    ASSERT_TRUE(client->write(Record{.key = "moves/1", .value = "x"}));
    ASSERT_TRUE(client->write(a_claim(1)));
    const std::uint64_t before = server.requests();
    Promise<std::size_t> members, ownerships, requests;

    client->loop().post([&] {
        client->store().list_members([&](auto listed) { members.set(listed->size()); });
        client->store().list_ownerships([&](auto listed) { ownerships.set(listed->size()); });
        client->store().list_records("request/",
                                     [&](auto listed) { requests.set(listed->size()); });
    });

    EXPECT_EQ(members.wait(), 1u);
    EXPECT_EQ(ownerships.wait(), 1u);
    EXPECT_EQ(requests.wait(), 1u);
    EXPECT_EQ(server.requests(), before + 1);
    EXPECT_EQ(client->records("")->size(), 2u);
}

TEST(BlobStore, writes_checkpoints_that_wait_together_with_one_request) {
    BlobServer server;
    const auto client = a_client(server);
    ASSERT_TRUE(client->write(at(0)));
    const std::uint64_t before = server.requests();
    std::atomic<int> left = 100;
    Promise<bool> all;

    client->loop().post([&] {
        for (int i = 0; i < 100; ++i) {
            client->store().write_checkpoint(at(i), [&](const Result<>& written) {
                EXPECT_TRUE(written.ok());
                if (--left == 0) all.set(true);
            });
        }
    });
    all.wait();

    EXPECT_EQ(server.requests(), before + 2) << "the first, and the rest";
    EXPECT_EQ(client->checkpoints()->at(0).sequence, SequenceNumber{99});
}

// --- checkpoints before the first position

TEST(BlobStore, shows_no_checkpoint_to_the_sdks_before_there_is_a_position) {
    BlobServer server;
    const auto client = a_client(server);

    ASSERT_TRUE(client->seal(3, 1));
    Checkpoint tried = at(-1);
    tried.offset.clear();
    tried.attempts = 2;
    ASSERT_TRUE(client->write(tried));

    EXPECT_FALSE(server.blobs().contains(prefix + "checkpoint/3"));
    EXPECT_EQ(client->checkpoints()->at(0).sequence, SequenceNumber{-1});
    EXPECT_EQ(client->checkpoints()->at(0).attempts, 2u);
    EXPECT_EQ(a_client(server)->seal(3, 2)->attempts, 2u);
    ASSERT_TRUE(client->write(at(0, 2)));
    EXPECT_EQ(*find(server.blobs().at(prefix + "checkpoint/3").metadata, "sequencenumber"), "0");
    ASSERT_EQ(client->checkpoints()->size(), 1u);
    EXPECT_EQ(client->checkpoints()->at(0).sequence, SequenceNumber{0});
}

TEST(BlobStore, fences_a_replaced_owner_that_has_no_position_yet) {
    BlobServer server;
    const auto replaced = a_client(server), owner = a_client(server);
    ASSERT_TRUE(replaced->seal(3, 1));
    ASSERT_TRUE(owner->seal(3, 2));

    EXPECT_EQ(replaced->write(at(5, 1)).error().code, ErrorCode::fenced);

    EXPECT_FALSE(server.blobs().contains(prefix + "checkpoint/3"));
    EXPECT_TRUE(owner->write(at(1, 2)));
    EXPECT_EQ(replaced->seal(3, 1).error().code, ErrorCode::fenced);
}

// It was about to make the first checkpoint, and stopped in between.
TEST(BlobStore, fences_an_owner_during_its_first_checkpoint) {
    BlobServer server;
    const auto replaced = a_client(server, {.try_max = 30s, .wait_max = 50ms, .pause_min = 10ms});
    const auto owner = a_client(server);
    while (!replaced->seal(3, 1).ok()) {  // on a busy machine even 50 ms may pass
    }
    server.set_fault([](const http::Request& request) {
        const bool is_first = request.method == "PUT" && request.path.ends_with("/checkpoint/3");
        return is_first ? Fault::busy : Fault::none;
    });
    EXPECT_EQ(replaced->write(at(5, 1)).error().code, ErrorCode::unavailable);
    server.set_fault({});
    ASSERT_TRUE(server.blobs().contains(prefix + "seal/3"));

    ASSERT_TRUE(owner->seal(3, 2));

    Result<> late = replaced->write(at(5, 1));
    while (late.ok() || late.error().code == ErrorCode::unavailable)
        late = replaced->write(at(5, 1));
    EXPECT_EQ(late.error().code, ErrorCode::fenced);
    EXPECT_EQ(owner->checkpoints()->at(0).sequence, SequenceNumber{-1});
    EXPECT_TRUE(owner->write(at(1, 2)));
}

TEST(BlobStore, takes_the_checkpoint_that_an_sdk_wrote_beside_a_seal) {
    BlobServer server;
    const auto client = a_client(server);
    ASSERT_TRUE(client->seal(3, 1));
    server.put(prefix + "checkpoint/3", {{"offset", "1200"}, {"sequencenumber", "12"}});

    EXPECT_EQ(client->write(at(11)).error().code, ErrorCode::conflict);
    EXPECT_EQ(client->seal(3, 1)->sequence, SequenceNumber{12});
    ASSERT_EQ(client->checkpoints()->size(), 1u);
    EXPECT_EQ(client->checkpoints()->at(0).offset, "1200");
    EXPECT_TRUE(client->write(at(13)));
}

// --- faults

TEST(BlobStore, adopts_a_write_whose_answer_was_lost) {
    BlobServer server;
    const auto client = a_client(server);

    strike_next_write(server, Fault::lost);
    const auto member = client->write(a_member());
    ASSERT_TRUE(member) << to_string(member.error());
    strike_next_write(server, Fault::lost);
    ASSERT_TRUE(client->write(a_member(*member)));
    strike_next_write(server, Fault::lost);
    const auto claimed = client->write(a_claim(1));
    ASSERT_TRUE(claimed) << to_string(claimed.error());
    EXPECT_EQ(client->ownerships()->at(0).version, *claimed);
    strike_next_write(server, Fault::lost);
    ASSERT_TRUE(client->write(at(1)));
    strike_next_write(server, Fault::lost);
    ASSERT_TRUE(client->write(at(2)));
    strike_next_write(server, Fault::lost);
    const auto released = client->write(a_claim(1, *claimed, ""));
    ASSERT_TRUE(released) << to_string(released.error());
    EXPECT_EQ(client->ownerships()->at(0).version, *released);
    EXPECT_EQ(client->checkpoints()->at(0).sequence, SequenceNumber{2});
    strike_next_write(server, Fault::lost);
    EXPECT_TRUE(client->add({.partition = {1}, .sequence = {2}}));
}

TEST(BlobStore, does_not_adopt_what_another_wrote) {
    BlobServer server;
    const auto client = a_client(server), other = a_client(server);
    ASSERT_TRUE(other->write(a_claim(1)));

    strike_next_write(server, Fault::busy);
    const auto claimed = client->write(a_claim(1));

    ASSERT_FALSE(claimed);
    EXPECT_EQ(claimed.error().code, ErrorCode::conflict) << "it says the same, but is not ours";
}

TEST(BlobStore, waits_for_a_busy_service_and_gives_up_in_time) {
    BlobServer server;
    const auto client = a_client(server);
    const auto hasty = a_client(server, {.try_max = 30s, .wait_max = 50ms, .pause_min = 10ms});
    std::atomic<int> struck = 0;
    server.set_fault(
        [&](const http::Request&) { return ++struck <= 5 ? Fault::busy : Fault::none; });
    EXPECT_TRUE(client->write(a_member()));
    EXPECT_GT(struck, 5);
    server.set_fault([](const http::Request&) { return Fault::busy; });

    EXPECT_EQ(hasty->members().error().code, ErrorCode::unavailable);
    EXPECT_EQ(hasty->ownerships().error().code, ErrorCode::unavailable);
    EXPECT_EQ(hasty->write(a_claim(9)).error().code, ErrorCode::unavailable);
    EXPECT_EQ(hasty->seal(3, 1).error().code, ErrorCode::unavailable);
    server.set_fault({});
    EXPECT_EQ(hasty->members()->size(), 1u);
}

TEST(BlobStore, is_not_stopped_by_a_service_that_is_silent) {
    BlobServer server;
    const auto client = a_client(server, {.try_max = 200ms, .wait_max = 60s, .pause_min = 1ms});

    strike_next_write(server, Fault::silent);
    const auto claimed = client->write(a_claim(1));

    ASSERT_TRUE(claimed) << to_string(claimed.error()) << " (it was done, and adopted)";
    EXPECT_EQ(client->ownerships()->at(0).version, *claimed);
}

TEST(BlobStore, goes_on_after_the_service_was_away) {
    BlobServer server;
    const auto client = a_client(server);
    const auto hasty = a_client(server, {.try_max = 30s, .wait_max = 20ms, .pause_min = 10ms});
    const auto claimed = client->write(a_claim(1));
    Promise<Result<std::string>> renewed;

    server.end();
    EXPECT_EQ(hasty->members().error().code, ErrorCode::unavailable);
    client->loop().post([&] {
        client->store().write_ownerships({a_claim(1, *claimed)}, [&](auto results) {
            renewed.set(results.ok() ? (*results)[0] : results.error());
        });
    });
    server.start_again();

    EXPECT_TRUE(renewed.wait().ok());
    EXPECT_TRUE(hasty->members().ok());
}

// --- opening

TEST(BlobStore, names_what_is_wrong_when_it_is_opened_and_never_a_secret) {
    BlobServer server;
    server.set_refusal(403, "AuthenticationFailed");
    const auto wrong_key = opening(server.address());
    server.set_refusal(404, "ContainerNotFound");
    const auto no_container = opening(server.address());
    server.set_refusal(200, "");
    const auto no_storage = opening(server.address());
    const auto nobody =
        opening("UseDevelopmentStorage=true;BlobEndpoint=http://127.0.0.1:1/a;Container=abc");
    server.set_refusal(403, "AuthorizationPermissionMismatch");
    const auto no_right = opening(server.endpoint() + "/checkpoints?sv=1&sig=secret");

    EXPECT_EQ(wrong_key.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(wrong_key.error().detail.find("AccountKey"), std::string::npos);
    EXPECT_EQ(no_container.error().code, ErrorCode::not_found);
    EXPECT_NE(no_container.error().detail.find("Create=true"), std::string::npos);
    EXPECT_EQ(no_storage.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(nobody.error().code, ErrorCode::unavailable);
    EXPECT_NE(no_right.error().detail.find("SAS"), std::string::npos) << no_right.error().detail;
    for (const auto* each : {&wrong_key, &no_container, &no_storage, &nobody, &no_right}) {
        EXPECT_EQ(each->error().detail.find("secret"), std::string::npos);
        EXPECT_EQ(each->error().detail.find("Eby8"), std::string::npos);
    }
}

TEST(BlobStore, warns_of_a_twin_group_that_differs_by_case) {
    BlobServer server;
    server.put("localhost/Homes/$Default/ownership/0", {{"ownerid", "a-go-processor"}});
    CapturedTrace trace(TraceLevel::warning);

    EXPECT_TRUE(opening(server.address()));

    const std::string said = trace.take();
    EXPECT_NE(said.find("differ by case"), std::string::npos) << said;
    EXPECT_NE(said.find("localhost/Homes/$Default/"), std::string::npos) << said;
}

}  // namespace
}  // namespace evenkeel::checkpoint
