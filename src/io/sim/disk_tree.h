// The files and folders of a simulated disk: what a process sees of them, what is durable, and what
// is pending between the two. A crash turns it into another tree.
//
// Invariants: DISK-1 to DISK-5 and DISK-7 of io/sim/disk.h.
// Ownership: nodes are shared with images of the disk and copied before the first change. A node
// stays as long as a name, durable or not, an open file or a lock leads to it.
// Threads: one for a tree and all images taken from it.
// Failure: lookups say why there is no such file; changes cannot fail, faults come before them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "io/sim/content.h"
#include "io/sim/faults.h"
#include "io/sim/survival.h"

namespace evenkeel::io::sim {

class DiskTree {
public:
    using Names = std::map<std::string, NodeId, std::less<>>;
    struct Place {
        NodeId folder = NodeId::none;  // none for the root
        std::string name;
        NodeId node = NodeId::none;  // none if the name is free
    };

    DiskTree();

    // As the process sees it. Errors name the kind of call and the path.
    Result<Place> find(OperationKind kind, std::string_view path) const;
    Result<NodeId> find_folder(OperationKind kind, std::string_view path) const;
    bool is_folder(NodeId id) const { return node(id).is_folder; }
    const Names& names(NodeId folder) const { return node(folder).current_names; }
    const Content& content(NodeId file) const { return node(file).current; }
    // Of all files that the process can reach by a name or has open.
    std::uint64_t used_bytes() const;

    // Pending until file or folder are synced.
    NodeId add(const Place& place, bool is_folder);
    void change_name(NameChange change);
    void write(NodeId file, std::uint64_t position, ByteView bytes);
    void truncate(NodeId file, std::uint64_t size);
    std::size_t pending() const { return pending_numbers().size(); }

    // A sync that fails loses what it was to make durable (DISK-5).
    void sync(NodeId file, bool succeeds);
    void sync_names(NodeId folder);
    // Rot: changes current and durable bytes at once, each as far as it reaches.
    void rot(NodeId file, std::uint64_t position, ByteView bytes);
    void flip_bit(NodeId file, std::uint64_t byte, unsigned bit);

    // What is in use stays although its names are gone.
    void open(NodeId file) { ++open_[file]; }
    void close(NodeId file);
    bool lock(NodeId id) { return locked_.insert(id).second; }
    void unlock(NodeId id) { locked_.erase(id); }
    bool has_open() const { return !open_.empty(); }
    bool has_locked() const { return !locked_.empty(); }

    // As a power loss may leave it: nothing is pending or in use.
    DiskTree crash(Random& random, CrashPolicy policy) const;
    // As the next process finds it: what was pending still is, nothing is in use.
    DiskTree kill() const;

private:
    // A file or a folder. `durable` and pending changes give `current`, unless a sync failed
    // (DISK-5).
    struct Node {
        bool is_folder = false;
        bool has_lost_changes = false;
        Content durable;
        Content current;
        std::vector<ByteChange> pending;  // oldest first
        Names durable_names;
        Names current_names;

        bool is_clean() const { return pending.empty() && !has_lost_changes; }
    };

    const Node& node(NodeId id) const;
    Node& edit(NodeId id);
    std::vector<std::uint64_t> pending_numbers() const;
    void apply_to_durable(const NameChange& change);
    void collect();
    // What can be reached from open files and these by current names, or also by durable ones.
    std::set<NodeId> reachable(std::vector<NodeId> roots, bool by_durable_names) const;

    std::map<NodeId, std::shared_ptr<Node>> nodes_;
    std::vector<NameChange> name_changes_;  // pending, oldest first
    std::uint64_t next_node_ = 2;
    std::uint64_t changes_ = 0;  // numbers all changes of bytes and names in one order

    std::map<NodeId, std::uint64_t> open_;  // how many handles a file has
    std::set<NodeId> locked_;
};

// The names on the way from the root.
std::vector<std::string_view> components_of(std::string_view path);

}  // namespace evenkeel::io::sim
