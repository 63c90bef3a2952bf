#include "io/file.h"

namespace evenkeel::io {
namespace {

std::string parent_of(const std::string& path) {
    const auto slash = path.rfind('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

Result<> write_new_file(FileSystem& files, const std::string& path, ByteView content,
                        OpenMode mode) {
    EK_TRY_ASSIGN(const auto file, files.open(path, mode));
    EK_TRY(file->write(0, content));
    return file->sync();
}

}  // namespace

Result<std::vector<std::byte>> read_file(FileSystem& files, const std::string& path,
                                         std::uint64_t bytes_max) {
    EK_TRY_ASSIGN(const auto file, files.open(path, OpenMode::read));
    EK_TRY_ASSIGN(const std::uint64_t size, file->size());
    if (size > bytes_max) {
        return Error{ErrorCode::corrupt, "read " + path + ": " + std::to_string(size) +
                                             " bytes, at most " + std::to_string(bytes_max) +
                                             " expected"};
    }
    std::vector<std::byte> content(size);
    EK_TRY_ASSIGN(const std::size_t got, file->read(0, content));
    content.resize(got);
    return content;
}

Result<> replace_file(FileSystem& files, const std::string& path, ByteView content, OpenMode mode) {
    const std::string temporary = path + ".tmp";
    // One that a crash left behind; its content means nothing.
    if (auto removed = files.remove(temporary);
        !removed.ok() && removed.error().code != ErrorCode::not_found) {
        return removed;
    }
    if (auto written = write_new_file(files, temporary, content, mode); !written.ok()) {
        (void)files.remove(temporary);  // gives the space back; the first error is the one to tell
        return written;
    }
    EK_TRY(files.rename(temporary, path));
    return files.sync_directory(parent_of(path));
}

Result<> remove_tree(FileSystem& files, const std::string& path) {
    EK_TRY_ASSIGN(const auto entries, files.list(path));
    for (const DirectoryEntry& entry : entries) {
        const std::string inner = path + "/" + entry.name;
        EK_TRY(entry.is_directory ? remove_tree(files, inner) : files.remove(inner));
    }
    return files.remove(path);
}

}  // namespace evenkeel::io
