#include "cli/capture.h"

#include <array>

#include <sys/mman.h>
#include <unistd.h>

namespace evenkeel::cli {

Capture::Capture(std::FILE* stream) : stream_(stream), descriptor_(fileno(stream)) {
    std::fflush(stream_);
    saved_ = dup(descriptor_);
    memory_ = memfd_create("evenkeel", MFD_CLOEXEC);
    if (saved_ >= 0 && memory_ >= 0) dup2(memory_, descriptor_);
}

Capture::~Capture() {
    (void)take();
}

std::string Capture::take() {
    std::string text;
    if (memory_ >= 0 && saved_ >= 0) {
        std::fflush(stream_);
        dup2(saved_, descriptor_);
        std::array<char, 4096> buffer;
        while (true) {
            const ssize_t got =
                pread(memory_, buffer.data(), buffer.size(), static_cast<off_t>(text.size()));
            if (got <= 0) break;
            text.append(buffer.data(), static_cast<std::size_t>(got));
        }
    }
    if (memory_ >= 0) close(memory_);
    if (saved_ >= 0) close(saved_);
    memory_ = saved_ = -1;
    return text;
}

}  // namespace evenkeel::cli
