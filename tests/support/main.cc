// The main of every test program: gtest, without trace lines.
#include <gtest/gtest.h>

#include "base/log.h"

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    evenkeel::set_trace_level(evenkeel::TraceLevel::off);
    return RUN_ALL_TESTS();
}
