#include "bench/report.h"

#include <algorithm>
#include <cstdio>

#include <fmt/core.h>

#include "base/check.h"
#include "base/log.h"
#include "cli/text/terminal.h"

namespace evenkeel::bench {
namespace {

std::string per_second(double value) {
    return value > 0 ? cli::with_commas(static_cast<std::uint64_t>(value)) : "-";
}

std::string details(const Line& line) {
    std::string text;
    if (!line.acknowledged_by.empty()) text = "acknowledged by " + line.acknowledged_by;
    for (const auto& [key, value] : line.more) {
        if (!text.empty()) text += "  ";
        text += fmt::format("{} {:.4g}", key, value);
    }
    return text;
}

}  // namespace

double median(std::vector<double> values) {
    EK_CHECK(!values.empty(), "there is something to take the median of");
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

double quantile(std::vector<double> values, double part) {
    if (values.empty()) return 0;
    const auto at = static_cast<std::ptrdiff_t>(part * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), values.begin() + at, values.end());
    return values[static_cast<std::size_t>(at)];
}

namespace {

void print_table(const std::vector<Line>& lines) {
    const cli::Terminal terminal = cli::terminal_of(stdout);
    cli::Table table({"BENCHMARK", "EVENTS/s", "LIMIT/s", "RATIO", "GOAL", "MET"});
    for (const auto& line : lines) {
        table.add({line.name, per_second(line.events_per_second), per_second(line.limit_per_second),
                   line.limit_per_second > 0 ? fmt::format("{:.2f}", line.ratio()) : "-",
                   line.goal.empty() ? "-" : line.goal,
                   line.goal.empty() ? "-" : (line.met ? "yes" : "no")});
    }
    if (!terminal.is_terminal) {
        fmt::print("{}", table.tab_separated());
    } else {
        for (const auto& text : table.lines(terminal)) fmt::print("{}\n", text);
    }
    for (const auto& line : lines) fmt::print("  {}: {}\n", line.name, details(line));
}

}  // namespace

std::string to_json(const std::vector<Line>& lines) {
    std::string text = "[";
    for (const auto& line : lines) {
        text += fmt::format(
            "{}\n  {{\"line\": \"{}\", \"name\": \"{}\", \"events_per_second\": {:.1f}, "
            "\"limit_per_second\": {:.1f}, "
            "\"ratio\": {:.4f}, \"goal\": \"{}\", \"met\": {}",
            text.size() > 1 ? "," : "", json_escaped(line.name), json_escaped(line.name),
            line.events_per_second, line.limit_per_second, line.ratio(), json_escaped(line.goal),
            line.met);
        if (!line.acknowledged_by.empty()) {
            text +=
                fmt::format(", \"acknowledged_by\": \"{}\"", json_escaped(line.acknowledged_by));
        }
        // What every line has, so that one query fits all.
        for (const char* key : {"partitions", "p50_ms", "p99_ms"}) {
            const auto has = [&](const auto& more) { return more.first == key; };
            if (std::none_of(line.more.begin(), line.more.end(), has)) {
                text += fmt::format(", \"{}\": null", key);
            }
        }
        for (const auto& [key, value] : line.more) {
            text += fmt::format(", \"{}\": {:.6g}", json_escaped(key), value);
        }
        text += "}";
    }
    return text + "\n]\n";
}

void show(const std::vector<Line>& lines, bool json) {
    if (json) {
        fmt::print("{}", to_json(lines));
    } else {
        print_table(lines);
    }
}

}  // namespace evenkeel::bench
