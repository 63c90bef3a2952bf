// Deadlines and stops: calls to a peer that accepts connections and never answers, and to a hub
// here.
#include <chrono>
#include <stop_token>
#include <string>
#include <thread>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "package/interface/check.h"
#include <evenkeel/buffered_producer.h>
#include <evenkeel/consumer.h>
#include <evenkeel/processor.h>
#include <evenkeel/producer.h>

using namespace std::chrono_literals;

// Nobody accepts what waits in the backlog: to a client it is connected, and silent.
static std::string silent_peer() {
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const place = reinterpret_cast<sockaddr*>(&address);
    check(bind(listener, place, size) == 0 && listen(listener, 16) == 0, "a listener");
    check(getsockname(listener, place, &size) == 0, "its port");
    return "amqp://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/homes";
}

int main(int, char** arguments) {
    using evenkeel::ErrorCode;
    const std::string peer = silent_peer();
    std::stop_source stop;
    const evenkeel::CallOptions soon{.timeout = 50ms};
    const evenkeel::CallOptions stopped{.stop = stop.get_token()};

    auto client = evenkeel::Client::open(peer).value();
    check(client->properties(soon).error().code == ErrorCode::timed_out, "properties: deadline");
    check(evenkeel::Producer::open(*client, {}, soon).error().code == ErrorCode::timed_out,
          "producer: deadline");
    check(evenkeel::BufferedProducer::open(*client, {}, soon).error().code == ErrorCode::timed_out,
          "buffered producer: deadline");
    check(evenkeel::Processor::open({.hub = peer, .store = "memory:calls"}, soon).error().code ==
              ErrorCode::timed_out,
          "processor: deadline");
    const auto position = evenkeel::Position::earliest();
    std::thread stops([&] { stop.request_stop(); });
    const auto reader = evenkeel::RemoteReader::open(*client, "$Default", 0, position, {}, stopped);
    stops.join();
    check(reader.error().code == ErrorCode::cancelled, "reader: stop");

    auto hub = evenkeel::Hub::open({.directory = std::string(arguments[1]) + "/data"}).value();
    check(hub->create("homes", {.partitions = 1}, {.timeout = 60s}).ok(), "a hub here, in time");
    check(hub->send("homes", "never", {}, stopped).error().code == ErrorCode::cancelled,
          "after a stop nothing is begun");
    auto local = hub->open_reader("homes", "$Default", 0, position).value();
    check(local->read(1, 60s, stopped.stop).error().code == ErrorCode::cancelled, "read: stop");
    check(hub->send("homes", "one", {}, {.timeout = 60s}).ok(), "a hub can be used after a stop");
    check(local->read(1, 60s).value()[0].text() == "one", "and a reader");

    auto processor = evenkeel::Processor::open(
        {.event_hub = "homes", .hub_here = hub.get(), .store = "memory:calls"});
    std::stop_source handled;
    const int code = evenkeel::run(
        processor, [&](evenkeel::Partition&, const evenkeel::Event&) { handled.request_stop(); },
        handled.get_token());
    check(code == 0, "run ends with a stop");
}
