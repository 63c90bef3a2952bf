// The trace lines of one test, which are off otherwise.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/log.h"

namespace evenkeel {

class CapturedTrace {
public:
    explicit CapturedTrace(TraceLevel level, TraceFormat format = TraceFormat::text) {
        set_trace_level(level);
        set_trace_format(format);
        testing::internal::CaptureStderr();
    }
    ~CapturedTrace() {
        if (!taken_) take();
    }
    CapturedTrace(const CapturedTrace&) = delete;
    CapturedTrace& operator=(const CapturedTrace&) = delete;

    // All lines so far; nothing is captured after that. Once.
    std::string take() {
        taken_ = true;
        set_trace_level(TraceLevel::off);
        set_trace_format(TraceFormat::text);
        return testing::internal::GetCapturedStderr();
    }

private:
    bool taken_ = false;
};

inline std::size_t count_of(std::string_view part, std::string_view text) {
    std::size_t count = 0;
    for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
    return count;
}

}  // namespace evenkeel
