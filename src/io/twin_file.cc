#include "io/twin_file.h"

namespace evenkeel::io {
namespace {

const std::string temporary_suffix = ".tmp";

// A durable file whose name is not durable yet, in the place of one that a crash may have left.
Result<> write_anew(FileSystem& files, const std::string& path, ByteView content, OpenMode mode) {
    const auto removed = files.remove(path);
    if (!removed.ok() && removed.error().code != ErrorCode::not_found) return removed.error();
    EK_TRY_ASSIGN(const auto file, files.open(path, mode));
    EK_TRY(file->write(0, content));
    return file->sync();
}

}  // namespace

std::vector<std::string> TwinFile::paths() const {
    const std::string path = options_.directory + "/" + options_.name;
    return {path, path + ".copy"};
}

Result<> TwinFile::save(std::string_view text) const {
    // Both are written before either takes the place of the old one: a full disk changes nothing.
    for (const std::string& path : paths()) {
        auto written = write_anew(*files_, path + temporary_suffix, as_bytes(text), options_.mode);
        if (written.ok()) continue;
        // Gives the space back; the first error is the one to report.
        for (const std::string& other : paths()) (void)files_->remove(other + temporary_suffix);
        return written;
    }
    for (const std::string& path : paths()) {
        EK_TRY(files_->rename(path + temporary_suffix, path));
    }
    return files_->sync_directory(options_.directory);
}

Result<> TwinFile::Damage::add(const std::string& path, const Error& why) {
    if (why.code == ErrorCode::unsupported) return Error{why.code, path + ": " + why.detail};
    reasons_ += (reasons_.empty() ? "" : "; ") + path + ": " + why.detail;
    if (why.code != ErrorCode::corrupt) code_ = why.code;
    return {};
}

Result<> TwinFile::Damage::result() const {
    if (reasons_.empty()) return {};
    return Error{code_, reasons_ + "; restore one of them from a copy of the data folder"};
}

}  // namespace evenkeel::io
