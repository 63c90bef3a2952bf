// The admin interface on a simulated hub, for the tests beside it: each call runs the world until
// it is answered.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "door/admin/admin.h"
#include "eventhubs/sas.h"
#include "http/site.h"
#include "hub/hub_fixture.h"

namespace evenkeel::door {

using eventhubs::make_sas;

inline const Secret key("the key of all rules");

struct Ask {
    std::string method = "GET";
    std::string path = "/";
    std::string body = {};
    std::string token = {};
    std::string peer = "10.1.2.3";
    std::string host = "hub:5300";
    std::vector<http::Field> fields = {{"Content-Type", "application/json"}};
    std::string query = {};
};

class AdminTest : public testing::Test {
protected:
    AdminTest() { start(); }

    // As after a restart of the server: nothing is in memory.
    void reopen() {
        admin_.reset();
        ring_.reset();
        ASSERT_TRUE(world_.reopen().ok());
        start();
    }
    void start() {
        ring_.emplace(world_.node->loop, world_.node->metadata, rules_,
                      Keys::load(*world_.disk, hub::test_folder).value(), fixed_);
        restart({});
    }

    void restart(const AdminOptions& options) {
        admin_.emplace(world_.node->loop, world_.node->disk_0, *world_.hub, *ring_, world_.registry,
                       options);
    }
    std::string token(const std::string& rule, std::string_view url = "sb://hub/",
                      std::chrono::milliseconds life = std::chrono::hours(1)) {
        return make_sas(url, rule, key, world_.node->loop.clock().wall() + life);
    }
    http::Response ask(const Ask& wanted) {
        http::Request request;
        request.method = wanted.method;
        request.path = wanted.path;
        request.query = wanted.query;
        request.body = wanted.body;
        request.fields = wanted.fields;
        request.fields.push_back({"Host", wanted.host});
        if (!wanted.token.empty()) request.fields.push_back({"Authorization", wanted.token});
        request.peer = {wanted.peer, 1234};
        // As http::Server does; Host is http/site_test.cc's.
        if (auto refusal = site_.refuse(request); refusal && refusal->status == 403) {
            return *refusal;
        }
        std::optional<http::Response> answer;
        admin_->handle(request, [&](http::Response response) {
            EXPECT_FALSE(answer) << "answers once";
            answer = std::move(response);
        });
        EXPECT_TRUE(
            world_.scheduler.run_until([&] { return answer.has_value(); }, std::chrono::hours(1)));
        return answer.value_or(http::Response{.status = 0});
    }
    // With all rights.
    http::Response as_root(const std::string& method, const std::string& path,
                           const std::string& body = {}) {
        return ask({.method = method, .path = path, .body = body, .token = token("root")});
    }
    static std::string filled(std::string_view pattern) {
        std::string path(pattern);
        for (const auto& [name, value] : {std::pair<std::string, std::string>{"{hub}", "homes"},
                                          {"{group}", "g1"},
                                          {"{key}", "k1"},
                                          {"{partition}", "0"},
                                          {"{sequence}", "0"}}) {
            const std::size_t at = path.find(name);
            if (at != std::string::npos) path.replace(at, name.size(), value);
        }
        return path;
    }

    hub::HubFixture world_storage_;
    hub::HubFixture& world_ = hub::opened(world_storage_);
    const std::vector<Rule> fixed_{{"root", "", key, {}, {true, true, true}},
                                   {"sender", "", key, {}, {.send = true}},
                                   {"listener", "", key, {}, {.listen = true}},
                                   {"nothing", "", key, {}, {}},
                                   {"of homes", "homes", key, {}, {true, true, true}}};
    const http::Site site_{{.names = {"hub"}}};
    AccessRules rules_{std::vector<Rule>{}};
    std::optional<KeyRing> ring_;
    std::optional<Admin> admin_;
};

}  // namespace evenkeel::door
