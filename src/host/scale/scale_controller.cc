#include "host/scale/scale_controller.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/core.h>

#include "base/check.h"
#include "host/handler/keeper.h"

namespace evenkeel::host {
namespace {

using Kind = ControllerAction::Kind;

// One that ran for so long was well: the next pause is the short one again.
constexpr Duration healthy = std::chrono::minutes(1);

}  // namespace

std::string_view to_string(InstanceState state) {
    switch (state) {
        case InstanceState::waiting: return "waiting";
        case InstanceState::starting: return "starting";
        case InstanceState::running: return "running";
        case InstanceState::draining: return "draining";
    }
    return "";
}

ScaleController::ScaleController(ControllerOptions options)
    : options_(std::move(options)), random_(options_.seed) {
    EK_CHECK(!options_.functions.empty(), "an app without functions does not scale");
    for (const auto& function : options_.functions) histories_.emplace_back(function.never_read);
}

void ScaleController::note(std::size_t function, const GroupLoad& load, Instant now) {
    ScalePolicy& policy = options_.functions.at(function).policy;
    const auto partitions = static_cast<std::uint32_t>(load.partitions.size());
    // Nobody gave a most: the partitions are one, but not for a hub of a thousand.
    if (policy.max == 0 && partitions + policy.standby > default_max) {
        policy.max = std::max(default_max, policy.min);
    }
    histories_.at(function).note(load, instances(), now);
}

void ScaleController::note_unknown(std::size_t function, std::string why) {
    histories_.at(function).note_unknown(std::move(why));
}

void ScaleController::note_owned(const std::map<std::string, std::uint32_t>& owned) {
    for (InstanceSlot& slot : slots_) {
        const auto found = owned.find(slot.name);
        slot.owned = found == owned.end() ? 0 : found->second;
    }
}

void ScaleController::is_ready(const std::string& name, Instant now) {
    for (InstanceSlot& slot : slots_) {
        if (slot.name != name || slot.state != InstanceState::starting) continue;
        slot.state = InstanceState::running;
        slot.since = now;
        slot.has_run = true;
    }
}

void ScaleController::has_ended(const std::string& name, const std::string& how, Instant now) {
    const auto slot = std::ranges::find(slots_, name, &InstanceSlot::name);
    if (slot == slots_.end() || slot->state == InstanceState::waiting) return;
    if (slot->state == InstanceState::draining) {
        slots_.erase(slot);
        return;
    }
    const bool was_well = slot->state == InstanceState::running && now - slot->since >= healthy;
    slot->ends = was_well ? 1 : slot->ends + 1;
    slot->last_end = how;
    slot->state = InstanceState::waiting;
    slot->since = now;
    slot->until = now + restart_pause(slot->ends, random_);
    slot->owned = 0;
}

ControllerActions ScaleController::decide(Instant now) {
    ControllerActions actions;
    if (is_stopping_) return actions;
    const std::uint32_t before = instances();
    decisions_.clear();
    leader_ = 0;
    for (std::size_t i = 0; i < histories_.size(); ++i) {
        decisions_.push_back(
            decide_scale(histories_[i], options_.functions[i].policy, before, now));
        if (decisions_[i].wanted > decisions_[leader_].wanted) leader_ = i;
    }
    wanted_ = decisions_[leader_].wanted;
    if (wanted_ > before && is_failing()) wanted_ = before;
    while (instances() < wanted_) begin(slots_.emplace_back(), now, actions);
    while (instances() > wanted_) shrink(now, actions);
    EK_CHECK(instances() == wanted_, "SCALE-7: as many instances as wanted");
    return actions;
}

ControllerActions ScaleController::tick(Instant now) {
    ControllerActions actions;
    for (InstanceSlot& slot : slots_) {
        if (slot.state == InstanceState::running || slot.is_killed || now < slot.until) continue;
        if (slot.state == InstanceState::waiting) {
            begin(slot, now, actions);
        } else {
            EK_CHECK(
                slot.state == InstanceState::starting || (slot.state == InstanceState::draining &&
                                                          slot.since + options_.drain_max <= now),
                "SCALE-8: no kill without a drain");
            slot.is_killed = true;
            actions.push_back({Kind::kill, slot.name});
        }
    }
    return actions;
}

ControllerActions ScaleController::stop(Instant now) {
    ControllerActions actions;
    is_stopping_ = true;
    wanted_ = 0;
    std::erase_if(slots_,
                  [](const InstanceSlot& slot) { return slot.state == InstanceState::waiting; });
    for (InstanceSlot& slot : slots_) {
        if (slot.state != InstanceState::draining) drain(slot, now, actions);
    }
    return actions;
}

std::uint32_t ScaleController::instances() const {
    return static_cast<std::uint32_t>(std::ranges::count_if(
        slots_, [](const InstanceSlot& slot) { return slot.state != InstanceState::draining; }));
}

bool ScaleController::is_settling() const {
    return std::ranges::any_of(decisions_, [](const ScaleDecision& decision) {
        return decision.above == ScaleDecision::Above::step ||
               (decision.instances > 0 && !decision.unknown && decision.load.never_read > 0);
    });
}

bool ScaleController::is_failing() const {
    return instances() > 0 && std::ranges::none_of(slots_, [](const InstanceSlot& slot) {
               return slot.state == InstanceState::running ||
                      (slot.state == InstanceState::starting && slot.ends == 0);
           });
}

void ScaleController::begin(InstanceSlot& slot, Instant now, ControllerActions& actions) {
    slot.name = fmt::format("{}-{}", options_.name, ++starts_);
    slot.state = InstanceState::starting;
    slot.since = now;
    slot.until = now + options_.start_max;
    slot.has_run = false;
    slot.is_killed = false;
    actions.push_back({Kind::start, slot.name});
}

// The one whose end costs the least: one that does not run, else the one that owns the fewest
// partitions, else the youngest.
void ScaleController::shrink(Instant now, ControllerActions& actions) {
    const auto cost = [](const InstanceSlot& slot) {
        return std::tuple(slot.state == InstanceState::draining, slot.state, slot.owned,
                          -slot.since.nanoseconds);
    };
    const auto chosen = std::ranges::min_element(slots_, {}, cost);
    if (chosen->state == InstanceState::waiting) {
        slots_.erase(chosen);
        return;
    }
    drain(*chosen, now, actions);
}

void ScaleController::drain(InstanceSlot& slot, Instant now, ControllerActions& actions) const {
    slot.state = InstanceState::draining;
    slot.since = now;
    slot.until = now + options_.drain_max + drain_margin;
    slot.is_killed = false;
    actions.push_back({Kind::drain, slot.name});
}

}  // namespace evenkeel::host
