#include "processor/host.h"

namespace evenkeel::processor {

std::string_view to_string(CloseReason reason) {
    switch (reason) {
        case CloseReason::shutdown: return "shutdown";
        case CloseReason::hand_over: return "hand-over";
        case CloseReason::lost: return "lost";
    }
    return "";
}

}  // namespace evenkeel::processor
