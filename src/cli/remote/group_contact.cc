#include "cli/remote/group_contact.h"

#include <fmt/core.h>

#include "base/text.h"
#include "cli/remote/admin_client.h"
#include "cli/text/listing.h"
#include "eventhubs/names.h"
#include <evenkeel/consumer.h>

namespace evenkeel::cli {
namespace {

ExitCode create_group(const Remote& remote, const std::string& event_hub,
                      const std::string& group) {
    const auto made = AdminClient(remote).create_group(event_hub, group);
    // Another instance may have been faster.
    if (made.ok()) {
        fmt::print(stderr, "created group '{}' of event hub '{}'\n", printable(group),
                   printable(event_hub));
    }
    if (made.ok() || made.error().code == ErrorCode::already_exists) return ExitCode::done;
    const bool is_refused = made.error().code == ErrorCode::not_allowed;
    return fail_admin(
        fmt::format("group '{}' of event hub '{}' was not created", printable(group),
                    printable(event_hub)),
        made.error(), remote,
        is_refused ? "--create-group needs a key with the Manage right; or have someone who holds "
                     "one create the group, and leave --create-group out"
                   : "");
}

}  // namespace

bool has_group(const Remote& remote, const std::string& event_hub, const std::string& group) {
    if (group == eventhubs::default_group) return true;
    const auto client = Client::open(client_options(remote, event_hub, "evenkeel", Patience::none));
    if (!client.ok()) return true;
    const auto reader = RemoteReader::open(**client, group, 0, Position::latest(),
                                           {.name = "check of the consumer group"});
    return reader.ok() || reader.error().code != ErrorCode::not_found;
}

ExitCode fail_no_group(std::string_view what, const Remote& remote, const std::string& event_hub,
                       const std::string& group, std::string_view option, std::string_view insist) {
    const Error missing{ErrorCode::not_found,
                        fmt::format("event hub '{}' has no consumer group '{}'",
                                    printable(event_hub), printable(group))};
    return fail_remote(what, missing, remote,
                       fmt::format("'evenkeel group create {0} {1}'{2} creates it, 'evenkeel group "
                                   "ls {0}' lists those that exist{3}{4}",
                                   printable(event_hub), printable(group), option,
                                   insist.empty() ? "" : "; ", insist));
}

AskedHub ask_hub(std::string_view what, const Remote& remote, const GroupTarget& target,
                 std::string_view insist) {
    AskedHub asked;
    auto properties = first_contact(remote, target.event_hub);
    if (!properties.ok()) {
        if (properties.error().code == ErrorCode::not_found) {
            asked.ended = fail_remote(what, properties.error(), remote);
        }
        return asked;
    }
    if (!has_group(remote, target.event_hub, target.group)) {
        asked.ended = fail_no_group(what, remote, target.event_hub, target.group, {}, insist);
        return asked;
    }
    for (const std::uint32_t partition : target.partitions) {
        if (partition < properties->partitions) continue;
        const Error missing{ErrorCode::not_found,
                            fmt::format("event hub '{}' has no partition {}; it has {}",
                                        printable(target.event_hub), partition,
                                        plural(properties->partitions, "partition"))};
        asked.ended = fail_remote(
            what, missing, remote,
            fmt::format("partitions are counted from 0{}{}", insist.empty() ? "" : "; ", insist));
        return asked;
    }
    auto client =
        Client::open(client_options(remote, target.event_hub, "evenkeel", Patience::none));
    if (!client.ok()) return asked;
    asked.client = std::move(*client);
    asked.properties = std::move(*properties);
    return asked;
}

std::optional<ExitCode> require_group(std::string_view what, const Remote& remote,
                                      const std::string& event_hub, const std::string& group,
                                      bool may_create) {
    if (has_group(remote, event_hub, group)) return std::nullopt;
    if (!may_create) return fail_no_group(what, remote, event_hub, group, " or --create-group");
    const ExitCode ended = create_group(remote, event_hub, group);
    if (ended != ExitCode::done) return ended;
    return std::nullopt;
}

}  // namespace evenkeel::cli
