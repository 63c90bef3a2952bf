// Prints the events of an event hub, together with any number of other instances of this program.
#include <cstdio>

#include <evenkeel/processor.h>

int main(int, char** arguments) {
    auto processor =
        evenkeel::Processor::open({.hub = arguments[1], .store = "sqlite:progress.db"});
    return evenkeel::run(
        processor, [](evenkeel::Partition& partition, const evenkeel::Event& event) {
            std::printf("%u: %.*s\n", partition.id(), static_cast<int>(event.text().size()),
                        event.text().data());
            std::fflush(stdout);
            partition.checkpoint(event);
        });
}
