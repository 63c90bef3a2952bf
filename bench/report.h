// The results of a benchmark, as a table or as JSON.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace evenkeel::bench {

struct Line {
    std::string name;
    double events_per_second = 0;
    double limit_per_second = 0;  // what the raw device reached in the same run; 0: not measured
    std::string goal;             // as text; empty if there is none
    bool met = true;
    std::vector<std::pair<std::string, double>> more;  // by the JSON key, unit last
    std::string acknowledged_by = {};  // where an event is when it is acknowledged; empty: not said

    double ratio() const { return limit_per_second > 0 ? events_per_second / limit_per_second : 0; }
};

double median(std::vector<double> values);
// 0 of none; `part` from 0 to 1.
double quantile(std::vector<double> values, double part);

// On stdout: as JSON, or as a table; tab-separated if stdout is not a terminal.
void show(const std::vector<Line>& lines, bool json);
// An array with one object a line.
std::string to_json(const std::vector<Line>& lines);

}  // namespace evenkeel::bench
