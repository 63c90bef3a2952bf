// Prints the events of an event hub, together with any number of other instances of this program.
// They share the partitions; progress is stored by itself, in progress.db.
#include <iostream>
#include <string>

#include <evenkeel/processor.h>

int main(int count, char** arguments) {
    if (count != 2) {
        std::cerr << "usage: quick_start CONNECTION-STRING\n";
        return 2;
    }
    auto processor =
        evenkeel::Processor::open({.hub = arguments[1], .store = "sqlite:progress.db"});
    return evenkeel::run(
        processor, [](evenkeel::Partition& partition, const evenkeel::Event& event) {
            std::string line = std::to_string(partition.id()) + ": " + std::string(event.text());
            std::cout << line + "\n" << std::flush;
        });
}
