// Prints the events of an event hub, with progress and ownership in a store of its own.
#include <cstdio>

#include "folder_store.h"
#include <evenkeel/processor.h>

int main(int count, char** arguments) {
    if (count != 3) {
        std::fprintf(stderr, "usage: own_store CONNECTION FOLDER\n");
        return 2;
    }
    auto processor = evenkeel::Processor::open(
        {.hub = arguments[1], .own_store = std::make_shared<FolderStore>(arguments[2])});
    return evenkeel::run(
        processor, [](evenkeel::Partition& partition, const evenkeel::Event& event) {
            std::printf("%u: %.*s\n", partition.id(), static_cast<int>(event.text().size()),
                        event.text().data());
            std::fflush(stdout);
        });
}
