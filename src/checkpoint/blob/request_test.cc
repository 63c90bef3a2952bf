#include "checkpoint/blob/request.h"

#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/golden.h"

namespace evenkeel::checkpoint {
namespace {

std::string in_group(std::string_view name) {
    return fmt::format("ns.servicebus.windows.net/hub/$default/{}", name);
}

// Sun, 15 Nov 2026 12:00:00 GMT
constexpr WallTime noon{1'794'744'000'000};

// The key is the bytes 0 to 63.
BlobAccount an_account() {
    return *parse_blob_account(
        "AccountName=evhstore;Container=checkpoints;AccountKey="
        "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4vMDEyMzQ1Njc4OTo7PD0+Pw==");
}

std::string signature(const BlobRequest& request, WallTime at, const BlobAccount& account) {
    const auto wire = to_wire(request, account, at);
    const auto found = std::find_if(wire.fields.begin(), wire.fields.end(), [](const auto& field) {
        return field.name == "Authorization";
    });
    return found == wire.fields.end() ? "none" : found->value;
}

BlobRequest a_creation() {
    return {.method = "PUT",
            .blob = in_group("ownership/3"),
            .only_if_new = true,
            .metadata = {{"ownerid", "proc-7f3c"}},
            .is_block_blob = true};
}

BlobRequest a_renewal(const std::string& owner) {
    return {.method = "PUT",
            .blob = in_group("ownership/3"),
            .query = {{"comp", "metadata"}},
            .if_match = "0x8DE24F0A1B2C3D4",
            .metadata = {{"ownerid", owner}}};
}

BlobRequest a_listing() {
    return {.method = "GET",
            .query = {{"restype", "container"},
                      {"comp", "list"},
                      {"prefix", in_group("ownership/")},
                      {"include", "metadata"}}};
}

TEST(BlobRequest, tells_the_time_as_http_does) {
    EXPECT_EQ(http_date(noon), "Sun, 15 Nov 2026 12:00:00 GMT");
    EXPECT_EQ(http_date({0}), "Thu, 01 Jan 1970 00:00:00 GMT");
}

std::string as_text(const http::FetchRequest& wire) {
    std::string text = wire.method + " " + wire.url;
    for (const http::Field& field : wire.fields) {
        text += fmt::format("\n{}: {}", field.name, field.value);
    }
    return text;
}

TEST(BlobRequestGolden, requests_are_as_layout_1_says) {
    auto golden = test::golden_texts("blob_v1");
    const WallTime later{noon.milliseconds + 30'000};

    EXPECT_EQ(as_text(to_wire(a_creation(), an_account(), noon)), golden["request for a claim"]);
    EXPECT_EQ(as_text(to_wire(a_renewal("proc-7f3c"), an_account(), later)),
              golden["request for a renewal"]);
}

TEST(BlobRequest, signs_as_the_published_vectors_do) {
    const std::string word = "SharedKey evhstore:";
    const BlobAccount account = an_account();
    const BlobRequest checkpoint{
        .method = "PUT",
        .blob = in_group("checkpoint/3"),
        .query = {{"comp", "metadata"}},
        .metadata = {
            {"offset", "4294967296"}, {"sequencenumber", "42"}, {"clientidentifier", "proc-7f3c"}}};

    EXPECT_EQ(signature(a_creation(), noon, account),
              word + "/uXAfGGx0D4fDsNL/FFNREOl8uxDsUGmgW1iVbdWG0E=");
    EXPECT_EQ(signature(a_renewal("proc-7f3c"), {noon.milliseconds + 30'000}, account),
              word + "CdSqSt05fuyDD0K3em/NjoMve09y+nc0O4vtryEPto8=");
    EXPECT_EQ(signature(a_renewal(""), {noon.milliseconds + 30'000}, account),
              word + "q7vZmjvhfnISlr9/Kzv8XF151BeotVbH149ibUVTSZc=");
    EXPECT_EQ(signature(checkpoint, {noon.milliseconds + 45'000}, account),
              word + "LB3OJIlAlAKIz23wsPYGnFQyJJMneJSv2IsWS1N3h/8=");
    EXPECT_EQ(signature(a_listing(), {noon.milliseconds + 60'000}, account),
              word + "AQEvUY97I5/iCx/MwGSSgeMqR094tkhr2K6WAVvPIYE=");
    EXPECT_EQ(string_to_sign(a_creation(), account, noon).size(), 205u);
    EXPECT_EQ(string_to_sign(a_renewal(""), account, noon).size(), 203u);
}

TEST(BlobRequest, signs_the_emulators_account_twice_in_the_path) {
    BlobAccount account = *parse_blob_account("UseDevelopmentStorage=true;Container=vec");
    BlobRequest listing = a_listing();

    EXPECT_EQ(signature(a_creation(), noon, account),
              "SharedKey devstoreaccount1:Z2yGmxxPnEgEGC9n4Cim1iqPbiZUGjnhaGVj2PDzGw8=");
    EXPECT_EQ(signature(a_renewal(""), {noon.milliseconds + 30'000}, account),
              "SharedKey devstoreaccount1:lM6b9apR/s/lsHGsOsXwADXI33RrtPchOjYkOP8yudk=");
    EXPECT_EQ(signature(listing, {noon.milliseconds + 60'000}, account),
              "SharedKey devstoreaccount1:7imJUbcQFb20KYUEG0nD1I094hUGFxUOjyzPKFjnLQE=");
}

TEST(BlobRequest, goes_onto_the_wire_with_its_conditions_and_escapes) {
    const BlobAccount account = an_account();
    const auto listing = to_wire(a_listing(), account, noon);
    const auto odd = to_wire({.method = "HEAD", .blob = "a b%/\xC3\xA4"}, account, noon);
    const auto renewal = to_wire(a_renewal(""), account, noon);

    EXPECT_EQ(
        listing.url,
        "https://evhstore.blob.core.windows.net/checkpoints?restype=container&comp=list&"
        "prefix=ns.servicebus.windows.net%2Fhub%2F%24default%2Fownership%2F&include=metadata");
    EXPECT_EQ(odd.url, "https://evhstore.blob.core.windows.net/checkpoints/a%20b%25/%C3%A4");
    EXPECT_TRUE(std::any_of(renewal.fields.begin(), renewal.fields.end(), [](const auto& field) {
        return field.name == "If-Match" && field.value == "\"0x8DE24F0A1B2C3D4\"";
    }));
}

TEST(BlobRequest, with_a_sas_carries_it_in_the_query_and_no_signature) {
    const auto account =
        *parse_blob_account("https://homes.blob.core.windows.net/abc?sv=2021&sig=x%3D");

    const auto wire = to_wire(a_renewal("me"), account, noon);

    EXPECT_TRUE(wire.url.ends_with("?comp=metadata&sv=2021&sig=x%3D")) << wire.url;
    EXPECT_EQ(signature(a_renewal("me"), noon, account), "none");
    EXPECT_TRUE(to_wire({.method = "HEAD", .blob = "b"}, account, noon)
                    .url.ends_with("/b?sv=2021&sig=x%3D"));
}

}  // namespace
}  // namespace evenkeel::checkpoint
