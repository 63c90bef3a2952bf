#include "demo/verdict.h"

#include <algorithm>
#include <functional>

#include <fmt/core.h>

namespace evenkeel::demo {
namespace {

std::string line(std::string_view name, std::string_view value, std::string_view remark) {
    std::string text = fmt::format("  {:<13}{:>13}", name, value);
    return remark.empty() ? text : text + "   " + std::string(remark);
}

// A number that should be 0; its line stands out if it is not.
std::string fault(const cli::Terminal& terminal, std::string_view name, std::uint64_t value,
                  std::string_view remark = {}) {
    const std::string text = line(name, cli::with_commas(value), remark);
    return value == 0 ? text : cli::painted(terminal, cli::Paint::bad, text);
}

std::string seconds_text(std::int64_t milliseconds) {
    return fmt::format("{:.1f} s", static_cast<double>(milliseconds) / 1000);
}

// "devices 0.31, 4 aggregators 0.28"
std::string by_group(const Verdict& verdict,
                     const std::function<std::string(const Usage::Group&)>& value) {
    std::string text;
    for (const auto& group : verdict.usage) {
        text += fmt::format("{}{}{} {}", text.empty() ? "" : ", ",
                            group.processes > 1 ? fmt::format("{} ", group.processes) : "",
                            group.name, value(group));
    }
    return text;
}

// An object with a field for each group.
std::string by_group_json(const Verdict& verdict,
                          const std::function<std::string(const Usage::Group&)>& value) {
    std::string text;
    for (const auto& group : verdict.usage) {
        text += fmt::format("{}\"{}\": {}", text.empty() ? "" : ", ", group.name, value(group));
    }
    return "{" + text + "}";
}

void add_usage(const Verdict& verdict, std::vector<std::string>& lines) {
    if (verdict.page) {
        lines.push_back(
            line("on the page", seconds_text(verdict.page->p99_ms),
                 fmt::format("after the sensor (p99 of {}; p50 {}); {} at most, with take-overs",
                             verdict.page->count, seconds_text(verdict.page->p50_ms),
                             seconds_text(verdict.page->max_ms))));
    }
    if (verdict.usage.empty()) return;
    std::size_t most = 0;
    for (const auto& group : verdict.usage) most = std::max(most, group.memory_mb_max);
    lines.push_back(line("CPU", fmt::format("{:.2f} cores", verdict.cores()),
                         by_group(verdict, [&](const Usage::Group& group) {
                             return fmt::format("{:.2f}", verdict.seconds > 0
                                                              ? group.cpu_seconds / verdict.seconds
                                                              : 0);
                         })));
    lines.push_back(line("memory", fmt::format("{} MB", most),
                         "at most: " + by_group(verdict, [](const Usage::Group& group) {
                             return fmt::format("{}{}", group.processes > 1 ? "each " : "",
                                                group.memory_mb_max);
                         })));
}

}  // namespace

double Verdict::cores() const {
    double sum = 0;
    for (const auto& group : usage) sum += group.cpu_seconds;
    return seconds > 0 ? sum / seconds : 0;
}

std::vector<std::string> lines(const Verdict& verdict, const cli::Terminal& terminal) {
    std::vector<std::string> lines;
    const auto rate = static_cast<std::uint64_t>(verdict.events_per_second());
    lines.push_back(cli::painted(terminal, cli::Paint::strong, line("VERDICT", "EVENTS", "")));
    lines.push_back(
        line("sent", cli::with_commas(verdict.sent),
             verdict.homes > 0
                 ? fmt::format("by {} homes to {} partitions", cli::with_commas(verdict.homes),
                               verdict.partitions)
                 : fmt::format("by {} producers to {} partitions, {} bytes each", verdict.producers,
                               verdict.partitions, verdict.event_bytes)));
    if (verdict.refused > 0) {
        lines.push_back(line("refused", cli::with_commas(verdict.refused), "not stored"));
    }
    lines.push_back(line(
        "durable", cli::with_commas(verdict.durable),
        fmt::format("{}/s for {:.1f} s", cli::with_commas(rate), verdict.seconds) +
            (verdict.homes > 0
                 ? std::string()
                 : fmt::format("; ack p50 {}, p99 {}", cli::milliseconds_text(verdict.ack_p50_ms),
                               cli::milliseconds_text(verdict.ack_p99_ms)))));
    lines.push_back(line("handled", cli::with_commas(verdict.handled), "each counted once"));
    if (verdict.homes > 0) {
        lines.push_back(line("aggregates", cli::with_commas(verdict.aggregates_checked),
                             "of every home, compared with what the devices sent"));
        lines.push_back(fault(terminal, "wrong", verdict.aggregates_wrong));
        lines.push_back(line("alarms", cli::with_commas(verdict.alarms),
                             fmt::format("the slowest {} ms after its sensor; {} dead letters",
                                         verdict.alarm_ms_max, verdict.dead_letters)));
    }
    lines.push_back(fault(terminal, "lost", verdict.lost));
    lines.push_back(fault(terminal, "out of order", verdict.out_of_order));
    lines.push_back(fault(terminal, "repeated", verdict.repeated - verdict.repeated_at_crash,
                          verdict.handovers == 0
                              ? ""
                              : fmt::format("at {} hand-overs; longest gap {:.2f} s",
                                            verdict.handovers, verdict.handover_gap_seconds_max)));
    if (verdict.expects_failover) {
        const std::string text =
            line("after a crash", cli::with_commas(verdict.repeated_at_crash),
                 fmt::format("repeated; the checkpoint policy allows {}; {}",
                             cli::with_commas(verdict.repeated_max),
                             verdict.failover_seconds
                                 ? fmt::format("taken over in {:.2f} s", *verdict.failover_seconds)
                                 : "not all partitions were taken over"));
        const bool is_good =
            verdict.failover_seconds && verdict.repeated_at_crash <= verdict.repeated_max;
        lines.push_back(is_good ? text : cli::painted(terminal, cli::Paint::bad, text));
    }
    if (verdict.past_fence > 0) {
        lines.push_back(fault(terminal, "two owners", verdict.past_fence, "at the same time"));
    }
    if (verdict.wrong_content > 0) {
        lines.push_back(fault(terminal, "wrong content", verdict.wrong_content));
    }
    add_usage(verdict, lines);
    lines.emplace_back();
    const char* mark =
        verdict.good() ? (terminal.utf8 ? "✓" : "OK:") : (terminal.utf8 ? "✗" : "BAD:");
    lines.push_back(
        "  " +
        cli::painted(
            terminal, verdict.good() ? cli::Paint::good : cli::Paint::bad,
            fmt::format("{} {}", mark,
                        verdict.good() ? "every acknowledged event was handled, in order, "
                                         "unchanged, by one owner at a time"
                                       : "events were lost, repeated, changed or out of order")));
    return lines;
}

std::string to_json(const Verdict& verdict) {
    const auto page = [&](std::int64_t (*of)(const PageFigures&)) {
        return verdict.page ? std::to_string(of(*verdict.page)) : "null";
    };
    return fmt::format(
        "{{\"sent\": {}, \"durable\": {}, \"handled\": {}, \"lost\": {}, \"out_of_order\": {}, "
        "\"repeated\": {}, \"repeated_at_crash\": {}, \"repeated_at_handover\": {}, "
        "\"failover_seconds\": {}, \"handovers\": {}, \"handover_gap_seconds_max\": {:.3f}, "
        "\"past_fence\": {}, \"wrong_content\": {}, \"refused\": {}, \"seconds\": {:.3f}, "
        "\"events_per_second\": {:.1f}, \"ack_p50_ms\": {:.3f}, \"ack_p99_ms\": {:.3f}, "
        "\"partitions\": {}, \"producers\": {}, \"event_bytes\": {}, \"interrupted\": {}, "
        "\"homes\": {}, \"aggregates_checked\": {}, \"aggregates_wrong\": {}, \"alarms\": {}, "
        "\"alarm_ms_max\": {}, \"page_p50_ms\": {}, \"page_p99_ms\": {}, \"page_ms_max\": {}, "
        "\"cores\": {:.3f}, \"cpu_seconds\": {}, \"memory_mb_max\": {}}}\n",
        verdict.sent, verdict.durable, verdict.handled, verdict.lost, verdict.out_of_order,
        verdict.repeated, verdict.repeated_at_crash, verdict.repeated_at_handover,
        verdict.failover_seconds ? fmt::format("{:.3f}", *verdict.failover_seconds) : "null",
        verdict.handovers, verdict.handover_gap_seconds_max, verdict.past_fence,
        verdict.wrong_content, verdict.refused, verdict.seconds, verdict.events_per_second(),
        verdict.ack_p50_ms, verdict.ack_p99_ms, verdict.partitions, verdict.producers,
        verdict.event_bytes, verdict.interrupted, verdict.homes, verdict.aggregates_checked,
        verdict.aggregates_wrong, verdict.alarms, verdict.alarm_ms_max,
        page([](const PageFigures& figures) { return figures.p50_ms; }),
        page([](const PageFigures& figures) { return figures.p99_ms; }),
        page([](const PageFigures& figures) { return figures.max_ms; }), verdict.cores(),
        by_group_json(verdict,
                      [](const auto& group) { return fmt::format("{:.2f}", group.cpu_seconds); }),
        by_group_json(verdict,
                      [](const auto& group) { return std::to_string(group.memory_mb_max); }));
}

}  // namespace evenkeel::demo
