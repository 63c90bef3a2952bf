#include "base/metrics.h"

#include <bit>
#include <cmath>

#include <fmt/core.h>

#include "base/check.h"

namespace evenkeel {
namespace {

std::string label_text(Metrics::Labels labels) {
    std::string text;
    for (const auto& [key, value] : labels) {
        if (!text.empty()) text += ',';
        text += key;
        text += "=\"";
        for (const char c : value) {
            if (c == '\\' || c == '"') text += '\\';
            if (c == '\n') {
                text += "\\n";
            } else {
                text += c;
            }
        }
        text += '"';
    }
    return text;
}

std::string in_braces(const std::string& labels) {
    return labels.empty() ? "" : "{" + labels + "}";
}

double bucket_bound_seconds(int bucket) {
    return std::ldexp(1e-6, bucket);
}

}  // namespace

void Histogram::observe(std::int64_t nanoseconds) {
    const auto microseconds =
        static_cast<std::uint64_t>(nanoseconds > 0 ? (nanoseconds + 999) / 1000 : 0);
    const int bucket = microseconds <= 1 ? 0 : static_cast<int>(std::bit_width(microseconds - 1));
    buckets_[bucket < bucket_count ? bucket : bucket_count].fetch_add(1, std::memory_order_relaxed);
    sum_nanoseconds_.fetch_add(static_cast<std::uint64_t>(nanoseconds > 0 ? nanoseconds : 0),
                               std::memory_order_relaxed);
}

std::uint64_t Histogram::count() const {
    std::uint64_t total = 0;
    for (const auto& bucket : buckets_) total += bucket.load(std::memory_order_relaxed);
    return total;
}

double Histogram::quantile_seconds(double quantile) const {
    const auto wanted = quantile * static_cast<double>(count());
    std::uint64_t seen = 0;
    for (int bucket = 0; bucket <= bucket_count; ++bucket) {
        seen += buckets_[bucket].load(std::memory_order_relaxed);
        if (seen > 0 && static_cast<double>(seen) >= wanted) return bucket_bound_seconds(bucket);
    }
    return 0;
}

Metrics::Family& Metrics::family(std::string_view name, std::string_view help,
                                 std::string_view type) {
    auto& found = families_[std::string(name)];
    if (found.type.empty()) {
        found.type = type;
        found.help = help;
    }
    EK_CHECK(found.type == type, "one metric name has one type");
    return found;
}

Counter& Metrics::counter(std::string_view name, std::string_view help, Labels labels) {
    const Lock lock(mutex_);
    auto& slot = family(name, help, "counter").counters[label_text(labels)];
    if (!slot) slot = std::make_unique<Counter>();
    return *slot;
}

Gauge& Metrics::gauge(std::string_view name, std::string_view help, Labels labels) {
    const Lock lock(mutex_);
    auto& slot = family(name, help, "gauge").gauges[label_text(labels)];
    if (!slot) slot = std::make_unique<Gauge>();
    return *slot;
}

Histogram& Metrics::histogram(std::string_view name, std::string_view help, Labels labels) {
    const Lock lock(mutex_);
    auto& slot = family(name, help, "histogram").histograms[label_text(labels)];
    if (!slot) slot = std::make_unique<Histogram>();
    return *slot;
}

std::string Metrics::to_text() const {
    const Lock lock(mutex_);
    std::string text;
    for (const auto& [name, family] : families_) {
        text += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, family.help, name, family.type);
        for (const auto& [labels, counter] : family.counters) {
            text += fmt::format("{}{} {}\n", name, in_braces(labels), counter->value());
        }
        for (const auto& [labels, gauge] : family.gauges) {
            text += fmt::format("{}{} {}\n", name, in_braces(labels), gauge->value());
        }
        for (const auto& [labels, histogram] : family.histograms) {
            const std::string prefix = labels.empty() ? "" : labels + ",";
            std::uint64_t total = 0;
            for (int bucket = 0; bucket < Histogram::bucket_count; ++bucket) {
                total += histogram->buckets_[bucket].load(std::memory_order_relaxed);
                text += fmt::format("{}_bucket{{{}le=\"{:.6f}\"}} {}\n", name, prefix,
                                    bucket_bound_seconds(bucket), total);
            }
            total += histogram->buckets_[Histogram::bucket_count].load(std::memory_order_relaxed);
            text += fmt::format("{}_bucket{{{}le=\"+Inf\"}} {}\n", name, prefix, total);
            const double sum = static_cast<double>(histogram->sum_nanoseconds_.load()) * 1e-9;
            text += fmt::format("{}_sum{} {:.9f}\n", name, in_braces(labels), sum);
            text += fmt::format("{}_count{} {}\n", name, in_braces(labels), total);
        }
    }
    return text;
}

}  // namespace evenkeel
