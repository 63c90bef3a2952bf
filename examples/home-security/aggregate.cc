#include "aggregate.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <map>

#include <boost/json.hpp>

namespace homes {
namespace {

using evenkeel::Error;
using evenkeel::ErrorCode;
using evenkeel::Result;
namespace json = boost::json;

constexpr std::size_t lines_between_marks = 64;

Error damaged(std::string_view what) {
    return {ErrorCode::corrupt, "an aggregate is damaged: " + std::string(what)};
}

void append_line(const HomeSum& sum, std::string& to) {
    to += "{\"home\":" + std::to_string(sum.home) + ",\"first\":" + std::to_string(sum.first) +
          ",\"last\":" + std::to_string(sum.last) + ",\"sensors\":{";
    bool is_first = true;
    for (std::size_t i = 0; i < sensors.size(); ++i) {
        const SensorSum& sensor = sum.by_sensor[i];
        if (sensor.reports == 0) continue;
        if (!is_first) to += ',';
        is_first = false;
        to += '"';
        to += sensors[i].place;
        to +=
            "\":[" + std::to_string(sensor.reports) + ',' + std::to_string(sensor.changes) + ",\"";
        to += to_string(sensor.state);
        to += "\"," + std::to_string(sensor.at_ms) + ']';
    }
    to += "},\"incidents\":[";
    for (std::size_t i = 0; i < sum.incidents.size(); ++i) {
        const Incident& incident = sum.incidents[i];
        to += i == 0 ? "[\"" : ",[\"";
        to += sensors[incident.sensor].place;
        to += "\",\"";
        to += to_string(incident.state);
        to += "\"," + std::to_string(incident.at_ms) + ']';
    }
    to += "]}\n";
}

std::string text_of(const WindowHead& head) {
    std::string text = "{\"partition\":" + std::to_string(head.partition) +
                       ",\"from\":" + std::to_string(head.from_ms) +
                       ",\"to\":" + std::to_string(head.to_ms) +
                       ",\"first_sequence\":" + std::to_string(head.first_sequence) +
                       ",\"last_sequence\":" + std::to_string(head.last_sequence) +
                       ",\"events\":" + std::to_string(head.events) +
                       ",\"unreadable\":" + std::to_string(head.unreadable) + ",\"index\":[";
    for (std::size_t i = 0; i < head.index.size(); ++i) {
        text += i == 0 ? "[" : ",[";
        text += std::to_string(head.index[i].first) + ',' + std::to_string(head.index[i].second);
        text += ']';
    }
    return text + "]}\n";
}

std::size_t sensor_called(std::string_view place) {
    const auto found = std::find_if(sensors.begin(), sensors.end(),
                                    [&](const Sensor& sensor) { return sensor.place == place; });
    return static_cast<std::size_t>(found - sensors.begin());
}

Result<HomeSum> home_of(const json::object& object) {
    HomeSum sum;
    sum.home = object.at("home").to_number<std::uint32_t>();
    sum.first = object.at("first").to_number<std::uint32_t>();
    sum.last = object.at("last").to_number<std::uint32_t>();
    for (const auto& [place, value] : object.at("sensors").as_object()) {
        const std::size_t sensor = sensor_called(place);
        if (sensor == sensors.size()) return damaged("no home has such a sensor");
        const auto& fields = value.as_array();
        const auto state = parse_state(std::string_view(fields.at(2).as_string()));
        if (!state) return state.error();
        sum.by_sensor[sensor] = {.reports = fields.at(0).to_number<std::uint32_t>(),
                                 .changes = fields.at(1).to_number<std::uint32_t>(),
                                 .state = *state,
                                 .at_ms = fields.at(3).to_number<std::int64_t>()};
    }
    for (const auto& value : object.at("incidents").as_array()) {
        const auto& fields = value.as_array();
        const std::size_t sensor = sensor_called(std::string_view(fields.at(0).as_string()));
        const auto state = parse_state(std::string_view(fields.at(1).as_string()));
        if (sensor == sensors.size() || !state) return damaged("there is no such incident");
        sum.incidents.push_back({.sensor = static_cast<std::uint8_t>(sensor),
                                 .state = *state,
                                 .at_ms = fields.at(2).to_number<std::int64_t>()});
    }
    return sum;
}

WindowHead head_of(const json::object& object) {
    WindowHead head;
    head.partition = object.at("partition").to_number<std::uint32_t>();
    head.from_ms = object.at("from").to_number<std::int64_t>();
    head.to_ms = object.at("to").to_number<std::int64_t>();
    head.first_sequence = object.at("first_sequence").to_number<std::int64_t>();
    head.last_sequence = object.at("last_sequence").to_number<std::int64_t>();
    head.events = object.at("events").to_number<std::uint64_t>();
    head.unreadable = object.at("unreadable").to_number<std::uint64_t>();
    for (const auto& mark : object.at("index").as_array()) {
        head.index.emplace_back(mark.as_array().at(0).to_number<std::uint32_t>(),
                                mark.as_array().at(1).to_number<std::uint64_t>());
    }
    return head;
}

std::string time_text(const char* format, std::int64_t at_ms) {
    const std::time_t seconds = at_ms / 1000;
    std::tm parts = {};
    ::gmtime_r(&seconds, &parts);
    char text[32];
    return {text, std::strftime(text, sizeof text, format, &parts)};
}

}  // namespace

HomeSum sum_of(std::span<const Reading> readings) {
    HomeSum sum;
    sum.home = readings.front().home;
    sum.first = readings.front().number;
    sum.last = readings.back().number;
    for (const Reading& reading : readings) {
        SensorSum& sensor = sum.by_sensor[reading.sensor];
        ++sensor.reports;
        if (reading.changed) ++sensor.changes;
        if (reading.changed || sensor.changes == 0) {
            sensor.state = reading.state;
            sensor.at_ms = reading.at_ms;
        }
        if (reading.is_incident()) {
            sum.incidents.push_back({reading.sensor, reading.state, reading.at_ms});
        }
    }
    return sum;
}

std::string folder_name(std::uint32_t partition, std::int64_t at_ms) {
    char text[16];
    std::snprintf(text, sizeof text, "%02u/", partition);
    return time_text("%Y-%m-%d/%H/", at_ms) + text;
}

std::string object_name(const WindowHead& head) {
    // Padded, so that two that begin in one second are in order too.
    char text[64];
    std::snprintf(text, sizeof text, "-%012lld-%012lld.jsonl",
                  static_cast<long long>(head.first_sequence),
                  static_cast<long long>(head.last_sequence));
    return folder_name(head.partition, head.from_ms) + time_text("%M%S", head.from_ms) + text;
}

std::optional<ObjectName> parse_object_name(const std::string& name) {
    ObjectName parsed{.name = name};
    std::tm time = {};
    long long first = 0, last = 0;
    int length = 0;
    const int found =
        std::sscanf(name.c_str(), "%4d-%2d-%2d/%2d/%9u/%2d%2d-%18lld-%18lld.jsonl%n", &time.tm_year,
                    &time.tm_mon, &time.tm_mday, &time.tm_hour, &parsed.partition, &time.tm_min,
                    &time.tm_sec, &first, &last, &length);
    if (found != 9 || length != std::ssize(name) || first < 0 || last < first) return std::nullopt;
    time.tm_year -= 1900;
    time.tm_mon -= 1;
    parsed.from_ms = std::int64_t{::timegm(&time)} * 1000;
    parsed.first_sequence = first;
    parsed.last_sequence = last;
    return parsed;
}

std::vector<ObjectName> chain_of(std::span<const ObjectName> names, std::int64_t next) {
    // By the event that comes behind it: an object that such a chain ends with. Where there are
    // several, the one that begins first is kept.
    std::map<std::int64_t, const ObjectName*> ends;
    for (const ObjectName& name : names) {
        if (name.first_sequence == next || ends.contains(name.first_sequence)) {
            ends.try_emplace(name.last_sequence + 1, &name);
        }
    }
    std::vector<ObjectName> chain;
    for (std::int64_t end = ends.empty() ? next : ends.rbegin()->first; end != next;) {
        chain.push_back(*ends.at(end));
        end = chain.back().first_sequence;
    }
    std::reverse(chain.begin(), chain.end());
    return chain;
}

std::string encode(WindowHead head, std::vector<Reading> readings) {
    // Those of one home stay in the order in which they came.
    std::stable_sort(readings.begin(), readings.end(),
                     [](const Reading& a, const Reading& b) { return a.home < b.home; });
    std::string lines;
    lines.reserve(readings.size() * 96);
    head.index.clear();
    std::size_t count = 0;
    for (std::size_t first = 0; first < readings.size();) {
        std::size_t end = first + 1;
        while (end < readings.size() && readings[end].home == readings[first].home) ++end;
        if (count++ % lines_between_marks == 0) {
            head.index.emplace_back(readings[first].home, lines.size());
        }
        append_line(sum_of(std::span(readings).subspan(first, end - first)), lines);
        first = end;
    }
    return text_of(head) + lines;
}

Result<WindowHead> parse_head(std::string_view line) try {
    return head_of(json::parse(line).as_object());
} catch (const std::exception& error) {  // what Boost.JSON throws
    return damaged(error.what());
}

Result<HomeSum> parse_home(std::string_view line) try {
    return home_of(json::parse(line).as_object());
} catch (const std::exception& error) {
    return damaged(error.what());
}

std::pair<std::uint64_t, std::uint64_t> place_of(const WindowHead& head, std::uint32_t home) {
    // The last mark that is not behind the home.
    const auto behind = std::upper_bound(
        head.index.begin(), head.index.end(), home,
        [](std::uint32_t wanted, const auto& mark) { return wanted < mark.first; });
    if (behind == head.index.begin()) return {0, 0};
    const std::uint64_t offset = std::prev(behind)->second;
    return {offset, behind == head.index.end() ? 0 : behind->second - offset};
}

}  // namespace homes
