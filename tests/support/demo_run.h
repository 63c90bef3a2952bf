// `evenkeel demo` on a checkpoint store. Of nine seconds or more it shows three pictures: shares, a
// take-over after a kill, hand-overs.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "support/paths.h"
#include "support/process.h"

namespace evenkeel::fault {

// With $EVENKEEL_LONG all three, as `./run --for 30s` shows them.
inline void expect_a_good_demo(const std::string& store, int seconds) {
    if (std::getenv("EVENKEEL_LONG") != nullptr) seconds = 30;
    const Outcome outcome =
        run_to_end({test::evenkeel_program(), "demo", "--for", std::to_string(seconds) + "s",
                    "--rate", seconds == 30 ? "20000" : "2000", "--store", store, "--json", "-"});
    const auto has = [&](const char* text) {
        return (outcome.output + outcome.errors).find(text) != std::string::npos;
    };
    EXPECT_EQ(outcome.exit_code, 0) << "the verdict is bad";
    EXPECT_EQ(has("is killed with SIGKILL"), seconds >= 9);
    EXPECT_TRUE(has("\"lost\": 0,"));
    EXPECT_TRUE(has("\"out_of_order\": 0,"));
    EXPECT_TRUE(has("\"past_fence\": 0,"));
    EXPECT_TRUE(has("\"repeated_at_handover\": 0,"));
    EXPECT_FALSE(has("\"handled\": 0,"));
    std::printf("%s%s\n", outcome.errors.c_str(), outcome.output.c_str());
}

}  // namespace evenkeel::fault
