// A .tar.gz of texts, as anyone can open it: ustar in gzip. The bytes are stored, not compressed,
// so that what is in it can be searched as it is.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"

namespace evenkeel::cli {

struct ArchiveFile {
    std::string name;  // at most 99 bytes
    std::string content;
};

std::string tar_gz(const std::vector<ArchiveFile>& files, WallTime now);

}  // namespace evenkeel::cli
