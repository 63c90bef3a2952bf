// Who changed what: one line of one form for each change and each refused login, on stderr beside
// the log, whatever its level.
//
//     2026-11-17T03:04:05.678Z audit who=key:root from=10.0.0.7 did=create-hub what=homes result=ok
//     {"time":"…","level":"audit","message":"audit","who":"key:root",…,"result":"ok"}
//
// In text, a value with anything but letters, digits and -_.:/@$*[] in it stands in quotes, so that
// no name that a stranger chose looks like another field. Never a secret. Threads: any.
#pragma once

#include <string>

#include "base/log.h"

namespace evenkeel {

struct AuditEntry {
    std::string who;     // key:NAME, key:NAME@HUB, subject:NAME of a token, or - if nobody knows
    std::string from;    // the address
    std::string did;     // create-hub, rotate-key, login, …
    std::string what;    // the hub, group or key
    std::string result;  // ok, or why not
};

void audit(const AuditEntry& entry);

// Without its time stamp, as audit() writes it; pure, so that it can be tested.
std::string audit_line(TraceFormat format, const AuditEntry& entry);

}  // namespace evenkeel
