// The status of a running function host: what its scale controller knows and why it decides so. The
// controller writes it to a file whenever something changes, `evenkeel host status` shows it.
//
// The file lies in a folder of the user's (XDG_RUNTIME_DIR, else the folder for temporary files)
// and is named after the app's folder, so that another terminal finds it. It is removed when the
// host ends, and names its process for the case that it could not be removed. It has no secrets.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "cli/text/terminal.h"
#include "host/scale/scale_controller.h"

namespace evenkeel::cli {

struct HostStatus {
    struct Group {
        std::string event_hub;
        std::string group;
    };
    struct Owned {
        std::string function;
        std::vector<std::uint32_t> partitions;
    };
    struct Running {
        std::int64_t process = 0;  // 0: none yet
        std::vector<Owned> owned = {};
    };
    struct Note {
        WallTime at;
        std::string text;
    };

    std::string app;  // its folder
    std::int64_t process = 0;
    WallTime at = {};
    Instant now = {};
    std::vector<Group> groups = {};       // by function
    std::vector<Running> instances = {};  // by slot
    std::deque<Note> notes = {};          // the last decisions, the newest last
};

std::string status_json(const HostStatus& status, const host::ScaleController& controller);
// As a text. `corrupt` if it is no status.
Result<std::string> status_text(const std::string& json, WallTime now, const Terminal& terminal);

// Where it is; makes the folder. `app` is an absolute path without links.
Result<std::string> status_file_of(const std::string& app);
// In one step, without waiting for the disk.
Result<> write_status(const std::string& file, const std::string& json);

}  // namespace evenkeel::cli
