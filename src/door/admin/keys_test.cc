#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "door/admin/admin_fixture.h"

namespace evenkeel::door {
namespace {

using namespace std::chrono_literals;

const std::string two_keys = R"("primary_key":"p1","secondary_key":"s1")";

std::string member(const http::Response& response, std::string_view name) {
    const auto value = boost::json::parse({response.body.data(), response.body.size()});
    const auto found = value.as_object().find({name.data(), name.size()});
    return found == value.as_object().end() ? "" : std::string(found->value().as_string());
}

TEST_F(AdminTest, shows_keys_when_they_are_made_and_only_names_in_a_list) {
    const auto made = as_root("POST", "/api/v1/keys", R"({"name":"app","rights":["Send"]})");

    EXPECT_EQ(made.status, 201) << made.body;
    EXPECT_EQ(member(made, "name"), "app");
    EXPECT_EQ(member(made, "primary_key").size(), 44u);
    EXPECT_NE(member(made, "primary_key"), member(made, "secondary_key"));
    const auto list = as_root("GET", "/api/v1/keys");
    EXPECT_EQ(list.status, 200);
    EXPECT_NE(list.body.find(R"({"name":"app","hub":null,"rights":["Send"],"fixed":false})"),
              std::string::npos)
        << list.body;
    EXPECT_NE(list.body.find(R"({"name":"root","hub":null,"rights":["Send","Listen","Manage"],)"
                             R"("fixed":true})"),
              std::string::npos)
        << list.body;
    EXPECT_EQ(list.body.find("_key"), std::string::npos) << "no secret in a list";
}

TEST_F(AdminTest, shows_the_keys_of_one_rule_to_who_may_manage) {
    ASSERT_EQ(as_root("POST", "/api/v1/keys",
                      R"({"name":"app","rights":["listen","SEND"],)" + two_keys + "}")
                  .status,
              201);

    EXPECT_EQ(
        as_root("GET", "/api/v1/keys/app").body,
        R"({"name":"app","hub":null,"rights":["Send","Listen"],"fixed":false,)" + two_keys + "}\n");
    EXPECT_EQ(as_root("GET", "/api/v1/keys/App").status, 404) << "rules are told apart by case";
    EXPECT_EQ(ask({.path = "/api/v1/keys/app", .token = token("listener")}).status, 403);
}

TEST_F(AdminTest, accepts_a_new_key_and_refuses_a_rotated_one_at_once) {
    ASSERT_EQ(
        as_root("POST", "/api/v1/keys", R"({"name":"app","rights":["Manage"],)" + two_keys + "}")
            .status,
        201);
    const WallTime later = world_.node->loop.clock().wall() + 1h;
    const std::string first = make_sas("sb://hub/", "app", Secret("p1"), later);
    const std::string second = make_sas("sb://hub/", "app", Secret("s1"), later);
    EXPECT_EQ(ask({.path = "/api/v1/keys", .token = first}).status, 200);

    const auto rotated = as_root("POST", "/api/v1/keys/app/rotate", R"({"key":"primary"})");

    EXPECT_EQ(rotated.status, 200) << rotated.body;
    EXPECT_NE(member(rotated, "primary_key"), "p1");
    EXPECT_EQ(member(rotated, "secondary_key"), "s1");
    EXPECT_EQ(ask({.path = "/api/v1/keys", .token = first}).status, 401);
    EXPECT_EQ(ask({.path = "/api/v1/keys", .token = second}).status, 200);
    EXPECT_EQ(as_root("DELETE", "/api/v1/keys/app").status, 204);
    EXPECT_EQ(ask({.path = "/api/v1/keys", .token = second}).status, 401);
    EXPECT_EQ(as_root("DELETE", "/api/v1/keys/app").status, 404);
}

TEST_F(AdminTest, removes_the_keys_of_an_event_hub_with_it) {
    ASSERT_TRUE(world_.create("homes"));
    const std::string path = "/api/v1/hubs/Homes/keys";
    const std::string body = R"({"name":"app","rights":["Manage"],)" + two_keys + "}";
    EXPECT_EQ(as_root("POST", path, body).status, 201);
    EXPECT_EQ(as_root("POST", path, body).status, 409);
    EXPECT_EQ(as_root("GET", "/api/v1/keys/app").status, 404) << "not of the namespace";
    const std::string mine =
        make_sas("sb://hub/homes", "app", Secret("p1"), world_.node->loop.clock().wall() + 1h);
    EXPECT_EQ(ask({.path = path, .token = mine}).status, 200);
    EXPECT_EQ(ask({.path = "/api/v1/keys", .token = mine}).status, 403);
    EXPECT_EQ(as_root("POST", "/api/v1/hubs/none/keys", body).status, 404);

    ASSERT_EQ(as_root("DELETE", "/api/v1/hubs/homes").status, 204);
    ASSERT_TRUE(world_.create("homes"));

    EXPECT_EQ(ask({.path = path, .token = mine}).status, 401) << "another event hub of that name";
    EXPECT_EQ(as_root("GET", path + "/app").status, 404);
}

TEST_F(AdminTest, names_what_is_wrong_with_a_wish_for_a_key) {
    for (const std::string body :
         {"{}", R"({"name":"x"})", R"({"name":"x","rights":[]})", R"({"name":"x","rights":"Send"})",
          R"({"name":"x","rights":["Read"]})", R"({"name":"a b","rights":["Send"]})",
          R"({"name":"x","rights":[1]})", R"({"name":"x","rights":["Send"],"primary_key":"a;b"})",
          R"({"name":"x","rights":["Send"],"primary":"a"})"}) {
        const auto response = as_root("POST", "/api/v1/keys", body);
        EXPECT_EQ(response.status, 400) << body << ": " << response.body;
    }
    EXPECT_EQ(as_root("POST", "/api/v1/keys/none/rotate", R"({"key":"primary"})").status, 404);
    EXPECT_EQ(as_root("POST", "/api/v1/keys/none/rotate", R"({"key":"first"})").status, 400);
    EXPECT_EQ(as_root("POST", "/api/v1/keys/none/rotate", "{}").status, 400);
}

TEST_F(AdminTest, refuses_to_change_rules_of_the_configuration) {
    const auto rotated = as_root("POST", "/api/v1/keys/root/rotate", R"({"key":"primary"})");
    EXPECT_EQ(rotated.status, 501);
    EXPECT_NE(rotated.body.find("SIGHUP"), std::string::npos) << rotated.body;
    EXPECT_EQ(as_root("DELETE", "/api/v1/keys/root").status, 501);
    EXPECT_EQ(as_root("POST", "/api/v1/keys", R"({"name":"root","rights":["Send"]})").status, 409);
}

}  // namespace
}  // namespace evenkeel::door
