// `evenkeel check`: can the hub be reached, does it let us in, may we do what we want?
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/exit_code.h"
#include "cli/remote/remote.h"
#include "cli/text/listing.h"

namespace evenkeel::cli {

struct CheckCommand {
    RemoteOptions remote;
    Output output = Output::table;
    std::string event_hub;            // empty: the connection string's, or the first there is
    std::vector<std::string> rights;  // that are needed: send, listen, manage
};

ExitCode check(const CheckCommand& options);

// What one check found.
struct Finding {
    enum class Status : std::uint8_t { ok, warning, failed, skipped };
    std::string name;
    Status status = Status::ok;
    std::string detail;
    std::string remedy = {};  // empty if none is needed
};
// What `check` finds, for commands that show more beside it.
std::vector<Finding> findings_of(const CheckCommand& options);
void print_findings(const std::vector<Finding>& findings, Output output);
// 0, or 8 and 9 as the worst of them says.
ExitCode exit_code_of(const std::vector<Finding>& findings);

}  // namespace evenkeel::cli
