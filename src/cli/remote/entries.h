// Which entries of a store a command means: those of the hub that it was given, under whatever name
// that is reached (processor/ownership/group_home.h). Only looks.
//
// A hub that does not answer cannot be told from another one of the same host. A command that only
// looks takes the entries under the host's name then, and says so if they are some hub's; one that
// changes them is refused.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "checkpoint/store.h"
#include "cli/remote/remote.h"
#include "cli/remote/store_session.h"

namespace evenkeel::cli {

enum class EntriesFor : unsigned char { looking, changing };

// `identity` as the hub reports it, "" if it has none. `invalid_argument`: the entries under that
// name are another hub's.
Result<checkpoint::GroupName> entries_of(const std::string& store, checkpoint::GroupName named,
                                         const std::string& identity);
// The same with a hub that is asked first. `conflict`: it does not answer, and the entries under
// that name are a hub's, perhaps another one's.
Result<checkpoint::GroupName> entries_of(const std::string& store, const Remote& remote,
                                         const std::string& event_hub, const std::string& group,
                                         EntriesFor purpose);

struct EntriesUse {
    EntriesFor purpose = EntriesFor::looking;
    bool may_create = false;
};

// Opens those of `wanted`; if that names no namespace, those of the hub behind `remote`. None if
// they are not there, and may not be made. `not_found`: there is no such SQLite file.
Result<std::unique_ptr<StoreSession>> open_entries(const std::string& store,
                                                   checkpoint::GroupName wanted,
                                                   const RemoteOptions& remote, EntriesUse use);

}  // namespace evenkeel::cli
