// tidy: no test: tests/process/cli/watch_test.cc presses its keys
#include "cli/keyboard.h"

#include <poll.h>

namespace evenkeel::cli {

Keyboard::Keyboard() {
    // A job in the background would be stopped if it changed the terminal.
    is_there_ = isatty(STDIN_FILENO) == 1 && tcgetpgrp(STDIN_FILENO) == getpgrp() &&
                tcgetattr(STDIN_FILENO, &before_) == 0;
    if (!is_there_) return;
    termios raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);  // Ctrl-C is still a signal
    raw.c_cc[VQUIT] = _POSIX_VDISABLE;  // ends a process before it can change the terminal back
    is_changed_ = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
}

Keyboard::~Keyboard() {
    if (is_changed_) tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

std::optional<char> Keyboard::next() {
    pollfd input{descriptor(), POLLIN, 0};  // negative: passed over
    if (poll(&input, 1, 0) <= 0) return std::nullopt;
    char key = 0;
    if (read(STDIN_FILENO, &key, 1) == 1) return key;
    is_there_ = false;
    return std::nullopt;
}

}  // namespace evenkeel::cli
