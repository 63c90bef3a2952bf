// tidy: no test: tests/process/cli/side_readers_test.cc tests it against a hub
#include "cli/remote/side_readers.h"

#include <fmt/core.h>

#include "cli/remote/admin_client.h"
#include "eventhubs/names.h"

namespace evenkeel::cli {

SideReaders::SideReaders(Remote remote, Client& client, std::string event_hub, std::string name)
    : remote_(std::move(remote)),
      client_(client),
      event_hub_(std::move(event_hub)),
      name_(std::move(name)),
      group_(eventhubs::default_group) {}

bool SideReaders::is_displaced(ErrorCode code) {
    return code == ErrorCode::fenced || code == ErrorCode::not_found;  // another command removed it
}

Result<std::unique_ptr<RemoteReader>> SideReaders::open(std::uint32_t partition,
                                                        Position position) {
    const auto is_taken = [](const Result<std::unique_ptr<RemoteReader>>& reader) {
        // Too many readers without an epoch, or our group was removed by another command.
        return !reader.ok() &&
               (is_displaced(reader.error().code) || reader.error().code == ErrorCode::overloaded);
    };
    auto reader = open_in(group_, partition, position);
    if (!is_taken(reader)) return reader;
    const Error refused = reader.error();
    AdminClient admin(remote_);
    const auto hub = admin.hub(event_hub_);
    if (refused.code == ErrorCode::not_found && !hub.ok()) return refused;
    for (const auto& group : hub.ok() ? hub->groups : std::vector<std::string>()) {
        reader = open_in(group, partition, position);
        if (!is_taken(reader)) return reader;
    }
    const auto made = admin.create_group(event_hub_, std::string(own_group));
    if (made.ok() || made.error().code == ErrorCode::already_exists) {
        return open_in(std::string(own_group), partition, position);
    }
    // Not `fenced`: the hint for that names --group, which is another event hub's here.
    return Error{ErrorCode::not_allowed,
                 fmt::format("event processors read alone in the consumer groups of event hub "
                             "'{}' ({}), and a group to look with cannot be made, for which a key "
                             "needs the right 'manage': {}",
                             event_hub_, refused.detail, made.error().detail)};
}

Result<std::unique_ptr<RemoteReader>> SideReaders::open_in(const std::string& group,
                                                           std::uint32_t partition,
                                                           Position position) {
    auto reader = RemoteReader::open(client_, group, partition, position, {.name = name_});
    if (!reader.ok()) return reader;
    group_ = group;
    is_made_ = is_made_ || group == own_group;
    return reader;
}

void SideReaders::close() {
    if (!is_made_) return;
    is_made_ = false;
    group_ = eventhubs::default_group;
    // What fails here, the next command that needs the group takes and removes.
    (void)AdminClient(remote_).remove_group(event_hub_, std::string(own_group));
}

}  // namespace evenkeel::cli
