#include <map>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/guarded.h"
#include <evenkeel/checkpoint_store.h>

namespace evenkeel {
namespace {

class MemoryCheckpointStore final : public CheckpointStore {
public:
    Result<std::optional<Entry>> get(const std::string& key) override {
        return state_.with([&](const State& state) -> std::optional<Entry> {
            const auto found = state.entries.find(key);
            if (found == state.entries.end()) return std::nullopt;
            return entry(found->first, found->second);
        });
    }

    Result<std::vector<Entry>> list(const std::string& prefix) override {
        return state_.with([&](const State& state) {
            std::vector<Entry> listed;
            for (auto at = state.entries.lower_bound(prefix);
                 at != state.entries.end() && at->first.starts_with(prefix); ++at) {
                listed.push_back(entry(at->first, at->second));
            }
            return listed;
        });
    }

    Result<std::string> put(const std::string& key, const std::string& value,
                            const std::string& version) override {
        return state_.with([&](State& state) -> Result<std::string> {
            const auto found = state.entries.find(key);
            if (version != (found == state.entries.end() ? "" : found->second.version)) {
                return conflict(key);
            }
            Stored& stored = state.entries[key];
            stored = {value, std::to_string(++state.versions), clock_.now()};
            return stored.version;
        });
    }

    Result<> remove(const std::string& key, const std::string& version) override {
        return state_.with([&](State& state) -> Result<> {
            const auto found = state.entries.find(key);
            if (found == state.entries.end()) return {};
            if (found->second.version != version) return conflict(key);
            state.entries.erase(found);
            return {};
        });
    }

private:
    struct Stored {
        std::string value;
        std::string version;
        Instant written;
    };
    struct State {
        std::map<std::string, Stored> entries;
        std::uint64_t versions = 0;
    };

    static Error conflict(const std::string& key) {
        return {ErrorCode::conflict, fmt::format("'{}' has another version", key)};
    }
    Entry entry(const std::string& key, const Stored& stored) const {
        return {
            key, stored.value, stored.version,
            std::chrono::duration_cast<std::chrono::milliseconds>(clock_.now() - stored.written)};
    }

    SystemClock clock_;
    Guarded<State> state_;
};

}  // namespace

std::shared_ptr<CheckpointStore> memory_checkpoint_store() {
    return std::make_shared<MemoryCheckpointStore>();
}

}  // namespace evenkeel
