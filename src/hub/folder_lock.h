// A data folder is one process's: the folder itself is locked, and the file `lock` in it, which
// names the process. And the files of the folder as that process sees them: nothing in it is
// changed, and nothing acknowledged, once the folder is not ours any more.
//
// Invariants
//   HUB-2  Whoever removes or replaces the file `lock` frees nothing: the folder's own lock holds.
//          The file is made and locked again, with a warning.
//   HUB-3  If that cannot be (another process holds the new file, the folder was moved or replaced,
//          or the file system cannot lock folders), the lock is lost, for good: every change of a
//          file fails with `unavailable` and says why. Reading goes on.
// Looked at before each creation, renaming and removal, after each sync, and once a second; before
// each write only the file `lock`: the folder's own lock follows it wherever it is moved, so that
// nobody else has the files that we hold open.
// Threads: any. Calls block.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/guarded.h"
#include "base/result.h"
#include "io/file.h"

namespace evenkeel::hub {

inline constexpr const char* lock_file_name = "lock";

class FolderLock {
public:
    // conflict, naming the holder, if another process has the folder.
    static Result<std::unique_ptr<FolderLock>> take(io::FileSystem& files,
                                                    const std::string& directory);
    // Good as long as no other process can have the folder.
    Result<> check();
    // Before a write to a file that is open.
    Result<> check_write();
    // Gives the folder free. check() answers `cancelled` from now on.
    void release();

private:
    FolderLock(io::FileSystem& files, const std::string& directory,
               std::unique_ptr<io::FileLock> folder, std::unique_ptr<io::FileLock> file);
    struct State {
        std::unique_ptr<io::FileLock> file;
        std::optional<Error> lost;
        bool warned = false;
    };
    Result<> check(State& state);
    Error lose(State& state, const std::string& why);
    Result<> take_file_again(State& state, const std::string& why);

    io::FileSystem& files_;
    const std::string directory_;
    std::unique_ptr<io::FileLock> folder_;  // none where the file system cannot
    Guarded<State> state_;
};

class OwnedFiles final : public io::FileSystem {
public:
    // Both outlive it and the files that it opened.
    OwnedFiles(io::FileSystem& files, FolderLock& lock) : files_(files), lock_(lock) {}

    Result<std::unique_ptr<io::File>> open(const std::string& path, io::OpenMode mode) override;
    Result<std::vector<io::DirectoryEntry>> list(const std::string& directory) override;
    Result<> make_directory(const std::string& path) override;
    Result<> remove(const std::string& path) override;
    Result<> rename(const std::string& from, const std::string& to) override;
    Result<> sync_directory(const std::string& path) override;
    Result<std::unique_ptr<io::FileLock>> lock(const std::string& path) override;
    Result<std::unique_ptr<io::FileLock>> lock_folder(const std::string& path,
                                                      const std::string& note) override;
    Result<std::uint64_t> free_bytes(const std::string& path) override;

private:
    io::FileSystem& files_;
    FolderLock& lock_;
};

}  // namespace evenkeel::hub
