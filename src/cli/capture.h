// What is written to a standard stream meanwhile, kept in memory. Threads: the one that prints.
#pragma once

#include <cstdio>
#include <string>

namespace evenkeel::cli {

class Capture {
public:
    explicit Capture(std::FILE* stream);
    ~Capture();
    Capture(const Capture&) = delete;
    Capture& operator=(const Capture&) = delete;

    // Ends it. Empty where the system has no memory for it.
    std::string take();

private:
    std::FILE* const stream_;
    const int descriptor_;
    int saved_ = -1;
    int memory_ = -1;
};

}  // namespace evenkeel::cli
