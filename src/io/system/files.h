// The machine's own files. Paths are the operating system's: absolute, or relative to where the
// process was started.
//
// Files are made 0640 and folders 0750, descriptors close on exec, interrupted calls are made
// again, short reads and writes go on until done. Only regular files are opened for reading: others
// may block, or never end. sync() is fdatasync, which covers the size too.
// Threads: any.
#pragma once

#include "io/file.h"

namespace evenkeel::io::system {

// Tells one boot of the machine from another; empty where the system does not say.
std::string boot_id();
// Of the device that holds `path`, used or not.
Result<std::uint64_t> total_bytes(const std::string& path);

// Whether a file can be written to `path` by a rename, which removes what is there: false if the
// path is free, true if a regular file or a link to nothing or to one is there. `invalid_argument`
// for a folder, a device, a pipe or a socket, and for a link to one: they would be gone.
Result<bool> is_replaceable(const std::string& path);

class SystemFiles final : public FileSystem {
public:
    Result<std::unique_ptr<File>> open(const std::string& path, OpenMode mode) override;
    Result<std::vector<DirectoryEntry>> list(const std::string& directory) override;
    Result<> make_directory(const std::string& path) override;
    Result<> remove(const std::string& path) override;
    Result<> rename(const std::string& from, const std::string& to) override;
    Result<> sync_directory(const std::string& path) override;
    // An advisory flock(), with our process id in the file for whoever finds it held. It belongs to
    // the open descriptor, so a second lock() in one process conflicts as well.
    Result<std::unique_ptr<FileLock>> lock(const std::string& path) override;
    Result<std::unique_ptr<FileLock>> lock_folder(const std::string& path,
                                                  const std::string& note) override;
    Result<std::uint64_t> free_bytes(const std::string& path) override;
};

}  // namespace evenkeel::io::system
