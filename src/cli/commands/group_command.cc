#include "cli/commands/group_command.h"

#include <algorithm>

#include <boost/json.hpp>
#include <fmt/core.h>

#include "base/text.h"
#include "cli/remote/admin_client.h"

namespace evenkeel::cli {

ExitCode group_ls(const GroupCommand& options) {
    const auto remote = remote_of(options.remote);
    if (!remote.ok()) return fail_options(remote.error());
    const auto hub = AdminClient(*remote).hub(options.event_hub);
    if (!hub.ok()) {
        return fail_admin(
            fmt::format("the groups of event hub '{}' cannot be listed", options.event_hub),
            hub.error(), *remote);
    }
    Listing listing({{"GROUP"}});
    boost::json::array array;
    for (const auto& group : hub->groups) {
        listing.add({group});
        array.push_back(boost::json::object{{"name", group}});
        if (options.output == Output::name) fmt::print("{}\n", printable(group));
    }
    if (options.output == Output::json) fmt::print("{}", indented(array));
    if (options.output == Output::table) fmt::print("{}", listing.text(terminal_of(stdout)));
    return ExitCode::done;
}

ExitCode group_create(const GroupCommand& options) {
    const auto remote = remote_of(options.remote);
    if (!remote.ok()) return fail_options(remote.error());
    const auto made = AdminClient(*remote).create_group(options.event_hub, options.name);
    const bool was_there = !made.ok() && made.error().code == ErrorCode::already_exists;
    if (!made.ok() && !(was_there && options.if_not_exists)) {
        return fail_admin(fmt::format("group '{}' of event hub '{}' was not created", options.name,
                                      options.event_hub),
                          made.error(), *remote, was_there ? "--if-not-exists ignores that" : "");
    }
    if (options.output == Output::json) {
        fmt::print("{}", indented(boost::json::object{{"name", options.name}}));
    } else {
        fmt::print(stderr, "{} group '{}' of event hub '{}'\n",
                   was_there ? "already exists:" : "created", options.name, options.event_hub);
    }
    return ExitCode::done;
}

ExitCode group_rm(const GroupCommand& options) {
    const auto remote = remote_of(options.remote);
    if (!remote.ok()) return fail_options(remote.error());
    AdminClient admin(*remote);
    const std::string what = fmt::format("group '{}' of event hub '{}' was not removed",
                                         options.name, options.event_hub);
    const auto hub = admin.hub(options.event_hub);
    if (!hub.ok()) return fail_admin(what, hub.error(), *remote);
    const auto is_it = [&](const std::string& group) { return group == options.name; };
    if (std::none_of(hub->groups.begin(), hub->groups.end(), is_it)) {
        return fail_admin(
            what, Error{ErrorCode::not_found, "there is no such group"}, *remote,
            fmt::format("'evenkeel group ls {}' lists the groups", options.event_hub));
    }
    const auto end = ask_first(
        options.danger,
        fmt::format("This removes group '{}' of event hub '{}' and ends its readers; events stay",
                    options.name, options.event_hub));
    if (end) return *end;
    const auto removed = admin.remove_group(options.event_hub, options.name);
    if (!removed.ok()) {
        return fail_admin(what, removed.error(), *remote);
    }
    fmt::print(stderr, "removed group '{}' of event hub '{}'\n", options.name, options.event_hub);
    return ExitCode::done;
}

}  // namespace evenkeel::cli
