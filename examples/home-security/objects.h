// Where aggregates are kept: a folder, or a container of Azure Blob storage.
//
//   ./aggregates                                                     a folder
//   azblob:AccountName=a;AccountKey=...;Container=homes              Blob storage
//   azblob:UseDevelopmentStorage=true;Container=homes                its emulator, Azurite
//
// "BlobEndpoint=http://127.0.0.1:10000/devstoreaccount1" says where the service is, and
// "Folder=run-1" puts the objects into a folder of the container.
//
// Errors: `unavailable` means that it may succeed later. Threads: any, several at once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/error.h>

namespace homes {

class Objects {
public:
    // Creates the folder or the container if there is none.
    static evenkeel::Result<std::unique_ptr<Objects>> open(const std::string& address);
    // The same, but waits for as long as they cannot be reached; `program` says so on stderr.
    static evenkeel::Result<std::unique_ptr<Objects>> open_patiently(const std::string& address,
                                                                     const char* program);
    virtual ~Objects() = default;

    // Writes the whole object or nothing, and replaces one that is there. Once it has returned, the
    // object survives a crash, and a power failure.
    virtual evenkeel::Result<> put(const std::string& name, std::string_view bytes) = 0;
    // At most `size` bytes from `offset` on; fewer at the end. `not_found` if there is none.
    virtual evenkeel::Result<std::string> get(const std::string& name, std::uint64_t offset,
                                              std::uint64_t size) = 0;
    // The names that begin with `folder`, which ends with a slash, and come behind `after`; sorted.
    virtual evenkeel::Result<std::vector<std::string>> list(const std::string& folder,
                                                            const std::string& after = {}) = 0;
};

std::unique_ptr<Objects> open_folder(const std::string& path);
evenkeel::Result<std::unique_ptr<Objects>> open_blobs(const std::string& connection);

}  // namespace homes
