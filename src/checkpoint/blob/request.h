// Requests to Azure Blob storage, and their signatures (Shared Key, SAS). Pure: told the time.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "checkpoint/blob/account.h"
#include "http/fetcher.h"

namespace evenkeel::checkpoint {

inline constexpr std::string_view blob_api_version = "2021-12-02";

using Metadata = std::vector<std::pair<std::string, std::string>>;

struct BlobRequest {
    std::string method;
    std::string blob = {};  // its name; empty: the container itself
    std::vector<std::pair<std::string, std::string>> query = {};  // values as they are
    std::string if_match = {};                                    // an ETag without its quotes
    bool only_if_new = false;                                     // If-None-Match: *
    Metadata metadata = {};
    bool is_block_blob = false;  // Put Blob
    std::string body = {};
};

// Ready to be sent. Values of metadata hold no line ends and no control characters; those who make
// them see to it (checkpoint/blob/records.h).
http::FetchRequest to_wire(const BlobRequest& request, const BlobAccount& account, WallTime now);

// What Shared Key signs; for tests.
std::string string_to_sign(const BlobRequest& request, const BlobAccount& account, WallTime now);

// "Sun, 15 Nov 2026 12:00:00 GMT"
std::string http_date(WallTime time);

}  // namespace evenkeel::checkpoint
