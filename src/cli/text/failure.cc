#include "cli/text/failure.h"

#include <fmt/core.h>

#include "cli/text/hub_reply.h"

namespace evenkeel::cli {

std::string to_line(const Failure& failure) {
    std::string text = failure.operation;
    if (failure.partition) text = fmt::format("partition {}: {}", *failure.partition, text);
    text += ": " + plain_reply(to_string(failure.error));
    if (failure.is_retried) {
        text += fmt::format(" (again in {:.1f} s)",
                            static_cast<double>(failure.retried_in.count()) / 1000);
    }
    return text;
}

}  // namespace evenkeel::cli
