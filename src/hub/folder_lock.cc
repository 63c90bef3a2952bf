#include "hub/folder_lock.h"

#include <fmt/core.h>

#include "base/log.h"

namespace evenkeel::hub {
namespace {

// A file that takes nothing once the folder is not ours. The lock outlives it.
class OwnedFile final : public io::File {
public:
    OwnedFile(std::unique_ptr<io::File> file, FolderLock& lock)
        : file_(std::move(file)), lock_(lock) {}

    Result<std::size_t> read(std::uint64_t position, ByteSpan buffer) override {
        return file_->read(position, buffer);
    }
    std::size_t read_cached(std::uint64_t position, ByteSpan buffer) override {
        return file_->read_cached(position, buffer);
    }
    Result<> write(std::uint64_t position, ByteView bytes) override {
        EK_TRY(lock_.check_write());
        return file_->write(position, bytes);
    }
    // What is acknowledged next was ours when it became durable.
    Result<> sync() override {
        EK_TRY(file_->sync());
        return lock_.check();
    }
    Result<> truncate(std::uint64_t size) override {
        EK_TRY(lock_.check_write());
        return file_->truncate(size);
    }
    Result<std::uint64_t> size() override { return file_->size(); }

private:
    const std::unique_ptr<io::File> file_;
    FolderLock& lock_;
};

std::string lock_path(const std::string& directory) {
    return directory + "/" + lock_file_name;
}

}  // namespace

Result<std::unique_ptr<FolderLock>> FolderLock::take(io::FileSystem& files,
                                                     const std::string& directory) {
    std::unique_ptr<io::FileLock> folder;
    auto locked = files.lock_folder(directory, lock_path(directory));
    if (locked.ok()) {
        folder = std::move(*locked);
    } else if (locked.error().code == ErrorCode::unsupported) {
        trace(TraceLevel::warning,
              "the file system cannot lock the data folder itself, only the file 'lock' in it: "
              "never remove that file while a server runs",
              {{"data", directory}, {"cause", locked.error().detail}});
    } else {
        return locked.error();
    }
    EK_TRY_ASSIGN(auto file, files.lock(lock_path(directory)));
    return std::unique_ptr<FolderLock>(
        new FolderLock(files, directory, std::move(folder), std::move(file)));
}

FolderLock::FolderLock(io::FileSystem& files, const std::string& directory,
                       std::unique_ptr<io::FileLock> folder, std::unique_ptr<io::FileLock> file)
    : files_(files),
      directory_(directory),
      folder_(std::move(folder)),
      state_(State{std::move(file), std::nullopt, false}) {}

void FolderLock::release() {
    state_.with([this](State& state) {
        state.lost = Error{ErrorCode::cancelled, "the hub was closed"};
        state.file.reset();
        folder_.reset();
    });
}

Result<> FolderLock::check() {
    return state_.with([this](State& state) { return check(state); });
}

Result<> FolderLock::check_write() {
    return state_.with([this](State& state) -> Result<> {
        if (!state.lost && folder_ && state.file->check().ok()) return {};
        return check(state);
    });
}

Result<> FolderLock::check(State& state) {
    if (state.lost) return *state.lost;
    if (folder_) {
        const auto folder = folder_->check();
        if (!folder.ok()) {
            return folder.error().code == ErrorCode::fenced ? lose(state, folder.error().detail)
                                                            : folder.error();
        }
    }
    auto file = state.file->check();
    if (file.ok() || file.error().code != ErrorCode::fenced) return file;
    if (!folder_) return lose(state, file.error().detail);
    return take_file_again(state, file.error().detail);
}

Error FolderLock::lose(State& state, const std::string& why) {
    state.lost =
        Error{ErrorCode::unavailable,
              fmt::format("the lock of the data folder was lost: {}; nothing is stored any "
                          "more, restart the server",
                          why)};
    trace(TraceLevel::error, "the lock of the data folder was lost; nothing is stored any more",
          {{"data", directory_},
           {"cause", why},
           {"try", "make sure that one server uses the folder, then restart it"}});
    return *state.lost;
}

// The folder's own lock has kept everybody out, but for a version that does not know of it.
Result<> FolderLock::take_file_again(State& state, const std::string& why) {
    auto taken = files_.lock(lock_path(directory_));
    if (!taken.ok() && taken.error().code == ErrorCode::conflict) {
        return lose(state, why + "; " + taken.error().detail);
    }
    if (taken.ok()) state.file = std::move(*taken);
    if (taken.ok() || !state.warned) {
        trace(TraceLevel::warning, "the lock file was removed or replaced while the server runs",
              {{"cause", why},
               {"now", taken.ok() ? "made and locked again" : taken.error().detail},
               {"try", "leave it alone; the folder itself is locked as well"}});
    }
    state.warned = !taken.ok();
    return {};
}

Result<std::unique_ptr<io::File>> OwnedFiles::open(const std::string& path, io::OpenMode mode) {
    if (mode == io::OpenMode::read) return files_.open(path, mode);
    if (mode != io::OpenMode::write) EK_TRY(lock_.check());
    EK_TRY_ASSIGN(auto file, files_.open(path, mode));
    return std::unique_ptr<io::File>(std::make_unique<OwnedFile>(std::move(file), lock_));
}

Result<std::vector<io::DirectoryEntry>> OwnedFiles::list(const std::string& directory) {
    return files_.list(directory);
}

Result<> OwnedFiles::make_directory(const std::string& path) {
    EK_TRY(lock_.check());
    return files_.make_directory(path);
}

Result<> OwnedFiles::remove(const std::string& path) {
    EK_TRY(lock_.check());
    return files_.remove(path);
}

Result<> OwnedFiles::rename(const std::string& from, const std::string& to) {
    EK_TRY(lock_.check());
    return files_.rename(from, to);
}

Result<> OwnedFiles::sync_directory(const std::string& path) {
    EK_TRY(files_.sync_directory(path));
    return lock_.check();
}

Result<std::unique_ptr<io::FileLock>> OwnedFiles::lock(const std::string& path) {
    return files_.lock(path);
}

Result<std::unique_ptr<io::FileLock>> OwnedFiles::lock_folder(const std::string& path,
                                                              const std::string& note) {
    return files_.lock_folder(path, note);
}

Result<std::uint64_t> OwnedFiles::free_bytes(const std::string& path) {
    return files_.free_bytes(path);
}

}  // namespace evenkeel::hub
