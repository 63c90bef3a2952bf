// Prints the figures of all scenarios, or of those whose names contain the argument, as in
// docs/benchmarks.md: build/dev/tests/sim/balance_table [NAME] [SEEDS]
#include <cstdio>
#include <cstdlib>
#include <string>

#include "sim/scenarios.h"

int main(int count, char** arguments) {
    using namespace evenkeel::sim;
    const std::string filter = count > 1 ? arguments[1] : "";
    const int seeds = count > 2 ? std::atoi(arguments[2]) : 7;
    std::printf(
        "| scenario | profile | store | balanced s | moves | hard | unread s | gap mean s | "
        "gap worst s | load ratio | requests/s |\n|---|---|---|---|---|---|---|---|---|---|"
        "---|\n");
    int failed = 0;
    for (const Scenario& scenario : scenarios()) {
        if (scenario.name.find(filter) == std::string::npos) continue;
        for (const Setting setting :
             {Setting{false, false}, Setting{false, true}, Setting{false, true, true},
              Setting{true, false}, Setting{true, true}, Setting{true, true, true}}) {
            const Measured figures = measure_many(scenario, setting, seeds < 1 ? 1 : seeds);
            std::printf(
                "| %s | %s | %s | %.2f | %.0f | %.0f | %.1f | %.2f | %.2f | %.2f | %.2f |\n",
                scenario.name.c_str(), setting.fast ? "fast" : "default",
                setting.exact_ages ? "push, exact ages"
                : setting.push     ? "push"
                                   : "poll",
                figures.balanced_s, figures.moves, figures.hard, figures.unread_s,
                figures.gap_mean_s, figures.gap_worst_s, figures.load_ratio,
                figures.requests_per_second);
            std::fflush(stdout);
            if (figures.violations.empty()) continue;
            ++failed;
            std::printf("violations: %s\n", figures.violations.c_str());
        }
    }
    return failed == 0 ? 0 : 1;
}
