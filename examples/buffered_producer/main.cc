// Sends each line of standard input as an event of its own, at the speed of batches. The first word
// of a line is the partition key, so that lines that begin alike stay in order.
#include <iostream>
#include <string>

#include <evenkeel/buffered_producer.h>

namespace {

evenkeel::Result<std::size_t> send_lines(const char* connection) {
    evenkeel::BufferedProducerOptions options;
    // What cannot be sent in the end; flush() returns the first of these errors too.
    options.on_failed = [](const evenkeel::Error& why, const evenkeel::SendBatch& batch) {
        std::cerr << batch.size() << " events were not sent: " << to_string(why) << '\n';
    };
    auto producer = evenkeel::BufferedProducer::open({.connection = connection}, options);
    if (!producer) return producer.error();

    std::size_t sent = 0;
    std::string line;
    while (std::getline(std::cin, line)) {
        const std::string key = line.substr(0, line.find(' '));
        if (auto result = (*producer)->enqueue({.body = line}, {.partition_key = key}); !result) {
            return result.error();
        }
        ++sent;
    }
    if (auto result = (*producer)->flush(); !result) return result.error();
    return sent;
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 2) {
        std::cerr << "usage: buffered_producer CONNECTION-STRING < LINES\n";
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
