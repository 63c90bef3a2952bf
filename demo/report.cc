#include "demo/report.h"

#include <array>
#include <charconv>
#include <cstdio>

#include <fmt/core.h>

namespace evenkeel::demo {
namespace {

using Kind = Report::Kind;

constexpr std::array<std::string_view, 10> words = {"ready", "sent",      "acknowledged", "refused",
                                                    "read",  "foreign",   "trouble",      "failed",
                                                    "done",  "checkpoint"};

bool has_error(Kind kind) {
    return kind == Kind::trouble || kind == Kind::failed;
}

template <typename Number>
bool cut_number(std::string_view& text, Number& to) {
    if (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), to);
    text.remove_prefix(static_cast<std::size_t>(parsed.ptr - text.data()));
    return parsed.ec == std::errc();
}

}  // namespace

std::string to_line(const Report& report) {
    const std::string_view word = words[static_cast<std::size_t>(report.kind)];
    if (has_error(report.kind)) {
        std::string detail = report.error.detail;
        for (char& letter : detail) letter = letter == '\n' ? ' ' : letter;
        return fmt::format("{} {} {}\n", word, static_cast<int>(report.error.code), detail);
    }
    return fmt::format("{} {} {} {} {} {} {} {} {}\n", word, report.partition, report.producer,
                       report.number, report.count, report.sequence, report.took.count(),
                       report.epoch, report.at_ms);
}

Result<Report> parse_report(std::string_view line) {
    const Error wrong{ErrorCode::corrupt, fmt::format("'{}' is not a report line", line)};
    const std::string_view word = line.substr(0, line.find(' '));
    Report report;
    std::size_t kind = 0;
    while (kind < words.size() && words[kind] != word) ++kind;
    if (kind == words.size()) return wrong;
    report.kind = static_cast<Kind>(kind);
    line.remove_prefix(word.size());
    if (has_error(report.kind)) {
        int code = 0;
        if (!cut_number(line, code)) return wrong;
        if (!line.empty()) line.remove_prefix(1);
        report.error = Error{static_cast<ErrorCode>(code), std::string(line)};
        return report;
    }
    Duration::rep took = 0;
    const bool good = cut_number(line, report.partition) && cut_number(line, report.producer) &&
                      cut_number(line, report.number) && cut_number(line, report.count) &&
                      cut_number(line, report.sequence) && cut_number(line, took) &&
                      cut_number(line, report.epoch) && cut_number(line, report.at_ms);
    if (!good || !line.empty()) return wrong;
    report.took = Duration(took);
    return report;
}

void tell(const Report& report) {
    const std::string line = to_line(report);
    std::fwrite(line.data(), 1, line.size(), stdout);
    std::fflush(stdout);
}

}  // namespace evenkeel::demo
