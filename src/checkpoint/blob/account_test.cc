#include "checkpoint/blob/account.h"

#include <gtest/gtest.h>

namespace evenkeel::checkpoint {
namespace {

constexpr const char* key = "AAECAwQFBgcICQoLDA0ODw==";

TEST(BlobAccount, is_read_from_a_connection_string_in_any_case_and_order) {
    const auto account = parse_blob_account(
        std::string("containername=checkpoints;ACCOUNTKEY=") + key +
        ";AccountName=homes;DefaultEndpointsProtocol=https;EndpointSuffix=core.windows.net;");

    ASSERT_TRUE(account.ok()) << to_string(account.error());
    EXPECT_EQ(account->origin, "https://homes.blob.core.windows.net");
    EXPECT_EQ(account->path, "");
    EXPECT_EQ(account->name, "homes");
    EXPECT_EQ(account->key.reveal().size(), 16u);
    EXPECT_EQ(account->key.reveal()[15], '\x0f');
    EXPECT_TRUE(account->sas.empty());
    EXPECT_FALSE(account->creates);
    EXPECT_EQ(to_string(*account), "https://homes.blob.core.windows.net/checkpoints");
}

TEST(BlobAccount, of_the_emulator_has_its_published_key_and_may_be_elsewhere) {
    const auto here = parse_blob_account("UseDevelopmentStorage=true;Container=abc;Create=true");
    const auto there = parse_blob_account(
        "UseDevelopmentStorage=true;BlobEndpoint=http://127.0.0.1:4711/devstoreaccount1/;"
        "Container=abc");

    ASSERT_TRUE(here.ok()) << to_string(here.error());
    EXPECT_EQ(here->origin, "http://127.0.0.1:10000");
    EXPECT_EQ(here->path, "/devstoreaccount1");
    EXPECT_EQ(here->name, "devstoreaccount1");
    EXPECT_EQ(here->key.reveal().size(), 64u);
    EXPECT_TRUE(here->creates);
    ASSERT_TRUE(there.ok()) << to_string(there.error());
    EXPECT_EQ(there->origin, "http://127.0.0.1:4711");
    EXPECT_EQ(there->path, "/devstoreaccount1");
}

TEST(BlobAccount, is_read_from_an_address_with_a_sas) {
    const auto cloud = parse_blob_account(
        "https://homes.blob.core.windows.net/checkpoints?sv=2021&create=true&sig=a%2Bb%3D");
    const auto local = parse_blob_account("http://127.0.0.1:10000/account/abc/?sig=x");

    ASSERT_TRUE(cloud.ok()) << to_string(cloud.error());
    EXPECT_EQ(cloud->container, "checkpoints");
    EXPECT_EQ(cloud->name, "homes");
    EXPECT_EQ(cloud->sas.reveal(), "sv=2021&sig=a%2Bb%3D");
    EXPECT_TRUE(cloud->creates);
    ASSERT_TRUE(local.ok()) << to_string(local.error());
    EXPECT_EQ(local->path, "/account");
    EXPECT_EQ(local->name, "account");
    EXPECT_EQ(local->container, "abc");
}

TEST(BlobAccount, that_is_wrong_is_named_without_its_secrets) {
    const struct {
        std::string text;
        std::string named;
    } cases[] = {
        {"", "AccountName"},
        {"secret", "NAME=VALUE"},
        {"AccountName=a;Container=abc", "AccountKey"},
        {"AccountName=a;AccountKey=secret;Container=abc", "base64"},
        {std::string("AccountName=a;AccountKey=") + key, "Container=NAME"},
        {std::string("AccountName=a;Container=A_b;AccountKey=") + key, "'A_b'"},
        {std::string("AccountName=a;Container=a--b;AccountKey=") + key, "'a--b'"},
        {std::string("BlobEndpoint=ftp://secret;Container=abc;AccountKey=") + key, "https://"},
        {"https://a.blob.core.windows.net/abc", "SAS"},
        {"https://a.blob.core.windows.net?sig=secret", "container"},
        {"https:///abc?sig=secret", "ACCOUNT"},
        {"https://user:secret@a/abc?sig=secret", "ACCOUNT"},
    };
    for (const auto& [text, named] : cases) {
        const auto account = parse_blob_account(text);
        ASSERT_FALSE(account.ok()) << text;
        EXPECT_EQ(account.error().code, ErrorCode::invalid_argument) << text;
        EXPECT_NE(account.error().detail.find(named), std::string::npos) << account.error().detail;
        EXPECT_EQ(account.error().detail.find("secret"), std::string::npos) << text;
        EXPECT_EQ(account.error().detail.find(key), std::string::npos) << text;
    }
}

}  // namespace
}  // namespace evenkeel::checkpoint
