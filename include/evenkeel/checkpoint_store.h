// A checkpoint store of your own: where the instances of a processor meet if none of the built-in
// stores fits. It keeps small values under keys, and replaces a value only on the very version that
// the caller has read. What is built upon that (leases, fencing, positions that never go back) is
// the library's.
//
//   class MyStore : public evenkeel::CheckpointStore { ... };
//   auto processor = evenkeel::Processor::open({.hub = hub, .own_store = my_store});
//
// <evenkeel/testing/checkpoint_store_contract.h> tests all that is promised here, with GoogleTest.
// Handlers of an own store are called at least once or at most once; exactly once needs one of the
// built-in databases.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <evenkeel/error.h>

namespace evenkeel {

// Contract
//   1  put() and remove() change an entry only if its version is the one given, in one step,
//      whoever else writes at that time. Otherwise `conflict`, and nothing has changed.
//   2  Every put() makes a new version, also one that changes nothing. Versions of a key never
//      repeat, not even after it was removed. They are not empty.
//   3  get() and list() show every write that was answered before they were called, whoever wrote.
//   4  What was answered with success survives a crash of the store, if it is durable at all.
//   5  `unavailable` and `timed_out` mean unknown: it may have happened, or may happen yet.
// Keys are of letters, digits and "-_.~%/", at most 1,100 bytes; between slashes there are 1 to 250
// bytes, of which the first is not a dot. Values are any bytes, mostly less than 20,000; dead
// letters are as large as their event.
// Threads: any, several at once. Calls block; those that may take longer than a few seconds end
// with `timed_out`. What a call throws counts as `unavailable`.
class CheckpointStore {
public:
    struct Entry {
        std::string key;
        std::string value;
        std::string version;
        // Since its last put(), by one clock for all instances: the store's own.
        std::chrono::milliseconds age{0};
    };

    virtual ~CheckpointStore() = default;
    // None if there is no such key.
    virtual Result<std::optional<Entry>> get(const std::string& key) = 0;
    // Those whose key begins with the prefix, which ends with a slash; in any order.
    virtual Result<std::vector<Entry>> list(const std::string& prefix) = 0;
    // Replaces the version, or creates the entry if `version` is "". Returns the new version.
    virtual Result<std::string> put(const std::string& key, const std::string& value,
                                    const std::string& version) = 0;
    // Success also if it is not there.
    virtual Result<> remove(const std::string& key, const std::string& version) = 0;
};

// One that lives in this process and ends with it, for tests.
std::shared_ptr<CheckpointStore> memory_checkpoint_store();

}  // namespace evenkeel
