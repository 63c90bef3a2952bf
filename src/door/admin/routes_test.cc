#include "door/admin/routes.h"

#include <map>
#include <set>
#include <string>

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "base/text.h"
#include "io/file.h"
#include "io/system/files.h"
#include "support/paths.h"

namespace evenkeel::door {
namespace {

std::string_view right_of(Access access) {
    switch (access) {
        case Access::open: return "none";
        case Access::metrics:
        case Access::read: return "any";
        case Access::listen: return "Listen";
        case Access::send: return "Send";
        case Access::manage:
        case Access::manage_all: return "Manage";
    }
    return "";
}

// "get /api/v1/hubs" and the right that it needs.
std::map<std::string, std::string> documented(const boost::json::value& document) {
    std::map<std::string, std::string> all;
    for (const auto& [path, methods] : document.at("paths").as_object()) {
        for (const auto& [method, operation] : methods.as_object()) {
            all[std::string(method) + " " + std::string(path)] =
                operation.at("x-right").as_string().c_str();
        }
    }
    return all;
}

class OpenApi : public testing::Test {
protected:
    OpenApi() {
        io::system::SystemFiles files;
        const auto bytes = io::read_file(files, test::source_path("docs/openapi.json"), 1 << 20);
        EXPECT_TRUE(bytes.ok());
        document = boost::json::parse(std::string(as_text(*bytes)));
    }
    boost::json::value document;
};

TEST_F(OpenApi, has_every_route_with_its_right_and_no_other) {
    std::map<std::string, std::string> routes;
    for (const auto& route : admin_routes()) {
        routes[lower_case(route.method) + " " + std::string(route.path)] = right_of(route.access);
    }
    EXPECT_EQ(documented(document), routes);
}

TEST_F(OpenApi, names_each_part_of_a_path) {
    EXPECT_EQ(document.at("openapi").as_string(), "3.1.0");
    for (const auto& [path, methods] : document.at("paths").as_object()) {
        const std::string text(path);
        for (const auto& [method, operation] : methods.as_object()) {
            std::set<std::string> named;
            if (const auto* given = operation.as_object().if_contains("parameters")) {
                for (const auto& parameter : given->as_array()) {
                    if (parameter.at("in").as_string() != "path") continue;
                    named.insert("{" + std::string(parameter.at("name").as_string()) + "}");
                }
            }
            std::set<std::string> wanted;
            for (auto at = text.find('{'); at != std::string::npos; at = text.find('{', at + 1)) {
                wanted.insert(text.substr(at, text.find('}', at) + 1 - at));
            }
            EXPECT_EQ(named, wanted) << text;
        }
    }
}

}  // namespace
}  // namespace evenkeel::door
