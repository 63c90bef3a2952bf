// tidy: no test: tested by io/file_test.cc
// The locks of a simulated disk: they belong to a file or folder, whatever its name is by now.
#include "io/sim/disk.h"

namespace evenkeel::io::sim {

class Disk::HeldLock final : public FileLock {
public:
    HeldLock(Disk& disk, NodeId node, std::string path)
        : disk_(disk), node_(node), path_(std::move(path)) {
        disk_.locked_.insert(node_);
    }
    ~HeldLock() override { disk_.locked_.erase(node_); }

    Result<> check() const override {
        if (disk_.leads_to(path_, node_)) return {};
        return Error{ErrorCode::fenced, path_ + " was removed or replaced"};
    }

private:
    Disk& disk_;
    const NodeId node_;
    const std::string path_;
};

Result<std::unique_ptr<FileLock>> Disk::lock_node(NodeId node, const std::string& path) {
    if (locked_.count(node)) {
        return Error{ErrorCode::conflict,
                     "lock " + path + ": another user of this disk holds it; stop it first"};
    }
    return std::unique_ptr<FileLock>(std::make_unique<HeldLock>(*this, node, path));
}

}  // namespace evenkeel::io::sim
