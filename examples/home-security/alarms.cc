// Reports incidents within a second: glass that breaks, carbon monoxide. It reads the same events
// as the aggregators, in a consumer group of its own and at its own pace.
//
// An event that cannot be read is dead-lettered, and the partition goes on behind it. Trying it
// again would not help, so it has one attempt.
//
// After a crash the events since the last checkpoint come again, so an alarm may ring twice.
#include <chrono>
#include <cstdio>
#include <mutex>

#include "arguments.h"
#include "memory.h"
#include "reading.h"
#include <evenkeel/processor.h>

namespace {

struct Options {
    std::string hub = {}, event_hub = {}, group = "alarms", store = {}, id = {};
    std::string profile = "standard", file = {};
};

// A line for each incident, on stdout and in a file. Several partitions are handled at once.
class Bell {
public:
    // False if the file cannot be opened; then errno says why.
    bool open(const std::string& file) {
        if (file.empty()) return true;
        file_ = std::fopen(file.c_str(), "ae");
        return file_ != nullptr;
    }
    ~Bell() {
        if (file_) std::fclose(file_);
    }

    void ring(const homes::Reading& reading) {
        const auto now = std::chrono::system_clock::now().time_since_epoch();
        const auto late =
            std::chrono::duration_cast<std::chrono::milliseconds>(now).count() - reading.at_ms;
        const std::lock_guard lock(mutex_);
        for (std::FILE* const out : {stdout, file_}) {
            if (out == nullptr) continue;
            std::fprintf(out, "alarm home %u %s, %s at %lld, known after %lld ms\n", reading.home,
                         reading.state == homes::State::broken ? "glass broke" : "carbon monoxide",
                         homes::sensors[reading.sensor].place.data(),
                         static_cast<long long>(reading.at_ms), static_cast<long long>(late));
            std::fflush(out);
        }
    }

private:
    std::mutex mutex_;
    std::FILE* file_ = nullptr;
};

}  // namespace

int main(int count, char** arguments) {
    Options options;
    homes::Arguments known("alarms", "Reports incidents within a second.");
    known.add("hub", options.hub, "connection string", "EVENKEEL_HUB");
    known.add("event-hub", options.event_hub, "its name, if the connection string has none");
    known.add("group", options.group, "consumer group");
    known.add("store", options.store, "checkpoint store, such as sqlite:FILE", "EVENKEEL_STORE");
    known.add("id", options.id, "name of this instance; made up if there is none");
    known.add("profile", options.profile, "fast: a dead instance is replaced within 4 s");
    known.add("file", options.file, "incidents are added to this file");
    known.require("hub");
    known.require("store");
    if (!known.parse(count, arguments)) return 2;
    Bell bell;
    if (!bell.open(options.file)) {
        std::perror(("alarms: cannot write to " + options.file).c_str());
        return 1;
    }
    auto processor = evenkeel::Processor::open({
        .hub = options.hub,
        .event_hub = options.event_hub,
        .group = options.group,
        .store = options.store,
        .id = options.id,
        .profile =
            options.profile == "fast" ? evenkeel::Profile::fast : evenkeel::Profile::standard,
        .retry = {.attempts_max = 1},
        .poison = evenkeel::Poison::dead_letter,
        .on_error =
            [](const evenkeel::Failure& failure) {
                const long partition = failure.partition ? *failure.partition : -1;
                std::printf("%s: partition %ld, %s\n", failure.operation.c_str(), partition,
                            to_string(failure.error).c_str());
                std::fflush(stdout);
            },
    });
    if (processor) {
        std::printf("ready\n");
        std::fflush(stdout);
    }
    return evenkeel::run(processor, [&](evenkeel::Partition&, const evenkeel::Event& event) {
        const auto reading = homes::parse_reading(event.text());
        if (!reading) return evenkeel::Result<>(reading.error());
        if (reading->is_incident()) bell.ring(*reading);
        return evenkeel::Result<>();
    });
}
