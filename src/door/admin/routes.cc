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
    {"GET", "/api/v1/server", Access::read, Action::server},
    {"POST", "/api/v1/demo", Access::manage_all, Action::demo},
    {"GET", "/api/v1/overview", Access::read, Action::overview},
    {"GET", "/api/v1/groups", Access::read, Action::watched_groups},
    {"GET", "/api/v1/hubs/{hub}/groups/{group}/processors", Access::read, Action::processors},
    {"GET", "/api/v1/live", Access::read, Action::live},
    {"GET", "/api/v1/hubs/{hub}/groups/{group}/explain", Access::read, Action::explain},
    {"GET", "/api/v1/hubs/{hub}/groups/{group}/lag", Access::read, Action::lag},
    {"GET", "/api/v1/hubs/{hub}/groups/{group}/scale", Access::read, Action::scale},
    {"POST", "/api/v1/hubs/{hub}/groups/{group}/requests", Access::manage, Action::request},
    {"GET", "/api/v1/hubs/{hub}/groups/{group}/dead-letters", Access::listen, Action::list_letters},
    {"GET", "/api/v1/hubs/{hub}/groups/{group}/dead-letters/{partition}/{sequence}", Access::listen,
     Action::show_letter},
    {"POST", "/api/v1/hubs/{hub}/groups/{group}/dead-letters/{partition}/{sequence}/resend",
     Access::manage, Action::resend_letter},
    {"DELETE", "/api/v1/hubs/{hub}/groups/{group}/dead-letters/{partition}/{sequence}",
     Access::manage, Action::remove_letter},
    {"GET", "/api/v1/hubs/{hub}/events", Access::listen, Action::list_events},
    {"GET", "/api/v1/hubs/{hub}/partitions/{partition}/events/{sequence}", Access::listen,
     Action::show_event},
    {"POST", "/api/v1/hubs/{hub}/events", Access::send, Action::send_events},
    {"GET", "/api/v1/hubs/{hub}/readers", Access::read, Action::list_readers},
    {"GET", "/api/v1/connections", Access::manage_all, Action::list_connections},
    {"GET", "/api/v1/hubs/{hub}/connections", Access::manage, Action::list_connections},
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
        case Action::request: return "change-group";
        case Action::resend_letter: return "resend-dead-letter";
        case Action::remove_letter: return "remove-dead-letter";
        case Action::send_events: return "send-events";
        case Action::demo: return "change-demo";
        case Action::health:
        case Action::metrics:
        case Action::list_hubs:
        case Action::show_hub:
        case Action::list_groups:
        case Action::show_group:
        case Action::list_partitions:
        case Action::server:
        case Action::overview:
        case Action::watched_groups:
        case Action::processors:
        case Action::live:
        case Action::explain:
        case Action::lag:
        case Action::scale:
        case Action::list_letters:
        case Action::show_letter:
        case Action::list_events:
        case Action::show_event:
        case Action::list_readers:
        case Action::list_connections:
        case Action::list_keys: break;
    }
    return {};
}

}  // namespace evenkeel::door
