// tidy: no test: tested by admin_test.cc, which asks every route of the table
#include "door/admin/routes.h"

namespace evenkeel::door {
namespace {

using Action = AdminRoute::Action;

constexpr AdminRoute route_table[] = {
    {"GET", "/health", Access::open, Action::health},
    {"GET", "/metrics", Access::metrics, Action::metrics},
    {"GET", "/api/v1/hubs", Access::read, Action::list_hubs},
    {"POST", "/api/v1/hubs", Access::manage_all, Action::create_hub},
    {"GET", "/api/v1/hubs/{hub}", Access::read, Action::show_hub},
    {"PATCH", "/api/v1/hubs/{hub}", Access::manage, Action::alter_hub},
    {"DELETE", "/api/v1/hubs/{hub}", Access::manage, Action::remove_hub},
    {"POST", "/api/v1/hubs/{hub}/purge", Access::manage, Action::purge_hub},
    {"GET", "/api/v1/hubs/{hub}/groups", Access::read, Action::list_groups},
    {"POST", "/api/v1/hubs/{hub}/groups", Access::manage, Action::create_group},
    {"GET", "/api/v1/hubs/{hub}/groups/{group}", Access::read, Action::show_group},
    {"DELETE", "/api/v1/hubs/{hub}/groups/{group}", Access::manage, Action::remove_group},
    {"GET", "/api/v1/hubs/{hub}/partitions", Access::read, Action::list_partitions},
    {"GET", "/api/v1/keys", Access::manage_all, Action::list_keys},
    {"POST", "/api/v1/keys", Access::manage_all, Action::create_key},
    {"GET", "/api/v1/keys/{key}", Access::manage_all, Action::show_key},
    {"DELETE", "/api/v1/keys/{key}", Access::manage_all, Action::remove_key},
    {"POST", "/api/v1/keys/{key}/rotate", Access::manage_all, Action::rotate_key},
    {"GET", "/api/v1/hubs/{hub}/keys", Access::manage, Action::list_keys},
    {"POST", "/api/v1/hubs/{hub}/keys", Access::manage, Action::create_key},
    {"GET", "/api/v1/hubs/{hub}/keys/{key}", Access::manage, Action::show_key},
    {"DELETE", "/api/v1/hubs/{hub}/keys/{key}", Access::manage, Action::remove_key},
    {"POST", "/api/v1/hubs/{hub}/keys/{key}/rotate", Access::manage, Action::rotate_key},
};

}  // namespace

std::span<const AdminRoute> admin_routes() {
    return route_table;
}

std::string_view name_of(Action action) {
    switch (action) {
        case Action::create_hub: return "create-hub";
        case Action::alter_hub: return "change-hub";
        case Action::remove_hub: return "remove-hub";
        case Action::purge_hub: return "purge-hub";
        case Action::create_group: return "create-group";
        case Action::remove_group: return "remove-group";
        case Action::show_key: return "show-key";
        case Action::create_key: return "create-key";
        case Action::remove_key: return "remove-key";
        case Action::rotate_key: return "rotate-key";
        case Action::health:
        case Action::metrics:
        case Action::list_hubs:
        case Action::show_hub:
        case Action::list_groups:
        case Action::show_group:
        case Action::list_partitions:
        case Action::list_keys: break;
    }
    return {};
}

}  // namespace evenkeel::door
