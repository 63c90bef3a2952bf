// A disk in memory that forgets what was not synced, tears what it was writing, fills up, fails and
// rots: the system's files (io/system/files.h) as they are on a bad day.
//
//     process ──write, truncate──▶ current bytes ──sync()──────────▶ durable bytes
//             ──create, rename───▶ current names ──sync_directory()▶ durable names
//                                        │                               │
//                                        └────── crash(random, policy) ◀─┘
//                                                        │
//                                                        ▼
//                                  another disk, as it may be after a power loss now
//
// A process always sees the current bytes and names. Each change to them is pending until its file
// or folder is synced, and a crash keeps or loses each pending change as its policy says.
//
// Invariants
//   DISK-1  What sync() acknowledged is in every crash image, unless a later change of the same
//           bytes is there instead.
//   DISK-2  A name is in every crash image once its folder, and each folder above, was synced. A
//           file without a name in the image is gone, synced or not; a removed name may come back.
//   DISK-3  After a crash each 512-byte sector of a pending write is there or not, whatever became
//           of its neighbours. A missing one shows the bytes before it, or zeros where the file
//           grew.
//   DISK-4  A name change is there or not as a whole; a rename shows the file under one name, never
//           both. It is not ordered with the file's bytes: a new name may show lost content.
//           Syncing either folder of a rename makes all of it durable.
//   DISK-5  After a failed sync() the running process goes on reading what it wrote, but no later
//           sync() makes those changes durable, and every crash but keep_all loses them. Only
//           writing the bytes anew helps. (A failed sync_directory() leaves its name changes
//           pending.)
//   DISK-6  The current bytes of all named or open files never grow beyond the capacity.
//   DISK-7  The same calls with the same Random give the same image.
//
// Paths have an optional leading '/'; "", "/" and "." are the root, which exists and is durable.
// Open files keep working after their name is gone, and are for this disk only: files and locks end
// before the disk they were opened on.
//
// Images share unchanged files and pages with the disk they came from, so that one costs
// microseconds. Threads: one for a disk and all images taken from it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/task.h"
#include "io/file.h"
#include "io/sim/disk_tree.h"
#include "io/sim/faults.h"
#include "io/sim/survival.h"

namespace evenkeel::io::sim {

class Disk final : public FileSystem {
public:
    Disk();
    ~Disk() override;
    Disk(const Disk&) = delete;
    Disk& operator=(const Disk&) = delete;

    Result<std::unique_ptr<File>> open(const std::string& path, OpenMode mode) override;
    Result<std::vector<DirectoryEntry>> list(const std::string& directory) override;
    Result<> make_directory(const std::string& path) override;
    Result<> remove(const std::string& path) override;
    Result<> rename(const std::string& from, const std::string& to) override;
    Result<> sync_directory(const std::string& path) override;
    Result<std::unique_ptr<FileLock>> lock(const std::string& path) override;
    Result<std::unique_ptr<FileLock>> lock_folder(const std::string& path,
                                                  const std::string& note) override;
    Result<std::uint64_t> free_bytes(const std::string& path) override;

    // Another disk as a power loss now may leave it: nothing pending, no locks, faults or hook.
    std::unique_ptr<Disk> crash(Random& random, CrashPolicy policy = CrashPolicy::any) const;
    // Another disk as the next process finds it when this one was killed: all is there, but what
    // was pending still is, and a power loss after that may take it.
    std::unique_ptr<Disk> kill() const;
    // How many changes a crash may lose; with 0 all policies but keep_all, which also keeps what
    // DISK-5 lost, give the same image.
    std::size_t pending() const { return tree_.pending(); }

    // Called before every operation that changes something, also one that will fail. It may take
    // images of this disk but not change it.
    void set_hook(Callback<void(const Operation&)> hook) { faults_.set_hook(std::move(hook)); }
    // How many of those there were.
    std::uint64_t operations() const { return faults_.operations(); }

    // Rules add up; each counts the calls that match it from now on.
    void fail(FaultRule rule) { faults_.add(std::move(rule)); }
    void clear_faults() { faults_.clear(); }
    // How many calls failed by a rule.
    std::uint64_t faults() const { return faults_.count(); }

    // Whether all that is read again comes from memory; it does not unless told.
    void set_cached(bool cached) { cached_ = cached; }

    // A write that does not fit is written as far as it does, then fails with overloaded.
    void set_capacity_bytes(std::uint64_t capacity_bytes) { capacity_bytes_ = capacity_bytes; }

    // Rot, and a look at all there is. The file must exist; its current and durable bytes change at
    // once, each as far as it reaches.
    void flip_bit(const std::string& path, std::uint64_t byte, unsigned bit);
    void overwrite(const std::string& path, std::uint64_t position, ByteView bytes);
    std::uint64_t file_size(const std::string& path) const;
    // Paths of all files without the leading '/', sorted.
    std::vector<std::string> files() const;

private:
    using Place = DiskTree::Place;
    class Handle;
    class HeldLock;

    Disk(DiskTree tree, std::uint64_t capacity_bytes);
    NodeId find_file(std::string_view path) const;
    void check_rot() const;
    Result<std::unique_ptr<FileLock>> lock_node(NodeId node, const std::string& path);
    Result<> write(NodeId id, const std::string& path, std::uint64_t position, ByteView bytes);
    Result<> truncate(NodeId id, const std::string& path, std::uint64_t size);
    std::uint64_t room_bytes() const;

    DiskTree tree_;
    Faults faults_;
    bool cached_ = false;
    std::uint64_t capacity_bytes_;
};

}  // namespace evenkeel::io::sim
