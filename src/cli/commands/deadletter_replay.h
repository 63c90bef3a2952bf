// Sends dead letters to an event hub, and removes each once the hub has acknowledged it.
#pragma once

#include <string>
#include <vector>

#include "cli/exit_code.h"
#include "cli/remote/letter_box.h"
#include "cli/remote/remote.h"

namespace evenkeel::cli {

// One at a time, in the order of the ids, to the partition of its key; one without a key to the
// partition that it came from, if the event hub has that. Prints where each is now. One that can
// never be sent is reported and stays, and the next one follows; any other failure ends it.
ExitCode replay_letters(LetterBox& box, const std::vector<checkpoint::DeadLetterId>& ids,
                        const Remote& remote, const std::string& event_hub, bool as_json);

}  // namespace evenkeel::cli
