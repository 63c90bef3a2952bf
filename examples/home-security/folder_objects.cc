// Objects as files. A file is written under another name, made durable, and then renamed: a reader
// sees all of it or nothing of it.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

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
    explicit Folder(fs::path root) : root_(std::move(root)) {}

    Result<> put(const std::string& name, std::string_view bytes) override {
        const fs::path path = root_ / name;
        // One owner writes a partition at a time, but a former one may still be at it.
        const fs::path draft = path.string() + "." + std::to_string(::getpid()) + ".draft";
        if (auto made = make_folder(path.parent_path()); !made) return made;
        {
            const File file(draft, O_WRONLY | O_CREAT | O_TRUNC);
            if (!file.is_open() || !file.write(bytes) || !file.sync()) {
                const int error = errno;
                ::unlink(draft.c_str());
                return failure("cannot write", draft, error == ENOENT ? EIO : error);
            }
        }
        if (::rename(draft.c_str(), path.c_str()) != 0) return failure("cannot write", path, errno);
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
    static Result<> make_folder(const fs::path& path) {
        std::error_code error;
        fs::create_directories(path, error);
        if (error)
            return failure("cannot create", path, error.value() == ENOENT ? EIO : error.value());
        return {};
    }

    const fs::path root_;
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

}  // namespace homes
