// Sends the lines of standard input in batches as large as the event hub takes, with a property.
#include <iostream>
#include <string>

#include <evenkeel/producer.h>

namespace {

evenkeel::Result<std::size_t> send_lines(const char* connection) {
    auto producer = evenkeel::Producer::open(connection);
    if (!producer) return producer.error();
    auto batch = (*producer)->make_batch();
    if (!batch) return batch.error();

    std::size_t sent = 0;
    std::string line;
    while (std::getline(std::cin, line)) {
        const evenkeel::Property properties[] = {{"length", line.size()}, {"source", "stdin"}};
        const evenkeel::EventData event{
            .body = line, .content_type = "text/plain", .properties = properties};
        if (batch->try_add(event)) continue;
        // It is full: send it, then begin the next one.
        if (auto result = (*producer)->send(*batch); !result) return result.error();
        sent += batch->size();
        batch->clear();
        if (!batch->try_add(event)) {
            return evenkeel::Error{evenkeel::ErrorCode::invalid_argument,
                                   "a line is larger than the event hub takes"};
        }
    }
    if (auto result = (*producer)->send(*batch); !result) return result.error();
    return sent + batch->size();
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 2) {
        std::cerr << "usage: batches CONNECTION-STRING < LINES\n";
        return 2;
    }
    const auto sent = send_lines(arguments[1]);
    if (!sent) {
        std::cerr << to_string(sent.error()) << '\n';
        return 1;
    }
    std::cout << *sent << " events sent\n";
    return 0;
}
