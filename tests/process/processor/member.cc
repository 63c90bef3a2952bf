// A processor for tests, in a process of its own: member HUB STORE ID [DELIVERY]. Ends on
// SIGTERM.
// Without the last argument it writes one line for each event that it has handled: "partition
// sequence". With it, it writes them into the tables of exactly_once_sink.h, in the store itself:
// "exactly-once" through the sink it is given, "at-least-once" through a connection of its own.
#include <cstdio>
#include <string_view>

#include <unistd.h>

#include <poll.h>

#include "process/processor/exactly_once_sink.h"
#include "process/processor/postgres_sink.h"
#include <evenkeel/processor.h>

namespace {

void print(evenkeel::Partition& partition, const evenkeel::Event& event) {
    char line[64];
    const int size = std::snprintf(line, sizeof line, "%u %lld\n", partition.id(),
                                   static_cast<long long>(event.sequence_number));
    // One write each, so that a kill cuts between lines.
    (void)!write(STDOUT_FILENO, line, static_cast<std::size_t>(size));
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 4 && count != 5) return 2;
    evenkeel::ProcessorOptions options;
    options.hub = arguments[1];
    options.store = arguments[2];
    options.id = arguments[3];
    // A busy machine may lose the short lease of `fast`: only where repeats do no harm.
    options.profile = count == 4 ? evenkeel::Profile::standard : evenkeel::Profile::fast;
    options.checkpoints = {.every_events = 100, .every = std::chrono::milliseconds(200)};
    if (count == 4) {
        auto processor = evenkeel::Processor::open(options);
        return evenkeel::run(processor, print);
    }
    const bool is_exact = std::string_view(arguments[4]) == "exactly-once";
    if (!is_exact && std::string_view(arguments[4]) != "at-least-once") return 2;
    options.delivery =
        is_exact ? evenkeel::Delivery::exactly_once : evenkeel::Delivery::at_least_once;
    options.batch_events_max = 20;
    options.retry.attempts_max = 1000;  // a store that is away is not the event's fault
    options.on_error = [](const evenkeel::Failure&) {};  // nobody reads what it would print
    auto processor = evenkeel::Processor::open(options);
    for (int i = 0; i < 100 && !processor.ok() && evenkeel::is_retriable(processor.error()); ++i) {
        poll(nullptr, 0, 100);  // tidy: allow sleep: its store may be away as well
        processor = evenkeel::Processor::open(options);
    }
    return evenkeel::run(processor, [&](evenkeel::Partition& partition, evenkeel::Events batch) {
        if (is_exact && options.store.starts_with("postgresql:")) {
            return evenkeel::test::write_to_postgres(partition.postgres(), partition, batch,
                                                     options.id);
        }
        if (is_exact) {
            return evenkeel::test::write_to_sink(partition.sqlite(), partition, batch, options.id);
        }
        return evenkeel::test::write_beside(options.store.substr(7), partition, batch, options.id);
    });
}
