#include "cli/demo_checker.h"

#include <fmt/core.h>

namespace evenkeel::cli {

DemoChecker::DemoChecker(std::uint32_t producers, const std::vector<std::int64_t>& last_before)
    : traffic_(static_cast<std::uint32_t>(last_before.size())), partitions_(last_before.size()) {
    for (std::size_t i = 0; i < last_before.size(); ++i) {
        Partition& partition = partitions_[i];
        partition.next_sequence = last_before[i] + 1;
        partition.next_number.resize(producers);
        partition.acknowledged.resize(producers);
        partition.read.resize(producers);
        traffic_.partitions[i].read_up_to = last_before[i];
    }
}

void DemoChecker::fail(const Error& error) {
    if (!failure_) failure_ = error;
    traffic_.failed = true;
}

void DemoChecker::take(const DemoReport& report) {
    using Kind = DemoReport::Kind;
    if (report.kind == Kind::failed) return fail(report.error);
    if (report.kind == Kind::trouble) {
        trouble_ = report.error;
        return;
    }
    if (report.partition >= partitions_.size() ||
        report.producer >= partitions_[report.partition].read.size()) {
        return fail({ErrorCode::corrupt, "a report on a partition or producer that is not there"});
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
            partition.next_sequence = report.sequence + 1;
            traffic.read_up_to = report.sequence;
            break;
        case Kind::read: take_read(report); break;
        default: break;
    }
}

// Inside a run all is dense; so only its first event can be out of order.
void DemoChecker::take_read(const DemoReport& report) {
    Partition& partition = partitions_[report.partition];
    auto& next = partition.next_number[report.producer];
    const bool in_order = report.sequence == partition.next_sequence && report.number >= next;
    if (!in_order) ++partition.out_of_order;
    next = report.number + report.count;
    partition.next_sequence = report.sequence + static_cast<std::int64_t>(report.count);
    const std::uint64_t added = partition.read[report.producer].add(report.number, report.count);
    partition.repeated += report.count - added;
    PartitionTraffic& traffic = traffic_.partitions[report.partition];
    traffic.read.add(report.count);
    traffic.read_up_to = partition.next_sequence - 1;
}

void DemoChecker::judge(Verdict& verdict) const {
    Latencies::Buckets acknowledged_after{};
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
    verdict.ack_p50_ms = Latencies::quantile(acknowledged_after, {}, 0.50);
    verdict.ack_p99_ms = Latencies::quantile(acknowledged_after, {}, 0.99);
    verdict.partitions = static_cast<std::uint32_t>(partitions_.size());
}

}  // namespace evenkeel::cli
