#include "demo/checker.h"

#include <algorithm>

#include <fmt/core.h>

namespace evenkeel::demo {

Checker::Checker(std::uint32_t producers, const std::vector<std::int64_t>& last_before)
    : traffic_(static_cast<std::uint32_t>(last_before.size())), partitions_(last_before.size()) {
    for (std::size_t i = 0; i < last_before.size(); ++i) {
        Partition& partition = partitions_[i];
        partition.begin = last_before[i] + 1;
        partition.acknowledged.resize(producers);
        partition.read.resize(producers);
        traffic_.partitions[i].read_up_to = last_before[i];
    }
}

void Checker::fail(const Error& error) {
    if (!failure_) failure_ = error;
    traffic_.failed = true;
}

void Checker::killed(std::uint32_t process, std::int64_t at_ms) {
    handled_.killed(process, at_ms);
}

void Checker::take(const Report& report, std::uint32_t process) {
    using Kind = Report::Kind;
    if (report.kind == Kind::failed) return fail(report.error);
    if (report.kind == Kind::trouble) {
        trouble_ = report.error;
        return;
    }
    if (report.partition >= partitions_.size() ||
        report.producer >= partitions_[report.partition].read.size()) {
        return fail({ErrorCode::corrupt, "a report on an unknown partition or producer"});
    }
    Partition& partition = partitions_[report.partition];
    PartitionTraffic& traffic = traffic_.partitions[report.partition];
    switch (report.kind) {
        case Kind::sent: traffic.sent.add(report.count); break;
        case Kind::refused: traffic.refused.add(report.count); break;
        case Kind::acknowledged:
            partition.acknowledged[report.producer].add(report.number, report.count);
            traffic.durable.add(report.count);
            traffic.acknowledged_after.observe(report.took);
            break;
        case Kind::foreign:
            ++partition.wrong_content;
            reign(partition, report).next_sequence = report.sequence + 1;
            traffic.read_up_to = std::max(traffic.read_up_to.load(), report.sequence);
            break;
        case Kind::read:
            take_read(report, process);
            if (on_read_) on_read_(report);
            break;
        case Kind::checkpoint:
            traffic.checkpoint = std::max(traffic.checkpoint.load(), report.sequence);
            break;
        default: break;
    }
}

// Where an owner begins is judged by what its predecessors did, not here.
Checker::Reign& Checker::reign(Partition& partition, const Report& report) {
    const auto [found, is_new] = partition.reigns.try_emplace(report.epoch);
    if (is_new) {
        const bool is_first = partition.reigns.size() == 1;
        found->second.next_sequence = is_first ? partition.begin : report.sequence;
        found->second.next_number.resize(partition.read.size());
    }
    return found->second;
}

// Inside a run all is dense; so only its first event can be out of order.
void Checker::take_read(const Report& report, std::uint32_t process) {
    Partition& partition = partitions_[report.partition];
    Reign& owner = reign(partition, report);
    auto& next = owner.next_number[report.producer];
    const bool in_order = report.sequence == owner.next_sequence && report.number >= next;
    if (!in_order) ++partition.out_of_order;
    next = report.number + report.count;
    owner.next_sequence = report.sequence + static_cast<std::int64_t>(report.count);
    const std::uint64_t added = partition.read[report.producer].add(report.number, report.count);
    partition.repeated += report.count - added;
    handled_.add({process, report.partition, report.epoch, report.sequence, owner.next_sequence - 1,
                  report.at_ms});
    PartitionTraffic& traffic = traffic_.partitions[report.partition];
    traffic.read.add(added);
    traffic.read_up_to = std::max(traffic.read_up_to.load(), owner.next_sequence - 1);
    if (report.epoch >= traffic.epoch) {
        traffic.epoch = report.epoch;
        traffic.owner = static_cast<int>(process);
    }
}

void Checker::judge(Verdict& verdict) const {
    cli::Latencies::Buckets acknowledged_after{};
    for (const auto& traffic : traffic_.partitions) {
        verdict.sent += traffic.sent.value();
        verdict.durable += traffic.durable.value();
        verdict.refused += traffic.refused.value();
        traffic.acknowledged_after.add_to(acknowledged_after);
    }
    for (const auto& partition : partitions_) {
        verdict.out_of_order += partition.out_of_order;
        verdict.repeated += partition.repeated;
        verdict.wrong_content += partition.wrong_content;
        for (std::size_t producer = 0; producer < partition.read.size(); ++producer) {
            verdict.handled += partition.read[producer].size();
            verdict.lost += partition.acknowledged[producer].missing_in(partition.read[producer]);
        }
    }
    const auto summary = handled_.summary();
    verdict.out_of_order = std::max(verdict.out_of_order, summary.out_of_order);
    verdict.repeated_at_crash = summary.repeated_at_crash;
    verdict.repeated_at_handover = summary.repeated_at_handover;
    verdict.handovers = summary.handovers;
    verdict.past_fence = summary.past_fence;
    verdict.failover_seconds = summary.failover_seconds;
    verdict.handover_gap_seconds_max = summary.handover_gap_seconds_max;
    verdict.ack_p50_ms = cli::Latencies::quantile(acknowledged_after, {}, 0.50);
    verdict.ack_p99_ms = cli::Latencies::quantile(acknowledged_after, {}, 0.99);
    verdict.partitions = static_cast<std::uint32_t>(partitions_.size());
}

}  // namespace evenkeel::demo
