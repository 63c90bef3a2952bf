// What "List Blobs" answers, from its XML. Pure; takes only what such a list has, and bounds it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "checkpoint/blob/request.h"

namespace evenkeel::checkpoint {

struct BlobItem {
    std::string name;
    std::string etag = {};  // without quotes
    WallTime modified = {};
    std::uint64_t bytes = 0;
    bool is_leased = false;
    Metadata metadata = {};  // names in lower case
};

struct BlobPage {
    std::vector<BlobItem> items;
    std::string next = {};  // the marker of the next page; empty: this was the last one
};

// `corrupt` if it is not the XML of a list. Items without a name are left out.
Result<BlobPage> parse_blob_list(std::string_view xml);

// The text in <Code> of an error's XML; empty if it has none.
std::string parse_blob_error(std::string_view xml);

// Without its quotes; weak ones ("W/") as if they were strong.
std::string bare_etag(std::string_view etag);

}  // namespace evenkeel::checkpoint
