// What a power loss leaves of the changes that were pending on a simulated disk: the crash policies
// (io/sim/disk.h), decided change by change and sector by sector.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "io/sim/content.h"

namespace evenkeel::io::sim {

enum class CrashPolicy : unsigned char {
    drop_all,          // all that was not synced is gone
    keep_all,          // all is there, as if it had been synced just in time
    random_subset,     // each sector and each name change is kept or not, by itself
    grown_with_zeros,  // names as above; files have their last size, but sectors are missing
    prefix,            // all changes before one moment are kept; a write at that moment is torn
    any,               // one of the above, drawn
};

enum class NodeId : std::uint64_t { none, root };  // a file or a folder, whatever its name

// A write, or without bytes a truncation to `position`. Numbers order all changes of a disk.
struct ByteChange {
    std::uint64_t number;
    std::uint64_t position;
    std::shared_ptr<const std::vector<std::byte>> bytes;  // never empty
};

inline void apply(const ByteChange& change, Content& content) {
    if (change.bytes) {
        content.write(change.position, *change.bytes);
    } else {
        content.resize(change.position);
    }
}

// Takes `node` from one name, gives it another, or both at once: a removal, a creation, a rename.
struct NameChange {
    NodeId node;
    NodeId from_folder = NodeId::none;
    std::string from = {};
    NodeId to_folder = NodeId::none;
    std::string to = {};
    std::uint64_t number = 0;
};

// One crash. Asked once about each pending change, oldest first.
class Survival {
public:
    // `pending` are the numbers of all changes, in any order.
    Survival(Random& random, CrashPolicy policy, std::vector<std::uint64_t> pending)
        : random_(random), policy_(policy) {
        if (policy_ == CrashPolicy::any) policy_ = static_cast<CrashPolicy>(random_.below(5));
        // Few, half or most of them: with half alone, keeping nearly all would hardly be drawn.
        constexpr std::uint64_t shares[] = {1, 4, 7};
        keep_eighths_ = shares[random_.below(std::size(shares))];
        if (policy_ == CrashPolicy::prefix) {
            std::sort(pending.begin(), pending.end());
            const auto kept = random_.below(pending.size() + 1);
            if (kept < pending.size()) torn_ = pending[kept];
        }
    }

    bool keeps(std::uint64_t number) {
        switch (policy_) {
            case CrashPolicy::drop_all: return false;
            case CrashPolicy::keep_all: return true;
            case CrashPolicy::prefix: return number < torn_;
            case CrashPolicy::random_subset:
            case CrashPolicy::grown_with_zeros:
            case CrashPolicy::any: break;
        }
        return random_.chance(keep_eighths_, 8);
    }

    // The bytes a file has afterwards.
    Content content(const Content& durable, const Content& current,
                    const std::vector<ByteChange>& pending) {
        if (policy_ == CrashPolicy::keep_all) return current;
        Content result = durable;
        if (policy_ == CrashPolicy::drop_all) return result;
        for (const ByteChange& change : pending) {
            if (policy_ == CrashPolicy::prefix) {
                if (keeps(change.number)) apply(change, result);
                if (change.number == torn_ && change.bytes) tear(change, result);
            } else {
                keep_some(change, result);
            }
        }
        return result;
    }

private:
    static constexpr std::uint64_t sector_bytes = 512;
    static_assert(static_cast<int>(CrashPolicy::any) == 5, "`any` draws from those before it");

    // Calls use(position, part) for each sector's part of a write.
    template <typename Use>
    static void for_each_sector(const ByteChange& write, Use use) {
        const std::uint64_t end = write.position + write.bytes->size();
        for (std::uint64_t at = write.position; at < end;) {
            const std::uint64_t next = std::min(end, (at / sector_bytes + 1) * sector_bytes);
            use(at, ByteView(*write.bytes).subspan(at - write.position, next - at));
            at = next;
        }
    }

    void keep_some(const ByteChange& change, Content& content) {
        const bool keeps_size = policy_ == CrashPolicy::grown_with_zeros;
        if (!change.bytes) {
            if (keeps_size || keeps(change.number)) apply(change, content);
            return;
        }
        const std::uint64_t end = change.position + change.bytes->size();
        if (keeps_size && end > content.size()) content.resize(end);
        for_each_sector(change, [&](std::uint64_t position, ByteView part) {
            if (keeps(change.number)) content.write(position, part);
        });
    }

    // Cut after some of its sectors, in front of the last at the latest.
    void tear(const ByteChange& write, Content& content) {
        const std::uint64_t last = write.position + write.bytes->size() - 1;
        std::uint64_t left = random_.below(last / sector_bytes - write.position / sector_bytes + 1);
        for_each_sector(write, [&](std::uint64_t position, ByteView part) {
            if (left == 0) return;
            content.write(position, part);
            --left;
        });
    }

    Random& random_;
    CrashPolicy policy_;
    std::uint64_t keep_eighths_;
    std::uint64_t torn_ = ~std::uint64_t{0};  // prefix: the change during which the power failed
};

}  // namespace evenkeel::io::sim
