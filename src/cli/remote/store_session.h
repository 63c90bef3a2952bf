// A checkpoint store for a command: opened, asked, and waited for. Threads: one at a time.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/promise.h"
#include "base/result.h"
#include "checkpoint/open.h"
#include "checkpoint/store.h"
#include "cli/exit_code.h"
#include "io/system/loop.h"

namespace evenkeel::cli {

// `not_found` if it names a SQLite file that is not there: the name may be mistyped, and opening it
// would make one.
Result<> check_file_of_store(const std::string& url);

// As fail(), for a store that does not answer: out of reach is an exit code of its own, and the
// hint is about the store, not about the hub.
ExitCode fail_store(std::string_view what, const Error& error, const std::string& url);

class StoreSession {
public:
    // None as open_store() says.
    static Result<std::unique_ptr<StoreSession>> open(const std::string& url,
                                                      const checkpoint::GroupName& group,
                                                      const checkpoint::OpenOptions& options = {});
    ~StoreSession();
    StoreSession(const StoreSession&) = delete;
    StoreSession& operator=(const StoreSession&) = delete;

    // False if its entry is too old, whatever its profile: then it is not there any more.
    bool is_alive(const checkpoint::Member& member) const;

    // Calls a function with the store and an answer, and waits for that.
    template <typename T, typename Ask>
    Result<T> ask(Ask ask) {
        auto answered = std::make_shared<Promise<Result<T>>>();
        loop_.post([this, ask = std::move(ask), answered]() mutable {
            ask(*store_, checkpoint::Store::Answer<T>(
                             [answered](Result<T> result) { answered->set(std::move(result)); }));
        });
        return answered->wait();
    }

private:
    StoreSession() : loop_("store") {}

    io::system::LoopThread loop_;
    std::unique_ptr<checkpoint::Store> store_;
};

}  // namespace evenkeel::cli
