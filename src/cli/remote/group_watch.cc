#include "cli/remote/group_watch.h"

#include <utility>

#include "cli/remote/entries.h"

namespace evenkeel::cli {

GroupWatch::GroupWatch(Remote remote, GroupPlace place, std::string name)
    : remote_(std::move(remote)), place_(std::move(place)), name_(std::move(name)) {}

Result<GroupLook> GroupWatch::look() {
    GroupLook group;
    if (const auto hub = look_at_hub(group); !hub.ok()) {
        client_.reset();
        return hub.error();
    }
    // An event hub that was made again has entries of its own.
    if (group.hub_identity != identity_) session_.reset();
    if (const auto store = look_into_store(group); !store.ok()) {
        session_.reset();
        return store.error();
    }
    if (const auto hub = read_hub_again(*client_, group); !hub.ok()) {
        client_.reset();
        return hub.error();
    }
    identity_ = group.hub_identity;
    return group;
}

Result<> GroupWatch::look_at_hub(GroupLook& group) {
    if (!client_) {
        EK_TRY(first_contact(remote_, place_.event_hub));
        EK_TRY_ASSIGN(client_, Client::open(client_options(remote_, place_.event_hub, name_,
                                                           Patience::none)));
    }
    return read_hub(*client_, group);
}

Result<> GroupWatch::look_into_store(GroupLook& group) {
    if (!session_) {
        EK_TRY_ASSIGN(const auto name, entries_of(place_.store, remote_, place_.event_hub,
                                                  place_.group, EntriesFor::looking));
        EK_TRY_ASSIGN(session_, StoreSession::open(place_.store, name, {.may_create = false}));
    }
    // No processor has used the group yet.
    if (!session_) return {};
    return read_group(*session_, group);
}

}  // namespace evenkeel::cli
