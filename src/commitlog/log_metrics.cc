#include "commitlog/log_metrics.h"

namespace evenkeel::commitlog {

LogMetrics::LogMetrics(Metrics& metrics)
    : events(metrics.counter("evenkeel_incoming_events_total", "Events appended durably.")),
      bytes(metrics.counter("evenkeel_incoming_bytes_total", "Bytes of events and their framing.")),
      syncs(metrics.counter("evenkeel_fsyncs_total",
                            "Times that segments and the journal were synced.")),
      failures(metrics.counter("evenkeel_append_failures_total", "Flushes the disk refused.")),
      damages(metrics.counter("evenkeel_damaged_ranges_total", "Damaged ranges that were met.")),
      queue_time(metrics.histogram("evenkeel_queue_duration_seconds",
                                   "From a batch's append to the start of its write.")),
      write_time(metrics.histogram("evenkeel_write_duration_seconds",
                                   "Time to write what is synced together, without the sync.")),
      sync_time(metrics.histogram("evenkeel_fsync_duration_seconds", "Time of one sync.")) {}

}  // namespace evenkeel::commitlog
