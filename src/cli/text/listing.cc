#include "cli/text/listing.h"

#include <algorithm>
#include <cmath>

#include <boost/json.hpp>
#include <fmt/core.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/text/terminal.h"

namespace evenkeel::cli {
namespace {

// Boost writes 0.0 as 0E0 and 12.5 as 1.25E1.
std::string scalar(const boost::json::value& value) {
    const auto* const number = value.if_double();
    return number ? fmt::format("{}", *number) : boost::json::serialize(value);
}

void append(std::string& text, const boost::json::value& value, std::size_t depth) {
    const std::string inner(2 * depth + 2, ' ');
    const std::string outer(2 * depth, ' ');
    const char* separator = "\n";
    if (const auto* const object = value.if_object(); object && !object->empty()) {
        text += '{';
        for (const auto& member : *object) {
            text += separator + inner + boost::json::serialize(member.key()) + ": ";
            append(text, member.value(), depth + 1);
            separator = ",\n";
        }
        text += '\n' + outer + '}';
    } else if (const auto* const array = value.if_array(); array && !array->empty()) {
        text += '[';
        for (const auto& item : *array) {
            text += separator + inner;
            append(text, item, depth + 1);
            separator = ",\n";
        }
        text += '\n' + outer + ']';
    } else {
        text += scalar(value);
    }
}

// Below that, a table that does not fit is written as records.
constexpr std::size_t narrow_columns = 60;

//   orders
//     PARTITIONS  4
//     EVENTS      1,204
std::string one_below_the_other(const Terminal& terminal,
                                const std::vector<std::vector<std::string>>& lines) {
    std::size_t name_width = 0;
    for (const auto& name : lines[0]) name_width = std::max(name_width, width(name));
    std::string text;
    for (std::size_t row = 1; row < lines.size(); ++row) {
        for (std::size_t i = 0; i < lines[row].size(); ++i) {
            const std::string& name = lines[0][i];
            const std::string blanks(name_width - width(name) + 2, ' ');
            text += i == 0 ? lines[0][0] + " " + painted(terminal, Paint::strong, lines[row][0])
                           : "  " + painted(terminal, Paint::quiet, name + blanks) + lines[row][i];
            text += "\n";
        }
    }
    return text;
}

}  // namespace

Cell count_cell(std::uint64_t number) {
    return {with_commas(number), std::to_string(number)};
}

Cell bytes_cell(std::uint64_t bytes) {
    return {bytes_text(bytes), std::to_string(bytes)};
}

Cell time_cell(std::int64_t unix_ms, std::int64_t now_ms) {
    if (unix_ms <= 0) return {"-", ""};
    return {age_text(std::max<std::int64_t>(0, now_ms - unix_ms)) + " ago",
            to_string(WallTime{unix_ms})};
}

Cell age_cell(std::int64_t unix_ms, std::int64_t now_ms) {
    if (unix_ms <= 0) return {"-", ""};
    return {age_text(std::max<std::int64_t>(0, now_ms - unix_ms)), to_string(WallTime{unix_ms})};
}

Cell rate_cell(double per_second) {
    const std::string exact = fmt::format("{:.1f}", per_second);
    if (exact == "0.0") return {"0", exact};
    if (per_second < 10) return {exact, exact};
    return {with_commas(static_cast<std::uint64_t>(std::llround(per_second))), exact};
}

Cell retention_cell(std::int64_t milliseconds) {
    return {milliseconds == 0 ? "forever" : age_text(milliseconds), std::to_string(milliseconds)};
}

std::string age_text(std::int64_t milliseconds) {
    const std::int64_t seconds = milliseconds / 1000;
    const auto two = [](std::int64_t large, const char* unit, std::int64_t small,
                        const char* small_unit) {
        return small == 0 ? fmt::format("{}{}", large, unit)
                          : fmt::format("{}{} {}{}", large, unit, small, small_unit);
    };
    if (seconds < 10) {
        return milliseconds % 1000 == 0
                   ? fmt::format("{}s", seconds)
                   : fmt::format("{:.1f}s", static_cast<double>(milliseconds) / 1000);
    }
    if (seconds < 60) return fmt::format("{}s", seconds);
    if (seconds < 3600) return two(seconds / 60, "m", seconds % 60, "s");
    if (seconds < 86400) return two(seconds / 3600, "h", seconds / 60 % 60, "m");
    return two(seconds / 86400, "d", seconds / 3600 % 24, "h");
}

std::string plural(std::uint64_t count, std::string_view one) {
    return fmt::format("{} {}{}", with_commas(count), one, count == 1 ? "" : "s");
}

boost::json::value time_json(std::int64_t unix_ms) {
    if (unix_ms <= 0) return nullptr;
    return boost::json::string(to_string(WallTime{unix_ms}));
}

std::string Listing::text(const Terminal& terminal) const {
    std::vector<std::vector<std::string>> lines(rows_.size() + 1);
    for (const auto& column : columns_) lines[0].push_back(column.name);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        for (const auto& cell : rows_[i]) {
            lines[i + 1].push_back(printable(terminal.is_terminal ? cell.shown : cell.exact));
        }
    }
    std::vector<std::size_t> widths(columns_.size());
    for (const auto& line : lines) {
        for (std::size_t i = 0; i < line.size(); ++i) {
            widths[i] = std::max(widths[i], width(line[i]));
        }
    }
    std::size_t needed = 2 * widths.size();
    for (const std::size_t each : widths) needed += each;
    const auto columns = static_cast<std::size_t>(terminal.columns);
    if (terminal.is_terminal && columns < narrow_columns && needed > columns) {
        return one_below_the_other(terminal, lines);
    }
    std::string text;
    for (std::size_t row = 0; row < lines.size(); ++row) {
        std::string line;
        for (std::size_t i = 0; i < lines[row].size(); ++i) {
            const std::string& cell = lines[row][i];
            if (!terminal.is_terminal) {
                line += (i > 0 ? "\t" : "") + cell;
                continue;
            }
            const std::string blanks(widths[i] - width(cell), ' ');
            if (i > 0) line += "  ";
            line += columns_[i].align == Align::left ? cell + blanks : blanks + cell;
        }
        if (terminal.is_terminal) {
            while (line.ends_with(' ')) line.pop_back();
        }
        text += (row == 0 ? painted(terminal, Paint::quiet, line) : line) + "\n";
    }
    return text;
}

std::string json_line(const boost::json::value& value) {
    return json_without_controls(boost::json::serialize(value)) + "\n";
}

std::string indented(const boost::json::value& value) {
    std::string text;
    append(text, value, 0);
    return json_without_controls(text) + "\n";
}

}  // namespace evenkeel::cli
