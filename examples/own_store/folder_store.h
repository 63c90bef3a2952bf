// A checkpoint store in a folder, for the processes of one machine: a file for each key. A lock on
// the folder makes "compare the version, then replace" one step.
#pragma once

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <evenkeel/checkpoint_store.h>

class FolderStore : public evenkeel::CheckpointStore {
public:
    explicit FolderStore(std::filesystem::path folder) : folder_(std::move(folder)) {
        std::error_code ignored;  // if there is no folder, every call says so
        std::filesystem::create_directories(folder_, ignored);
    }

    evenkeel::Result<std::optional<Entry>> get(const std::string& key) override {
        const Lock lock(folder_, LOCK_SH);
        if (!lock.ok()) return lock.error();
        return read(key);
    }

    evenkeel::Result<std::vector<Entry>> list(const std::string& prefix) override {
        const Lock lock(folder_, LOCK_SH);
        if (!lock.ok()) return lock.error();
        std::vector<Entry> entries;
        const auto below = folder_ / prefix;
        if (!std::filesystem::exists(below)) return entries;
        for (const auto& file : std::filesystem::recursive_directory_iterator(below)) {
            if (file.path().extension() != suffix) continue;
            const std::string name = std::filesystem::relative(file.path(), folder_).string();
            auto entry = read(name.substr(0, name.size() - std::strlen(suffix)));
            if (entry) entries.push_back(std::move(*entry));
        }
        return entries;
    }

    evenkeel::Result<std::string> put(const std::string& key, const std::string& value,
                                      const std::string& version) override {
        const Lock lock(folder_, LOCK_EX);
        if (!lock.ok()) return lock.error();
        const auto stored = read(key);
        if (version != (stored ? stored->version : "")) return conflict(key);
        const std::string next = new_version();
        const auto file = path(key);
        std::filesystem::create_directories(file.parent_path());
        const auto written = write(folder_ / "new", next + "\n" + value);
        if (!written.ok()) return written.error();
        std::filesystem::rename(folder_ / "new", file);  // all of it or nothing
        return next;
    }

    evenkeel::Result<> remove(const std::string& key, const std::string& version) override {
        const Lock lock(folder_, LOCK_EX);
        if (!lock.ok()) return lock.error();
        const auto stored = read(key);
        if (!stored) return {};
        if (stored->version != version) return conflict(key);
        std::filesystem::remove(path(key));
        return {};
    }

private:
    static constexpr const char* suffix = ".ent";

    static evenkeel::Error failed(const std::string& what) {
        return {evenkeel::ErrorCode::unavailable, what + ": " + std::strerror(errno)};
    }
    static evenkeel::Error conflict(const std::string& key) {
        return {evenkeel::ErrorCode::conflict, key + " has another version"};
    }

    // Held while it lives, among all processes and threads.
    class Lock {
    public:
        Lock(const std::filesystem::path& folder, int kind)
            : file_(::open((folder / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
            if (file_ < 0 || flock(file_, kind) != 0) error_ = failed("lock " + folder.string());
        }
        ~Lock() {
            if (file_ >= 0) ::close(file_);
        }
        Lock(const Lock&) = delete;
        Lock& operator=(const Lock&) = delete;

        bool ok() const { return !error_; }
        const evenkeel::Error& error() const { return *error_; }

    private:
        const int file_;
        std::optional<evenkeel::Error> error_;
    };

    std::filesystem::path path(const std::string& key) const { return folder_ / (key + suffix); }

    std::optional<Entry> read(const std::string& key) const {
        std::ifstream file(path(key), std::ios::binary);
        Entry entry;
        entry.key = key;
        if (!file || !std::getline(file, entry.version)) return std::nullopt;
        entry.value.assign(std::istreambuf_iterator<char>(file), {});
        const auto age = std::filesystem::file_time_type::clock::now() -
                         std::filesystem::last_write_time(path(key));
        entry.age = std::max(std::chrono::milliseconds(0),
                             std::chrono::duration_cast<std::chrono::milliseconds>(age));
        return entry;
    }

    // On the disk, when it returns.
    static evenkeel::Result<> write(const std::filesystem::path& file, const std::string& bytes) {
        const int to = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (to < 0) return failed("create " + file.string());
        std::size_t done = 0;
        while (done < bytes.size()) {
            const ssize_t count = ::write(to, bytes.data() + done, bytes.size() - done);
            if (count < 0) break;
            done += static_cast<std::size_t>(count);
        }
        const bool ok = done == bytes.size() && fdatasync(to) == 0;
        const evenkeel::Error error = failed("write " + file.string());
        ::close(to);
        if (!ok) return error;
        return {};
    }

    // By chance, so that none comes again.
    static std::string new_version() {
        std::random_device random;
        std::string text;
        for (int i = 0; i < 4; ++i) text += std::to_string(random()) + ".";
        return text;
    }

    const std::filesystem::path folder_;
};
