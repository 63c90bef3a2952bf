// Handlers: what they throw, checkpoints that only they ask for, and a processor made up by a test.
#include <future>
#include <memory>
#include <stdexcept>
#include <string>

#include "package/interface/check.h"
#include <evenkeel/hub.h>
#include <evenkeel/processor.h>

namespace {

evenkeel::ProcessorOptions options_of(evenkeel::Hub& hub, const std::string& store) {
    evenkeel::ProcessorOptions options;
    options.hub_here = &hub;
    options.event_hub = "homes";
    options.store = store;
    return options;
}

void throws(evenkeel::Hub& hub) {
    std::promise<evenkeel::ErrorCode> failed;
    bool is_told = false;
    auto options = options_of(hub, "memory:");
    options.retry.attempts_max = 1;
    options.poison = evenkeel::Poison::skip;
    options.on_error = [&](const evenkeel::Failure& failure) {
        if (failure.scope != evenkeel::ErrorScope::handler || is_told) return;
        is_told = true;
        failed.set_value(failure.error.code);
    };
    auto processor = evenkeel::Processor::open(options).value();
    processor
        ->start([](evenkeel::Partition&, evenkeel::Events) -> evenkeel::Result<> {
            throw std::runtime_error("the database is gone");
        })
        .value();
    check(failed.get_future().get() == evenkeel::ErrorCode::handler_failed,
          "an exception is a failure of the handler");
    check(processor->stop().is_clean, "it stops");
}

// One of two events is asked for: the other one comes again.
void asks_for_checkpoints(evenkeel::Hub& hub, const std::string& store) {
    for (const std::int64_t first : {0, 1}) {
        std::promise<std::int64_t> seen;
        bool is_seen = false;
        auto options = options_of(hub, store);
        options.checkpoints.manual = true;
        options.on_error = [](const evenkeel::Failure&) {};
        auto processor = evenkeel::Processor::open(options).value();
        processor
            ->start(
                [&](evenkeel::Partition& partition, evenkeel::Events events) -> evenkeel::Result<> {
                    if (!is_seen && first == 0) partition.checkpoint(events.front());
                    if (!is_seen) seen.set_value(events.front().sequence_number);
                    is_seen = true;
                    return {};
                })
            .value();
        check(seen.get_future().get() == first, "it begins behind the last checkpoint");
        check(processor->stop().is_clean, "it stops");
    }
}

class MadeUp final : public evenkeel::Processor {
public:
    using Processor::start;
    evenkeel::Result<> start(evenkeel::HandlerFactory, const evenkeel::CallOptions&) override {
        return {};
    }
    evenkeel::StopReport stop() override { return {.is_clean = true}; }
    evenkeel::Result<> wait(const evenkeel::CallOptions&) override { return {}; }
    bool has_ended() override { return true; }
    evenkeel::ProcessorStatus status() override { return {}; }
    std::string metrics() override { return {}; }
    std::string explain() override { return {}; }
    const evenkeel::ProcessorOptions& options() const override { return options_; }

private:
    evenkeel::ProcessorOptions options_;
};

}  // namespace

int main(int, char** arguments) {
    const std::string folder = arguments[1];
    auto hub = evenkeel::Hub::open({.directory = folder + "/hub"}).value();
    hub->create("homes", {.partitions = 1}).value();
    hub->send("homes", "door opened").value();
    hub->send("homes", "door closed").value();
    throws(*hub);
    asks_for_checkpoints(*hub, "sqlite:" + folder + "/progress.db");

    MadeUp processor;
    check(evenkeel::run(processor, [](evenkeel::Partition&, const evenkeel::Event&) {}) == 0,
          "run() takes any processor");

    // A reader that outlives its hub.
    auto reader = hub->open_reader("homes", "$Default", 0, evenkeel::Position::earliest()).value();
    hub.reset();
    check(reader->read(1, std::chrono::milliseconds(0)).error().code ==
              evenkeel::ErrorCode::cancelled,
          "it answers");
}
