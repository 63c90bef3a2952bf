// Prints the events of each partition in windows of a given size. A window is kept in memory until
// it is full, so progress must not pass events that are only kept: checkpoints are manual. After a
// crash or a hand-over the next owner gets the events of the unfinished window again.
#include <iostream>
#include <memory>
#include <string>

#include <evenkeel/processor.h>

namespace {

class Windows final : public evenkeel::PartitionHandler {
public:
    explicit Windows(std::size_t size) : size_(size) {}

    evenkeel::Result<> on_events(evenkeel::Partition& partition, evenkeel::Events events) override {
        for (const auto& event : events) {
            kept_.append(evenkeel::EventBatch::copy_of({&event, 1}));
            if (kept_.size() < size_) continue;
            std::string line = std::to_string(partition.id()) + ":";
            for (const auto& kept : kept_) line += " " + std::string(kept.text());
            std::cout << line + "\n" << std::flush;
            partition.checkpoint(kept_.back());  // the window is done
            kept_ = {};
        }
        return {};
    }

private:
    const std::size_t size_;
    evenkeel::EventBatch kept_;
};

}  // namespace

int main(int count, char** arguments) {
    const std::size_t size = count == 3 ? std::strtoul(arguments[2], nullptr, 10) : 0;
    if (size == 0) {
        std::cerr << "usage: window CONNECTION-STRING EVENTS\n";
        return 2;
    }
    auto processor = evenkeel::Processor::open({
        .hub = arguments[1],
        .store = "sqlite:window.db",
        .checkpoints = {.manual = true},
    });
    return evenkeel::run(processor,
                         [size](std::uint32_t) { return std::make_unique<Windows>(size); });
}
