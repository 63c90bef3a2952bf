#include "home_day.h"

#include <algorithm>
#include <charconv>
#include <chrono>

#include <boost/json.hpp>

namespace homes {
namespace {

using evenkeel::Error;
using evenkeel::ErrorCode;
using evenkeel::Result;
namespace json = boost::json;

constexpr std::int64_t hour_ms = 3'600'000;
constexpr std::int64_t incident_ms = 30 * 60'000;    // for so long it is what the page shows
constexpr std::int64_t one_motion_ms = 10 * 60'000;  // motions of one sensor that belong together
constexpr std::size_t head_bytes = 8 * 1024, head_bytes_max = 1U << 20U;
constexpr std::uint64_t lines_bytes_max = 64 * 1024;  // between two marks of an index
constexpr std::uint64_t object_bytes_max = 64U << 20U;
// Which homes are in which partition: looked for so far back, for so long at a time, and so often,
// or a fifth of the time.
constexpr std::int64_t learned_ms = 120'000, learning_pause_ms = 2'000;
constexpr std::chrono::milliseconds learning_max{500};
// A list of names may miss one that came while it was made: then it is in the next one.
constexpr std::int64_t gap_patience_ms = 5'000;

std::vector<ObjectName> parse_names(const std::vector<std::string>& names) {
    std::vector<ObjectName> parsed;
    for (const auto& name : names) {
        if (auto object = parse_object_name(name)) parsed.push_back(std::move(*object));
    }
    return parsed;
}

std::int64_t end_of(const std::vector<ObjectName>& chain) {
    return chain.empty() ? -1 : chain.back().last_sequence;
}

}  // namespace

void HomeDay::add(const HomeSum& sum) {
    for (std::size_t i = 0; i < sensors.size(); ++i) {
        const SensorSum& found = sum.by_sensor[i];
        if (found.reports == 0) continue;
        SensorDay& sensor = by_sensor[i];
        sensor.known_ms = found.at_ms;
        sensor.state = found.state;
        if (found.changes == 0) continue;
        sensor.changed_ms = found.at_ms;
        const std::int64_t bucket = found.at_ms / bucket_ms - first_bucket;
        if (bucket >= 0 && bucket < std::int64_t{buckets}) {
            sensor.changes[static_cast<std::size_t>(bucket)] += found.changes;
        }
        add_happening({found.at_ms, static_cast<std::uint8_t>(i), found.state});
    }
    for (const Incident& happened : sum.incidents) {
        incident = Happening{happened.at_ms, happened.sensor, happened.state};
    }
}

void HomeDay::add_happening(const Happening& happening) {
    // Someone who walks about is one line, not a hundred.
    const auto same = std::find_if(happenings.rbegin(), happenings.rend(), [&](const auto& known) {
        return known.sensor == happening.sensor && known.state == State::motion &&
               happening.state == State::motion && happening.at_ms - known.at_ms < one_motion_ms;
    });
    // But what happens after glass broke is told in its order.
    const bool is_watched = incident && happening.at_ms - incident->at_ms < incident_ms;
    if (same != happenings.rend() && !is_watched) happenings.erase(std::next(same).base());
    if (same != happenings.rend() && is_watched && same->at_ms >= incident->at_ms) return;
    happenings.push_back(happening);
    std::sort(happenings.begin(), happenings.end(),
              [](const auto& a, const auto& b) { return a.at_ms < b.at_ms; });
    if (happenings.size() > happenings_max) happenings.pop_front();
}

void HomeDay::move_on(std::int64_t now_ms) {
    const std::int64_t first = now_ms / bucket_ms - std::int64_t{buckets} + 1;
    const std::int64_t moved = std::clamp<std::int64_t>(first - first_bucket, 0, buckets);
    for (SensorDay& sensor : by_sensor) {
        std::move(sensor.changes.begin() + moved, sensor.changes.end(), sensor.changes.begin());
        std::fill(sensor.changes.end() - moved, sensor.changes.end(), 0U);
    }
    first_bucket = std::max(first, first_bucket);
    if (incident && now_ms - incident->at_ms > incident_ms) incident.reset();
}

std::string to_json(std::uint32_t home, const HomeDay& day, std::int64_t now_ms) {
    json::array found_sensors, happenings;
    for (std::size_t i = 0; i < sensors.size(); ++i) {
        const auto& sensor = day.by_sensor[i];
        // The new sensor is shown once it is there.
        if (sensor.known_ms == 0 && sensors[i].kind == Kind::carbon_monoxide) continue;
        found_sensors.push_back(
            {{"place", sensors[i].place},
             {"kind", to_string(sensors[i].kind)},
             {"state", sensor.known_ms ? to_string(sensor.state) : ""},
             {"known", sensor.known_ms},
             {"changed", sensor.changed_ms},
             {"counts", json::array(sensor.changes.begin(), sensor.changes.end())}});
    }
    const auto object_of = [](const HomeDay::Happening& happening) {
        return json::object{{"at", happening.at_ms},
                            {"place", sensors[happening.sensor].place},
                            {"kind", to_string(sensors[happening.sensor].kind)},
                            {"state", to_string(happening.state)}};
    };
    for (const auto& happening : day.happenings) happenings.push_back(object_of(happening));
    const json::object answer{
        {"home", home},
        {"now", now_ms},
        {"as_of", day.as_of_ms},
        {"window_ms", day.window_ms},
        {"bucket_ms", HomeDay::bucket_ms},
        {"first_bucket", day.first_bucket},
        {"sensors", std::move(found_sensors)},
        {"happenings", std::move(happenings)},
        {"incident", day.incident ? json::value(object_of(*day.incident)) : json::value(nullptr)}};
    return json::serialize(answer);
}

HomeDays::HomeDays(Objects& objects, std::uint32_t partitions)
    : objects_(objects), partitions_(partitions) {}

Result<const HomeDay*> HomeDays::look(std::uint32_t home, std::int64_t now_ms) {
    const auto partition = find_partition(home, now_ms);
    if (!partition) return partition.error();
    if (!looked_.contains(home)) make_room();
    Looked& looked = looked_[home];
    looked.used_ms = now_ms;
    looked.day.move_on(now_ms);
    looked.before.move_on(now_ms);
    // Hour by hour, from where the last look ended.
    const std::int64_t begin_ms =
        std::max(looked.day.first_bucket * HomeDay::bucket_ms, looked.last.from_ms);
    for (std::int64_t at = begin_ms / hour_ms; at <= now_ms / hour_ms; ++at) {
        const auto names = objects_.list(folder_name(*partition, at * hour_ms), looked.last.name);
        if (!names) return names.error();
        const auto read = read_new(home, parse_names(*names), now_ms, looked);
        if (!read) return read.error();
        if (!*read) break;
    }
    return &looked.day;
}

Result<bool> HomeDays::read_new(std::uint32_t home, std::vector<ObjectName> names,
                                std::int64_t now_ms, Looked& looked) {
    while (!names.empty()) {
        auto chain = chain_of(names, looked.last.last_sequence + 1);
        // The last one was written by an owner that died before its checkpoint: the successor has
        // written those events anew, with more of them.
        auto instead = chain_of(names, looked.last.first_sequence);
        if (end_of(instead) > end_of(chain)) {
            looked.day = looked.before;
            chain = std::move(instead);
        }
        for (const auto& object : chain) {
            if (auto read = read_object(home, object, looked); !read) return read.error();
        }
        std::erase_if(names, [&](const ObjectName& object) {
            return object.first_sequence <= looked.last.last_sequence;
        });
        if (!chain.empty()) looked.gap_seen_ms = 0;
        if (names.empty()) break;
        if (!looked.last.name.empty()) {
            if (looked.gap_seen_ms == 0) looked.gap_seen_ms = now_ms;
            if (now_ms - looked.gap_seen_ms < gap_patience_ms) return false;
        }
        // Nobody has it, so it was removed: go on behind it.
        looked.last.first_sequence = names.front().first_sequence;
        looked.last.last_sequence = names.front().first_sequence - 1;
    }
    return true;
}

Result<> HomeDays::read_object(std::uint32_t home, const ObjectName& object, Looked& looked) {
    const auto found = sum(object.name, home);
    if (!found) return found.error();
    const auto known = head(object.name);
    if (!known) return known.error();
    looked.before = looked.day;
    looked.last = object;
    if (*found) looked.day.add(**found);
    looked.day.as_of_ms = std::max(looked.day.as_of_ms, (*known)->to_ms);
    looked.day.window_ms = (*known)->to_ms - (*known)->from_ms;
    return {};
}

// A home is always in the partition of its key. Which one that is, the newest aggregates tell.
Result<std::uint32_t> HomeDays::find_partition(std::uint32_t home, std::int64_t now_ms) {
    // One that has not reported yet is asked for again and again: it must not hold up the others.
    if (!partition_of_.contains(home) && now_ms >= learn_again_ms_) {
        const auto begin = std::chrono::steady_clock::now();
        if (auto learned = learn_partitions(home, now_ms); !learned) return learned.error();
        const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(
            std::chrono::steady_clock::now() - begin);
        learn_again_ms_ = now_ms + std::max(learning_pause_ms, 5 * took.count());
    }
    const auto known = partition_of_.find(home);
    if (known != partition_of_.end()) return known->second;
    return Error{ErrorCode::not_found, "no aggregate has this home yet"};
}

// Each object is read once, the newest first, until the home is found or the time is up.
Result<> HomeDays::learn_partitions(std::uint32_t home, std::int64_t now_ms) {
    const auto end = std::chrono::steady_clock::now() + learning_max;
    std::vector<ObjectName> objects;
    for (std::uint32_t partition = 0; partition < partitions_; ++partition) {
        std::int64_t newest = -1;
        bool is_enough = false;
        for (const std::int64_t at : {now_ms, now_ms - hour_ms}) {
            if (is_enough) break;
            const auto names = objects_.list(folder_name(partition, at));
            if (!names) return names.error();
            for (auto name = names->rbegin(); name != names->rend() && !is_enough; ++name) {
                const auto object = parse_object_name(*name);
                if (!object) continue;
                newest = std::max(newest, object->from_ms);
                is_enough = object->from_ms < newest - learned_ms;
                if (!is_enough) objects.push_back(*object);
            }
        }
    }
    std::stable_sort(objects.begin(), objects.end(),
                     [](const auto& a, const auto& b) { return a.from_ms > b.from_ms; });
    std::set<std::string> still_there;
    for (const auto& object : objects) {
        if (learned_.contains(object.name)) still_there.insert(object.name);
    }
    learned_ = std::move(still_there);
    for (const auto& object : objects) {
        if (partition_of_.contains(home) || std::chrono::steady_clock::now() > end) break;
        if (learned_.contains(object.name)) continue;
        if (auto learned = learn_homes(object); !learned) return learned;
        learned_.insert(object.name);
    }
    return {};
}

Result<> HomeDays::learn_homes(const ObjectName& object) {
    const auto bytes = objects_.get(object.name, 0, object_bytes_max);
    if (!bytes) return bytes.error();
    constexpr std::string_view begin = "\n{\"home\":";
    for (std::size_t at = 0; (at = bytes->find(begin, at)) != std::string::npos;) {
        at += begin.size();
        std::uint32_t home = 0;
        const auto parsed =
            std::from_chars(bytes->data() + at, bytes->data() + bytes->size(), home);
        if (parsed.ec == std::errc()) partition_of_[home] = object.partition;
    }
    return {};
}

Result<const WindowHead*> HomeDays::head(const std::string& name) {
    if (const auto known = heads_.find(name); known != heads_.end()) return &known->second.head;
    for (std::size_t size = head_bytes; size <= head_bytes_max; size *= 4) {
        const auto bytes = objects_.get(name, 0, size);
        if (!bytes) return bytes.error();
        const std::size_t end = bytes->find('\n');
        if (end == std::string::npos) continue;
        auto parsed = parse_head(std::string_view(*bytes).substr(0, end));
        if (!parsed) return parsed.error();
        if (heads_.size() >= heads_max) heads_.erase(heads_.begin());  // the oldest, by its name
        return &(heads_[name] = {std::move(*parsed), end + 1}).head;
    }
    return Error{ErrorCode::corrupt, "aggregate " + name + " has no first line"};
}

Result<std::optional<HomeSum>> HomeDays::sum(const std::string& name, std::uint32_t home) {
    const auto known = head(name);
    if (!known) return known.error();
    const auto [offset, length] = place_of(**known, home);
    const auto bytes =
        objects_.get(name, heads_[name].bytes + offset, length == 0 ? lines_bytes_max : length);
    if (!bytes) return bytes.error();
    const std::string begin = "{\"home\":" + std::to_string(home) + ",";
    for (std::size_t at = 0; at < bytes->size();) {
        const std::size_t end = std::min(bytes->find('\n', at), bytes->size());
        const std::string_view line = std::string_view(*bytes).substr(at, end - at);
        at = end + 1;
        if (!line.starts_with(begin)) continue;
        auto found = parse_home(line);
        if (!found) return found.error();
        return std::optional<HomeSum>(std::move(*found));
    }
    return std::optional<HomeSum>();
}

// Forgets the home that nobody has looked at for the longest time.
void HomeDays::make_room() {
    if (looked_.size() < homes_max) return;
    looked_.erase(std::min_element(
        looked_.begin(), looked_.end(),
        [](const auto& a, const auto& b) { return a.second.used_ms < b.second.used_ms; }));
}

}  // namespace homes
