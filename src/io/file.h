// Files as Evenkeel uses them: everything durable goes through these two interfaces, so that the
// same code runs on the real disk (io/system/files.h) and on one that forgets, tears and fails
// (io/sim/disk.h).
//
// Paths use '/', are relative or absolute as the implementation's root says, and never come from a
// user's event hub name. Calls block. Threads: a FileSystem may be used from any thread; one File
// from several threads at once as long as they touch different bytes.
//
// What a crash keeps: bytes up to the last sync() of their file, and names up to the last
// sync_directory() of their folder. Nothing else can be relied on.
//
// Error codes: not_found, already_exists; overloaded when space, quota, memory or descriptors ran
// out; unavailable for any other failure of the device or its rights. `detail` names call and path.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace evenkeel::io {

class File {
public:
    virtual ~File() = default;

    // Reads at `position` until `buffer` is full or the file ends; returns how much it read.
    virtual Result<std::size_t> read(std::uint64_t position, ByteSpan buffer) = 0;
    // The same as far as it is in memory already: never waits for a device. May read less than
    // there is, and nothing where the system cannot tell or something is wrong.
    virtual std::size_t read_cached(std::uint64_t /*position*/, ByteSpan /*buffer*/) { return 0; }
    // Writes all of `bytes` at `position`. After a failure any part of it may have been written.
    virtual Result<> write(std::uint64_t position, ByteView bytes) = 0;
    // Returns when the file's bytes and size are on stable storage. A failed sync is final for
    // what was written since the last good one: a later success says nothing about it (LOG-6).
    virtual Result<> sync() = 0;
    virtual Result<> truncate(std::uint64_t size) = 0;
    virtual Result<std::uint64_t> size() = 0;
};

enum class OpenMode : unsigned char {
    read,            // must exist
    write,           // must exist; readable too
    create,          // must not exist; readable too
    create_private,  // the same, and no other user may read it: for secrets
};

struct DirectoryEntry {
    std::string name;
    bool is_directory = false;
};

// Held until destroyed or until the process ends, however it ends (HUB-1).
class FileLock {
public:
    virtual ~FileLock() = default;
    // `fenced` if the path no longer leads to what is locked: it was removed or replaced, so that
    // another process could lock what is there now. Cheap: no more than a look at the path.
    virtual Result<> check() const = 0;
};

class FileSystem {
public:
    virtual ~FileSystem() = default;

    virtual Result<std::unique_ptr<File>> open(const std::string& path, OpenMode mode) = 0;
    // Sorted by name, without "." and "..".
    virtual Result<std::vector<DirectoryEntry>> list(const std::string& directory) = 0;
    // The parent must exist; already_exists if the path is taken.
    virtual Result<> make_directory(const std::string& path) = 0;
    // Removes a file or an empty folder.
    virtual Result<> remove(const std::string& path) = 0;
    // Replaces `to` in one step if it exists.
    virtual Result<> rename(const std::string& from, const std::string& to) = 0;
    virtual Result<> sync_directory(const std::string& path) = 0;
    // Creates the file if needed and locks it; conflict, naming the holder, if it is held.
    virtual Result<std::unique_ptr<FileLock>> lock(const std::string& path) = 0;
    // Locks a folder itself, whatever happens to the files in it; apart from lock(). `note` is the
    // path of a file that begins with the holder's process id, for the message where the system
    // does not tell. `unsupported` if the file system cannot (NFS).
    virtual Result<std::unique_ptr<FileLock>> lock_folder(const std::string& path,
                                                          const std::string& note) = 0;
    // What is left for us on the device that holds `path`.
    virtual Result<std::uint64_t> free_bytes(const std::string& path) = 0;
};

// Helpers over any FileSystem.

// The whole content; `corrupt` if it is larger than `bytes_max`.
Result<std::vector<std::byte>> read_file(FileSystem& files, const std::string& path,
                                         std::uint64_t bytes_max);
// Atomic and durable: writes `path`.tmp, syncs it, renames it over `path`, syncs the folder.
// `mode` is create or create_private.
Result<> replace_file(FileSystem& files, const std::string& path, ByteView content,
                      OpenMode mode = OpenMode::create);
// Removes a folder and all that is in it.
Result<> remove_tree(FileSystem& files, const std::string& path);

}  // namespace evenkeel::io
