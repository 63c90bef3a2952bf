// A folder of a random name, and its end with all that is in it when we let go of it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace evenkeel::cli {

class TemporaryFolder {
public:
    // In `parent`, or where the system keeps temporary files if that is empty. The name begins
    // with "evenkeel-" and `purpose`.
    static Result<std::unique_ptr<TemporaryFolder>> make(std::string parent,
                                                         std::string_view purpose);
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    const std::string& path() const { return path_; }

private:
    explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
    const std::string path_;
};

}  // namespace evenkeel::cli
