#include <gtest/gtest.h>

#include "door/auth/jwt_fixture.h"
#include "door/door_fixture.h"

namespace evenkeel::door {
namespace {

Buffer read_request(std::string_view type, std::string_view hub, std::string_view partition = {},
                    std::string_view token = {}) {
    std::vector<std::pair<std::string, Buffer>> pairs = {
        {"operation", a_string("READ")}, {"type", a_string(type)}, {"name", a_string(hub)}};
    if (!partition.empty()) pairs.emplace_back("partition", a_string(partition));
    if (!token.empty()) pairs.emplace_back("security_token", a_string(token));
    return a_map(pairs, false);
}
constexpr std::string_view hub_type = "com.microsoft:eventhub";
constexpr std::string_view partition_type = "com.microsoft:partition";

TEST(Cbs, accepts_the_audiences_of_all_clients) {
    DoorFixture world;
    world.create("team/eh2", 1);
    Client& client = world.stranger();
    const std::vector<std::pair<std::string, std::string>> styles = {
        {"sb://hub:5672/eh1/$management", "sb://hub:5672/eh1"},
        {"sb://hub/eh1/ConsumerGroups/$Default/Partitions/0",
         "sb://hub/eh1/ConsumerGroups/$Default/Partitions/0"},
        {"sb://hub/eh1/consumergroups/$Default", "sb://hub/eh1/consumergroups/$Default"},
        {"amqp://hub:5672/EH1/Partitions/0", "amqp://hub:5672/eh1/partitions/0"},
        {"amqps://hub/eh1/", "amqps://hub/eh1"},
        {"amqps://hub/team/eh2", "sb://hub/"},
        {"amqps://hub/eh1/ConsumerGroups/$Default/$management", "amqps://hub/eh1"},
        {"hub/eh1", "hub/eh1"},
        {"amqps://hub/eh1/Partitions/0", "hub"},
        {"sb://hub", "sb://hub"}};
    for (const auto& [audience, resource] : styles) {
        const auto reply =
            client.put_token(make_sas(resource, "root", root_key, world.now() + 1h), audience);
        EXPECT_EQ(reply.code, 202) << audience << ": " << reply.description;
        EXPECT_EQ(reply.description, "Accepted");
    }
}

TEST(Cbs, refuses_bad_tokens_with_the_words_of_the_service) {
    DoorFixture world;
    Client& client = world.stranger();
    const auto put = [&](const std::string& token) {
        return client.put_token(token, "sb://hub/eh1");
    };

    const auto wrong = put(make_sas("sb://hub/eh1", "root", other_key, world.now() + 1h));
    const auto expired = put(make_sas("sb://hub/eh1", "root", root_key, world.now() - 1s));

    EXPECT_EQ(wrong.code, 401);
    EXPECT_EQ(wrong.condition, "com.microsoft:auth-failed");
    EXPECT_TRUE(wrong.description.starts_with(
        "InvalidSignature: The token has an invalid signature. TrackingId:"));
    EXPECT_EQ(expired.code, 401);
    EXPECT_TRUE(
        expired.description.starts_with("ExpiredToken: The token is expired. Expiration time: "));
    EXPECT_EQ(put("garbage").code, 401);
    EXPECT_EQ(client.put_token("x", "sb://hub/eh1", "jwt").code, 401);
    EXPECT_EQ(client.put_token("x", "sb://hub/eh1", "other").code, 401);
    EXPECT_EQ(client.request("$cbs", a_map({}, false)).code, 400);
    EXPECT_EQ(client.sender("eh1")->error.name, "amqp:unauthorized-access");
}

TEST(Cbs, refuses_a_token_of_another_host) {
    DoorFixture world;
    Client& client = world.stranger();

    const auto reply = client.put_token(
        make_sas("sb://elsewhere/eh1", "root", root_key, world.now() + 1h), "sb://elsewhere/eh1");

    EXPECT_EQ(reply.code, 401);
    EXPECT_EQ(reply.condition, "com.microsoft:auth-failed");
    EXPECT_TRUE(reply.description.starts_with("InvalidAudience: ")) << reply.description;
    EXPECT_EQ(client.sender("eh1")->error.name, "amqp:unauthorized-access");
}

TEST(Cbs, has_one_sender_on_a_connection) {
    DoorFixture world;
    Client& client = world.client();

    const auto second = client.sender("$cbs");
    EXPECT_TRUE(second->detached);
    EXPECT_EQ(second->error.name, "amqp:not-allowed");

    Client& other = world.stranger();
    const auto first = other.sender("$cbs");
    first->link->detach(std::nullopt);
    other.flush();
    other.run_for(1s);
    EXPECT_TRUE(other.sender("$cbs")->is_open()) << "the first has gone";
}

TEST(Cbs, has_a_new_sender_after_the_old_ones_session_ended) {
    DoorFixture world;
    Client& client = world.stranger();
    amqp::Session& session = client.connection->begin();
    ASSERT_TRUE(client.attach(amqp::Role::sender, "$cbs", {}, &session)->is_open());

    session.end(std::nullopt);
    client.flush();
    client.run_for(1s);

    EXPECT_TRUE(client.sender("$cbs")->is_open());
}

TEST(Cbs, says_that_a_hub_is_not_there_only_to_those_who_may_know) {
    DoorFixture world({}, {{"mine", "eh1", other_key, {}, {true, true, false}}});
    Client& client = world.stranger();
    const std::string url = "sb://hub/none";

    const auto allowed = client.put_token(make_sas(url, "root", root_key, world.now() + 1h), url);
    const auto stranger =
        client.put_token(make_sas("sb://hub/eh1", "mine", other_key, world.now() + 1h), url);

    EXPECT_EQ(allowed.code, 404);
    EXPECT_EQ(allowed.condition, "amqp:not-found");
    EXPECT_TRUE(allowed.description.starts_with(
        "The messaging entity 'sb://hub/none' could not be found."));
    EXPECT_EQ(stranger.code, 401);
}

TEST(Cbs, takes_any_token_of_a_provider_when_told_to) {
    DoorFixture world({.accept_any_token = true});
    Client& client = world.stranger();

    EXPECT_EQ(client.put_token("whatever", "sb://hub/eh1", "jwt").code, 202);
    EXPECT_TRUE(client.sender("eh1")->is_open());
}

TEST(Cbs, refuses_a_token_of_an_unknown_key_until_the_key_set_has_it) {
    const Provider first(false, "first");
    const Provider second(false, "second");
    int asked = 0;
    JwtOptions options;
    options.issuers = {"i"};
    options.audiences = {"a"};
    options.default_rights = {true, false, false};
    options.unknown_key = [&asked] { ++asked; };
    DoorFixture world({.jwt = JwtVerifier::make(options, key_set_of(first)).value()});
    Client& client = world.stranger();
    const auto put = [&](const Provider& provider) {
        const auto expires = world.now().milliseconds / 1000 + 3600;
        return client.put_token(
            provider.token(R"({"iss":"i","aud":"a","exp":)" + std::to_string(expires) + "}"),
            "sb://hub/eh1", "jwt");
    };

    const auto unknown = put(second);
    EXPECT_EQ(unknown.code, 401);
    EXPECT_EQ(unknown.condition, "com.microsoft:auth-failed");
    EXPECT_TRUE(unknown.description.starts_with("InvalidSignature: ")) << unknown.description;
    EXPECT_EQ(asked, 1) << "the key set is to be fetched again";
    EXPECT_EQ(client.sender("eh1")->error.name, "amqp:unauthorized-access");

    world.door->set_jwt(JwtVerifier::make(options, key_set_of(second)).value());
    EXPECT_EQ(put(second).code, 202);
    EXPECT_EQ(put(first).code, 401);
    EXPECT_TRUE(client.sender("eh1")->is_open());
}

TEST(Cbs, echoes_the_message_id_with_its_type) {
    DoorFixture world;
    Client& client = world.stranger();
    const std::vector<Buffer> ids = {a_string("text"),
                                     encoded([](Encoder& encoder) { encoder.ulong(7); }),
                                     encoded([](Encoder& encoder) { encoder.uuid(amqp::Uuid{}); })};
    for (const auto& id : ids) {
        const auto reply = client.request("$cbs", a_map({}, false), "", id);

        amqp::Decoder decoder(reply.message.section(amqp::descriptor::properties));
        auto fields = *decoder.list();
        for (int i = 0; i < 5; ++i) fields.value();
        const ByteView correlation = fields.value();
        EXPECT_EQ(Buffer(correlation.begin(), correlation.end()), id);
    }
}

TEST(Cbs, chooses_the_link_for_an_answer_and_waits_for_credit) {
    DoorFixture world;
    Client& client = world.stranger();
    const auto to = client.sender("$cbs");
    const auto by_target = client.receiver("$cbs", {.other_end = "my-target"});
    const auto by_name = client.receiver("$cbs", {.name = "my-name", .credit = 0});
    amqp::Session& elsewhere = client.connection->begin();
    const auto far = client.attach(amqp::Role::receiver, "$cbs", {}, &elsewhere);
    const auto ask = [&](std::string_view reply_to) {
        client.send(to, Client::request_message(a_map({}, false), "", a_string("1"), reply_to));
        client.run_for(100ms);
    };

    ask("my-target");
    EXPECT_EQ(by_target->messages.size(), 1u);
    ask("my-name");
    EXPECT_EQ(by_name->messages.size(), 0u);
    by_name->link->grant(1);
    client.flush();
    client.run_for(100ms);
    EXPECT_EQ(by_name->messages.size(), 1u);
    ask("");
    EXPECT_EQ(far->messages.size(), 0u);
}

TEST(Cbs, closes_a_client_that_asks_for_more_than_it_reads) {
    DoorFixture world;
    Client& client = world.client();
    std::vector<ClientLinkRef> never_read;
    const auto to = client.sender("$management");
    for (int i = 0; i < 60; ++i) {
        never_read.push_back(
            client.receiver("$management", {.name = "n" + std::to_string(i), .credit = 0}));
    }
    world.create("wide", 1000);
    for (int i = 0; i < 6000 && !client.closed; ++i) {
        const bool can_send =
            client.wait([&] { return !to->is_open() || to->link->can_send(); }) && to->is_open();
        if (!can_send) break;
        to->link->send({},
                       Client::request_message(read_request(hub_type, "wide"), "", a_string("1"),
                                               "n" + std::to_string(i % 60)),
                       0, true);
        client.flush();
    }
    client.run_for(2s);

    EXPECT_TRUE(client.closed);
    EXPECT_EQ(client.close_error.name, "amqp:resource-limit-exceeded");
}

TEST(Management, describes_a_hub_with_the_types_that_clients_insist_on) {
    DoorFixture world;
    Client& client = world.client();

    const auto reply = client.request("$management", read_request(hub_type, "EH1"));

    ASSERT_EQ(reply.code, 200) << reply.description;
    const ByteView body = reply.message.section(amqp::descriptor::value);
    EXPECT_EQ(amqp::text_in(body, "name"), "eh1");
    EXPECT_EQ(amqp::text_in(body, "type"), hub_type);
    EXPECT_EQ(amqp::integer_in(body, "partition_count"), 4);
    EXPECT_EQ(amqp::integer_in(body, "georeplication_factor"), 1);
    EXPECT_EQ(amqp::text_in(body, "evenkeel_identity").value_or("").size(), 32u);
    amqp::for_each_pair(body, [&](std::string_view key, ByteView value) {
        const auto code = std::to_integer<std::uint8_t>(value[0]);
        if (key == "partition_ids") {
            EXPECT_EQ(code, amqp::code::array32);
        }
        if (key == "created_at") {
            EXPECT_EQ(code, amqp::code::timestamp);
        }
    });
}

TEST(Management, describes_a_partition_empty_and_filled) {
    DoorFixture world;
    Client& client = world.client();

    const auto empty = client.request("$management", read_request(partition_type, "eh1", "1"));
    client.send(client.sender("eh1/Partitions/1"), a_batch({a_data("1"), a_data("2")}),
                amqp::batch_format);
    const auto filled = client.request("$management", read_request(partition_type, "eh1", "1"));

    const ByteView before = empty.message.section(amqp::descriptor::value);
    EXPECT_EQ(amqp::integer_in(before, "begin_sequence_number"), -1);
    EXPECT_EQ(amqp::integer_in(before, "last_enqueued_sequence_number"), -1);
    EXPECT_EQ(amqp::text_in(before, "last_enqueued_offset"), "-1");
    EXPECT_EQ(amqp::integer_in(before, "last_enqueued_time_utc"), -62135596800000);
    const ByteView after = filled.message.section(amqp::descriptor::value);
    EXPECT_EQ(amqp::integer_in(after, "begin_sequence_number"), 0);
    EXPECT_EQ(amqp::integer_in(after, "last_enqueued_sequence_number"), 1);
    EXPECT_EQ(amqp::text_in(after, "partition"), "1");
}

TEST(Management, refuses_with_the_codes_that_clients_map) {
    DoorFixture world;
    Client& client = world.client();
    const auto ask = [&](const Buffer& properties) {
        return client.request("$management", properties);
    };

    const auto partition = ask(read_request(partition_type, "eh1", "4"));
    EXPECT_EQ(partition.code, 400);
    EXPECT_EQ(partition.condition, "com.microsoft:argument-out-of-range");
    EXPECT_TRUE(partition.description.starts_with(
        "The specified partition is invalid for an EventHub partition sender or receiver."));
    for (const char* const bad : {"-1", "x", "00", "1 ", "4294967296"}) {
        EXPECT_EQ(ask(read_request(partition_type, "eh1", bad)).code, 400) << bad;
    }
    const auto missing = ask(read_request(hub_type, "none"));
    EXPECT_EQ(missing.code, 404);
    EXPECT_EQ(missing.condition, "amqp:not-found");
    EXPECT_EQ(ask(read_request("com.microsoft:other", "eh1")).code, 501);
    // A bad token fails even though the connection's own is good.
    const auto token = ask(read_request(
        hub_type, "eh1", "", make_sas("sb://hub/eh1", "root", other_key, world.now() + 1h)));
    EXPECT_EQ(token.code, 401);
}

TEST(Management, is_reached_below_a_consumer_group) {
    DoorFixture world;
    Client& client = world.client();
    const std::string node = "amqps://hub/eh1/ConsumerGroups/$Default/$management";

    EXPECT_EQ(client.request(node, read_request(hub_type, "eh1")).code, 200);
}

TEST(Management, takes_the_requests_own_token_without_cbs) {
    DoorFixture world;
    Client& client = world.stranger();

    EXPECT_EQ(client.request("eh1/$management", read_request(hub_type, "eh1")).code, 401);
    EXPECT_EQ(client
                  .request("eh1/$management", read_request(hub_type, "eh1", "",
                                                           make_sas("sb://hub/eh1", "root",
                                                                    root_key, world.now() + 1h)))
                  .code,
              200);
}

}  // namespace
}  // namespace evenkeel::door
