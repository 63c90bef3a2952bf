// Opens readers of an event hub for commands that look at all of it, whoever reads it already: in
// $Default, in another group that is there, or, while event processors read alone in all of them,
// in a group of its own that close() removes. The latter needs a key with the right 'manage'.
// Threads: one at a time. Calls block.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/remote/remote.h"
#include <evenkeel/client.h>
#include <evenkeel/consumer.h>

namespace evenkeel::cli {

class SideReaders {
public:
    // The group that is made. One that a command left behind is taken, and removed, by the next.
    static constexpr std::string_view own_group = "evenkeel-look";

    // `name` is how the hub knows the readers. `client` outlives this.
    SideReaders(Remote remote, Client& client, std::string event_hub, std::string name);

    // `not_allowed`: event processors read in all groups, and none can be made.
    Result<std::unique_ptr<RemoteReader>> open(std::uint32_t partition, Position position);
    // Whether a reader that failed with this was displaced, or its group removed by another
    // command: open() finds another group for it.
    static bool is_displaced(ErrorCode code);
    // After the last reader is closed. The next open() may make the group again.
    void close();

private:
    Result<std::unique_ptr<RemoteReader>> open_in(const std::string& group, std::uint32_t partition,
                                                  Position position);

    const Remote remote_;
    Client& client_;
    const std::string event_hub_;
    const std::string name_;
    std::string group_;  // where the last one was opened
    bool is_made_ = false;
};

}  // namespace evenkeel::cli
