#include "door/admin/gate.h"

#include <map>
#include <set>

#include "door/admin/admin_fixture.h"

namespace evenkeel::door {
namespace {

using namespace std::chrono_literals;

// What a route needs, written down here a second time: the table of docs/admin-api.md.
const std::map<std::string, std::string, std::less<>> needed{
    {"GET /health", "nothing"},
    {"GET /metrics", "any"},
    {"GET /api/v1/hubs", "any"},
    {"POST /api/v1/hubs", "Manage of all"},
    {"GET /api/v1/hubs/{hub}", "any"},
    {"PATCH /api/v1/hubs/{hub}", "Manage"},
    {"DELETE /api/v1/hubs/{hub}", "Manage"},
    {"POST /api/v1/hubs/{hub}/purge", "Manage"},
    {"GET /api/v1/hubs/{hub}/groups", "any"},
    {"POST /api/v1/hubs/{hub}/groups", "Manage"},
    {"GET /api/v1/hubs/{hub}/groups/{group}", "any"},
    {"DELETE /api/v1/hubs/{hub}/groups/{group}", "Manage"},
    {"GET /api/v1/hubs/{hub}/partitions", "any"},
    {"GET /api/v1/hubs/{hub}/readers", "any"},
    {"GET /api/v1/server", "any"},
    {"POST /api/v1/demo", "Manage of all"},
    {"GET /api/v1/overview", "any"},
    {"GET /api/v1/groups", "any"},
    {"GET /api/v1/hubs/{hub}/groups/{group}/processors", "any"},
    {"GET /api/v1/live", "any"},
    {"GET /api/v1/hubs/{hub}/groups/{group}/explain", "any"},
    {"GET /api/v1/hubs/{hub}/groups/{group}/lag", "any"},
    {"GET /api/v1/hubs/{hub}/groups/{group}/scale", "any"},
    {"POST /api/v1/hubs/{hub}/groups/{group}/requests", "Manage"},
    {"GET /api/v1/hubs/{hub}/groups/{group}/dead-letters", "Listen"},
    {"GET /api/v1/hubs/{hub}/groups/{group}/dead-letters/{partition}/{sequence}", "Listen"},
    {"POST /api/v1/hubs/{hub}/groups/{group}/dead-letters/{partition}/{sequence}/resend", "Manage"},
    {"DELETE /api/v1/hubs/{hub}/groups/{group}/dead-letters/{partition}/{sequence}", "Manage"},
    {"GET /api/v1/hubs/{hub}/events", "Listen"},
    {"GET /api/v1/hubs/{hub}/partitions/{partition}/events/{sequence}", "Listen"},
    {"POST /api/v1/hubs/{hub}/events", "Send"},
    {"GET /api/v1/connections", "Manage of all"},
    {"GET /api/v1/hubs/{hub}/connections", "Manage"},
    {"GET /api/v1/keys", "Manage of all"},
    {"POST /api/v1/keys", "Manage of all"},
    {"GET /api/v1/keys/{key}", "Manage of all"},
    {"DELETE /api/v1/keys/{key}", "Manage of all"},
    {"POST /api/v1/keys/{key}/rotate", "Manage of all"},
    {"GET /api/v1/hubs/{hub}/keys", "Manage"},
    {"POST /api/v1/hubs/{hub}/keys", "Manage"},
    {"GET /api/v1/hubs/{hub}/keys/{key}", "Manage"},
    {"DELETE /api/v1/hubs/{hub}/keys/{key}", "Manage"},
    {"POST /api/v1/hubs/{hub}/keys/{key}/rotate", "Manage"},
};

struct Caller {
    std::string rule;
    std::string url;
    std::set<std::string> rights;
    enum class Reach { all, own, other } reach;
};

// All calls are for the event hub "homes".
bool is_expected(const Caller& caller, const std::string& need, bool names_hub) {
    if (need == "nothing") return true;
    if (caller.rights.empty()) return false;
    if (need == "Manage of all") {
        return caller.reach == Caller::Reach::all && caller.rights.contains("Manage");
    }
    if (names_hub && caller.reach == Caller::Reach::other) return false;
    return need == "any" || caller.rights.contains(need);
}

TEST_F(AdminTest, lets_each_caller_do_what_the_table_says_and_nothing_else) {
    std::vector<Rule> rules;
    std::vector<Caller> callers;
    const std::pair<Rights, std::set<std::string>> all_rights[] = {
        {{}, {}},
        {{.send = true}, {"Send"}},
        {{.listen = true}, {"Listen"}},
        {{.send = true, .listen = true}, {"Send", "Listen"}},
        {{true, true, true}, {"Send", "Listen", "Manage"}}};
    for (const auto& [rights, names] : all_rights) {
        for (const std::string hub : {"", "homes", "other"}) {
            const std::string rule = "rule " + std::to_string(rules.size());
            rules.push_back({rule, hub, key, {}, rights});
            if (hub.empty()) {
                callers.push_back({rule, "sb://hub/", names, Caller::Reach::all});
                callers.push_back({rule, "sb://hub/homes", names, Caller::Reach::own});
                callers.push_back({rule, "sb://hub/other", names, Caller::Reach::other});
                continue;
            }
            callers.push_back({rule, "sb://hub/" + hub, names,
                               hub == "homes" ? Caller::Reach::own : Caller::Reach::other});
        }
    }
    ring_.emplace(world_.node->loop, world_.node->metadata, rules_,
                  Keys::load(*world_.disk, hub::test_folder).value(), rules);
    restart({});
    std::set<std::string> seen;
    int cells = 0;
    int wrong = 0;
    for (const auto& route : Admin::routes()) {
        const std::string name = std::string(route.method) + " " + std::string(route.path);
        ASSERT_TRUE(needed.contains(name))
            << "add it to this table, and to docs/admin-api.md: " << name;
        seen.insert(name);
        const bool names_hub = route.path.find("{hub}") != std::string_view::npos;
        for (const Caller& caller : callers) {
            // One that may have removed it comes again and again.
            for (const std::string hub : {"homes", "other"}) {
                if (world_.hub->find(hub).ok()) continue;
                ASSERT_TRUE(world_.create(hub));
            }
            const int status = ask({.method = std::string(route.method),
                                    .path = filled(route.path),
                                    .token = token(caller.rule, caller.url)})
                                   .status;
            const bool is_right = is_expected(caller, needed.find(name)->second, names_hub)
                                      ? status != 401 && status != 403
                                      : status == 403;
            EXPECT_TRUE(is_right) << name << " by " << caller.rule << " for " << caller.url << ": "
                                  << status;
            ++cells;
            wrong += is_right ? 0 : 1;
        }
    }
    EXPECT_EQ(seen.size(), needed.size()) << "a route of this table is gone";
    RecordProperty("cells", cells);
    EXPECT_EQ(wrong, 0) << "of " << cells;
}

}  // namespace
}  // namespace evenkeel::door
