#include "demo/view.h"

#include <algorithm>
#include <cstdio>

#include <fmt/core.h>

namespace evenkeel::demo {
namespace {

constexpr Duration between_tables = std::chrono::seconds(1);
// A shorter time says little about a rate.
constexpr Duration worth_a_rate = std::chrono::milliseconds(300);
constexpr Duration between_lines = std::chrono::seconds(5);
constexpr int rows_beside_partitions = 8;
constexpr int columns_min = 40;
constexpr std::size_t column_width = 9;

std::string rate(std::uint64_t now, std::uint64_t before, double seconds) {
    return cli::with_commas(
        static_cast<std::uint64_t>(static_cast<double>(now - before) / seconds));
}

// Without columns in which nothing is known.
cli::Table table_of(std::vector<std::vector<std::string>> rows) {
    for (std::size_t column = rows[0].size(); column-- > 1;) {
        const bool is_empty = std::all_of(rows.begin() + 1, rows.end(), [&](const auto& row) {
            return row[column].empty() || row[column] == "-";
        });
        if (!is_empty) continue;
        for (auto& row : rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
    }
    cli::Table table(std::move(rows[0]), column_width);
    for (std::size_t i = 1; i < rows.size(); ++i) table.add(std::move(rows[i]));
    return table;
}

// At most so many characters; colours take no room, and end with the line.
std::string cut_to(int columns, std::string_view line) {
    std::string kept;
    int shown = 0;
    bool is_escape = false;
    for (const char c : line) {
        const bool begins = (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
        if (c == '\x1b') is_escape = true;
        if (!is_escape && begins && ++shown > columns) return kept + "\x1b[0m";
        kept += c;
        if (is_escape && c == 'm') is_escape = false;
    }
    return kept;
}

std::int64_t whole_seconds(Duration duration) {
    return std::chrono::duration_cast<std::chrono::seconds>(duration).count();
}

}  // namespace

std::string processor_name(int processor) {
    return std::string(1, static_cast<char>('a' + processor));
}

View::View(const Traffic& traffic, std::optional<Duration> duration, Instant start,
           std::string keys, std::function<std::string()> memory)
    : traffic_(traffic),
      duration_(duration),
      start_(start),
      keys_(std::move(keys)),
      memory_(std::move(memory)),
      as_table_(terminal_.is_terminal && terminal_.columns >= columns_min),
      before_(traffic.partitions.size()),
      shown_(start) {
    if (!keys_.empty() && !as_table_) fmt::print(stderr, "keys: {}\n", keys_);
}

void View::Snapshot::add(const PartitionTraffic& traffic) {
    // In this order, so that a lag is never negative.
    read += traffic.read.value();
    durable += traffic.durable.value();
    sent += traffic.sent.value();
    refused += traffic.refused.value();
    checkpoint = traffic.checkpoint;
    read_up_to = traffic.read_up_to;
    owner = traffic.owner;
    traffic.acknowledged_after.add_to(acknowledged_after);
}

void View::say(Instant now, const std::string& text) {
    const std::string line =
        fmt::format("{}  {}", cli::minutes_text(whole_seconds(now - start_)), text);
    if (!as_table_) {
        fmt::print(stderr, "{}\n", line);
        return;
    }
    // Over the table, which is drawn again below it.
    if (lines_shown_ > 0) fmt::print(stderr, "\x1b[{}A", lines_shown_);
    fmt::print(stderr, "{}\x1b[K\n\x1b[J", cli::painted(terminal_, cli::Paint::strong, line));
    lines_shown_ = 0;
}

void View::show(Instant now) {
    if (now - shown_ >= (as_table_ ? between_tables : between_lines)) draw(now);
}

void View::draw(Instant now) {
    if (as_table_) terminal_ = cli::terminal_of(stderr);
    std::vector<Snapshot> partitions(traffic_.partitions.size());
    Snapshot total;
    for (std::size_t i = 0; i < partitions.size(); ++i) {
        partitions[i].add(traffic_.partitions[i]);
        total.add(traffic_.partitions[i]);
    }
    if (as_table_) {
        show_table(partitions, total, now);
    } else {
        show_line(total, now);
    }
    std::fflush(stderr);
    before_ = std::move(partitions);
    total_before_ = total;
    shown_ = now;
}

void View::finish(Instant now, const std::string& text) {
    // Over the "^C" that the terminal wrote.
    if (terminal_.is_terminal) fmt::print(stderr, "\r");
    if (now - shown_ >= worth_a_rate) draw(now);
    if (memory_ && !as_table_) fmt::print(stderr, "{}\n", memory_());
    fmt::print(stderr, "{}\n", text);
}

std::vector<std::string> View::row(const std::string& name, const Snapshot& now,
                                   const Snapshot& before, double seconds) const {
    const auto quantile = [&](double part) {
        return cli::milliseconds_text(
            cli::Latencies::quantile(now.acknowledged_after, before.acknowledged_after, part));
    };
    const std::uint64_t lag = now.durable > now.read ? now.durable - now.read : 0;
    const bool is_sum = name == "all";
    const auto position = [&](std::int64_t sequence) {
        return is_sum         ? std::string()
               : sequence < 0 ? "-"
                              : cli::with_commas(static_cast<std::uint64_t>(sequence));
    };
    std::string owner = now.owner < 0 ? "-" : processor_name(now.owner);
    if (is_sum) owner.clear();
    return {name,
            owner,
            position(now.read_up_to),
            position(now.checkpoint),
            rate(now.sent, before.sent, seconds),
            rate(now.read, before.read, seconds),
            cli::with_commas(lag),
            quantile(0.99)};
}

void View::show_table(const std::vector<Snapshot>& now, const Snapshot& total, Instant time) {
    const double seconds = std::chrono::duration<double>(time - shown_).count();
    std::vector<std::vector<std::string>> rows{
        {"PARTITION", "OWNER", "POSITION", "CHECKPOINT", "SENT/s", "DONE/s", "LAG", "ACK p99"}};
    // Only the sum where there is no room for all.
    if (static_cast<int>(now.size()) + rows_beside_partitions <= terminal_.rows) {
        for (std::size_t i = 0; i < now.size(); ++i) {
            rows.push_back(row(std::to_string(i), now[i], before_[i], seconds));
        }
    }
    rows.push_back(row("all", total, total_before_, seconds));
    auto lines = table_of(std::move(rows)).lines(terminal_);
    lines.insert(lines.begin(), "");
    lines.back() = cli::painted(terminal_, cli::Paint::strong, lines.back());
    lines.push_back(footer(total, time));
    if (!keys_.empty()) {
        lines.push_back("  " + cli::painted(terminal_, cli::Paint::quiet, keys_));
    }
    if (memory_) {
        lines.push_back("  " + cli::painted(terminal_, cli::Paint::quiet, memory_()));
    }
    // A line that the terminal wraps cannot be drawn over.
    for (auto& line : lines) line = cut_to(terminal_.columns, line);
    // Up to where the table before began; each line ends by clearing what was behind it.
    if (lines_shown_ > 0) fmt::print(stderr, "\x1b[{}A", lines_shown_);
    for (const auto& line : lines) fmt::print(stderr, "{}\x1b[K\n", line);
    fmt::print(stderr, "\x1b[J");  // what a larger table, or another size of the terminal, left
    lines_shown_ = lines.size();
}

std::string View::footer(const Snapshot& total, Instant time) const {
    const Duration ran = time - start_;
    std::string text =
        "  " + cli::minutes_text(whole_seconds(ran + std::chrono::milliseconds(500)));
    if (duration_) {
        const double part = std::chrono::duration<double>(ran).count() /
                            std::chrono::duration<double>(*duration_).count();
        text += fmt::format(" of {}  {}", cli::minutes_text(whole_seconds(*duration_)),
                            cli::bar(terminal_, part, 24));
    }
    if (total.refused > 0) {
        text += "  " + cli::painted(terminal_, cli::Paint::bad,
                                    cli::with_commas(total.refused) + " refused");
    }
    if (!keys_.empty()) return text;
    return text + cli::painted(terminal_, cli::Paint::quiet, "  Ctrl-C stops");
}

void View::show_line(const Snapshot& total, Instant time) {
    const double seconds = std::chrono::duration<double>(time - shown_).count();
    const auto cells = row("all", total, total_before_, seconds);
    std::string text =
        fmt::format("{}  sent {}/s  done {}/s  lag {}{}  owners ",
                    cli::minutes_text(whole_seconds(time - start_)), cells[4], cells[5], cells[6],
                    cells[7] == "-" ? "" : "  ack p99 " + cells[7]);
    for (const auto& partition : traffic_.partitions) {
        text += partition.owner < 0 ? "-" : processor_name(partition.owner);
    }
    if (total.refused > 0) text += fmt::format("  refused {}", cli::with_commas(total.refused));
    fmt::print(stderr, "{}\n", text);
}

}  // namespace evenkeel::demo
