#include "cli/text/terminal.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/core.h>

namespace evenkeel::cli {
namespace {

std::string_view variable(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

// Of the one thread that prints; the alternative is a terminal in the hands of all that prints.
const Terminal* drawn = nullptr;

bool locale_is_utf8() {
    // The first one that is set counts, as for setlocale().
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        const std::string_view value = variable(name);
        if (value.empty()) continue;
        for (const char* mark : {"UTF-8", "utf-8", "UTF8", "utf8"}) {
            if (value.find(mark) != std::string_view::npos) return true;
        }
        return false;
    }
    return false;
}

}  // namespace

std::size_t width(std::string_view text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

void draw_as(const Terminal* terminal) {
    drawn = terminal;
}

Terminal terminal_of(std::FILE* stream) {
    if (stream == stdout && drawn) return *drawn;
    Terminal terminal;
    const int descriptor = fileno(stream);
    terminal.is_terminal = isatty(descriptor) == 1;
    terminal.utf8 = locale_is_utf8();
    if (!terminal.is_terminal) return terminal;
    terminal.is_dumb = variable("TERM") == "dumb";
    terminal.colour = variable("NO_COLOR").empty() && !terminal.is_dumb;
    winsize size{};
    if (ioctl(descriptor, TIOCGWINSZ, &size) == 0) {
        if (size.ws_row > 0) terminal.rows = size.ws_row;
        if (size.ws_col > 0) terminal.columns = size.ws_col;
    }
    return terminal;
}

std::string painted(const Terminal& terminal, Paint paint, std::string_view text) {
    if (!terminal.colour) return std::string(text);
    const char* code = "";
    switch (paint) {
        case Paint::strong: code = "1"; break;
        case Paint::quiet: code = "2"; break;
        case Paint::good: code = "1;32"; break;
        case Paint::bad: code = "1;31"; break;
    }
    return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

std::string with_commas(std::uint64_t number) {
    std::string text = std::to_string(number);
    for (std::size_t at = text.size(); at > 3;) {
        at -= 3;
        text.insert(at, 1, ',');
    }
    return text;
}

std::string milliseconds_text(double milliseconds) {
    if (milliseconds <= 0) return "-";
    if (milliseconds < 10) return fmt::format("{:.2f} ms", milliseconds);
    if (milliseconds < 1000) return fmt::format("{:.1f} ms", milliseconds);
    return fmt::format("{:.2f} s", milliseconds / 1000);
}

std::string bytes_text(std::uint64_t bytes) {
    static constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    auto value = static_cast<double>(bytes);
    std::size_t unit = 0;
    while (value >= 1024 && unit + 1 < std::size(units)) {
        value /= 1024;
        ++unit;
    }
    return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, units[unit]);
}

std::string minutes_text(std::int64_t seconds) {
    if (seconds >= 3600) {
        return fmt::format("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    }
    return fmt::format("{:02}:{:02}", seconds / 60, seconds % 60);
}

std::string bar(const Terminal& terminal, double part, int cells) {
    const auto full = static_cast<int>(std::lround(std::clamp(part, 0.0, 1.0) * cells));
    std::string text;
    for (int cell = 0; cell < cells; ++cell) {
        if (terminal.utf8) {
            text += cell < full ? "█" : "░";
        } else {
            text += cell < full ? '#' : '.';
        }
    }
    return text;
}

std::vector<std::string> Table::lines(const Terminal& terminal) const {
    std::vector<std::size_t> widths;
    for (const auto& row : rows_) {
        widths.resize(std::max(widths.size(), row.size()), column_width_min_);
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
    }
    std::vector<std::string> lines;
    for (const auto& row : rows_) {
        std::string line = "  ";
        for (std::size_t i = 0; i < row.size(); ++i) {
            const std::string blanks(widths[i] - width(row[i]), ' ');
            if (i > 0) line += "  ";
            line += i == 0 ? row[i] + blanks : blanks + row[i];
        }
        while (line.ends_with(' ')) line.pop_back();
        lines.push_back(lines.empty() ? painted(terminal, Paint::quiet, line) : line);
    }
    return lines;
}

std::string Table::tab_separated() const {
    std::string text;
    for (const auto& row : rows_) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            if (i > 0) text += '\t';
            text += row[i];
        }
        text += '\n';
    }
    return text;
}

}  // namespace evenkeel::cli
