// Counters, gauges and histograms, and their text for Prometheus.
//
// A metric is registered once and then touched without a lock: an atomic addition. The registry
// owns the metrics; the references it gives out live as long as it does. The same name and labels
// give the same metric. Threads: any.
#pragma once

#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.h"

namespace evenkeel {

class Counter {
public:
    void add(std::uint64_t amount = 1) { value_.fetch_add(amount, std::memory_order_relaxed); }
    std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

private:
    std::atomic<std::uint64_t> value_{0};
};

class Gauge {
public:
    void set(std::int64_t value) { value_.store(value, std::memory_order_relaxed); }
    void add(std::int64_t amount) { value_.fetch_add(amount, std::memory_order_relaxed); }
    std::int64_t value() const { return value_.load(std::memory_order_relaxed); }

private:
    std::atomic<std::int64_t> value_{0};
};

// Durations in seconds, in buckets that double from 1 microsecond to about 67 seconds.
class Histogram {
public:
    static constexpr int bucket_count = 27;

    void observe(std::int64_t nanoseconds);
    std::uint64_t count() const;
    // Upper bound of the bucket in which the quantile (0 to 1) lies; 0 if nothing was observed.
    double quantile_seconds(double quantile) const;

private:
    friend class Metrics;
    std::atomic<std::uint64_t> buckets_[bucket_count + 1]{};  // the last one is for all above
    std::atomic<std::uint64_t> sum_nanoseconds_{0};
};

class Metrics {
public:
    using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

    // Names: base units, `_total` for counters; docs/admin-api.md lists them. A name keeps its
    // first help.
    Counter& counter(std::string_view name, std::string_view help, Labels labels = {});
    Gauge& gauge(std::string_view name, std::string_view help, Labels labels = {});
    Histogram& histogram(std::string_view name, std::string_view help, Labels labels = {});

    // Prometheus text format 0.0.4, metrics in the order of their names.
    std::string to_text() const;

private:
    struct Family {
        std::string help;
        std::string type;
        std::map<std::string, std::unique_ptr<Counter>> counters;  // by label text
        std::map<std::string, std::unique_ptr<Gauge>> gauges;
        std::map<std::string, std::unique_ptr<Histogram>> histograms;
    };

    Family& family(std::string_view name, std::string_view help, std::string_view type)
        EK_REQUIRES(mutex_);

    mutable Mutex mutex_;
    std::map<std::string, Family, std::less<>> families_ EK_GUARDED_BY(mutex_);
};

}  // namespace evenkeel
