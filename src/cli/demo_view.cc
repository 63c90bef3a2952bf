#include "cli/demo_view.h"

#include <algorithm>
#include <cstdio>

#include <fmt/core.h>

namespace evenkeel::cli {
namespace {

constexpr Duration between_tables = std::chrono::seconds(1);
// A shorter time says little about a rate.
constexpr Duration worth_a_rate = std::chrono::milliseconds(300);
constexpr Duration between_lines = std::chrono::seconds(5);
constexpr int rows_beside_partitions = 8;
// A line that the terminal wraps cannot be drawn over.
constexpr int columns_min = 80;
constexpr std::size_t column_width = 9;

std::string rate(std::uint64_t now, std::uint64_t before, double seconds) {
    return with_commas(static_cast<std::uint64_t>(static_cast<double>(now - before) / seconds));
}

std::int64_t whole_seconds(Duration duration) {
    return std::chrono::duration_cast<std::chrono::seconds>(duration).count();
}

}  // namespace

DemoView::DemoView(const Traffic& traffic, std::optional<Duration> duration, Instant start)
    : traffic_(traffic),
      duration_(duration),
      start_(start),
      as_table_(terminal_.is_terminal && terminal_.columns >= columns_min),
      before_(traffic.partitions.size()),
      shown_(start) {}

void DemoView::Snapshot::add(const PartitionTraffic& traffic) {
    // In this order, so that a lag is never negative.
    read += traffic.read.value();
    durable += traffic.durable.value();
    sent += traffic.sent.value();
    refused += traffic.refused.value();
    traffic.acknowledged_after.add_to(acknowledged_after);
}

void DemoView::show(Instant now) {
    if (now - shown_ >= (as_table_ ? between_tables : between_lines)) draw(now);
}

void DemoView::draw(Instant now) {
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

void DemoView::finish(Instant now, const std::string& text) {
    // Over the "^C" that the terminal wrote.
    if (terminal_.is_terminal) fmt::print(stderr, "\r");
    if (now - shown_ >= worth_a_rate) draw(now);
    fmt::print(stderr, "{}\n", text);
}

std::vector<std::string> DemoView::row(const std::string& name, const Snapshot& now,
                                       const Snapshot& before, double seconds) const {
    const auto quantile = [&](double part) {
        return milliseconds_text(
            Latencies::quantile(now.acknowledged_after, before.acknowledged_after, part));
    };
    const std::uint64_t lag = now.durable > now.read ? now.durable - now.read : 0;
    return {name,
            rate(now.sent, before.sent, seconds),
            with_commas(now.durable),
            rate(now.read, before.read, seconds),
            with_commas(lag),
            quantile(0.5),
            quantile(0.99)};
}

void DemoView::show_table(const std::vector<Snapshot>& now, const Snapshot& total, Instant time) {
    const double seconds = std::chrono::duration<double>(time - shown_).count();
    Table table({"PARTITION", "SENT/s", "DURABLE", "READ/s", "LAG", "ACK p50", "ACK p99"},
                column_width);
    // Only the sum where there is no room for all.
    if (static_cast<int>(now.size()) + rows_beside_partitions <= terminal_.rows) {
        for (std::size_t i = 0; i < now.size(); ++i) {
            table.add(row(std::to_string(i), now[i], before_[i], seconds));
        }
    }
    table.add(row("all", total, total_before_, seconds));
    auto lines = table.lines(terminal_);
    lines.insert(lines.begin(), "");
    lines.back() = painted(terminal_, Paint::strong, lines.back());
    lines.push_back(footer(total, time));
    // Up to where the table before began; each line ends by clearing what was behind it.
    if (lines_shown_ > 0) fmt::print(stderr, "\x1b[{}A", lines_shown_);
    for (const auto& line : lines) fmt::print(stderr, "{}\x1b[K\n", line);
    lines_shown_ = lines.size();
}

std::string DemoView::footer(const Snapshot& total, Instant time) const {
    const Duration ran = time - start_;
    std::string text = "  " + minutes_text(whole_seconds(ran + std::chrono::milliseconds(500)));
    if (duration_) {
        const double part = std::chrono::duration<double>(ran).count() /
                            std::chrono::duration<double>(*duration_).count();
        text += fmt::format(" of {}  {}", minutes_text(whole_seconds(*duration_)),
                            bar(terminal_, part, 24));
    }
    if (total.refused > 0) {
        text += "  " + painted(terminal_, Paint::bad, with_commas(total.refused) + " refused");
    }
    return text + painted(terminal_, Paint::quiet, "  Ctrl-C stops");
}

void DemoView::show_line(const Snapshot& total, Instant time) {
    const double seconds = std::chrono::duration<double>(time - shown_).count();
    const auto cells = row("all", total, total_before_, seconds);
    std::string text =
        fmt::format("{}  sent {}/s  durable {}  read {}/s  lag {}  ack p50 {}  p99 {}",
                    minutes_text(whole_seconds(time - start_)), cells[1], cells[2], cells[3],
                    cells[4], cells[5], cells[6]);
    if (total.refused > 0) text += fmt::format("  refused {}", with_commas(total.refused));
    fmt::print(stderr, "{}\n", text);
}

}  // namespace evenkeel::cli
