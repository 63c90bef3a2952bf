#include "dashboard/page.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace evenkeel::dashboard {
namespace {

const std::vector<PageFile> files{{"index.html", "<html>", "zipped html", "\"a1\""},
                                  {"app-0f3c.js", "let a;", "zipped js", "\"b2\""}};

http::Response get(const std::string& path, std::vector<http::Field> fields = {}) {
    http::Request request;
    request.method = "GET";
    request.path = path;
    request.fields = std::move(fields);
    return page_response(files, request);
}

std::string field(const http::Response& response, std::string_view name) {
    for (const auto& each : response.fields) {
        if (each.name == name) return each.value;
    }
    return "";
}

TEST(Page, answers_addresses_of_views_with_the_index) {
    for (const char* path : {"/ui/", "/ui/hubs", "/ui/hubs/a.b/groups/g/processors", "/ui/x%2Fy"}) {
        EXPECT_EQ(get(path).body, "<html>") << path;
        EXPECT_EQ(field(get(path), "Cache-Control"), "no-cache") << path;
    }
    EXPECT_EQ(get("/ui/").content_type, "text/html; charset=utf-8");
}

TEST(Page, sends_hashed_files_to_be_kept_for_ever) {
    const auto script = get("/ui/app-0f3c.js");
    EXPECT_EQ(script.body, "let a;");
    EXPECT_EQ(script.content_type, "text/javascript; charset=utf-8");
    EXPECT_EQ(field(script, "Cache-Control"), "public, max-age=31536000, immutable");
}

TEST(Page, compresses_for_those_who_ask) {
    const auto zipped = get("/ui/app-0f3c.js", {{"Accept-Encoding", "br, gzip, deflate"}});
    EXPECT_EQ(zipped.body, "zipped js");
    EXPECT_EQ(field(zipped, "Content-Encoding"), "gzip");
    EXPECT_EQ(get("/ui/app-0f3c.js", {{"Accept-Encoding", "gzip;q=0"}}).body, "let a;");
}

TEST(Page, is_not_sent_again_to_those_who_have_it) {
    const auto known = get("/ui/", {{"If-None-Match", "\"a1\""}});
    EXPECT_EQ(known.status, 304);
    EXPECT_EQ(known.body, "");
    EXPECT_EQ(get("/ui/", {{"If-None-Match", "\"old\""}}).status, 200);
}

TEST(Page, allows_only_its_own_scripts_on_every_answer) {
    for (const char* path : {"/", "/ui/", "/ui/app-0f3c.js", "/ui/none.js", "/ui/../etc/passwd"}) {
        const std::string policy = field(get(path), "Content-Security-Policy");
        EXPECT_NE(policy.find("default-src 'none'; script-src 'self'"), std::string::npos) << path;
        EXPECT_EQ(policy.find("unsafe"), std::string::npos) << path;
    }
}

TEST(Page, has_no_files_but_its_own) {
    EXPECT_EQ(get("/ui/none.js").status, 404);
    EXPECT_EQ(get("/ui/../app-0f3c.js").status, 404);
    EXPECT_EQ(get("/").status, 302);
    EXPECT_EQ(field(get("/"), "Location"), "/ui/");
    EXPECT_FALSE(is_page_path("/uikit"));
    EXPECT_FALSE(is_page_path("/api/v1/hubs"));
}

TEST(Page, says_how_to_build_it_where_it_is_missing) {
    http::Request request;
    request.method = "GET";
    request.path = "/ui/";
    const auto response = page_response({}, request);
    EXPECT_EQ(response.status, 200);
    EXPECT_NE(response.body.find("-DEVENKEEL_DASHBOARD=ON"), std::string::npos);
}

TEST(Page, cannot_be_changed) {
    http::Request request;
    request.method = "POST";
    request.path = "/ui/";
    EXPECT_EQ(page_response(files, request).status, 405);
}

}  // namespace
}  // namespace evenkeel::dashboard
