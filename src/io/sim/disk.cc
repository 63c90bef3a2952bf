#include "io/sim/disk.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace evenkeel::io::sim {
namespace {

constexpr std::uint64_t file_bytes_max = std::uint64_t{4} << 30;
constexpr std::uint64_t unlimited_bytes = std::uint64_t{1} << 40;

}  // namespace

class Disk::Handle final : public File {
public:
    Handle(Disk& disk, NodeId node, std::string path, bool is_writable)
        : disk_(disk), node_(node), path_(std::move(path)), is_writable_(is_writable) {
        disk_.tree_.open(node_);
    }
    ~Handle() override { disk_.tree_.close(node_); }

    Result<std::size_t> read(std::uint64_t position, ByteSpan buffer) override {
        EK_TRY(disk_.faults_.begin({OperationKind::read, path_, {}}));
        return disk_.tree_.content(node_).read(position, buffer);
    }
    std::size_t read_cached(std::uint64_t position, ByteSpan buffer) override {
        const auto got = disk_.cached_ ? read(position, buffer) : std::size_t{0};
        return got.ok() ? *got : 0;
    }
    Result<> write(std::uint64_t position, ByteView bytes) override {
        EK_TRY(check_writable(OperationKind::write));
        return disk_.write(node_, path_, position, bytes);
    }
    Result<> sync() override {
        auto allowed = disk_.faults_.begin({OperationKind::sync, path_, {}});
        disk_.tree_.sync(node_, allowed.ok());
        return allowed;
    }
    Result<> truncate(std::uint64_t size) override {
        EK_TRY(check_writable(OperationKind::truncate));
        return disk_.truncate(node_, path_, size);
    }
    Result<std::uint64_t> size() override { return disk_.tree_.content(node_).size(); }

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

// A lock belongs to a file or folder, whatever its name is by now.
class Disk::HeldLock final : public FileLock {
public:
    HeldLock(Disk& disk, NodeId node, std::string path)
        : disk_(disk), node_(node), path_(std::move(path)) {}
    ~HeldLock() override { disk_.tree_.unlock(node_); }

    Result<> check() const override {
        const auto place = disk_.tree_.find(OperationKind::open, path_);
        if (place.ok() && place->node == node_) return {};
        return Error{ErrorCode::fenced, path_ + " was removed or replaced"};
    }

private:
    Disk& disk_;
    const NodeId node_;
    const std::string path_;
};

Disk::Disk() : Disk(DiskTree(), unlimited_bytes) {}

Disk::Disk(DiskTree tree, std::uint64_t capacity_bytes)
    : tree_(std::move(tree)), capacity_bytes_(capacity_bytes) {}

Disk::~Disk() {
    EK_CHECK(!tree_.has_open(), "files end before their disk");
    EK_CHECK(!tree_.has_locked(), "locks end before their disk");
}

Result<std::unique_ptr<File>> Disk::open(const std::string& path, OpenMode mode) {
    const bool creates = mode == OpenMode::create || mode == OpenMode::create_private;
    const auto kind = creates ? OperationKind::create : OperationKind::open;
    EK_TRY(faults_.begin({kind, path, {}}));
    EK_TRY_ASSIGN(Place place, tree_.find(kind, path));
    if (creates) {
        if (place.node != NodeId::none) {
            return failure(kind, path, ErrorCode::already_exists, "it exists");
        }
        place.node = tree_.add(place, false);
    }
    if (place.node == NodeId::none) {
        return failure(kind, path, ErrorCode::not_found, "no such file");
    }
    if (tree_.is_folder(place.node)) {
        return failure(kind, path, ErrorCode::unavailable, "it is a folder");
    }
    return std::unique_ptr<File>(
        std::make_unique<Handle>(*this, place.node, path, mode != OpenMode::read));
}

Result<std::vector<DirectoryEntry>> Disk::list(const std::string& directory) {
    EK_TRY(faults_.begin({OperationKind::list, directory, {}}));
    EK_TRY_ASSIGN(const NodeId folder, tree_.find_folder(OperationKind::list, directory));
    std::vector<DirectoryEntry> entries;
    for (const auto& [name, id] : tree_.names(folder)) {
        entries.push_back({name, tree_.is_folder(id)});
    }
    return entries;
}

Result<> Disk::make_directory(const std::string& path) {
    EK_TRY(faults_.begin({OperationKind::make_directory, path, {}}));
    EK_TRY_ASSIGN(const Place place, tree_.find(OperationKind::make_directory, path));
    if (place.node != NodeId::none) {
        return failure(OperationKind::make_directory, path, ErrorCode::already_exists, "it exists");
    }
    tree_.add(place, true);
    return {};
}

Result<> Disk::remove(const std::string& path) {
    const auto kind = OperationKind::remove;
    EK_TRY(faults_.begin({kind, path, {}}));
    EK_TRY_ASSIGN(const Place place, tree_.find(kind, path));
    if (place.node == NodeId::none) {
        return failure(kind, path, ErrorCode::not_found, "no such file or folder");
    }
    if (place.node == NodeId::root) {
        return failure(kind, path, ErrorCode::unavailable, "it is the root");
    }
    if (!tree_.names(place.node).empty()) {
        return failure(kind, path, ErrorCode::unavailable, "folder not empty");
    }
    tree_.change_name({.node = place.node, .from_folder = place.folder, .from = place.name});
    return {};
}

Result<> Disk::rename(const std::string& from, const std::string& to) {
    const auto kind = OperationKind::rename;
    EK_TRY(faults_.begin({kind, from, to}));
    EK_TRY_ASSIGN(const Place source, tree_.find(kind, from));
    EK_TRY_ASSIGN(const Place target, tree_.find(kind, to));
    const auto refused = [&](ErrorCode code, std::string_view why) {
        return failure(kind, from + " to " + to, code, why);
    };
    if (source.node == NodeId::none) return refused(ErrorCode::not_found, "no such file");
    if (source.node == target.node) return {};
    if (source.node == NodeId::root || target.node == NodeId::root) {
        return refused(ErrorCode::unavailable, "one of them is the root");
    }
    const bool moves_folder = tree_.is_folder(source.node);
    if (moves_folder) {
        const auto above = components_of(from);
        const auto below = components_of(to);
        if (below.size() > above.size() && std::equal(above.begin(), above.end(), below.begin())) {
            return refused(ErrorCode::unavailable, "a folder cannot be inside itself");
        }
    }
    if (target.node != NodeId::none) {
        if (tree_.is_folder(target.node) != moves_folder) {
            return refused(ErrorCode::unavailable, "a file and a folder do not replace each other");
        }
        if (!tree_.names(target.node).empty()) {
            return refused(ErrorCode::unavailable, "folder not empty");
        }
    }
    tree_.change_name({.node = source.node,
                       .from_folder = source.folder,
                       .from = source.name,
                       .to_folder = target.folder,
                       .to = target.name});
    return {};
}

Result<> Disk::sync_directory(const std::string& path) {
    EK_TRY(faults_.begin({OperationKind::sync_directory, path, {}}));
    EK_TRY_ASSIGN(const NodeId folder, tree_.find_folder(OperationKind::sync_directory, path));
    tree_.sync_names(folder);
    return {};
}

Result<std::unique_ptr<FileLock>> Disk::lock(const std::string& path) {
    EK_TRY_ASSIGN(Place place, tree_.find(OperationKind::open, path));
    if (place.node == NodeId::none) {
        EK_TRY(faults_.begin({OperationKind::create, path, {}}));
        place.node = tree_.add(place, false);
    } else {
        EK_TRY(faults_.begin({OperationKind::open, path, {}}));
    }
    if (tree_.is_folder(place.node)) {
        return failure(OperationKind::open, path, ErrorCode::unavailable, "it is a folder");
    }
    return lock_node(place.node, path);
}

Result<std::unique_ptr<FileLock>> Disk::lock_folder(const std::string& path,
                                                    const std::string& /*note*/) {
    EK_TRY_ASSIGN(const NodeId folder, tree_.find_folder(OperationKind::open, path));
    return lock_node(folder, path);
}

Result<std::unique_ptr<FileLock>> Disk::lock_node(NodeId node, const std::string& path) {
    if (!tree_.lock(node)) {
        return Error{ErrorCode::conflict,
                     "lock " + path + ": another user of this disk holds it; stop it first"};
    }
    return std::unique_ptr<FileLock>(std::make_unique<HeldLock>(*this, node, path));
}

Result<std::uint64_t> Disk::free_bytes(const std::string& path) {
    EK_TRY_ASSIGN(const Place place, tree_.find(OperationKind::open, path));
    if (place.node == NodeId::none) {
        return failure(OperationKind::open, path, ErrorCode::not_found, "no such file or folder");
    }
    return room_bytes();
}

std::unique_ptr<Disk> Disk::crash(Random& random, CrashPolicy policy) const {
    return std::unique_ptr<Disk>(new Disk(tree_.crash(random, policy), capacity_bytes_));
}

std::unique_ptr<Disk> Disk::kill() const {
    return std::unique_ptr<Disk>(new Disk(tree_.kill(), capacity_bytes_));
}

void Disk::flip_bit(const std::string& path, std::uint64_t byte, unsigned bit) {
    check_rot();
    tree_.flip_bit(find_file(path), byte, bit);
}

void Disk::overwrite(const std::string& path, std::uint64_t position, ByteView bytes) {
    check_rot();
    tree_.rot(find_file(path), position, bytes);
}

void Disk::check_rot() const {
    EK_CHECK(!faults_.in_hook(), "the hook must not change the disk it watches");
}

std::uint64_t Disk::file_size(const std::string& path) const {
    return tree_.content(find_file(path)).size();
}

std::vector<std::string> Disk::files() const {
    std::vector<std::string> paths;
    std::vector<std::pair<std::string, NodeId>> folders = {{"", NodeId::root}};
    while (!folders.empty()) {
        const auto [prefix, folder] = std::move(folders.back());
        folders.pop_back();
        for (const auto& [name, id] : tree_.names(folder)) {
            if (tree_.is_folder(id)) {
                folders.emplace_back(prefix + name + "/", id);
            } else {
                paths.push_back(prefix + name);
            }
        }
    }
    std::sort(paths.begin(), paths.end());
    return paths;
}

NodeId Disk::find_file(std::string_view path) const {
    const auto place = tree_.find(OperationKind::open, path);
    EK_CHECK(place.ok() && place->node != NodeId::none, "the file to look at exists");
    EK_CHECK(!tree_.is_folder(place->node), "the path to look at is a file");
    return place->node;
}

Result<> Disk::write(NodeId id, const std::string& path, std::uint64_t position, ByteView bytes) {
    const auto kind = OperationKind::write;
    bool is_short = false;
    auto allowed = faults_.begin({kind, path, {}}, &is_short);
    if (!allowed.ok() && !is_short) return allowed;
    if (is_short) bytes = bytes.first(bytes.size() / 2);
    if (bytes.size() > file_bytes_max || position > file_bytes_max - bytes.size()) {
        return failure(kind, path, ErrorCode::overloaded, "file too large (simulated)");
    }
    const std::uint64_t size = tree_.content(id).size();
    if (position + bytes.size() > size && capacity_bytes_ != unlimited_bytes) {
        const std::uint64_t end = size + room_bytes();
        if (position + bytes.size() > end) {
            bytes = bytes.first(position < end ? end - position : 0);
            allowed = no_space(kind, path);
        }
    }
    tree_.write(id, position, bytes);
    return allowed;
}

Result<> Disk::truncate(NodeId id, const std::string& path, std::uint64_t size) {
    const auto kind = OperationKind::truncate;
    EK_TRY(faults_.begin({kind, path, {}}));
    if (size > file_bytes_max) {
        return failure(kind, path, ErrorCode::overloaded, "file too large (simulated)");
    }
    const std::uint64_t before = tree_.content(id).size();
    if (size > before && size - before > room_bytes()) return no_space(kind, path);
    tree_.truncate(id, size);
    return {};
}

std::uint64_t Disk::room_bytes() const {
    const std::uint64_t used = tree_.used_bytes();
    return used < capacity_bytes_ ? capacity_bytes_ - used : 0;
}

}  // namespace evenkeel::io::sim
