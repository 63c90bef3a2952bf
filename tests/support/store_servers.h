// The servers that checkpoint stores live on, each with what it does when it goes away.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace evenkeel::lab {

struct StoreServer {
    std::string address;  // of a store
    std::function<void()> go_away;
    // With all that it had answered.
    std::function<void()> come_back;
    std::shared_ptr<void> kept;
};

struct StoreKind {
    const char* name;
    // Nothing is kept if there is none on this machine; then `why` says so.
    StoreServer (*start)(std::string& why);
    bool must_start = false;
};

// PostgreSQL, Redis, and Blob storage as a server in this process that is busy when it is away.
std::vector<StoreKind> store_kinds();
// Azurite, if a script has installed it. Clients come through a proxy, so that all it has answered
// is what it writes when it is ended.
std::vector<StoreKind> azurite_kinds();

std::string name_of(const StoreKind& kind);

}  // namespace evenkeel::lab
