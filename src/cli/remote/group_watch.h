// Looks at one group again and again, for commands that run long: the connection to the hub and the
// session of the store stay open, and are opened anew after a failure.
// Threads: one at a time. Calls block.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "cli/remote/group_look.h"
#include "cli/remote/remote.h"
#include "cli/remote/store_session.h"
#include <evenkeel/client.h>

namespace evenkeel::cli {

class GroupWatch {
public:
    // `name` is how the hub knows this client.
    GroupWatch(Remote remote, GroupPlace place, std::string name);

    // What the scale controller needs: partitions, members, owners and checkpoints. Nothing is made
    // in the store.
    Result<GroupLook> look();

private:
    Result<> look_at_hub(GroupLook& group);
    Result<> look_into_store(GroupLook& group);

    const Remote remote_;
    const GroupPlace place_;
    const std::string name_;
    std::unique_ptr<Client> client_;
    std::unique_ptr<StoreSession> session_;
    std::string identity_;  // of the hub whose entries the session has
};

}  // namespace evenkeel::cli
