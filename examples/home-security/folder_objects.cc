// Objects as files. A file is written under another name, made durable, and then renamed: a reader
// sees all of it or nothing of it. Then each folder on the way to it is synced, because a power
// failure may take away the name of a file or folder in one that is not.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <set>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "objects.h"

namespace homes {
namespace {

using evenkeel::Error;
using evenkeel::ErrorCode;
using evenkeel::Result;
namespace fs = std::filesystem;

Error failure(const std::string& what, const fs::path& path, int error) {
    const ErrorCode code = error == ENOENT ? ErrorCode::not_found : ErrorCode::unavailable;
    return {code, what + " " + path.string() + ": " + std::strerror(error)};
}

// A file that is closed when it goes.
class File {
public:
    File(const fs::path& path, int flags) : file_(::open(path.c_str(), flags | O_CLOEXEC, 0644)) {}
    ~File() {
        if (file_ >= 0) ::close(file_);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    bool is_open() const { return file_ >= 0; }
    bool write(std::string_view bytes) const {
        while (!bytes.empty()) {
            const ssize_t written = ::write(file_, bytes.data(), bytes.size());
            if (written < 0 && errno == EINTR) continue;
            if (written < 0) return false;
            bytes.remove_prefix(static_cast<std::size_t>(written));
        }
        return true;
    }
    bool sync() const { return ::fsync(file_) == 0; }
    int number() const { return file_; }

private:
    const int file_;
};

class Folder final : public Objects {
public:
    // Without a slash at its end, so that it is what parent_path() of a name in it says.
    explicit Folder(const fs::path& root)
        : root_(root.has_filename() ? root : root.parent_path()) {}

    Result<> put(const std::string& name, std::string_view bytes) override {
        const fs::path path = root_ / name;
        if (auto made = make_folders(path.parent_path()); !made) return made;
        const fs::path draft = drafts() / next_draft();
        {
            const File file(draft, O_WRONLY | O_CREAT | O_TRUNC);
            if (!file.is_open() || !file.write(bytes) || !file.sync()) {
                const int error = errno;
                ::unlink(draft.c_str());
                return failure("cannot write", draft, kept_trying(error));
            }
        }
        if (::rename(draft.c_str(), path.c_str()) != 0) {
            const int error = errno;
            ::unlink(draft.c_str());
            return failure("cannot write", path, kept_trying(error));
        }
        const File folder(path.parent_path(), O_RDONLY | O_DIRECTORY);
        if (!folder.is_open() || !folder.sync()) return failure("cannot sync", path, errno);
        return {};
    }

    Result<std::string> get(const std::string& name, std::uint64_t offset,
                            std::uint64_t size) override {
        const fs::path path = root_ / name;
        const File file(path, O_RDONLY);
        if (!file.is_open()) return failure("cannot read", path, errno);
        struct stat about = {};
        if (::fstat(file.number(), &about) != 0) return failure("cannot read", path, errno);
        const auto end = static_cast<std::uint64_t>(about.st_size);
        std::string bytes(std::min(size, end - std::min(offset, end)), '\0');
        std::size_t have = 0;
        while (have < bytes.size()) {
            const ssize_t got = ::pread(file.number(), bytes.data() + have, bytes.size() - have,
                                        static_cast<off_t>(offset + have));
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) return failure("cannot read", path, errno);
            if (got == 0) break;
            have += static_cast<std::size_t>(got);
        }
        bytes.resize(have);
        return bytes;
    }

    Result<std::vector<std::string>> list(const std::string& folder,
                                          const std::string& after) override {
        std::vector<std::string> names;
        std::error_code error;
        fs::recursive_directory_iterator entries(root_ / folder, error);
        for (const auto end = fs::end(entries); !error && entries != end;
             entries.increment(error)) {
            if (entries->path().extension() == ".draft" || entries->is_directory(error)) continue;
            std::string name = entries->path().lexically_relative(root_).string();
            if (name > after) names.push_back(std::move(name));
        }
        if (error && error != std::errc::no_such_file_or_directory) {
            return failure("cannot list", root_ / folder, error.value());
        }
        std::sort(names.begin(), names.end());
        return names;
    }

private:
    static constexpr std::size_t folders_known_max = 1000;
    static constexpr auto draft_age_max = std::chrono::hours(24);

    fs::path drafts() const { return root_ / "drafts"; }

    // One owner writes a partition at a time, but a former one may still be at it, and on another
    // machine: so the name has a number that is nobody else's.
    std::string next_draft() {
        const auto now = std::chrono::system_clock::now().time_since_epoch().count();
        return std::to_string(now) + "-" + std::to_string(::getpid()) + "-" +
               std::to_string(++drafts_written_) + ".draft";
    }

    // The folder of an object with all above it, and the one for drafts.
    Result<> make_folders(const fs::path& folder) {
        const std::lock_guard lock(mutex_);
        if (synced_.size() > folders_known_max) synced_.clear();
        if (auto made = make_folder(folder); !made) return made;
        if (auto made = make_folder(drafts()); !made) return made;
        if (!were_drafts_removed_) remove_old_drafts();
        were_drafts_removed_ = true;
        return {};
    }

    // Each folder above is synced once, also one that was there: another process may have made it
    // just now, and not come as far.
    Result<> make_folder(const fs::path& path) {
        if (path == root_) {
            std::error_code error;
            const bool is_new = fs::create_directories(root_, error);
            if (error) return failure("cannot create", path, kept_trying(error.value()));
            // The one above is not ours, and perhaps not readable.
            return is_new ? sync_parent(path) : Result<>();
        }
        const bool is_there = ::mkdir(path.c_str(), 0777) != 0 && errno == EEXIST;
        if (is_there && synced_.contains(path)) return {};
        if (auto made = make_folder(path.parent_path()); !made) return made;
        if (::mkdir(path.c_str(), 0777) != 0 && errno != EEXIST) {
            return failure("cannot create", path, kept_trying(errno));
        }
        return sync_parent(path);
    }

    Result<> sync_parent(const fs::path& path) {
        fs::path parent = path.parent_path();
        if (parent.empty()) parent = ".";
        const File folder(parent, O_RDONLY | O_DIRECTORY);
        if (!folder.is_open() || !folder.sync()) {
            return failure("cannot sync", parent, kept_trying(errno));
        }
        synced_.insert(path);
        return {};
    }

    // What those that were killed have left.
    void remove_old_drafts() const {
        std::error_code error, ignored;
        fs::directory_iterator entries(drafts(), error);
        for (const auto end = fs::end(entries); !error && entries != end;
             entries.increment(error)) {
            const auto age = fs::file_time_type::clock::now() - entries->last_write_time(ignored);
            if (!ignored && age > draft_age_max) fs::remove(entries->path(), ignored);
        }
    }

    // A folder that vanishes under us may come back, so it is not "not found".
    static int kept_trying(int error) { return error == ENOENT ? EIO : error; }

    const fs::path root_;
    std::atomic<std::uint64_t> drafts_written_{0};
    std::mutex mutex_;
    std::set<fs::path> synced_;  // they and their names survive a power failure
    bool were_drafts_removed_ = false;
};

}  // namespace

std::unique_ptr<Objects> open_folder(const std::string& path) {
    return std::make_unique<Folder>(path);
}

Result<std::unique_ptr<Objects>> Objects::open(const std::string& address) {
    constexpr std::string_view blobs = "azblob:";
    if (address.starts_with(blobs)) return open_blobs(address.substr(blobs.size()));
    if (address.empty()) {
        return Error{ErrorCode::invalid_argument, "where are the aggregates? Give --aggregates"};
    }
    return open_folder(address);
}

Result<std::unique_ptr<Objects>> Objects::open_patiently(const std::string& address,
                                                         const char* program) {
    for (;;) {
        auto objects = open(address);
        if (objects || objects.error().code != ErrorCode::unavailable) return objects;
        std::fprintf(stderr, "%s: %s; trying again\n", program, to_string(objects.error()).c_str());
        std::this_thread::sleep_for(std::chrono::seconds(2));
    }
}

}  // namespace homes
