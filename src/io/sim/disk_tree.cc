#include "io/sim/disk_tree.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace evenkeel::io::sim {

std::vector<std::string_view> components_of(std::string_view path) {
    std::vector<std::string_view> components;
    while (!path.empty()) {
        const auto slash = std::min(path.find('/'), path.size());
        const auto component = path.substr(0, slash);
        EK_CHECK(component != "..", "our paths only go down");
        if (!component.empty() && component != ".") components.push_back(component);
        path.remove_prefix(std::min(slash + 1, path.size()));
    }
    return components;
}

DiskTree::DiskTree() {
    auto root = std::make_shared<Node>();
    root->is_folder = true;
    nodes_.emplace(NodeId::root, std::move(root));
}

Result<DiskTree::Place> DiskTree::find(OperationKind kind, std::string_view path) const {
    Place place{.folder = NodeId::none, .name = {}, .node = NodeId::root};
    for (const std::string_view component : components_of(path)) {
        if (place.node == NodeId::none) {
            return failure(kind, path, ErrorCode::not_found, "no such folder: " + place.name);
        }
        const Node& folder = node(place.node);
        if (!folder.is_folder) {
            return failure(kind, path, ErrorCode::unavailable, "not a folder: " + place.name);
        }
        const auto found = folder.current_names.find(component);
        place.folder = place.node;
        place.name = component;
        place.node = found == folder.current_names.end() ? NodeId::none : found->second;
    }
    return place;
}

Result<NodeId> DiskTree::find_folder(OperationKind kind, std::string_view path) const {
    EK_TRY_ASSIGN(const Place place, find(kind, path));
    if (place.node == NodeId::none) {
        return failure(kind, path, ErrorCode::not_found, "no such folder");
    }
    if (!node(place.node).is_folder) {
        return failure(kind, path, ErrorCode::unavailable, "not a folder");
    }
    return place.node;
}

NodeId DiskTree::add(const Place& place, bool is_folder) {
    const auto id = static_cast<NodeId>(next_node_++);
    auto added = std::make_shared<Node>();
    added->is_folder = is_folder;
    nodes_.emplace(id, std::move(added));
    change_name({.node = id, .to_folder = place.folder, .to = place.name});
    return id;
}

const DiskTree::Node& DiskTree::node(NodeId id) const {
    const auto found = nodes_.find(id);
    EK_CHECK(found != nodes_.end(), "a named or open file is kept");
    return *found->second;
}

DiskTree::Node& DiskTree::edit(NodeId id) {
    const auto found = nodes_.find(id);
    EK_CHECK(found != nodes_.end(), "a named or open file is kept");
    if (found->second.use_count() > 1) found->second = std::make_shared<Node>(*found->second);
    return *found->second;
}

void DiskTree::write(NodeId file, std::uint64_t position, ByteView bytes) {
    if (bytes.empty()) return;
    Node& node = edit(file);
    node.current.write(position, bytes);
    node.pending.push_back(
        {++changes_, position,
         std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end())});
}

void DiskTree::truncate(NodeId file, std::uint64_t size) {
    Node& node = edit(file);
    node.current.resize(size);
    node.pending.push_back({++changes_, size, nullptr});
}

void DiskTree::sync(NodeId file, bool succeeds) {
    if (node(file).pending.empty()) return;
    Node& node = edit(file);
    if (!succeeds) {
        node.has_lost_changes = true;
    } else if (!node.has_lost_changes) {
        node.durable = node.current;
    } else {
        for (const ByteChange& change : node.pending) apply(change, node.durable);
    }
    node.pending.clear();
}

void DiskTree::sync_names(NodeId folder) {
    // Beside the folder's own changes, those that one of them rests on: a rename from or to another
    // folder becomes durable as a whole (DISK-4), and then so does what was done before to its name
    // there.
    std::set<std::pair<NodeId, std::string>> needed;
    std::vector<NameChange> chosen;
    std::vector<NameChange> rest;
    for (auto change = name_changes_.rbegin(); change != name_changes_.rend(); ++change) {
        const std::pair from(change->from_folder, change->from);
        const std::pair to(change->to_folder, change->to);
        if (from.first == folder || to.first == folder || needed.count(from) || needed.count(to)) {
            if (from.first != NodeId::none) needed.insert(from);
            if (to.first != NodeId::none) needed.insert(to);
            chosen.push_back(std::move(*change));
        } else {
            rest.push_back(std::move(*change));
        }
    }
    name_changes_.assign(std::make_move_iterator(rest.rbegin()),
                         std::make_move_iterator(rest.rend()));
    if (chosen.empty()) return;
    std::for_each(chosen.rbegin(), chosen.rend(), [this](const auto& c) { apply_to_durable(c); });
    collect();
}

void DiskTree::rot(NodeId file, std::uint64_t position, ByteView bytes) {
    Node& node = edit(file);
    for (Content* content : {&node.durable, &node.current}) {
        if (position >= content->size()) continue;
        const auto reach = std::min<std::uint64_t>(bytes.size(), content->size() - position);
        content->write(position, bytes.first(reach));
    }
}

void DiskTree::flip_bit(NodeId file, std::uint64_t byte, unsigned bit) {
    EK_CHECK(bit < 8, "a byte has eight bits");
    Node& node = edit(file);
    for (Content* content : {&node.durable, &node.current}) {
        std::byte value{};
        if (content->read(byte, {&value, 1}) == 0) continue;
        value ^= std::byte{1} << bit;
        content->write(byte, {&value, 1});
    }
}

void DiskTree::close(NodeId file) {
    const auto count = open_.find(file);
    EK_CHECK(count != open_.end(), "a file ends before its disk");
    if (--count->second == 0) open_.erase(count);
}

DiskTree DiskTree::crash(Random& random, CrashPolicy policy) const {
    Survival survival(random, policy, pending_numbers());

    // The names of those folders that have pending changes; all others are as they were.
    std::map<NodeId, Names> changed;
    for (const NameChange& change : name_changes_) {
        for (const NodeId folder : {change.from_folder, change.to_folder}) {
            const auto found = nodes_.find(folder);
            if (found != nodes_.end()) changed.try_emplace(folder, found->second->durable_names);
        }
    }
    for (const NameChange& change : name_changes_) {
        if (!survival.keeps(change.number)) continue;
        if (const auto from = changed.find(change.from_folder); from != changed.end()) {
            const auto name = from->second.find(change.from);
            // What it took the name from is not there: the change before it was lost.
            if (name == from->second.end() || name->second != change.node) continue;
            from->second.erase(name);
        }
        if (const auto to = changed.find(change.to_folder); to != changed.end()) {
            to->second[change.to] = change.node;
        }
    }

    DiskTree image;
    image.nodes_.clear();
    image.next_node_ = next_node_;
    std::vector<NodeId> reached = {NodeId::root};
    while (!reached.empty()) {
        const NodeId id = reached.back();
        reached.pop_back();
        const auto& original = nodes_.at(id);
        auto [slot, is_new] = image.nodes_.try_emplace(id, original);
        if (!is_new) continue;
        if (const auto names = changed.find(id); names != changed.end()) {
            slot->second = std::make_shared<Node>();
            slot->second->is_folder = true;
            slot->second->durable_names = names->second;
            slot->second->current_names = std::move(names->second);
        } else if (!original->is_folder && !original->is_clean()) {
            slot->second = std::make_shared<Node>();
            slot->second->durable =
                survival.content(original->durable, original->current, original->pending);
            slot->second->current = slot->second->durable;
        }
        for (const auto& [name, child] : slot->second->durable_names) reached.push_back(child);
    }
    return image;
}

DiskTree DiskTree::kill() const {
    DiskTree image;
    image.nodes_ = nodes_;
    image.name_changes_ = name_changes_;
    image.next_node_ = next_node_;
    image.changes_ = changes_;
    return image;
}

std::vector<std::uint64_t> DiskTree::pending_numbers() const {
    std::vector<std::uint64_t> numbers;
    for (const NameChange& change : name_changes_) numbers.push_back(change.number);
    for (const auto& [id, node] : nodes_) {
        for (const ByteChange& change : node->pending) numbers.push_back(change.number);
    }
    return numbers;
}

void DiskTree::change_name(NameChange change) {
    if (change.from_folder != NodeId::none) {
        edit(change.from_folder).current_names.erase(change.from);
    }
    if (change.to_folder != NodeId::none) {
        edit(change.to_folder).current_names[change.to] = change.node;
    }
    change.number = ++changes_;
    name_changes_.push_back(std::move(change));
}

void DiskTree::apply_to_durable(const NameChange& change) {
    // A folder that is gone for good needs no names.
    if (nodes_.count(change.from_folder)) {
        edit(change.from_folder).durable_names.erase(change.from);
    }
    if (nodes_.count(change.to_folder)) {
        edit(change.to_folder).durable_names[change.to] = change.node;
    }
}

// Forgets the nodes that neither the process nor a crash image can reach any more.
void DiskTree::collect() {
    std::vector<NodeId> roots(locked_.begin(), locked_.end());
    for (const NameChange& change : name_changes_) roots.push_back(change.node);
    const std::set<NodeId> alive = reachable(std::move(roots), true);
    std::erase_if(nodes_, [&](const auto& entry) { return !alive.count(entry.first); });
    std::erase_if(name_changes_, [&](const NameChange& change) {
        return !alive.count(change.from_folder) && !alive.count(change.to_folder);
    });
}

std::set<NodeId> DiskTree::reachable(std::vector<NodeId> roots, bool by_durable_names) const {
    roots.push_back(NodeId::root);
    for (const auto& [id, count] : open_) roots.push_back(id);
    std::set<NodeId> found;
    while (!roots.empty()) {
        const NodeId id = roots.back();
        roots.pop_back();
        if (!found.insert(id).second) continue;
        for (const auto& [name, child] : node(id).current_names) roots.push_back(child);
        if (!by_durable_names) continue;
        for (const auto& [name, child] : node(id).durable_names) roots.push_back(child);
    }
    return found;
}

std::uint64_t DiskTree::used_bytes() const {
    std::uint64_t used = 0;
    for (const NodeId id : reachable({}, false)) used += node(id).current.size();
    return used;
}

}  // namespace evenkeel::io::sim
