#include "process/host/scaled_fixture.h"

#include <algorithm>

#include <unistd.h>

#include <boost/json.hpp>
#include <poll.h>

namespace evenkeel::fault {
namespace {

// Takes as many seconds for an event as the file `delay` says, and fails for events that say so.
constexpr const char* slow_command = R"sh(
while read -r line; do
    printf '%s\n' "$line" >> out
    sleep "$(cat delay)"
    case $line in *fail*) echo 'error it fails' ;; *) echo ok ;; esac
done
)sh";

}  // namespace

void ScaledHost::make_hub(const std::string& name, int partitions) {
    event_hub_ = name;
    expect_done({"hub", "create", name, "--partitions", std::to_string(partitions)});
}

void ScaledHost::make_slow_app(const std::string& host_json, const std::string& delay) {
    app_.add("host.json", host_json)
        .add("f/handle", slow_command)
        .add("f/delay", delay)
        .add("f/function.json",
             R"({"bindings": [{"type": "eventHubTrigger", "name": "events", "connection": "HUB",
                 "eventHubName": ")" +
                 event_hub_ + R"("}], "evenkeel": {"command": "sh ./handle", "answers": "line"}})");
}

void ScaledHost::send_to_all(int partitions, int first, int last) const {
    for (int partition = 0; partition < partitions; ++partition) {
        std::vector<std::string> words = {"send", event_hub_, "-q", "--partition",
                                          std::to_string(partition)};
        for (int n = first; n <= last; ++n) {
            words.push_back("{\"n\":" + std::to_string(n) +
                            (n % 10 == 3 ? ",\"fail\":true}" : "}"));
        }
        expect_done(words);
    }
}

std::unique_ptr<Process> ScaledHost::start_scaled(const std::vector<std::string>& more) const {
    std::vector<std::string> words = {"/bin/sh", "-c", R"(exec "$@" 2>> "$0")",
                                      folder_.path() + "/host.log"};
    words.insert(words.end(), {test::evenkeel_program(), "host", app_.path(), "--store", store(),
                               "--status-file", status_file(), "--scale-every", "300ms"});
    words.insert(words.end(), more.begin(), more.end());
    return std::make_unique<Process>(words);
}

std::string ScaledHost::stop_scaled(Process& host) const {
    host.signal(SIGTERM);
    const Ended ended = host.wait();
    std::string all = said();
    EXPECT_TRUE(ended.exited && ended.code == 0) << all;
    return all;
}

ScaledHost::Status ScaledHost::status() const {
    Status all;
    if (access(status_file().c_str(), F_OK) != 0) return all;
    boost::system::error_code error;
    const auto now = boost::json::parse(test::read_whole_file(status_file()), error);
    if (error) return all;  // it was removed in between
    all.is_there = true;
    for (const auto& each : now.at("instances").as_array()) {
        Instance& instance = all.instances[std::string(each.at("name").as_string())];
        instance.state = std::string(each.at("state").as_string());
        if (each.at("pid").is_int64()) {
            instance.process = static_cast<pid_t>(each.at("pid").as_int64());
        }
        for (const auto& owned : each.at("owns").as_array()) {
            for (const auto& partition : owned.at("partitions").as_array()) {
                instance.partitions.insert(partition.as_int64());
            }
        }
    }
    return all;
}

std::vector<std::size_t> ScaledHost::shares() const {
    std::vector<std::size_t> all;
    for (const auto& [name, instance] : status().instances) {
        if (instance.state == "running") all.push_back(instance.partitions.size());
    }
    std::ranges::sort(all);
    return all;
}

bool ScaledHost::settles(const std::vector<std::size_t>& wanted) const {
    return soon([&] { return shares() == wanted; });
}

bool ScaledHost::soon(const std::function<bool()>& condition) {
    return eventually([&] {
        if (condition()) return true;
        poll(nullptr, 0, 50);  // tidy: allow sleep: between two looks
        return false;
    });
}

std::vector<ScaledHost::Place> ScaledHost::handled() const {
    std::vector<Place> all;
    const std::string file = app_.path() + "/f/out";
    if (access(file.c_str(), F_OK) != 0) return all;
    const std::string text = test::read_whole_file(file);
    std::size_t begin = 0;
    for (auto end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
        const auto event = boost::json::parse(text.substr(begin, end - begin));
        all.emplace_back(event.at("partition").as_int64(), event.at("sequence_number").as_int64());
        begin = end + 1;
    }
    return all;
}

bool ScaledHost::is_in_order(const std::vector<Place>& places) {
    std::map<std::int64_t, std::int64_t> last;
    return std::ranges::all_of(places, [&](const Place& place) {
        const auto [found, is_first] = last.try_emplace(place.first, place.second);
        const bool is_later = is_first || place.second > found->second;
        found->second = place.second;
        return is_later;
    });
}

std::int64_t ScaledHost::unread() const {
    const auto answer = boost::json::parse(
        evenkeel({"scale", event_hub_, "--store", store(), "--from-start", "-o", "json"}));
    return answer.at("unread").as_int64();
}

}  // namespace evenkeel::fault
