// A place in front of something that many processes want, where one at a time may wait for it: who
// just had it must pass here again, and so cannot have it for ever. A courtesy, not a lock: whoever
// waited here for long enough goes around it.
// Threads: one at a time.
#pragma once

#include <string>
#include <utility>

namespace evenkeel::io::system {

class Turnstile {
public:
    // The file is opened or created by the first try_enter(), so that whoever only looks leaves
    // none behind. A turnstile that cannot be opened lets everybody in.
    explicit Turnstile(std::string path) : path_(std::move(path)) {}
    // Leaves.
    ~Turnstile();
    Turnstile(const Turnstile&) = delete;
    Turnstile& operator=(const Turnstile&) = delete;

    // False if another one is in it. Ends with the process, however that ends.
    bool try_enter();
    void leave();

private:
    const std::string path_;
    int descriptor_ = -1;
};

}  // namespace evenkeel::io::system
