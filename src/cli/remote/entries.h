// Which entries of a store a command means: those of the hub that it was given, under whatever name
// that is reached (processor/ownership/group_home.h). Only looks.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "checkpoint/store.h"
#include "cli/remote/remote.h"
#include "cli/remote/store_session.h"

namespace evenkeel::cli {

// `identity` as the hub reports it, "" if it has none. `invalid_argument`: the entries under that
// name are another hub's.
Result<checkpoint::GroupName> entries_of(const std::string& store, checkpoint::GroupName named,
                                         const std::string& identity);
// The same with a hub that is asked first; those under the host's name if it does not answer.
Result<checkpoint::GroupName> entries_of(const std::string& store, const Remote& remote,
                                         const std::string& event_hub, const std::string& group);

// Opens those of `wanted`; if that names no namespace, those of the hub behind `remote`. None if
// they are not there, and may not be made. `not_found`: there is no such SQLite file.
Result<std::unique_ptr<StoreSession>> open_entries(const std::string& store,
                                                   checkpoint::GroupName wanted,
                                                   const RemoteOptions& remote, bool may_create);

}  // namespace evenkeel::cli
