// Simulates homes that report to an event hub: by default 100,000 of them, ten thousand events a
// second. Each event has its home as partition key, so that the events of a home stay in order.
//
// SIGUSR1 switches the new sensor (carbon monoxide) on in all homes. SIGTERM and Ctrl-C end it once
// everything is stored.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <thread>

#include "arguments.h"
#include "ledger.h"
#include "memory.h"
#include "town.h"
#include <evenkeel/buffered_producer.h>

namespace {

using namespace std::chrono_literals;
using evenkeel::Result;
using std::chrono::system_clock;

volatile std::sig_atomic_t stop_asked = 0;
volatile std::sig_atomic_t new_sensor_asked = 0;

void on_signal(int number) {
    if (number == SIGUSR1) {
        new_sensor_asked = 1;
    } else {
        stop_asked = 1;
    }
}

struct Options {
    std::string hub = {}, event_hub = {}, ledger = {};
    homes::TownOptions town = {};
    std::uint64_t seconds = 0;
};

Result<> send(evenkeel::BufferedProducer& producer, std::uint32_t home, std::string_view body) {
    const std::string key = std::to_string(home);
    return producer.enqueue({.body = body, .content_type = "application/json"},
                            {.partition_key = key});
}

// Sends what the homes report in one second, each reading when it is due.
Result<> send_second(evenkeel::BufferedProducer& producer, homes::Town& town,
                     homes::Ledger& ledger) {
    const std::int64_t second = ledger.end_second;
    // A hub of a home that is broken: what it sends is cut off in the middle.
    if (const auto home = town.broken_home(second)) {
        if (auto sent = send(producer, *home, R"({"home":)" + std::to_string(*home)); !sent) {
            return sent;
        }
        ++ledger.sent;
    }
    std::int64_t slice = -1;  // of 10 ms
    for (const auto& reading : town.second(second, ledger.has_new_sensor(second))) {
        if (reading.at_ms / 10 != slice) {
            slice = reading.at_ms / 10;
            std::this_thread::sleep_until(system_clock::time_point(reading.at_ms * 1ms));
        }
        if (auto sent = send(producer, reading.home, to_json(reading)); !sent) return sent;
        ++ledger.sent;
    }
    ++ledger.end_second;
    return {};
}

Result<> run(const Options& options) {
    evenkeel::BufferedProducerOptions buffer;
    buffer.in_flight_max = 256;
    buffer.on_failed = [](const evenkeel::Error& why, const evenkeel::SendBatch& batch) {
        std::fprintf(stderr, "devices: %zu events were not stored: %s\n", batch.size(),
                     to_string(why).c_str());
    };
    auto producer = evenkeel::BufferedProducer::open(
        {.connection = options.hub, .event_hub = options.event_hub, .name = "devices"}, buffer);
    if (!producer) return producer.error();

    homes::Town town(options.town);
    homes::Ledger ledger{.town = options.town};
    const auto now = system_clock::now().time_since_epoch();
    ledger.first_second = ledger.end_second =
        std::chrono::duration_cast<std::chrono::seconds>(now).count() + 1;
    std::printf("ready: %u homes\n", options.town.homes);
    std::fflush(stdout);
    while (!stop_asked) {
        if (new_sensor_asked && ledger.new_sensor_second < 0) {
            ledger.new_sensor_second = ledger.end_second;
            std::printf("the new sensor is on\n");
        }
        const std::uint64_t before = ledger.sent;
        if (auto sent = send_second(**producer, town, ledger); !sent) return sent;
        std::printf("sent %llu, %llu in this second, memory %zu MB\n",
                    static_cast<unsigned long long>(ledger.sent),
                    static_cast<unsigned long long>(ledger.sent - before), homes::memory_mb());
        std::fflush(stdout);
        const auto ran = static_cast<std::uint64_t>(ledger.end_second - ledger.first_second);
        if (options.seconds > 0 && ran >= options.seconds) break;
    }
    if (auto stored = (*producer)->flush(); !stored) return stored;
    ledger.is_complete = true;
    return options.ledger.empty() ? Result<>() : write_ledger(options.ledger, ledger);
}

}  // namespace

int main(int count, char** arguments) {
    Options options;
    homes::Arguments known("devices", "Simulates homes that report to an event hub.");
    known.add("hub", options.hub, "connection string", "EVENKEEL_HUB");
    known.add("event-hub", options.event_hub, "its name, if the connection string has none");
    known.add("homes", options.town.homes, "how many");
    known.add("seed", options.town.seed, "what happens is decided by this number");
    known.add("incidents", options.town.incident_seconds, "seconds between two, on average");
    known.add("for", options.seconds, "seconds; 0: until SIGTERM");
    known.add("ledger", options.ledger, "file for verify, written at the end");
    known.require("hub");
    if (!known.parse(count, arguments)) return 2;
    if (options.town.homes == 0 || options.town.incident_seconds == 0) {
        std::fprintf(stderr, "devices: --homes and --incidents are 1 or more\n");
        return 2;
    }

    for (const int number : {SIGINT, SIGTERM, SIGUSR1}) std::signal(number, on_signal);
    if (const auto result = run(options); !result) {
        std::fprintf(stderr, "devices: %s\n", to_string(result.error()).c_str());
        return 1;
    }
    return 0;
}
