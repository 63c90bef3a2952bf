// A hub inside the program: opens or makes one in a folder, sends to it, reads everything back.
#include <chrono>
#include <iostream>

#include <evenkeel/hub.h>

namespace {

evenkeel::Result<> send_and_read(const char* folder) {
    auto hub = evenkeel::Hub::open({.directory = folder});
    if (!hub) return hub.error();
    const auto created = (*hub)->create("homes", {.partitions = 1});
    // Every run but the first finds it there.
    if (!created && created.error().code != evenkeel::ErrorCode::already_exists) return created;

    const auto sent = (*hub)->send("homes", "door opened", {.partition_key = "home-17"});
    if (!sent) return sent.error();

    auto reader = (*hub)->open_reader("homes", "$Default", 0, evenkeel::Position::earliest());
    if (!reader) return reader.error();
    for (auto last = std::int64_t{-1}; last < sent->last_sequence_number;) {
        const auto events = (*reader)->read(100, std::chrono::seconds(5));
        if (!events) return events.error();
        for (const auto& event : *events) {
            std::cout << event.sequence_number << ' ' << event.text() << '\n';
            last = event.sequence_number;
        }
    }
    return {};
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 2) {
        std::cerr << "usage: embedded_hub FOLDER\n";
        return 2;
    }
    const auto done = send_and_read(arguments[1]);
    if (!done) std::cerr << to_string(done.error()) << '\n';
    return done ? 0 : 1;
}
