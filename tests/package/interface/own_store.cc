// A processor with a store of the program's own; here the one in memory that is made for tests.
#include <future>

#include "package/interface/check.h"
#include <evenkeel/checkpoint_store.h>
#include <evenkeel/hub.h>
#include <evenkeel/processor.h>

int main(int, char** arguments) {
    auto hub = evenkeel::Hub::open({.directory = arguments[1]}).value();
    hub->create("homes", {.partitions = 1}).value();
    hub->send("homes", "door opened").value();
    const auto store = evenkeel::memory_checkpoint_store();
    std::promise<void> handled;
    evenkeel::ProcessorOptions options;
    options.hub_here = hub.get();
    options.event_hub = "homes";
    options.own_store = store;
    options.on_error = [](const evenkeel::Failure&) {};
    auto processor = evenkeel::Processor::open(options).value();
    processor
        ->start([&](evenkeel::Partition&, evenkeel::Events) -> evenkeel::Result<> {
            handled.set_value();
            return {};
        })
        .value();
    handled.get_future().wait();
    check(processor->stop().is_clean, "it stops");
    bool has_position = false;
    const auto entries = store->list("").value();
    for (const auto& entry : entries) {
        has_position |= entry.key.ends_with("/homes/%24default/checkpoint/0") &&
                        entry.value.starts_with("1:0,");
    }
    check(has_position, "its progress is in the store");
}
