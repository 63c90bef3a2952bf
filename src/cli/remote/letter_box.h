// Where the dead letters of a group are: in its checkpoint store, or in an event hub to which
// `process --dead-letter` sends them. Threads: one at a time; calls block.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "checkpoint/store.h"
#include "cli/remote/entries.h"
#include "cli/remote/remote.h"
#include "cli/text/letter_view.h"

namespace evenkeel::cli {

struct LetterBoxOptions {
    LetterPlace place;
    RemoteOptions remote;
    std::string store;
    std::string hub_namespace;         // of the store's entries; empty: that of the hub
    std::string letter_hub = "store";  // "store", an event hub, or a connection string of one
    EntriesFor purpose = EntriesFor::looking;
};

class LetterBox {
public:
    // `not_found`: there is no such file or event hub.
    static Result<std::unique_ptr<LetterBox>> open(const LetterBoxOptions& options);
    virtual ~LetterBox() = default;

    // In the order of partition and sequence number.
    virtual Result<std::vector<LetterRow>> list() = 0;
    // Calls `visit` with each of these that is still there, whole, in the order of the ids, which
    // are sorted. Ends with the first failure of `visit`.
    using Visit = std::function<Result<>(const checkpoint::DeadLetter&)>;
    virtual Result<> each(const std::vector<checkpoint::DeadLetterId>& ids, const Visit& visit) = 0;
    // Success also if it is not there.
    virtual Result<> remove(const checkpoint::DeadLetter& letter) = 0;
};

// stored_letters.cc and hub_letters.cc
Result<std::unique_ptr<LetterBox>> open_stored_letters(const LetterBoxOptions& options);
Result<std::unique_ptr<LetterBox>> open_hub_letters(const LetterBoxOptions& options);

}  // namespace evenkeel::cli
