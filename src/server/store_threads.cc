#include "server/store_threads.h"

#include <utility>

#include <fmt/core.h>

#include "checkpoint/open.h"
#include "io/system/abandonable_call.h"

namespace evenkeel::server {

bool StoreThreads::stop(Duration limit) {
    if (loops_.empty()) return true;
    const auto ending = std::make_shared<Loops>(std::exchange(loops_, {}));
    const io::system::AbandonableCall call([ending] {
        for (const auto& [url, loop] : *ending) loop->stop();
        ending->clear();
    });
    return call.wait_for(limit);
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
