// A processor for tests, in a process of its own: member HUB STORE ID. Writes one line for each
// event that it has handled: "partition sequence". Ends on SIGTERM.
#include <cstdio>

#include <unistd.h>

#include <evenkeel/processor.h>

int main(int count, char** arguments) {
    if (count != 4) return 2;
    evenkeel::ProcessorOptions options;
    options.hub = arguments[1];
    options.store = arguments[2];
    options.id = arguments[3];
    options.profile = evenkeel::Profile::fast;
    options.checkpoints = {.every_events = 100, .every = std::chrono::milliseconds(200)};
    auto processor = evenkeel::Processor::open(options);
    return evenkeel::run(
        processor, [](evenkeel::Partition& partition, const evenkeel::Event& event) {
            char line[64];
            const int size = std::snprintf(line, sizeof line, "%u %lld\n", partition.id(),
                                           static_cast<long long>(event.sequence_number));
            // One write each, so that a kill cuts between lines.
            (void)!write(STDOUT_FILENO, line, static_cast<std::size_t>(size));
        });
}
