// A store by its address, as users give it.
#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"
#include "checkpoint/store.h"
#include "io/loop.h"

namespace evenkeel::checkpoint {

struct OpenOptions {
    // False: only to look at what is there. Then the answer is none, and nothing was written, where
    // opening would have to make the store or the group's place in it.
    bool may_create = true;
};

// "memory:" or "memory:NAME" (one in this process for each name), "sqlite:FILE",
// "postgresql://HOST/DATABASE", "redis://HOST", "azblob:" and what checkpoint/blob/account.h reads.
// Blocks. The loop outlives the store. `invalid_argument` lists the kinds of stores there are.
Result<std::unique_ptr<Store>> open_store(std::string_view url, const GroupName& group,
                                          io::Loop& loop, const OpenOptions& options = {});

}  // namespace evenkeel::checkpoint
