#include "support/temporary_directory.h"

#include <cstdlib>
#include <filesystem>

#include "base/check.h"

namespace evenkeel::test {

TemporaryDirectory::TemporaryDirectory() {
    path_ = (std::filesystem::temp_directory_path() / "evenkeel-test-XXXXXX").string();
    EK_CHECK(mkdtemp(path_.data()) != nullptr, "a folder for temporary files is writable");
}

TemporaryDirectory::~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace evenkeel::test
