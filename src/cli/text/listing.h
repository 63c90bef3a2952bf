// A table of results: aligned for terminals, tab-separated with exact values if standard output is
// no terminal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/text/terminal.h"

namespace boost::json {
class value;
}

namespace evenkeel::cli {

enum class Output : std::uint8_t { table, json, name };

struct Cell {
    std::string shown;
    std::string exact;

    Cell(std::string text) : shown(text), exact(std::move(text)) {}
    Cell(std::string for_people, std::string for_programs)
        : shown(std::move(for_people)), exact(std::move(for_programs)) {}
};
Cell count_cell(std::uint64_t number);  // "1,204"
Cell bytes_cell(std::uint64_t bytes);   // "1.2 KiB"
// "4.2 s ago", exactly in RFC 3339; "-" for 0, which is never.
Cell time_cell(std::int64_t unix_ms, std::int64_t now_ms);
// "6d 23h", exactly in RFC 3339; "-" for 0, which is never.
Cell age_cell(std::int64_t unix_ms, std::int64_t now_ms);
// "9,830", "0.4"
Cell rate_cell(double per_second);
// "7d", "forever", exactly in milliseconds.
Cell retention_cell(std::int64_t milliseconds);

// "4.2s", "3m 12s", "6d 23h"
std::string age_text(std::int64_t milliseconds);

// "1 event", "2,000 events"
std::string plural(std::uint64_t count, std::string_view one);

// In RFC 3339; null for 0, which is never.
boost::json::value time_json(std::int64_t unix_ms);

class Listing {
public:
    enum class Align : std::uint8_t { left, right };
    struct Column {
        std::string name;
        Align align = Align::left;
    };
    explicit Listing(std::vector<Column> columns) : columns_(std::move(columns)) {}

    void add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }
    bool empty() const { return rows_.empty(); }
    std::string text(const Terminal& terminal) const;

private:
    std::vector<Column> columns_;
    std::vector<std::vector<Cell>> rows_;
};

// JSON with indentation, its members in the order they were put in, and a line end behind it.
std::string indented(const boost::json::value& value);
// The same on one line.
std::string json_line(const boost::json::value& value);

}  // namespace evenkeel::cli
