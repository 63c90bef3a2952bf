// The table of the admin interface's routes: method, path, who may call it, what it does.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace evenkeel::door {

enum class Access : std::uint8_t {
    open,       // to everybody
    metrics,    // to this host, or to whoever may `read`
    read,       // send, listen or manage, on the event hub or on anything for lists
    listen,     // on the event hub
    send,       // on the event hub
    manage,     // of the event hub
    manage_all  // of the namespace
};

struct AdminRoute {
    enum class Action : std::uint8_t {
        health,
        metrics,
        list_hubs,
        create_hub,
        show_hub,
        alter_hub,
        remove_hub,
        purge_hub,
        list_groups,
        create_group,
        show_group,
        remove_group,
        list_partitions,
        server,
        demo,
        overview,
        watched_groups,
        processors,
        live,
        explain,
        lag,
        scale,
        request,
        list_letters,
        show_letter,
        resend_letter,
        remove_letter,
        list_events,
        show_event,
        send_events,
        list_readers,
        list_connections,
        list_keys,
        create_key,
        show_key,
        remove_key,
        rotate_key,
    };
    std::string_view method;
    std::string_view path;  // {hub}, {group}, {key}, {partition} and {sequence} are one part each
    Access access;
    Action action;
};

std::span<const AdminRoute> admin_routes();
// For audit lines; empty for what leaves none.
std::string_view name_of(AdminRoute::Action action);

}  // namespace evenkeel::door
