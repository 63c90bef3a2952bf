// Without a log the library is silent; with one, the program hears what it does.
#include <atomic>
#include <string>

#include "package/interface/check.h"
#include <evenkeel/client.h>
#include <evenkeel/log.h>

namespace {

void fail_to_connect() {
    auto client = evenkeel::Client::open(
        {.connection = "amqp://localhost:1/homes", .retry = {.retries_max = 1}});
    check(!client.value()->properties().ok(), "nobody listens there");
}

}  // namespace

int main() {
    fail_to_connect();  // the caller looks at stderr, which stays empty
    std::atomic<int> lines = 0;
    evenkeel::set_log(evenkeel::LogLevel::debug, [&](const evenkeel::LogLine& line) {
        check(!line.message.empty(), "a line has a text");
        check(to_string(line.level) == "debug", "a line has a level");
        for (const auto& [name, value] : line.fields) check(!name.empty(), value.c_str());
        ++lines;
    });
    fail_to_connect();
    evenkeel::set_log(evenkeel::LogLevel::off);
    check(lines > 0, "the program hears of lost connections");
}
