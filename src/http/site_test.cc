#include "http/site.h"

#include <gtest/gtest.h>

namespace evenkeel::http {
namespace {

Request a_request(const std::string& method, const std::string& host,
                  std::vector<Field> more = {}) {
    Request request;
    request.method = method;
    request.path = "/";
    request.fields = std::move(more);
    if (!host.empty()) request.fields.push_back({"Host", host});
    return request;
}

int status(const Site& site, const Request& request) {
    const auto refusal = site.refuse(request);
    return refusal ? refusal->status : 200;
}

const Field upgrade{"Upgrade", "websocket"};

TEST(Site, answers_to_loopback_addresses_and_its_own_names_only) {
    const Site site({.names = {"Hub.example.org", "*.hubs.example.org"}});

    for (const auto* host :
         {"localhost", "LOCALHOST:8080", "localhost.:80", "127.0.0.1:1", "[::1]", "[::1]:5300",
          "10.1.2.3:8080", "hub.EXAMPLE.org", "hub.example.org.:443", "a.hubs.example.org", ""}) {
        EXPECT_EQ(status(site, a_request("GET", host)), 200) << host;
        EXPECT_EQ(status(site, a_request("GET", host, {upgrade})), 200) << host;
    }
    for (const auto* host :
         {"evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example",
          "example.org", "a.hub.example.org", "hubs.example.org", "a.b.hubs.example.org", "hub",
          ":80", "[::1", "[::1]x", "localhost:x", "localhost:99999", "localhost evil.example"}) {
        EXPECT_EQ(status(site, a_request("GET", host)), 421) << host;
        EXPECT_EQ(status(site, a_request("POST", host)), 421) << host;
        EXPECT_EQ(status(site, a_request("GET", host, {upgrade})), 421) << host;
    }
}

TEST(Site, takes_changes_and_upgrades_of_its_own_pages_only) {
    const Site site({.names = {"hub"}, .origins = {"https://console.example.org"}});
    const auto try_all = [&](const std::string& host, const std::vector<Field>& fields) {
        auto with_upgrade = fields;
        with_upgrade.push_back(upgrade);
        const int changed = status(site, a_request("POST", host, fields));
        EXPECT_EQ(status(site, a_request("DELETE", host, fields)), changed);
        EXPECT_EQ(status(site, a_request("GET", host, with_upgrade)), changed);
        EXPECT_EQ(status(site, a_request("GET", host, fields)), 200) << "a page cannot read it";
        return changed;
    };

    EXPECT_EQ(try_all("hub:8080", {}), 200);
    EXPECT_EQ(try_all("hub:8080", {{"Origin", "http://hub:8080"}}), 200);
    EXPECT_EQ(try_all("hub:8080", {{"Origin", "https://HUB:8080"}}), 200);
    EXPECT_EQ(try_all("hub", {{"Origin", "https://hub"}}), 200);
    EXPECT_EQ(try_all("hub:443", {{"Origin", "https://hub"}}), 200);
    EXPECT_EQ(try_all("[::1]:8080", {{"Origin", "http://[::1]:8080"}}), 200);
    EXPECT_EQ(try_all("hub:8080", {{"Origin", "https://console.example.org"},
                                   {"Sec-Fetch-Site", "cross-site"}}),
              200);
    EXPECT_EQ(try_all("hub:8080", {{"Sec-Fetch-Site", "none"}}), 200);
    for (const auto* origin :
         {"https://evil.example", "null", "http://hub:8081", "http://hub", "http://localhost:8080",
          "file://", "hub:8080", "http://hub:8080.evil.example", "https://console.example.org:1",
          "http://evil.example@hub:8080", "http://"}) {
        EXPECT_EQ(try_all("hub:8080", {{"Origin", origin}}), 403) << origin;
    }
    EXPECT_EQ(try_all("hub", {{"Origin", "http://hub:3000"}}), 403);
    EXPECT_EQ(try_all("hub:8080", {{"Sec-Fetch-Site", "cross-site"}}), 403);
    EXPECT_EQ(try_all("hub:8080", {{"Sec-Fetch-Site", "same-site"}}), 403);
}

TEST(Site, knows_which_names_and_origins_may_be_configured) {
    for (const auto* name : {"hub", "hub.example.org", "*.example.org", "a_b-c"}) {
        EXPECT_TRUE(is_host_name(name)) << name;
    }
    for (const auto* name : {"", "*", "*.", "hub:80", "http://hub", "a b", ".a", "a.", "a*"}) {
        EXPECT_FALSE(is_host_name(name)) << name;
    }
    for (const auto* origin : {"http://a", "https://a.b:1", "http://[::1]:80"}) {
        EXPECT_TRUE(is_origin(origin)) << origin;
    }
    for (const auto* origin : {"", "null", "a", "http://", "http://a/", "ftp://a", "http://*.a"}) {
        EXPECT_FALSE(is_origin(origin)) << origin;
    }
}

}  // namespace
}  // namespace evenkeel::http
