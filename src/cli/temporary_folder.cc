#include "cli/temporary_folder.h"

#include <cstdlib>

#include <fmt/core.h>

#include "base/log.h"
#include "base/random.h"
#include "io/system/files.h"

namespace evenkeel::cli {

Result<std::unique_ptr<TemporaryFolder>> TemporaryFolder::make(std::string parent,
                                                               std::string_view purpose) {
    if (parent.empty()) {
        const char* variable = std::getenv("TMPDIR");
        parent = variable && *variable ? variable : "/tmp";
    }
    auto path = fmt::format("{}/evenkeel-{}-{}", parent, purpose, secure_hex(8));
    io::system::SystemFiles files;
    EK_TRY(files.make_directory(path));
    return std::unique_ptr<TemporaryFolder>(new TemporaryFolder(std::move(path)));
}

TemporaryFolder::~TemporaryFolder() {
    io::system::SystemFiles files;
    const auto removed = io::remove_tree(files, path_);
    if (!removed.ok()) {
        trace(TraceLevel::warning, "a temporary folder could not be removed: remove it",
              {{"folder", path_}, {"cause", removed.error().detail}});
    }
}

}  // namespace evenkeel::cli
