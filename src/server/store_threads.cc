// tidy: no test: run as a process by tests/process
#include "server/store_threads.h"

#include <fmt/core.h>

#include "checkpoint/open.h"

namespace evenkeel::server {

void StoreThreads::stop() {
    for (const auto& [url, loop] : loops_) loop->stop();
    loops_.clear();
}

io::Loop& StoreThreads::loop_of(const std::string& url) {
    auto& loop = loops_[url];
    if (!loop) {
        loop = std::make_unique<io::system::LoopThread>(fmt::format("watch/{}", loops_.size() - 1));
        loop->start();
    }
    return *loop;
}

Result<std::unique_ptr<checkpoint::Store>> StoreThreads::open(const std::string& url,
                                                              const checkpoint::GroupName& group,
                                                              io::Loop& loop) {
    return checkpoint::open_store(url, group, loop, {.may_create = false});
}

}  // namespace evenkeel::server
