// Opens a source by the address that users write:
//
//   embedded:FOLDER/EVENT-HUB                  a hub in this process; the folder is opened
//   Endpoint=sb://..., amqp://..., amqps://... as in <evenkeel/client.h>
#pragma once

#include <memory>
#include <string>

#include "io/system/loop.h"
#include "source/source.h"
#include <evenkeel/client.h>
#include <evenkeel/hub.h>

namespace evenkeel::source {

struct OpenOptions {
    std::string hub = {};
    std::string group = "$Default";
    // A hub that is open already; `hub` then is the event hub's name.
    Hub* embedded = nullptr;
    ClientOptions client = {};  // but for its connection
    CallOptions call = {};      // how long a hub in this process may take to open
};

// `invalid_argument` names what is malformed; a hub elsewhere is not connected to before it is
// needed. Called before the loop is started or on it; the source is destroyed on the loop or once
// that has stopped.
Result<std::unique_ptr<Source>> open_source(const OpenOptions& options,
                                            io::system::LoopThread& loop);

// FOLDER and EVENT-HUB of "embedded:FOLDER/EVENT-HUB".
Result<Name> parse_embedded(std::string_view text);

}  // namespace evenkeel::source
