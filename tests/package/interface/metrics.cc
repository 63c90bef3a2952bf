// The metrics of a processor, as a struct and as text for Prometheus.
#include <future>
#include <string>

#include "package/interface/check.h"
#include <evenkeel/hub.h>
#include <evenkeel/processor.h>

int main(int, char** arguments) {
    auto hub = evenkeel::Hub::open({.directory = arguments[1]}).value();
    hub->create("homes", {.partitions = 1}).value();
    hub->send("homes", "door opened").value();
    std::promise<void> handled;
    evenkeel::ProcessorOptions options;
    options.hub_here = hub.get();
    options.event_hub = "homes";
    options.store = "memory:";
    options.on_error = [](const evenkeel::Failure&) {};
    auto processor = evenkeel::Processor::open(options).value();
    processor
        ->start([&](evenkeel::Partition&, evenkeel::Events) -> evenkeel::Result<> {
            handled.set_value();
            return {};
        })
        .value();
    handled.get_future().wait();
    while (processor->status().events_handled == 0) {
    }

    const evenkeel::ProcessorStatus status = processor->status();
    check(status.members == 1, "it is alone");
    check(status.partitions.size() == 1, "it has the partition");
    check(processor->metrics().find("evenkeel_processor_events_handled_total{hub=\"homes\","
                                    "group=\"$Default\"} 1\n") != std::string::npos,
          "it has handled one event");
    check(processor->stop().is_clean, "it stops");
}
