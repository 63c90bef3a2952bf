// Keys of the terminal on stdin, each as soon as it is pressed and without an echo, while this
// lives. Signals by keys (Ctrl-C, Ctrl-Z) stay as they are.
//
// Where stdin is no terminal, or belongs to another job of the shell, there are none.
// Threads: the one that made it.
#pragma once

#include <optional>

#include <unistd.h>

#include <termios.h>

namespace evenkeel::cli {

class Keyboard {
public:
    Keyboard();
    // The terminal is then as it was.
    ~Keyboard();
    Keyboard(const Keyboard&) = delete;
    Keyboard& operator=(const Keyboard&) = delete;

    // False also once the terminal is gone.
    bool is_there() const { return is_there_; }
    // To be waited for; -1 if there are no keys.
    int descriptor() const { return is_there_ ? STDIN_FILENO : -1; }
    // A key that was pressed before; none if there is none.
    std::optional<char> next();

private:
    bool is_there_ = false;
    bool is_changed_ = false;
    termios before_{};
};

}  // namespace evenkeel::cli
