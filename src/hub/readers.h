// Who may read a partition in a consumer group: a pure rule book over the readers that are there.
//
// Invariants
//   HUB-7  At most five readers without an epoch.
//   HUB-8  A reader with an epoch is alone: it displaced all with a lower or equal epoch and all
//          without one, in the step that admitted it.
//   HUB-9  An epoch is remembered only while its reader is there.
// The texts are the ones that Event Hubs' clients and their users look for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace evenkeel::hub {

enum class ReaderId : std::uint64_t {};

struct ReaderRequest {
    std::string name = {};  // for operators; may be empty
    std::optional<Epoch> epoch = {};
};

class ReaderSet {
public:
    static constexpr std::size_t readers_max = 5;

    struct Displaced {
        ReaderId reader;
        Error reason;
    };

    // Admits the reader and returns those it displaced, who are out at once. Refused with `fenced`
    // by a higher epoch, `overloaded` as the sixth, `invalid_argument` for a negative epoch.
    Result<std::vector<Displaced>> admit(ReaderId reader, const ReaderRequest& request);
    void remove(ReaderId reader);
    std::size_t size() const { return readers_.size(); }

private:
    struct Entry {
        ReaderId id;
        ReaderRequest request;
    };
    std::vector<Entry> readers_;
};

}  // namespace evenkeel::hub
