// The store of this example, tested against all that the library expects of one.
#include <cstdlib>

#include "folder_store.h"
#include <evenkeel/testing/checkpoint_store_contract.h>

namespace {

// A new folder, removed with the last store in it.
struct TemporaryFolder {
    TemporaryFolder() {
        std::string name = std::filesystem::temp_directory_path() / "own_store.XXXXXX";
        path = ::mkdtemp(name.data());
    }
    ~TemporaryFolder() { std::filesystem::remove_all(path); }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    std::string path;
};

}  // namespace

namespace evenkeel::contract {

INSTANTIATE_TEST_SUITE_P(Folder, CheckpointStoreContract, ::testing::Values([] {
                             auto folder = std::make_shared<TemporaryFolder>();
                             return OpenCheckpointStore(
                                 [folder] { return std::make_shared<FolderStore>(folder->path); });
                         }));

}  // namespace evenkeel::contract
