// Compares every aggregate of every home with what the devices sent: works out all readings again
// from the ledger, and looks for each home whether its aggregates, one after the other, are those
// of readings 0, 1, 2, ... without a gap, a repeat or a difference.
//
// Prints one JSON object; the exit code is 1 if an aggregate is wrong or missing.
#include <chrono>
#include <cstdio>
#include <map>
#include <thread>

#include "aggregate.h"
#include "arguments.h"
#include "ledger.h"
#include "objects.h"

namespace {

using evenkeel::Result;

// Readings in memory at a time. More of them are verified in several rounds, of some homes each.
constexpr std::uint64_t readings_max = 8'000'000;
constexpr std::uint64_t object_bytes_max = 256U << 20U;

struct Counts {
    std::uint64_t checked = 0, wrong = 0;
    std::uint64_t missing = 0;  // readings that are in no aggregate
    std::uint64_t unreadable = 0, events = 0;
    std::string first_fault = {};

    void fault(const std::string& what) {
        ++wrong;
        if (first_fault.empty()) first_fault = what;
    }
};

// Homes from `first` to `end`, and how far each of them was found in the aggregates.
class Round {
public:
    Round(const homes::Ledger& ledger, std::uint32_t first, std::uint32_t end)
        : first_(first), sent_(end - first), next_(end - first) {
        homes::Town town(ledger.town);
        for (std::int64_t second = ledger.first_second; second < ledger.end_second; ++second) {
            for (const auto& reading : town.second(second, ledger.has_new_sensor(second))) {
                if (has(reading.home)) sent_[reading.home - first_].push_back(reading);
            }
        }
    }

    bool has(std::uint32_t home) const { return home >= first_ && home - first_ < sent_.size(); }

    void check(const homes::HomeSum& sum, Counts& counts) {
        if (!has(sum.home)) return;
        ++counts.checked;
        const auto& sent = sent_[sum.home - first_];
        auto& next = next_[sum.home - first_];
        const std::string home = "home " + std::to_string(sum.home);
        if (sum.first != next || sum.last < sum.first || sum.last >= sent.size()) {
            counts.fault(home + ": readings " + std::to_string(sum.first) + " to " +
                         std::to_string(sum.last) + " come where " + std::to_string(next) + " of " +
                         std::to_string(sent.size()) + " is next");
        } else if (sum_of(std::span(sent).subspan(sum.first, sum.last - sum.first + 1)) != sum) {
            counts.fault(home + ": readings from " + std::to_string(sum.first) +
                         " on are summed up wrong");
        }
        next = sum.last + 1;
    }

    void finish(Counts& counts) const {
        for (std::size_t i = 0; i < sent_.size(); ++i) {
            if (next_[i] >= sent_[i].size()) continue;
            counts.missing += sent_[i].size() - next_[i];
            counts.fault("home " + std::to_string(first_ + i) + ": readings from " +
                         std::to_string(next_[i]) + " on are in no aggregate");
        }
    }

private:
    const std::uint32_t first_;
    std::vector<std::vector<homes::Reading>> sent_;  // by home
    std::vector<std::uint32_t> next_;                // by home: the number that comes next
};

Result<> check_object(homes::Objects& objects, const std::string& name, Round& round,
                      bool is_first_round, Counts& counts) {
    const auto bytes = objects.get(name, 0, object_bytes_max);
    if (!bytes) return bytes.error();
    std::string_view rest = *bytes;
    const auto next_line = [&rest] {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.size(), line.size() + 1));
        return line;
    };
    const auto head = homes::parse_head(next_line());
    if (!head) return evenkeel::Error{head.error().code, name + ": " + head.error().detail};
    if (is_first_round) {
        counts.events += head->events;
        counts.unreadable += head->unreadable;
    }
    while (!rest.empty()) {
        const auto sum = homes::parse_home(next_line());
        if (!sum) return evenkeel::Error{sum.error().code, name + ": " + sum.error().detail};
        round.check(*sum, counts);
    }
    return {};
}

// The objects that count (chain_of() in aggregate.h), in order for each partition.
Result<std::vector<homes::ObjectName>> objects_in(homes::Objects& objects) {
    const auto names = objects.list("");
    if (!names) return names.error();
    std::map<std::uint32_t, std::vector<homes::ObjectName>> by_partition;
    for (const auto& name : *names) {
        if (const auto object = homes::parse_object_name(name)) {
            by_partition[object->partition].push_back(*object);
        }
    }
    std::vector<homes::ObjectName> found;
    for (const auto& [partition, all] : by_partition) {
        const auto chain = chain_of(all, all.front().first_sequence);
        found.insert(found.end(), chain.begin(), chain.end());
    }
    return found;
}

Result<Counts> verify(homes::Objects& objects, const homes::Ledger& ledger) {
    Counts counts;
    const auto found = objects_in(objects);
    if (!found) return found.error();
    const std::uint64_t rounds = ledger.sent / readings_max + 1;
    const auto homes_a_round = static_cast<std::uint32_t>(ledger.town.homes / rounds + 1);
    for (std::uint32_t first = 0; first < ledger.town.homes; first += homes_a_round) {
        Round round(ledger, first, std::min(first + homes_a_round, ledger.town.homes));
        for (const auto& object : *found) {
            if (auto checked = check_object(objects, object.name, round, first == 0, counts);
                !checked) {
                return checked.error();
            }
        }
        round.finish(counts);
    }
    return counts;
}

}  // namespace

int main(int count, char** arguments) {
    std::string ledger_file, aggregates = "aggregates";
    std::uint32_t wait_s = 0;
    homes::Arguments known("verify", "Compares the aggregates with what the devices sent.");
    known.add("ledger", ledger_file, "what devices wrote at its end");
    known.add("aggregates", aggregates, "folder, or azblob:...", "HOME_AGGREGATES");
    known.add("wait", wait_s, "seconds, for aggregates that are still to come");
    known.require("ledger");
    if (!known.parse(count, arguments)) return 2;

    const auto ledger = homes::read_ledger(ledger_file);
    const auto objects = homes::Objects::open(aggregates);
    if (!ledger || !objects) {
        const auto& error = ledger ? objects.error() : ledger.error();
        std::fprintf(stderr, "verify: %s\n", to_string(error).c_str());
        return 1;
    }
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(wait_s);
    Result<Counts> found = verify(**objects, *ledger);
    while ((!found || found->events < ledger->sent) && std::chrono::steady_clock::now() < give_up) {
        std::this_thread::sleep_for(std::chrono::milliseconds(500));
        found = verify(**objects, *ledger);
    }
    if (!found) {
        std::fprintf(stderr, "verify: %s\n", to_string(found.error()).c_str());
        return 1;
    }
    std::printf(
        "{\"homes\": %u, \"events\": %llu, \"unreadable\": %llu, \"aggregates_checked\": %llu, "
        "\"aggregates_wrong\": %llu, \"readings_missing\": %llu}\n",
        ledger->town.homes, static_cast<unsigned long long>(found->events),
        static_cast<unsigned long long>(found->unreadable),
        static_cast<unsigned long long>(found->checked),
        static_cast<unsigned long long>(found->wrong),
        static_cast<unsigned long long>(found->missing));
    if (!found->first_fault.empty()) {
        std::fprintf(stderr, "verify: %s\n", found->first_fault.c_str());
    }
    if (!ledger->is_complete)
        std::fprintf(stderr, "verify: the devices did not store everything\n");
    const bool is_good = found->wrong == 0 && found->events == ledger->sent && ledger->is_complete;
    return is_good ? 0 : 1;
}
