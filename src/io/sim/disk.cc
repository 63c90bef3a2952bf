#include "io/sim/disk.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "io/sim/content.h"
#include "io/sim/survival.h"

namespace evenkeel::io::sim {
namespace {

constexpr std::uint64_t file_bytes_max = std::uint64_t{4} << 30;
constexpr std::uint64_t unlimited_bytes = std::uint64_t{1} << 40;

Error failure(OperationKind kind, std::string_view path, ErrorCode code, std::string_view why) {
    return {code, std::string(to_string(kind)) + " " + std::string(path) + ": " + std::string(why)};
}

Error no_space(OperationKind kind, std::string_view path) {
    return failure(kind, path, ErrorCode::overloaded, "no space left on device (simulated)");
}

bool is_mutating(OperationKind kind) {
    using enum OperationKind;
    return kind != read && kind != open && kind != list;
}

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

}  // namespace

// A file or a folder. `durable` and pending changes give `current`, unless a sync failed (DISK-5).
struct Disk::Node {
    bool is_folder = false;
    bool has_lost_changes = false;
    Content durable;
    Content current;
    std::vector<ByteChange> pending;  // oldest first
    Names durable_names;
    Names current_names;

    bool is_clean() const { return pending.empty() && !has_lost_changes; }
};

struct Disk::Place {
    NodeId folder = NodeId::none;  // none for the root
    std::string name;
    NodeId node = NodeId::none;  // none if the name is free
};

class Disk::Handle final : public File {
public:
    Handle(Disk& disk, NodeId node, std::string path, bool is_writable)
        : disk_(disk), node_(node), path_(std::move(path)), is_writable_(is_writable) {
        ++disk_.open_[node_];
    }
    ~Handle() override {
        const auto count = disk_.open_.find(node_);
        EK_CHECK(count != disk_.open_.end(), "a file ends before its disk");
        if (--count->second == 0) disk_.open_.erase(count);
    }

    Result<std::size_t> read(std::uint64_t position, ByteSpan buffer) override {
        EK_TRY(disk_.begin({OperationKind::read, path_, {}}));
        return disk_.node(node_).current.read(position, buffer);
    }
    std::size_t read_cached(std::uint64_t position, ByteSpan buffer) override {
        const auto got = disk_.cached_ ? read(position, buffer) : std::size_t{0};
        return got.ok() ? *got : 0;
    }
    Result<> write(std::uint64_t position, ByteView bytes) override {
        EK_TRY(check_writable(OperationKind::write));
        return disk_.write(node_, path_, position, bytes);
    }
    Result<> sync() override { return disk_.sync(node_, path_); }
    Result<> truncate(std::uint64_t size) override {
        EK_TRY(check_writable(OperationKind::truncate));
        return disk_.truncate(node_, path_, size);
    }
    Result<std::uint64_t> size() override { return disk_.node(node_).current.size(); }

private:
    Result<> check_writable(OperationKind kind) const {
        if (is_writable_) return {};
        return failure(kind, path_, ErrorCode::unavailable, "opened for reading");
    }

    Disk& disk_;
    const NodeId node_;
    const std::string path_;
    const bool is_writable_;
};

std::string_view to_string(OperationKind kind) {
    constexpr std::string_view names[] = {
        "read",   "write",  "sync",           "truncate",       "open", "create",
        "remove", "rename", "make_directory", "sync_directory", "list",
    };
    static_assert(std::size(names) == static_cast<std::size_t>(OperationKind::list) + 1);
    return names[static_cast<std::size_t>(kind)];
}

Disk::Disk() : next_node_(2), capacity_bytes_(unlimited_bytes) {
    auto root = std::make_shared<Node>();
    root->is_folder = true;
    nodes_.emplace(NodeId::root, std::move(root));
}

Disk::~Disk() {
    EK_CHECK(open_.empty(), "files end before their disk");
    EK_CHECK(locked_.empty(), "locks end before their disk");
}

Result<std::unique_ptr<File>> Disk::open(const std::string& path, OpenMode mode) {
    const bool creates = mode == OpenMode::create || mode == OpenMode::create_private;
    const auto kind = creates ? OperationKind::create : OperationKind::open;
    EK_TRY(begin({kind, path, {}}));
    EK_TRY_ASSIGN(Place place, find(kind, path));
    if (creates) {
        if (place.node != NodeId::none) {
            return failure(kind, path, ErrorCode::already_exists, "it exists");
        }
        place.node = add(place, false);
    }
    if (place.node == NodeId::none) {
        return failure(kind, path, ErrorCode::not_found, "no such file");
    }
    if (node(place.node).is_folder) {
        return failure(kind, path, ErrorCode::unavailable, "it is a folder");
    }
    return std::unique_ptr<File>(
        std::make_unique<Handle>(*this, place.node, path, mode != OpenMode::read));
}

Result<std::vector<DirectoryEntry>> Disk::list(const std::string& directory) {
    EK_TRY(begin({OperationKind::list, directory, {}}));
    EK_TRY_ASSIGN(const NodeId folder, find_folder(OperationKind::list, directory));
    std::vector<DirectoryEntry> entries;
    for (const auto& [name, id] : node(folder).current_names) {
        entries.push_back({name, node(id).is_folder});
    }
    return entries;
}

Result<> Disk::make_directory(const std::string& path) {
    EK_TRY(begin({OperationKind::make_directory, path, {}}));
    EK_TRY_ASSIGN(const Place place, find(OperationKind::make_directory, path));
    if (place.node != NodeId::none) {
        return failure(OperationKind::make_directory, path, ErrorCode::already_exists, "it exists");
    }
    add(place, true);
    return {};
}

Result<> Disk::remove(const std::string& path) {
    const auto kind = OperationKind::remove;
    EK_TRY(begin({kind, path, {}}));
    EK_TRY_ASSIGN(const Place place, find(kind, path));
    if (place.node == NodeId::none) {
        return failure(kind, path, ErrorCode::not_found, "no such file or folder");
    }
    if (place.node == NodeId::root) {
        return failure(kind, path, ErrorCode::unavailable, "it is the root");
    }
    if (!node(place.node).current_names.empty()) {
        return failure(kind, path, ErrorCode::unavailable, "folder not empty");
    }
    change_name({.node = place.node, .from_folder = place.folder, .from = place.name});
    return {};
}

Result<> Disk::rename(const std::string& from, const std::string& to) {
    const auto kind = OperationKind::rename;
    EK_TRY(begin({kind, from, to}));
    EK_TRY_ASSIGN(const Place source, find(kind, from));
    EK_TRY_ASSIGN(const Place target, find(kind, to));
    const auto refused = [&](ErrorCode code, std::string_view why) {
        return failure(kind, from + " to " + to, code, why);
    };
    if (source.node == NodeId::none) return refused(ErrorCode::not_found, "no such file");
    if (source.node == target.node) return {};
    if (source.node == NodeId::root || target.node == NodeId::root) {
        return refused(ErrorCode::unavailable, "one of them is the root");
    }
    const bool moves_folder = node(source.node).is_folder;
    if (moves_folder) {
        const auto above = components_of(from);
        const auto below = components_of(to);
        if (below.size() > above.size() && std::equal(above.begin(), above.end(), below.begin())) {
            return refused(ErrorCode::unavailable, "a folder cannot be inside itself");
        }
    }
    if (target.node != NodeId::none) {
        const Node& replaced = node(target.node);
        if (replaced.is_folder != moves_folder) {
            return refused(ErrorCode::unavailable, "a file and a folder do not replace each other");
        }
        if (!replaced.current_names.empty()) {
            return refused(ErrorCode::unavailable, "folder not empty");
        }
    }
    change_name({.node = source.node,
                 .from_folder = source.folder,
                 .from = source.name,
                 .to_folder = target.folder,
                 .to = target.name});
    return {};
}

Result<> Disk::sync_directory(const std::string& path) {
    EK_TRY(begin({OperationKind::sync_directory, path, {}}));
    EK_TRY_ASSIGN(const NodeId folder, find_folder(OperationKind::sync_directory, path));
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
    if (chosen.empty()) return {};
    std::for_each(chosen.rbegin(), chosen.rend(), [this](const auto& c) { apply_to_durable(c); });
    collect();
    return {};
}

Result<std::unique_ptr<FileLock>> Disk::lock(const std::string& path) {
    EK_TRY_ASSIGN(Place place, find(OperationKind::open, path));
    if (place.node == NodeId::none) {
        EK_TRY(begin({OperationKind::create, path, {}}));
        place.node = add(place, false);
    } else {
        EK_TRY(begin({OperationKind::open, path, {}}));
    }
    if (node(place.node).is_folder) {
        return failure(OperationKind::open, path, ErrorCode::unavailable, "it is a folder");
    }
    return lock_node(place.node, path);
}

Result<std::unique_ptr<FileLock>> Disk::lock_folder(const std::string& path,
                                                    const std::string& /*note*/) {
    EK_TRY_ASSIGN(const NodeId folder, find_folder(OperationKind::open, path));
    return lock_node(folder, path);
}

bool Disk::leads_to(const std::string& path, NodeId node) const {
    const auto place = find(OperationKind::open, path);
    return place.ok() && place->node == node;
}

Result<std::uint64_t> Disk::free_bytes(const std::string& path) {
    EK_TRY_ASSIGN(const Place place, find(OperationKind::open, path));
    if (place.node == NodeId::none) {
        return failure(OperationKind::open, path, ErrorCode::not_found, "no such file or folder");
    }
    return room_bytes();
}

std::unique_ptr<Disk> Disk::crash(Random& random, CrashPolicy policy) const {
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

    auto image = std::make_unique<Disk>();
    image->nodes_.clear();
    image->next_node_ = next_node_;
    image->capacity_bytes_ = capacity_bytes_;
    std::vector<NodeId> reached = {NodeId::root};
    while (!reached.empty()) {
        const NodeId id = reached.back();
        reached.pop_back();
        const auto& original = nodes_.at(id);
        auto [slot, is_new] = image->nodes_.try_emplace(id, original);
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

std::unique_ptr<Disk> Disk::kill() const {
    auto image = std::make_unique<Disk>();
    image->nodes_ = nodes_;
    image->name_changes_ = name_changes_;
    image->next_node_ = next_node_;
    image->changes_ = changes_;
    image->capacity_bytes_ = capacity_bytes_;
    return image;
}

std::size_t Disk::pending() const {
    return pending_numbers().size();
}

void Disk::fail(FaultRule rule) {
    rules_.push_back({std::move(rule)});
}

void Disk::flip_bit(const std::string& path, std::uint64_t byte, unsigned bit) {
    EK_CHECK(bit < 8, "a byte has eight bits");
    Node& file = edit(find_file(path));
    for (Content* content : {&file.durable, &file.current}) {
        std::byte value{};
        if (content->read(byte, {&value, 1}) == 0) continue;
        value ^= std::byte{1} << bit;
        content->write(byte, {&value, 1});
    }
}

void Disk::overwrite(const std::string& path, std::uint64_t position, ByteView bytes) {
    Node& file = edit(find_file(path));
    for (Content* content : {&file.durable, &file.current}) {
        if (position >= content->size()) continue;
        const auto reach = std::min<std::uint64_t>(bytes.size(), content->size() - position);
        content->write(position, bytes.first(reach));
    }
}

std::uint64_t Disk::file_size(const std::string& path) const {
    return node(find_file(path)).current.size();
}

std::vector<std::string> Disk::files() const {
    std::vector<std::string> paths;
    std::vector<std::pair<std::string, NodeId>> folders = {{"", NodeId::root}};
    while (!folders.empty()) {
        const auto [prefix, folder] = std::move(folders.back());
        folders.pop_back();
        for (const auto& [name, id] : node(folder).current_names) {
            if (node(id).is_folder) {
                folders.emplace_back(prefix + name + "/", id);
            } else {
                paths.push_back(prefix + name);
            }
        }
    }
    std::sort(paths.begin(), paths.end());
    return paths;
}

Result<> Disk::begin(const Operation& operation, bool* is_short_write) {
    EK_CHECK(!in_hook_, "the hook must not use the disk it watches, only images of it");
    if (is_mutating(operation.kind)) {
        ++operations_;
        if (hook_) {
            in_hook_ = true;
            hook_(operation);
            in_hook_ = false;
        }
    }
    const FaultRule* due = nullptr;
    for (auto& [rule, calls] : rules_) {
        if (rule.kind != operation.kind) continue;
        if (operation.path.find(rule.path_contains) == std::string_view::npos &&
            operation.to.find(rule.path_contains) == std::string_view::npos) {
            continue;
        }
        const std::uint64_t call = calls++;
        if (!due && call >= rule.after && call - rule.after < rule.times) due = &rule;
    }
    if (!due) return {};
    ++faults_;
    if (due->fault == Fault::no_space) return no_space(operation.kind, operation.path);
    if (due->fault == Fault::short_write && is_short_write) *is_short_write = true;
    return failure(operation.kind, operation.path, ErrorCode::unavailable,
                   "input/output error (simulated)");
}

Result<Disk::Place> Disk::find(OperationKind kind, std::string_view path) const {
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

Result<NodeId> Disk::find_folder(OperationKind kind, std::string_view path) const {
    EK_TRY_ASSIGN(const Place place, find(kind, path));
    if (place.node == NodeId::none) {
        return failure(kind, path, ErrorCode::not_found, "no such folder");
    }
    if (!node(place.node).is_folder) {
        return failure(kind, path, ErrorCode::unavailable, "not a folder");
    }
    return place.node;
}

NodeId Disk::find_file(std::string_view path) const {
    const auto place = find(OperationKind::open, path);
    EK_CHECK(place.ok() && place->node != NodeId::none, "the file to look at exists");
    EK_CHECK(!node(place->node).is_folder, "the path to look at is a file");
    return place->node;
}

NodeId Disk::add(const Place& place, bool is_folder) {
    const auto id = static_cast<NodeId>(next_node_++);
    auto added = std::make_shared<Node>();
    added->is_folder = is_folder;
    nodes_.emplace(id, std::move(added));
    change_name({.node = id, .to_folder = place.folder, .to = place.name});
    return id;
}

const Disk::Node& Disk::node(NodeId id) const {
    const auto found = nodes_.find(id);
    EK_CHECK(found != nodes_.end(), "a named or open file is kept");
    return *found->second;
}

Disk::Node& Disk::edit(NodeId id) {
    EK_CHECK(!in_hook_, "the hook must not change the disk it watches");
    const auto found = nodes_.find(id);
    EK_CHECK(found != nodes_.end(), "a named or open file is kept");
    if (found->second.use_count() > 1) found->second = std::make_shared<Node>(*found->second);
    return *found->second;
}

Result<> Disk::write(NodeId id, const std::string& path, std::uint64_t position, ByteView bytes) {
    const auto kind = OperationKind::write;
    bool is_short = false;
    auto allowed = begin({kind, path, {}}, &is_short);
    if (!allowed.ok() && !is_short) return allowed;
    if (is_short) bytes = bytes.first(bytes.size() / 2);
    if (bytes.size() > file_bytes_max || position > file_bytes_max - bytes.size()) {
        return failure(kind, path, ErrorCode::overloaded, "file too large (simulated)");
    }
    const std::uint64_t size = node(id).current.size();
    if (position + bytes.size() > size && capacity_bytes_ != unlimited_bytes) {
        const std::uint64_t end = size + room_bytes();
        if (position + bytes.size() > end) {
            bytes = bytes.first(position < end ? end - position : 0);
            allowed = no_space(kind, path);
        }
    }
    if (bytes.empty()) return allowed;
    Node& file = edit(id);
    file.current.write(position, bytes);
    file.pending.push_back(
        {++changes_, position,
         std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end())});
    return allowed;
}

Result<> Disk::sync(NodeId id, const std::string& path) {
    auto allowed = begin({OperationKind::sync, path, {}});
    if (node(id).pending.empty()) return allowed;
    Node& file = edit(id);
    if (!allowed.ok()) {
        file.has_lost_changes = true;
    } else if (!file.has_lost_changes) {
        file.durable = file.current;
    } else {
        for (const ByteChange& change : file.pending) apply(change, file.durable);
    }
    file.pending.clear();
    return allowed;
}

Result<> Disk::truncate(NodeId id, const std::string& path, std::uint64_t size) {
    const auto kind = OperationKind::truncate;
    EK_TRY(begin({kind, path, {}}));
    if (size > file_bytes_max) {
        return failure(kind, path, ErrorCode::overloaded, "file too large (simulated)");
    }
    const std::uint64_t before = node(id).current.size();
    if (size > before && size - before > room_bytes()) return no_space(kind, path);
    Node& file = edit(id);
    file.current.resize(size);
    file.pending.push_back({++changes_, size, nullptr});
    return {};
}

std::vector<std::uint64_t> Disk::pending_numbers() const {
    std::vector<std::uint64_t> numbers;
    for (const NameChange& change : name_changes_) numbers.push_back(change.number);
    for (const auto& [id, node] : nodes_) {
        for (const ByteChange& change : node->pending) numbers.push_back(change.number);
    }
    return numbers;
}

void Disk::change_name(NameChange change) {
    if (change.from_folder != NodeId::none) {
        edit(change.from_folder).current_names.erase(change.from);
    }
    if (change.to_folder != NodeId::none) {
        edit(change.to_folder).current_names[change.to] = change.node;
    }
    change.number = ++changes_;
    name_changes_.push_back(std::move(change));
}

void Disk::apply_to_durable(const NameChange& change) {
    // A folder that is gone for good needs no names.
    if (nodes_.count(change.from_folder)) {
        edit(change.from_folder).durable_names.erase(change.from);
    }
    if (nodes_.count(change.to_folder)) {
        edit(change.to_folder).durable_names[change.to] = change.node;
    }
}

// Forgets the nodes that neither the process nor a crash image can reach any more.
void Disk::collect() {
    std::vector<NodeId> roots(locked_.begin(), locked_.end());
    for (const NameChange& change : name_changes_) roots.push_back(change.node);
    const std::set<NodeId> alive = reachable(std::move(roots), true);
    std::erase_if(nodes_, [&](const auto& entry) { return !alive.count(entry.first); });
    std::erase_if(name_changes_, [&](const NameChange& change) {
        return !alive.count(change.from_folder) && !alive.count(change.to_folder);
    });
}

std::set<NodeId> Disk::reachable(std::vector<NodeId> roots, bool by_durable_names) const {
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

std::uint64_t Disk::room_bytes() const {
    std::uint64_t used = 0;
    for (const NodeId id : reachable({}, false)) used += node(id).current.size();
    return used < capacity_bytes_ ? capacity_bytes_ - used : 0;
}

}  // namespace evenkeel::io::sim
