// The body of a response that is written bit by bit, for as long as both sides like: server-sent
// events. The connection asks for more when the client has taken what it was given, so a slow
// client is never ahead of what is kept for it here.
//
//     next() ──▶ bytes ──▶ written to the client ──▶ next() ... ──▶ none: the body is over
//
// Ownership: of the response, then of the connection. It is destroyed when the client is gone.
// Threads: pinned to the server's loop.
#pragma once

#include <optional>
#include <string>

#include "base/task.h"

namespace evenkeel::http {

class BodyStream {
public:
    // Called once, now or later, on the loop; none ends the body. Not after the stream is gone.
    using Next = Callback<void(std::optional<std::string>)>;

    virtual ~BodyStream() = default;
    // One at a time.
    virtual void next(Next done) = 0;
};

}  // namespace evenkeel::http
