// tidy: no test: tested by event_browser_test.cc
#include "dashboard/seek.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "base/time_point.h"
#include "dashboard/event_peek.h"
#include "processor/ownership/operator_requests.h"

namespace evenkeel::dashboard {
namespace {

using checkpoint::Checkpoint;
using checkpoint::Ownership;
using checkpoint::Store;

class SeekPlan : public std::enable_shared_from_this<SeekPlan> {
public:
    SeekPlan(const BrowsePlace& place, const BrowseStart& to,
             Callback<void(Result<std::vector<SeekStep>>)> done)
        : place_(place), to_(to), done_(std::move(done)) {}

    void run(const GroupView& view, const std::vector<std::uint32_t>& partitions) {
        for (const PartitionView& partition : view.partitions) {
            const bool is_wanted =
                partitions.empty() ||
                std::ranges::find(partitions, partition.partition) != partitions.end();
            if (!is_wanted) continue;
            parts_.push_back({partition.hub.end,
                              {.partition = partition.partition,
                               .from = partition.progress.position,
                               .hub_created_ms = partition.hub.end.created_ms}});
        }
        next(0);
    }

private:
    struct Part {
        PartitionEnd end;
        SeekStep step;
    };

    void next(std::size_t index) {
        using Kind = BrowseStart::Kind;
        for (; index < parts_.size(); ++index) {
            auto& [end, step] = parts_[index];
            if (to_.kind == Kind::time && !end.is_empty) return find_time(index);
            step.to = to_.kind == Kind::oldest ? end.begin - 1
                      : to_.kind == Kind::sequence
                          ? std::clamp<std::int64_t>(to_.value - 1, end.begin - 1, end.last)
                          : end.last;
        }
        std::vector<SeekStep> steps;
        for (auto& [end, step] : parts_) {
            // Events that retention has taken can neither be repeated nor skipped.
            const std::int64_t from = std::max(step.from, end.begin - 1);
            step.repeats = std::max<std::int64_t>(0, from - step.to);
            step.skips = std::max<std::int64_t>(0, step.to - from);
            steps.push_back(step);
        }
        done_(std::move(steps));
    }

    // The last event before the first one of that time, or the last one of all.
    void find_time(std::size_t index) {
        const auto hub = place_.hubs.find(place_.hub);
        const auto partition =
            hub.ok() ? (*hub)->partition({parts_[index].step.partition}) : hub.error();
        if (!partition.ok()) return done_(partition.error());
        parts_[index].step.to = parts_[index].end.last;
        EventPeek::start(
            place_.loop, place_.reads, **partition, Position::at_time(time_point({to_.value})),
            [self = shared_from_this(), index](const Event& event) {
                self->parts_[index].step.to = event.sequence_number - 1;
                return false;
            },
            [self = shared_from_this(), index](const Result<EventPeek::Ended>& ended) {
                if (!ended.ok()) return self->done_(ended.error());
                // Others have their turn between two partitions.
                self->place_.loop.post([self, index] { self->next(index + 1); });
            });
    }

    const BrowsePlace place_;
    const BrowseStart to_;
    Callback<void(Result<std::vector<SeekStep>>)> done_;
    std::vector<Part> parts_;
};

class SeekMove : public std::enable_shared_from_this<SeekMove> {
public:
    SeekMove(Store& store, std::vector<SeekStep> steps, Store::Answer<> done)
        : store_(store), steps_(std::move(steps)), done_(std::move(done)) {}

    void run() {
        store_.list_ownerships(
            [self = shared_from_this()](const Result<std::vector<Ownership>>& listed) {
                if (!listed.ok()) return self->done_(listed.error());
                for (const auto& entry : *listed) self->ownerships_[entry.partition] = entry;
                self->list_checkpoints();
            });
    }

private:
    void list_checkpoints() {
        store_.list_checkpoints(
            [self = shared_from_this()](const Result<std::vector<Checkpoint>>& listed) {
                if (!listed.ok()) return self->done_(listed.error());
                for (const auto& entry : *listed) {
                    self->created_[entry.partition] = entry.hub_created_ms;
                }
                self->next(0);
            });
    }
    void next(std::size_t index) {
        if (index == steps_.size()) return done_({});
        const PartitionId partition{steps_[index].partition};
        std::optional<Ownership> ownership;
        if (const auto found = ownerships_.find(partition); found != ownerships_.end()) {
            ownership = found->second;
        }
        // The event hub may have been created again since the stored one: a processor would take a
        // position of the old one for none.
        const std::int64_t created_ms =
            steps_[index].hub_created_ms != 0 ? steps_[index].hub_created_ms : created_[partition];
        processor::set_position(
            store_, std::move(ownership),
            {.partition = partition, .sequence = {steps_[index].to}, .hub_created_ms = created_ms},
            [self = shared_from_this(), index](const Result<>& moved) {
                if (!moved.ok()) return self->done_(moved.error());
                self->next(index + 1);
            });
    }

    Store& store_;
    const std::vector<SeekStep> steps_;
    Store::Answer<> done_;
    std::map<PartitionId, Ownership> ownerships_;
    std::map<PartitionId, std::int64_t> created_;
};

}  // namespace

void plan_seek(const BrowsePlace& place, const GroupView& view, const BrowseStart& to,
               const std::vector<std::uint32_t>& partitions,
               Callback<void(Result<std::vector<SeekStep>>)> done) {
    place.loop.check_here();
    std::make_shared<SeekPlan>(place, to, std::move(done))->run(view, partitions);
}

std::string to_json(const std::vector<SeekStep>& steps) {
    std::int64_t repeats = 0;
    std::int64_t skips = 0;
    JsonWriter json;
    json.object([&] {
        json.key("partitions").array([&] {
            for (const SeekStep& step : steps) {
                repeats += step.repeats;
                skips += step.skips;
                json.object([&] {
                    json.member("p", step.partition).member("from", step.from);
                    json.member("to", step.to);
                    json.member("repeats", step.repeats).member("skips", step.skips);
                });
            }
        });
        json.member("repeats", repeats).member("skips", skips);
    });
    return json.take();
}

void carry_out(Store& store, std::vector<SeekStep> steps, Store::Answer<> done) {
    std::make_shared<SeekMove>(store, std::move(steps), std::move(done))->run();
}

}  // namespace evenkeel::dashboard
