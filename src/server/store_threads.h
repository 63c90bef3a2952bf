// Threads for the stores of watched groups: one for each store, so that one that hangs holds up
// nobody else, least of all the hub.
//
// Threads: pinned to the hub's loop, but for open(), which runs on the store's loop.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "dashboard/groups.h"
#include "io/system/loop.h"

namespace evenkeel::server {

class StoreThreads final : public dashboard::Stores {
public:
    ~StoreThreads() override { stop(); }
    // Waits for calls that are under way.
    void stop();

    io::Loop& loop_of(const std::string& url) override;
    Result<std::unique_ptr<checkpoint::Store>> open(const std::string& url,
                                                    const checkpoint::GroupName& group,
                                                    io::Loop& loop) override;

private:
    std::map<std::string, std::unique_ptr<io::system::LoopThread>> loops_;  // by address
};

}  // namespace evenkeel::server
