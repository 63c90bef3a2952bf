// A fault lab with real processes: a hub, a producer and event processors, each a process of the
// program under test, whatever is done to them, and a verdict on what was handled.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "demo/cast.h"
#include "demo/checker.h"
#include "process/processor/progress_checker.h"
#include "process/processor/stored_progress.h"
#include "support/process.h"
#include "support/temporary_directory.h"

namespace evenkeel::lab {

struct LabOptions {
    std::uint32_t partitions = 4;
    std::uint64_t rate = 4000;  // events a second
    std::string profile = "fast";
    std::string store = {};  // its address; empty: a SQLite file
};

class Lab {
public:
    explicit Lab(LabOptions options = {});
    ~Lab();

    // Returns its number; it has begun.
    std::uint32_t start_processor(const std::string& id = {});
    // Without waiting for anything it says; for one that should not come up.
    fault::Outcome try_processor(const std::string& id);
    void kill_processor(std::uint32_t processor);
    void stop_processor(std::uint32_t processor);  // SIGTERM's way: it drains and releases
    // Not within a write to a SQLite file: whoever is stopped there keeps the lock, and everybody
    // else from taking over. That has a test of its own (StoreUnderFire).
    void pause_processor(std::uint32_t processor);
    void resume_processor(std::uint32_t processor);

    void start_producer();
    void kill_hub();
    void start_hub();
    // If no store was given.
    const std::string& store_file() const { return store_file_; }

    // Waits until `condition` holds; fails the test if it does not within `at_most`.
    template <typename Condition>
    bool wait_until(const char* what, Condition condition,
                    Duration at_most = std::chrono::seconds(60)) {
        const Instant end = clock_.now() + at_most;
        while (!condition()) {
            if (clock_.now() > end) {
                fail(what);
                return false;
            }
            pass(std::chrono::milliseconds(10));
        }
        return true;
    }
    // Looks at the stored checkpoints meanwhile.
    void pass(Duration time);
    // Every partition was handled by one of these last, and each of them has a fair share.
    bool is_shared_by(const std::vector<std::uint32_t>& processors) const;
    // So many more events of each partition were handled since it was asked before.
    bool has_progressed(std::int64_t events);
    void mark_progress();

    // Stops the producer, waits until all is handled, stops the processors. What was repeated at a
    // kill is not limited here. With a SQLite file, fails the test if a stored checkpoint ever went
    // back or was ahead of what was handled, or if one is behind it in the end.
    demo::Verdict finish();

private:
    void fail(const char* what);
    void sample_progress();
    std::string connection() const;
    std::string store_option() const;

    const LabOptions options_;
    const SystemClock clock_;
    test::TemporaryDirectory directory_;
    const std::string store_file_;
    StoredProgressReader stored_{store_file_};
    ProgressChecker progress_;
    std::uint16_t port_ = 0;
    std::unique_ptr<fault::Process> hub_;
    std::unique_ptr<demo::Checker> checker_;
    std::unique_ptr<demo::Cast> cast_;
    std::vector<std::size_t> processors_;  // of the cast
    std::vector<bool> is_running_;
    std::optional<std::size_t> producer_;
    std::vector<std::int64_t> marks_;
};

}  // namespace evenkeel::lab
