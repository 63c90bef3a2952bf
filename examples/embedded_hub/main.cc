// A hub inside the program: makes an event hub in the folder it is given, sends to it, reads back.
#include <chrono>
#include <cstdio>

#include <evenkeel/hub.h>

int main(int count, char** arguments) {
    if (count != 2) {
        std::fprintf(stderr, "usage: embedded_hub FOLDER\n");
        return 2;
    }
    auto hub = evenkeel::Hub::open({.directory = arguments[1]});
    if (!hub.ok()) {
        std::fprintf(stderr, "%s\n", to_string(hub.error()).c_str());
        return 1;
    }
    (*hub)->create("homes", {.partitions = 1}).value();
    (*hub)->send("homes", "door opened", {.partition_key = "home-17"}).value();

    auto reader = (*hub)->open_reader("homes", "$Default", 0, evenkeel::Position::earliest());
    auto events = reader.value()->read(10, std::chrono::seconds(5)).value();
    for (const auto& event : events) {
        std::printf("%lld %.*s\n", static_cast<long long>(event.sequence_number),
                    static_cast<int>(event.text().size()), event.text().data());
    }
    return events.size() == 1 ? 0 : 1;
}
