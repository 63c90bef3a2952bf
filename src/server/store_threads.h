// Threads for the stores of watched groups: one for each store, so that one that hangs holds up
// nobody else, least of all the hub.
//
// Threads: pinned to the hub's loop, but for open(), which runs on the store's loop, and stop(),
// for which the thread that ends the server waits.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "dashboard/groups.h"
#include "io/system/loop.h"

namespace evenkeel::server {

class StoreThreads final : public dashboard::Stores {
public:
    ~StoreThreads() override { (void)stop(stop_max); }
    // Waits for calls that are under way, but not longer. False: a store hangs, and its thread is
    // left behind; what it may touch (this, the hub's loop) must be left too. From then on no loop
    // is asked for.
    bool stop(Duration limit);
    static constexpr Duration stop_max = std::chrono::seconds(3);

    io::Loop& loop_of(const std::string& url) override;
    Result<std::unique_ptr<checkpoint::Store>> open(const std::string& url,
                                                    const checkpoint::GroupName& group,
                                                    io::Loop& loop) override;

private:
    using Loops = std::map<std::string, std::unique_ptr<io::system::LoopThread>>;  // by address
    Loops loops_;
};

}  // namespace evenkeel::server
