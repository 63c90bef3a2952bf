#include "sim/store_loss_schedule.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include <fmt/core.h>

#include "checkpoint/faulty_store.h"
#include "checkpoint/memory/store.h"
#include "io/sim/scheduler.h"
#include "processor/core.h"
#include "source/sim_source.h"

namespace evenkeel::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration pause_max = seconds(3);

class LossWorld {
public:
    explicit LossWorld(std::uint64_t seed)
        : random_(seed),
          partitions_(static_cast<std::uint32_t>(1 + random_.below(6))),
          scheduler_(seed),
          hub_({.partitions = partitions_,
                .latency_max = milliseconds(5),
                .exclusive = random_.chance(1, 2),
                .seed = seed}),
          handled_to_(partitions_, -1),
          floor_(partitions_, -1),
          known_(partitions_, -1),
          has_newcomer_(random_.chance(1, 3)) {
        faults_.write_half = std::chrono::microseconds(random_.between(500, 20'000));
        faults_.list_half = faults_.write_half * 3 / 2;
        // Who knows better must be heard within store_settle.
        if (has_newcomer_) faults_.slow_per_thousand = 0;
        if (!has_newcomer_ && random_.chance(1, 2)) {
            faults_.lost_per_thousand = static_cast<std::uint32_t>(random_.between(1, 30));
        }
        options_.checkpoints.every_events = static_cast<std::uint64_t>(random_.between(1, 20));
        options_.checkpoints.every = milliseconds(random_.between(100, 2000));
        options_.batch_events_max = static_cast<std::size_t>(random_.between(1, 12));
    }
    ~LossWorld() {
        nodes_.clear();
        server_loop_.discard();
    }

    StoreLossResult run() {
        live();
        lose();
        if (violations_.empty()) accept();
        return {violations_, story_, events_};
    }

private:
    struct Node {
        Node(LossWorld& world, std::string name)
            : id(std::move(name)),
              loop(world.scheduler_, id),
              workers(world.scheduler_, id + "/work"),
              store(loop, world.server_loop_,
                    std::make_shared<checkpoint::MemoryStore>(world.server_loop_, world.server_,
                                                              world.group_),
                    world.faults_, world.scheduler_.fork_random()),
              source(world.hub_, loop) {
            workers.set_latency(milliseconds(0), milliseconds(20));
            ProcessorOptions options = world.options_;
            options.id = id;
            options.on_error = [](const Failure&) {};
            processor::CoordinatorOptions coordination;
            coordination.id = id;
            coordination.incarnation = fmt::format("{}.{}", id, ++world.starts_);
            coordination.timing = processor::fast_timing();
            core = std::make_unique<processor::Core>(
                processor::CorePlace{loop, workers, store, source}, options,
                [&world](std::uint32_t) { return std::make_unique<Handler>(world); }, coordination,
                world.scheduler_.fork_random(), [this](Error error) { ended = std::move(error); });
        }
        ~Node() {
            loop.discard();
            workers.discard();
            core.reset();
        }
        // Or was refused.
        bool has_ended() const { return ended || (started && !started->ok()); }

        const std::string id;
        io::sim::SimLoop loop;
        io::sim::SimExecutor workers;
        checkpoint::FaultyStore store;
        source::SimSource source;
        std::unique_ptr<processor::Core> core;
        std::optional<Error> ended;
        std::optional<Result<>> started;
    };
    class Handler final : public PartitionHandler {
    public:
        explicit Handler(LossWorld& world) : world_(world) {}
        Result<> on_events(Partition& partition, Events events) override {
            for (const Event& event : events) {
                world_.on_event(partition.id(), event.sequence_number);
            }
            return {};
        }

    private:
        LossWorld& world_;
    };

    void on_event(std::uint32_t partition, std::int64_t sequence) {
        ++events_;
        if (is_lost_ && sequence <= floor_[partition]) {
            violate(fmt::format("LOSS-1: event {} of partition {} is handled again, {} was stored",
                                sequence, partition, floor_[partition]));
        }
        if (is_accepted_ && sequence <= known_[partition]) {
            violate(fmt::format("LOSS-4: event {} of partition {} is handled again, {} was known",
                                sequence, partition, known_[partition]));
        }
        handled_to_[partition] = std::max(handled_to_[partition], sequence);
    }

    void start() {
        const std::string id(1, static_cast<char>('a' + last_id_++ % 26));
        tell("start " + id);
        auto& node = nodes_[id] = std::make_unique<Node>(*this, id);
        node->core->start([&node = *node](Result<> result) { node.started = std::move(result); });
    }
    void append() {
        for (std::uint32_t p = 0; p < partitions_; ++p) {
            hub_.append_many({p}, random_.below(20), scheduler_.clock().wall());
        }
    }

    void live() {
        const std::uint64_t members = 1 + random_.below(4);
        for (std::uint64_t i = 0; i < members; ++i) start();
        for (int i = 0; i < 6; ++i) {
            append();
            scheduler_.run_for(milliseconds(random_.between(200, 4000)));
            disturb();
        }
        scheduler_.run_for(seconds(random_.between(0, 20)));
    }

    void disturb() {
        if (nodes_.empty()) return start();
        auto node = nodes_.begin();
        std::advance(node, static_cast<std::ptrdiff_t>(random_.below(nodes_.size())));
        switch (random_.below(5)) {
            case 0: return nodes_.size() < 4 ? start() : void();
            case 1:
                tell("crash " + node->first);
                nodes_.erase(node);
                return nodes_.empty() ? start() : void();
            case 2: tell("pause " + node->first); return node->second->loop.pause(pause_max);
            default: return;
        }
    }

    void lose() {
        checkpoint::Table copy;
        if (!has_newcomer_ && random_.chance(1, 2)) {
            tell("a copy is made");
            copy = server_.snapshot(group_);
            append();
            scheduler_.run_for(6 * processor::store_mark_period(processor::fast_timing()));
            disturb();
        }
        // Who knows better must be able to say so.
        if (has_newcomer_) scheduler_.run_for(pause_max);
        // Whoever has not joined begins on the new store, and is not meant.
        const bool have_joined = scheduler_.run_until(
            [&] {
                return std::all_of(nodes_.begin(), nodes_.end(),
                                   [](const auto& each) { return each.second->started; });
            },
            std::chrono::minutes(2));
        if (!have_joined) return violate("somebody does not start");
        const checkpoint::Table before = server_.snapshot(group_);
        for (const auto& each : before.checkpoints()) {
            floor_[each.partition.value] = each.sequence.value;
        }
        for (const auto& [id, node] : nodes_) {
            for (const auto& each : node->core->status().partitions) {
                known_[each.partition] = std::max(known_[each.partition], each.checkpoint_sequence);
            }
        }
        is_lost_ = true;
        server_.restore(group_, std::move(copy));
        tell("the store is lost; " + mark_of(before) + " becomes " +
             mark_of(server_.snapshot(group_)));
        if (has_newcomer_) {
            scheduler_.run_for(milliseconds(random_.between(0, 300)));
            start();
        }
        append();
        const bool have_ended = scheduler_.run_until(
            [&] {
                return std::all_of(nodes_.begin(), nodes_.end(),
                                   [](const auto& each) { return each.second->has_ended(); });
            },
            std::chrono::minutes(3));
        if (!have_ended) return violate("LOSS-2: somebody goes on\n" + describe());
        for (const auto& [id, node] : nodes_) {
            const Error why = node->ended ? *node->ended : node->started->error();
            if (why.code != ErrorCode::corrupt) violate("LOSS-2: " + to_string(why));
        }
        nodes_.clear();
    }

    void accept() {
        faults_.lost_per_thousand = 0;
        start();
        Node& refused = *nodes_.begin()->second;
        scheduler_.run_until([&] { return refused.started.has_value(); }, std::chrono::minutes(2));
        if (!refused.started || refused.started->ok())
            return violate("LOSS-3: it begins by itself");
        nodes_.clear();
        is_lost_ = false;
        is_accepted_ = true;
        options_.accept_store_loss = true;
        start();
        const bool is_done = scheduler_.run_until(
            [&] {
                for (std::uint32_t p = 0; p < partitions_; ++p) {
                    if (handled_to_[p] < hub_.last({p}).value) return false;
                }
                return true;
            },
            std::chrono::minutes(3));
        if (!is_done) violate("LOSS-3: not everything is handled\n" + describe());
    }

    static std::string mark_of(const checkpoint::Table& table) {
        const auto signs = processor::read_store_signs(table.records(processor::store_mark_key));
        return signs.mark ? fmt::format("mark {}", signs.mark->count) : "no mark";
    }
    void tell(const std::string& what) {
        story_ += fmt::format("{:.3f} s: {}\n",
                              static_cast<double>(scheduler_.now().nanoseconds) / 1e9 - 1000, what);
    }
    void violate(const std::string& what) {
        if (violations_.size() < 2000) violations_ += what + "\n";
    }
    std::string describe() const {
        std::string text;
        for (const auto& [id, node] : nodes_) {
            text += fmt::format("{}: {}\n{}", id, node->ended ? to_string(*node->ended) : "goes on",
                                node->core->explain());
        }
        return text;
    }

    Random random_;
    const std::uint32_t partitions_;
    io::sim::Scheduler scheduler_;
    checkpoint::MemoryServer server_{scheduler_.clock()};
    io::sim::SimLoop server_loop_{scheduler_, "store"};
    source::SimHub hub_;
    checkpoint::Faults faults_;
    ProcessorOptions options_;
    const checkpoint::GroupName group_{"sim", "homes", "group"};
    std::map<std::string, std::unique_ptr<Node>> nodes_;
    std::vector<std::int64_t> handled_to_;
    std::vector<std::int64_t> floor_;  // what the lost store knew
    std::vector<std::int64_t> known_;  // of that, what a member that lives has stored
    const bool has_newcomer_;
    bool is_lost_ = false;
    bool is_accepted_ = false;
    int last_id_ = 0;
    int starts_ = 0;
    std::uint64_t events_ = 0;
    std::string violations_;
    std::string story_;
};

}  // namespace

StoreLossResult run_store_loss_schedule(std::uint64_t seed) {
    return LossWorld(seed).run();
}

}  // namespace evenkeel::sim
