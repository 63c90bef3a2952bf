// A simulated group in virtual time: events arrive as a load says, instances start after a while
// and handle what they own, and the scale controller decides how many there are. A checker compares
// every decision with the rules, from the readings alone.
#pragma once

#include <cmath>
#include <cstdint>
#include <deque>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/random.h"
#include "host/scale/decide.h"
#include "host/scale/even_split.h"
#include "host/scale/explain_scale.h"
#include "host/scale/scale_fixture.h"

namespace evenkeel::host {

// Events a second at a time.
struct SimulatedLoad {
    enum class Kind : std::uint8_t { steady, rising, falling, spikes, waves, steps, kinds };
    Kind kind;
    double low;
    double high;
    std::int64_t period;
    std::int64_t length;

    double at(std::int64_t second) const {
        const double way = static_cast<double>(second) / static_cast<double>(length);
        const std::int64_t phase = second % period;
        switch (kind) {
            case Kind::rising: return low + (high - low) * way;
            case Kind::falling: return high - (high - low) * way;
            case Kind::spikes: return phase < period / 10 ? high : low;
            case Kind::waves:
                return low + (high - low) *
                                 (1 - std::cos(2 * std::numbers::pi * static_cast<double>(phase) /
                                               static_cast<double>(period))) /
                                 2;
            case Kind::steps: return phase < period / 2 ? low : high;
            case Kind::steady:
            case Kind::kinds: break;
        }
        return high;
    }
};

class ScaleWorld {
public:
    static constexpr std::int64_t step_s = 2;

    explicit ScaleWorld(std::uint64_t seed) : random_(seed) {
        partitions_.resize(static_cast<std::size_t>(random_.between(1, 32)));
        policy_.target = random_.between(10, 1000);
        policy_.standby = random_.chance(1, 4) ? 1 : 0;
        policy_.min = random_.chance(1, 4) ? 1 : 0;
        const auto count = static_cast<std::int64_t>(partitions_.size());
        if (random_.chance(1, 4)) {
            policy_.max = static_cast<std::uint32_t>(random_.between(2, count + 2));
        }
        ceiling_ =
            policy_.max != 0 ? policy_.max : static_cast<std::uint32_t>(count) + policy_.standby;
        per_instance_ = static_cast<double>(random_.between(5, 200));
        start_s_ = random_.between(1, 10);
        is_uneven_ = random_.chance(1, 3);
        const double most = per_instance_ * static_cast<double>(std::min<std::int64_t>(
                                                count, ceiling_ - policy_.standby));
        load_.kind = static_cast<SimulatedLoad::Kind>(
            random_.below(static_cast<std::uint64_t>(SimulatedLoad::Kind::kinds)));
        load_.high = most * static_cast<double>(random_.between(5, 80)) / 100;
        load_.low = load_.high * static_cast<double>(random_.between(0, 50)) / 100;
        load_.period = random_.between(30, 600);
        load_.length = 1200;
    }

    SimulatedLoad& load() { return load_; }
    std::uint32_t instances() const { return instances_; }
    const ScalePolicy& policy() const { return policy_; }
    const std::string& violation() const { return violation_; }
    int turns() const { return turns_; }  // how often it grew after it had shrunk
    void count_turns_anew() { turns_ = 0; }
    std::int64_t unread() const {
        std::int64_t sum = 0;
        for (const auto& partition : partitions_) sum += partition.unread;
        return sum;
    }
    // One instance that has all of it.
    std::int64_t seconds_to_drain() const {
        return static_cast<std::int64_t>(static_cast<double>(unread()) / per_instance_) + 300;
    }

    void run(std::int64_t seconds, bool is_loaded, bool may_fail) {
        const std::int64_t end = second_ + seconds;
        for (; second_ < end && violation_.empty(); second_ += step_s) {
            if (is_loaded) arrive();
            handle();
            decide(may_fail);
        }
    }

    std::string describe() const {
        return fmt::format("second {}: {} partitions, {} unread, {}", second_, partitions_.size(),
                           unread(), scale_line(decision_, policy_));
    }

private:
    struct Partition {
        std::int64_t unread = 0;
        std::int64_t stored = 0;
    };

    void arrive() {
        arrived_ += load_.at(second_) * static_cast<double>(step_s);
        auto whole = static_cast<std::int64_t>(arrived_);
        arrived_ -= static_cast<double>(whole);
        const auto count = static_cast<std::int64_t>(partitions_.size());
        // An uneven load gives the first partition a double share.
        const std::int64_t shares = count + (is_uneven_ ? 1 : 0);
        for (std::int64_t share = 0; share < shares; ++share) {
            const std::int64_t part = whole / (shares - share);
            whole -= part;
            auto& partition = partitions_[static_cast<std::size_t>(share % count)];
            partition.unread += part;
            partition.stored += part;
        }
    }

    // Those that have started divide the partitions, as far as there are partitions.
    void handle() {
        while (!starting_.empty() && starting_.front() <= second_) {
            starting_.pop_front();
            ++running_;
        }
        const std::size_t readers = std::min<std::size_t>(running_, partitions_.size());
        for (std::size_t reader = 0; reader < readers; ++reader) {
            auto room = static_cast<std::int64_t>(per_instance_ * static_cast<double>(step_s));
            for (std::size_t p = reader; p < partitions_.size(); p += readers) {
                const std::int64_t part = std::min(room, partitions_[p].unread);
                partitions_[p].unread -= part;
                room -= part;
            }
        }
    }

    void decide(bool may_fail) {
        const bool is_failing = may_fail && random_.chance(1, 50);
        if (is_failing) outage_end_ = second_ + random_.between(2, 60);
        const Instant now = at_second(second_);
        if (second_ < outage_end_ && may_fail) {
            history_.note_unknown("out of reach");
        } else {
            GroupLoad reading;
            for (const Partition& partition : partitions_) {
                reading.partitions.push_back({.unread = partition.unread,
                                              .position = partition.stored - partition.unread,
                                              .last = partition.stored});
            }
            history_.note(reading, instances_, now);
        }
        decision_ = decide_scale(history_, policy_, instances_, now);
        check();
        obey(decision_.wanted);
    }

    void obey(std::uint32_t wanted) {
        if (wanted > instances_ && has_shrunk_) ++turns_;
        if (wanted != instances_) has_shrunk_ = wanted < instances_;
        if (wanted > instances_) grown_at_ = second_;
        for (; instances_ < wanted; ++instances_) starting_.push_back(second_ + start_s_);
        for (; instances_ > wanted; --instances_) {
            if (starting_.empty()) {
                --running_;
            } else {
                starting_.pop_back();
            }
        }
    }

    void check() {
        const std::uint32_t wanted = decision_.wanted;
        const auto rule = [&](bool holds, const char* name) {
            if (!holds && violation_.empty()) violation_ = fmt::format("{}: {}", name, describe());
        };
        rule(wanted >= policy_.min && wanted <= std::max(ceiling_, policy_.min), "SCALE-3: limits");
        if (decision_.unknown) {
            readings_.clear();
            return rule(wanted == std::max(instances_, policy_.min), "SCALE-4: hold");
        }
        readings_.emplace_back(second_, unread());
        while (readings_.front().first < second_ - 120) readings_.pop_front();
        std::int64_t recent = 0;
        std::int64_t in_idle_time = 0;
        for (const auto& [second, reading] : readings_) {
            in_idle_time = std::max(in_idle_time, reading);
            if (second >= second_ - 60) recent = std::max(recent, reading);
        }
        rule(wanted >= std::min(instances_, needed_for(recent)), "SCALE-5: scale-in hold");
        rule(wanted > 0 || in_idle_time == 0, "SCALE-6: idle time");
        if (needed_for(unread()) > instances_ && instances_ < ceiling_) {
            rule(wanted > instances_, "scale-out at once");
        }
        if (wanted < instances_) rule(second_ - grown_at_ >= 60, "no oscillation");
        const bool is_young = readings_.front().first > second_ - 60;
        rule(!is_young || wanted >= instances_, "hold after an outage");
    }

    std::uint32_t needed_for(std::int64_t unread) const {
        const std::int64_t demand = (unread + policy_.target - 1) / policy_.target;
        const auto counts = even_counts(static_cast<std::uint32_t>(partitions_.size()));
        std::uint32_t count = counts.back();
        for (auto each = counts.rbegin(); each != counts.rend() && *each >= demand; ++each) {
            count = *each;
        }
        return std::min(ceiling_, count == 0 ? 0 : count + policy_.standby);
    }

    Random random_;
    ScalePolicy policy_;
    std::uint32_t ceiling_ = 0;
    double per_instance_ = 0;
    std::int64_t start_s_ = 0;
    bool is_uneven_ = false;
    SimulatedLoad load_{};
    LoadHistory history_;
    ScaleDecision decision_;
    std::vector<Partition> partitions_;
    std::deque<std::int64_t> starting_;  // when
    std::uint32_t running_ = 0;
    std::uint32_t instances_ = 0;  // running or starting
    double arrived_ = 0;
    std::int64_t second_ = 0;
    std::int64_t grown_at_ = 0;
    std::int64_t outage_end_ = 0;
    bool has_shrunk_ = false;
    int turns_ = 0;
    std::deque<std::pair<std::int64_t, std::int64_t>> readings_;
    std::string violation_;
};

}  // namespace evenkeel::host
