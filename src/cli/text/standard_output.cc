// tidy: no test: tests/process/cli/output_test.cc runs all commands against a full disk
#include "cli/text/standard_output.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <unistd.h>

#include <poll.h>

namespace evenkeel::cli {

Result<> flush_output() {
    static int why = 0;  // the stream remembers only that there was a failure
    errno = 0;
    if (std::fflush(stdout) != 0 && why == 0) why = errno;
    if (std::ferror(stdout) == 0) return {};
    return Error{ErrorCode::unavailable, why == 0 ? "a write failed" : std::strerror(why)};
}

bool output_is_unread() {
    pollfd wanted{STDOUT_FILENO, POLLOUT, 0};
    return poll(&wanted, 1, 0) == 1 && (wanted.revents & POLLERR) != 0;
}

}  // namespace evenkeel::cli
