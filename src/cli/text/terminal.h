// What a terminal supports, and readable text: numbers, colours, tables.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace evenkeel::cli {

struct Terminal {
    bool is_terminal = false;
    bool colour = false;
    bool utf8 = false;
    bool is_dumb = false;  // it cannot move its cursor
    int rows = 24;
    int columns = 80;
};

// Colour obeys NO_COLOR and TERM=dumb; other characters than ASCII need a UTF-8 locale.
Terminal terminal_of(std::FILE* stream);
// While a command's output is kept to be drawn (cli/watch.h), this is what terminal_of(stdout)
// answers; none: what the stream is.
void draw_as(const Terminal* terminal);

enum class Paint : unsigned char { strong, quiet, good, bad };
std::string painted(const Terminal& terminal, Paint paint, std::string_view text);

// Characters, not bytes: continuation bytes of UTF-8 take no room.
std::size_t width(std::string_view text);
// "1,204,518"
std::string with_commas(std::uint64_t number);
// "2.1 ms", "1.20 s"; "-" for 0, which means that nothing was measured.
std::string milliseconds_text(double milliseconds);
// "41.2 GiB"
std::string bytes_text(std::uint64_t bytes);
// "00:12"
std::string minutes_text(std::int64_t seconds);
// Ten cells or so that fill from left to right; `part` is 0 to 1.
std::string bar(const Terminal& terminal, double part, int cells);

// Columns wide enough for what is in them; the first one to the left, the others to the right.
class Table {
public:
    explicit Table(std::vector<std::string> header, std::size_t column_width_min = 0)
        : column_width_min_(column_width_min) {
        rows_.push_back(std::move(header));
    }
    void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

    // One line a row, the header painted quietly.
    std::vector<std::string> lines(const Terminal& terminal) const;
    // The same without alignment, for programs.
    std::string tab_separated() const;

private:
    const std::size_t column_width_min_;
    std::vector<std::vector<std::string>> rows_;
};

}  // namespace evenkeel::cli
