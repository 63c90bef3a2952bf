#include "io/system/files.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/check.h"

namespace evenkeel::io::system {
namespace {

constexpr mode_t file_mode = 0640;
constexpr mode_t private_file_mode = 0600;
constexpr mode_t folder_mode = 0750;

ErrorCode code_of(int number) {
    switch (number) {
        case ENOENT: return ErrorCode::not_found;
        case EEXIST: return ErrorCode::already_exists;
        case ENOSPC:
        case EDQUOT:
        case EFBIG:
        case EMFILE:
        case ENFILE:
        case ENOMEM: return ErrorCode::overloaded;
        default: return ErrorCode::unavailable;
    }
}

Error failure(std::string_view call, const std::string& path, int number) {
    return {code_of(number),
            std::string(call) + " " + path + ": " + std::generic_category().message(number)};
}

// Makes a call again for as long as a signal interrupts it.
template <typename Call>
auto uninterrupted(Call call) {
    auto result = call();
    while (result < 0 && errno == EINTR) result = call();
    return result;
}

class Descriptor {
public:
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Descriptor& operator=(Descriptor&&) = delete;
    ~Descriptor() {
        // Nothing to learn here: what had to reach the device was synced. Not made again after a
        // signal either, since Linux has freed the number by then.
        if (number_ >= 0) ::close(number_);
    }
    int get() const { return number_; }

private:
    int number_;
};

Result<Descriptor> open_descriptor(const std::string& path, int flags, mode_t rights = file_mode) {
    const int number =
        uninterrupted([&] { return ::open(path.c_str(), flags | O_CLOEXEC, rights); });
    if (number < 0) return failure("open", path, errno);
    return Descriptor(number);
}

class SystemFile final : public File {
public:
    SystemFile(Descriptor descriptor, std::string path)
        : descriptor_(std::move(descriptor)), path_(std::move(path)) {}

    Result<std::size_t> read(std::uint64_t position, ByteSpan buffer) override {
        std::size_t done = 0;
        while (done < buffer.size()) {
            const ssize_t got = uninterrupted([&] {
                return ::pread(descriptor_.get(), buffer.data() + done, buffer.size() - done,
                               static_cast<off_t>(position + done));
            });
            if (got < 0) return failure("read", path_, errno);
            if (got == 0) break;
            done += static_cast<std::size_t>(got);
        }
        return done;
    }

    std::size_t read_cached(std::uint64_t position, ByteSpan buffer) override {
        const iovec to{buffer.data(), buffer.size()};
        const ssize_t got = uninterrupted([&] {
            return ::preadv2(descriptor_.get(), &to, 1, static_cast<off_t>(position), RWF_NOWAIT);
        });
        return got < 0 ? 0 : static_cast<std::size_t>(got);
    }

    Result<> write(std::uint64_t position, ByteView bytes) override {
        while (!bytes.empty()) {
            const ssize_t put = uninterrupted([&] {
                return ::pwrite(descriptor_.get(), bytes.data(), bytes.size(),
                                static_cast<off_t>(position));
            });
            if (put < 0) return failure("write", path_, errno);
            // A regular file never takes nothing without an error; were it so, we would spin.
            if (put == 0) return failure("write", path_, EIO);
            position += static_cast<std::uint64_t>(put);
            bytes = bytes.subspan(static_cast<std::size_t>(put));
        }
        return {};
    }

    Result<> sync() override {
        if (uninterrupted([&] { return ::fdatasync(descriptor_.get()); }) < 0) {
            return failure("sync", path_, errno);
        }
        return {};
    }

    Result<> truncate(std::uint64_t size) override {
        const auto length = static_cast<off_t>(size);
        if (uninterrupted([&] { return ::ftruncate(descriptor_.get(), length); }) < 0) {
            return failure("truncate", path_, errno);
        }
        return {};
    }

    Result<std::uint64_t> size() override {
        struct stat status {};
        if (::fstat(descriptor_.get(), &status) < 0) return failure("stat", path_, errno);
        return static_cast<std::uint64_t>(status.st_size);
    }

private:
    const Descriptor descriptor_;
    const std::string path_;
};

// The lock goes with the descriptor, so the kernel gives it back however the process ends.
class SystemLock final : public FileLock {
public:
    static Result<std::unique_ptr<FileLock>> make(Descriptor descriptor, const std::string& path) {
        struct stat status {};
        if (::fstat(descriptor.get(), &status) < 0) return failure("stat", path, errno);
        return std::unique_ptr<FileLock>(new SystemLock(std::move(descriptor), path, status));
    }

    Result<> check() const override {
        struct stat there {};
        if (::stat(path_.c_str(), &there) < 0) {
            if (errno != ENOENT && errno != ENOTDIR) return failure("stat", path_, errno);
            return Error{ErrorCode::fenced, path_ + " was removed"};
        }
        if (device_ != there.st_dev || inode_ != there.st_ino) {
            return Error{ErrorCode::fenced, path_ + " was replaced"};
        }
        return {};
    }

private:
    SystemLock(Descriptor descriptor, std::string path, const struct stat& status)
        : descriptor_(std::move(descriptor)),
          path_(std::move(path)),
          device_(status.st_dev),
          inode_(status.st_ino) {}

    const Descriptor descriptor_;
    const std::string path_;
    const dev_t device_;
    const ino_t inode_;
};

// The process id that a lock file begins with; empty if there is none.
std::string holder_in(int descriptor) {
    char text[24];
    const ssize_t got = uninterrupted([&] { return ::pread(descriptor, text, sizeof text, 0); });
    std::string holder;
    for (ssize_t i = 0; i < got && text[i] >= '0' && text[i] <= '9'; ++i) holder += text[i];
    return holder;
}

// The process that holds a flock() on the open file, as the system tells it; empty if it does not:
// for processes of another container, or a file system whose device numbers differ.
// A line: "12: FLOCK  ADVISORY  WRITE 4711 fd:01:262146 0 EOF".
std::string holder_by_system(int descriptor) {
    struct stat status {};
    if (::fstat(descriptor, &status) < 0) return {};
    std::ifstream locks("/proc/locks");
    std::string line;
    while (std::getline(locks, line)) {
        char process[16];
        unsigned device_major = 0;
        unsigned device_minor = 0;
        unsigned long long inode = 0;
        const int found = std::sscanf(line.c_str(), "%*u: FLOCK %*s WRITE %15[0-9] %x:%x:%llu",
                                      process, &device_major, &device_minor, &inode);
        const bool same = found == 4 && inode == status.st_ino &&
                          device_major == ::gnu_dev_major(status.st_dev) &&
                          device_minor == ::gnu_dev_minor(status.st_dev);
        if (same && std::string_view(process) != "0") return process;
    }
    return {};
}

Error held(const std::string& path, const std::string& holder) {
    return {ErrorCode::conflict, "lock " + path + ": held by " +
                                     (holder.empty() ? "another process" : "process " + holder) +
                                     "; stop it first, or use another folder"};
}

Result<bool> is_folder(DIR* folder, const dirent& entry, const std::string& directory) {
    if (entry.d_type != DT_UNKNOWN) return entry.d_type == DT_DIR;
    struct stat status {};
    if (::fstatat(::dirfd(folder), entry.d_name, &status, AT_SYMLINK_NOFOLLOW) < 0) {
        return failure("stat", directory + "/" + entry.d_name, errno);
    }
    return S_ISDIR(status.st_mode);
}

struct CloseFolder {
    void operator()(DIR* folder) const { ::closedir(folder); }
};

}  // namespace

std::string boot_id() {
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::string text;
    std::getline(file, text);
    return text;
}

Result<bool> is_replaceable(const std::string& path) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) < 0) {
        if (errno == ENOENT) return false;
        return failure("stat", path, errno);
    }
    // A link to nothing is replaced as a file is.
    if (S_ISLNK(status.st_mode) && ::stat(path.c_str(), &status) < 0) {
        if (errno == ENOENT) return true;
        return failure("stat", path, errno);
    }
    if (S_ISREG(status.st_mode)) return true;
    return Error{ErrorCode::invalid_argument,
                 path + (S_ISDIR(status.st_mode)
                             ? " is a folder"
                             : " is not a regular file but a pipe, a socket or a device")};
}

Result<std::unique_ptr<File>> SystemFiles::open(const std::string& path, OpenMode mode) {
    int flags = O_RDWR;
    // A pipe without a writer would block here for ever; for files it makes no difference.
    if (mode == OpenMode::read) flags = O_RDONLY | O_NONBLOCK | O_NOCTTY;
    const bool is_private = mode == OpenMode::create_private;
    if (mode == OpenMode::create || is_private) flags = O_RDWR | O_CREAT | O_EXCL;
    EK_TRY_ASSIGN(Descriptor descriptor,
                  open_descriptor(path, flags, is_private ? private_file_mode : file_mode));
    if (mode == OpenMode::read) {  // the system opens folders for reading, and fails only then
        struct stat status {};
        if (::fstat(descriptor.get(), &status) < 0) return failure("stat", path, errno);
        if (S_ISDIR(status.st_mode)) return failure("open", path, EISDIR);
        if (!S_ISREG(status.st_mode)) {
            return Error{ErrorCode::unavailable, "open " + path +
                                                     ": it is not a regular file but a pipe, a "
                                                     "socket or a device"};
        }
    }
    return std::unique_ptr<File>(std::make_unique<SystemFile>(std::move(descriptor), path));
}

Result<std::vector<DirectoryEntry>> SystemFiles::list(const std::string& directory) {
    const std::unique_ptr<DIR, CloseFolder> folder(::opendir(directory.c_str()));
    if (!folder) return failure("read folder", directory, errno);
    std::vector<DirectoryEntry> entries;
    for (;;) {
        errno = 0;
        // Safe although not reentrant by name: the stream is ours alone.
        const dirent* entry = ::readdir(folder.get());  // NOLINT(concurrency-mt-unsafe)
        if (!entry) {
            if (errno != 0) return failure("read folder", directory, errno);
            break;
        }
        const std::string_view name = entry->d_name;
        if (name == "." || name == "..") continue;
        EK_TRY_ASSIGN(const bool is_directory, is_folder(folder.get(), *entry, directory));
        entries.push_back({std::string(name), is_directory});
    }
    std::sort(entries.begin(), entries.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    return entries;
}

Result<> SystemFiles::make_directory(const std::string& path) {
    if (::mkdir(path.c_str(), folder_mode) < 0) return failure("create folder", path, errno);
    return {};
}

Result<> SystemFiles::remove(const std::string& path) {
    if (::unlink(path.c_str()) == 0) return {};
    if (errno != EISDIR) return failure("remove", path, errno);
    if (::rmdir(path.c_str()) < 0) return failure("remove", path, errno);
    return {};
}

Result<> SystemFiles::rename(const std::string& from, const std::string& to) {
    if (::rename(from.c_str(), to.c_str()) < 0) return failure("rename", from + " to " + to, errno);
    return {};
}

Result<> SystemFiles::sync_directory(const std::string& path) {
    EK_TRY_ASSIGN(const Descriptor descriptor, open_descriptor(path, O_RDONLY | O_DIRECTORY));
    if (uninterrupted([&] { return ::fsync(descriptor.get()); }) < 0) {
        return failure("sync folder", path, errno);
    }
    return {};
}

Result<std::unique_ptr<FileLock>> SystemFiles::lock(const std::string& path) {
    EK_TRY_ASSIGN(Descriptor descriptor, open_descriptor(path, O_RDWR | O_CREAT));
    if (uninterrupted([&] { return ::flock(descriptor.get(), LOCK_EX | LOCK_NB); }) < 0) {
        if (errno != EWOULDBLOCK) return failure("lock", path, errno);
        return held(path, holder_in(descriptor.get()));
    }
    // The process id is for operators: a disk too full to take it must not keep us from starting.
    const std::string holder = std::to_string(::getpid()) + "\n";
    const bool noted =
        ::ftruncate(descriptor.get(), 0) == 0 &&
        ::pwrite(descriptor.get(), holder.data(), holder.size(), 0) == std::ssize(holder);
    (void)noted;
    return SystemLock::make(std::move(descriptor), path);
}

Result<std::unique_ptr<FileLock>> SystemFiles::lock_folder(const std::string& path,
                                                           const std::string& note) {
    EK_TRY_ASSIGN(Descriptor descriptor, open_descriptor(path, O_RDONLY | O_DIRECTORY));
    if (uninterrupted([&] { return ::flock(descriptor.get(), LOCK_EX | LOCK_NB); }) < 0) {
        if (errno != EWOULDBLOCK) {
            // NFS locks only what is open for writing, which a folder cannot be.
            return Error{ErrorCode::unsupported, failure("lock", path, errno).detail};
        }
        std::string holder = holder_by_system(descriptor.get());
        if (holder.empty()) {
            const auto file = open_descriptor(note, O_RDONLY | O_NONBLOCK);
            if (file.ok()) holder = holder_in(file->get());
        }
        return held(path, holder);
    }
    return SystemLock::make(std::move(descriptor), path);
}

Result<std::uint64_t> SystemFiles::free_bytes(const std::string& path) {
    struct statvfs status {};
    if (uninterrupted([&] { return ::statvfs(path.c_str(), &status); }) < 0) {
        return failure("look for space on", path, errno);
    }
    return std::uint64_t{status.f_bavail} * status.f_frsize;
}

Result<std::uint64_t> total_bytes(const std::string& path) {
    struct statvfs status {};
    if (uninterrupted([&] { return ::statvfs(path.c_str(), &status); }) < 0) {
        return failure("look for space on", path, errno);
    }
    return std::uint64_t{status.f_blocks} * status.f_frsize;
}

}  // namespace evenkeel::io::system
