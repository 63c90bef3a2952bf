#include "sim/balance_world.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

#include <fmt/core.h>

#include "base/check.h"
#include "sim/model_host.h"
#include "sim/watched_store.h"

namespace evenkeel::sim {

using checkpoint::Ownership;
using std::chrono::milliseconds;

// The reader's side of the model, told to the world.
class BalanceWorld::Host final : public ModelHost {
public:
    Host(io::Loop& loop, checkpoint::Store& store, Random random, Process& process,
         BalanceWorld& world)
        : ModelHost(loop, store, random), process_(process), world_(world) {}

private:
    bool attach(PartitionId partition, Epoch epoch) override;
    void detach(PartitionId partition) override { world_.set_reading(process_, partition, false); }

    Process& process_;
    BalanceWorld& world_;
};

// Everything of one process; what it destroys last it uses longest.
struct BalanceWorld::Process {
    Process(BalanceWorld& world, const std::string& process_id)
        : id(process_id),
          loop(world.scheduler_, process_id),
          inner(std::make_shared<WatchedStore>(std::make_shared<checkpoint::MemoryStore>(
                                                   world.server_loop_, world.server_, world.group_),
                                               StoreWatch{.owned =
                                                              [&world](const Ownership& entry) {
                                                                  world.on_owner(entry.partition,
                                                                                 entry.owner);
                                                              }})),
          store(loop, world.server_loop_, inner, world.faults_, world.scheduler_.fork_random()),
          host(loop, store, world.scheduler_.fork_random(), *this, world) {}

    const std::string id;
    io::sim::SimLoop loop;
    std::shared_ptr<WatchedStore> inner;
    checkpoint::FaultyStore store;
    Host host;
    std::unique_ptr<processor::Coordinator> coordinator;
    Instant paused_until;
    bool is_paused = false;
    bool is_leaving = false;
    bool is_gone = false;  // it has left, or ended by itself
};

bool BalanceWorld::Host::attach(PartitionId partition, Epoch epoch) {
    const Reads& reads = world_.reads_[partition.value];
    if (world_.options_.exclusive && reads.reader != nullptr && reads.reader != &process_) {
        Process* before = reads.reader;
        const Epoch cut = before->host.epoch_of(partition);
        if (cut > epoch) return false;
        // Cut 20 ms after the new one is there.
        world_.scheduler_.run_after(milliseconds(20),
                                    [world = &world_, id = before->id, before, partition, cut] {
                                        Process* still = world->find(id);
                                        if (still == before) still->host.cut(partition, cut);
                                    });
    }
    world_.set_reading(process_, partition, true);
    return true;
}

BalanceWorld::BalanceWorld(const WorldOptions& options)
    : options_(options),
      scheduler_(options.seed),
      server_(scheduler_.clock(), {.whole_seconds = !options.exact_ages}),
      random_(scheduler_.fork_random()),
      server_loop_(scheduler_, "store"),
      faults_(options.faults),
      loads_(options.loads),
      owners_(options.partitions),
      reads_(options.partitions) {
    mark();
}

BalanceWorld::~BalanceWorld() {
    for (auto& [id, process] : processes_) process->loop.discard();
    server_loop_.discard();
    processes_.clear();
}

BalanceWorld::Process* BalanceWorld::find(const std::string& id) const {
    const auto found = processes_.find(id);
    return found == processes_.end() || found->second->is_gone ? nullptr : found->second.get();
}

void BalanceWorld::start(const std::string& id) {
    if (find(id) != nullptr) return;
    if (processes_.contains(id)) crash(id);
    start_errors_.erase(id);
    end_errors_.erase(id);
    auto& process = processes_[id] = std::make_unique<Process>(*this, id);
    processor::CoordinatorOptions options{.id = id,
                                          .incarnation = fmt::format("{}.{}", id, ++starts_[id])};
    options.timing = options_.timing;
    options.strategy = options_.strategy;
    options.exclusive_source = options_.exclusive;
    options.may_be_mixed = options_.timing.is_thrifty;
    if (!loads_.empty()) {
        options.load = [this](PartitionId partition) { return loads_[partition.value]; };
    }
    options.on_ended = [this, id](Error error) {
        end_errors_.emplace(id, std::move(error));
        scheduler_.run_after(Duration(0), [this, id] { crash(id); });
    };
    process->coordinator = std::make_unique<processor::Coordinator>(
        process->loop, process->store, process->host, std::move(options), scheduler_.fork_random());
    process->host.set_permit(process->coordinator.get());
    process->coordinator->start(options_.partitions, [this, id](const Result<>& result) {
        if (result) return;
        start_errors_.emplace(id, result.error());
        scheduler_.run_after(Duration(0), [this, id] { crash(id); });
    });
    judge_balance();
}

void BalanceWorld::crash(const std::string& id) {
    const auto found = processes_.find(id);
    if (found == processes_.end()) return;
    Process& process = *found->second;
    process.loop.discard();
    process.host.detach_all();
    process.coordinator.reset();
    processes_.erase(found);
    judge_balance();
}

void BalanceWorld::leave(const std::string& id) {
    Process* process = find(id);
    if (process == nullptr || process->is_leaving) return;
    process->is_leaving = true;
    process->coordinator->leave([this, id] {
        Process* left = find(id);
        if (left == nullptr) return;
        if (left->host.any_attached()) violate(id + " has left but reads");
        left->is_gone = true;
        judge_balance();
        scheduler_.run_after(Duration(0), [this, id] {
            if (find(id) == nullptr) crash(id);
        });
    });
    judge_balance();
}

void BalanceWorld::pause(const std::string& id, Duration duration) {
    Process* process = find(id);
    if (process == nullptr) return;
    process->loop.pause(duration);
    process->paused_until = std::max(process->paused_until, now() + duration);
    if (!process->is_paused) {
        process->is_paused = true;
        for (const PartitionId partition : process->host.attached()) {
            count_reader(partition.value, -1);
        }
    }
    scheduler_.run_at(process->paused_until, [this, id, process] {
        if (find(id) != process || !process->is_paused || process->paused_until > now()) return;
        process->is_paused = false;
        for (const PartitionId partition : process->host.attached()) {
            count_reader(partition.value, 1);
        }
    });
}

void BalanceWorld::set_wall_skew(const std::string& id, std::chrono::milliseconds skew) {
    if (Process* process = find(id)) process->loop.set_wall_skew(skew);
}

void BalanceWorld::set_loads(std::vector<double> loads) {
    loads_ = std::move(loads);
}

void BalanceWorld::write_warm(const std::vector<std::string>& ids) {
    checkpoint::MemoryStore direct(server_loop_, server_, group_);
    std::vector<Ownership> entries;
    for (std::uint32_t p = 0; p < options_.partitions; ++p) {
        entries.push_back({.partition = {p}, .owner = ids[p % ids.size()], .epoch = {1}});
        owners_[p] = entries.back().owner;
    }
    direct.write_ownerships(std::move(entries), [](const auto&) {});
}

void BalanceWorld::write_foreign(std::uint32_t partition, const std::string& owner) {
    checkpoint::MemoryStore direct(server_loop_, server_, group_);
    Ownership entry{.partition = {partition}, .owner = owner, .epoch = {0}};
    for (const Ownership& known : server_.snapshot(group_).ownerships({now(), {}})) {
        if (known.partition == entry.partition) entry.version = known.version;
    }
    direct.write_ownerships({entry}, [](const auto&) {});
    on_owner(entry.partition, owner);
}

void BalanceWorld::run_for(Duration duration) {
    bool is_over = false;
    scheduler_.run_after(duration, [&] { is_over = true; });
    while (!is_over && scheduler_.step()) after_step();
}

bool BalanceWorld::run_until_balanced(Duration at_most) {
    const Instant end = now() + at_most;
    while (now() < end) {
        if (figures_.balanced_at && is_all_read()) return true;
        run_for(milliseconds(20));
    }
    return figures_.balanced_at && is_all_read();
}

bool BalanceWorld::settles(Duration at_most, Duration quiet) {
    if (!run_until_balanced(at_most)) return false;
    const std::uint64_t before = figures_.moves;
    run_for(quiet);
    if (figures_.moves != before) violate("moves though nothing changed");
    return is_balanced() && is_all_read();
}

void BalanceWorld::after_step() {
    if (!contested_.empty()) check_readers();
}

// At most one that may hand on another batch.
void BalanceWorld::check_readers() {
    std::erase_if(contested_, [&](std::uint32_t p) { return reads_[p].attached < 2; });
    if (options_.exclusive) return;
    for (const std::uint32_t p : contested_) {
        std::string acting;
        int count = 0;
        for (const auto& [id, process] : processes_) {
            if (process->is_paused || !process->host.is_attached({p})) continue;
            if (!process->coordinator->may_act({p})) continue;
            ++count;
            acting += " " + id;
        }
        if (count > 1) violate(fmt::format("partition {} is read twice:{}", p, acting));
    }
}

void BalanceWorld::on_owner(PartitionId partition, const std::string& owner) {
    std::string& before = owners_[partition.value];
    if (before == owner) return;
    const Process* from = find(before);
    const bool acts = from != nullptr && !from->is_paused && from->coordinator->may_act(partition);
    if (acts && !options_.exclusive && owner.rfind("official", 0) != 0) {
        violate(fmt::format("partition {} goes from {} to '{}' while the first may act on it",
                            partition.value, before, owner));
    }
    if (!before.empty() && !owner.empty()) {
        ++figures_.moves;
        if (from != nullptr && !from->is_paused && from->host.is_attached(partition)) {
            ++figures_.hard;
        }
    }
    if (const char* tell = std::getenv("EVENKEEL_TELL")) {
        fmt::print("{:.3f} s: partition {}: '{}' -> '{}'{}\n",
                   static_cast<double>(now().nanoseconds) / 1e9 - 1000, partition.value, before,
                   owner, *tell == '2' ? "\n" + describe() : "");
    }
    before = owner;
    judge_balance();
}

void BalanceWorld::set_reading(Process& process, PartitionId partition, bool is_reading) {
    Reads& reads = reads_[partition.value];
    reads.attached += is_reading ? 1 : -1;
    if (is_reading) {
        reads.reader = &process;
        if (reads.attached == 2) contested_.push_back(partition.value);
    } else if (reads.reader == &process) {
        reads.reader = nullptr;
    }
    if (!process.is_paused) count_reader(partition.value, is_reading ? 1 : -1);
}

void BalanceWorld::count_reader(std::uint32_t partition, int change) {
    Reads& reads = reads_[partition];
    const int before = reads.readers;
    reads.readers += change;
    EK_CHECK(reads.readers >= 0, "counted a reader out that was not in");
    if (before == 0 && reads.readers > 0) {
        const Duration gap = now() - std::max(reads.unread_since, marked_);
        figures_.unread += gap;
        figures_.gaps += gap;
        ++figures_.gap_count;
        figures_.worst_gap = std::max(figures_.worst_gap, gap);
    }
    if (before > 0 && reads.readers == 0) reads.unread_since = now();
}

bool BalanceWorld::is_balanced() const {
    std::map<std::string, std::uint32_t> counts;
    for (const auto& [id, process] : processes_) {
        if (!process->is_leaving && !process->is_gone) counts[id] = 0;
    }
    if (counts.empty()) return true;
    for (const std::string& owner : owners_) {
        const auto found = counts.find(owner);
        if (found == counts.end()) return false;
        ++found->second;
    }
    std::uint32_t least = std::numeric_limits<std::uint32_t>::max();
    std::uint32_t most = 0;
    for (const auto& [id, count] : counts) {
        least = std::min(least, count);
        most = std::max(most, count);
    }
    return most - least <= 1 || !loads_.empty();
}

bool BalanceWorld::is_all_read() const {
    if (running().empty()) return true;
    return std::all_of(reads_.begin(), reads_.end(),
                       [](const Reads& reads) { return reads.readers == 1; });
}

void BalanceWorld::judge_balance() {
    if (!is_balanced()) {
        figures_.balanced_at.reset();
    } else if (!figures_.balanced_at) {
        figures_.balanced_at = now();
    }
}

void BalanceWorld::mark() {
    marked_ = now();
    figures_ = {};
    judge_balance();
}

Figures BalanceWorld::figures() const {
    Figures figures = figures_;
    for (const Reads& reads : reads_) {
        if (reads.readers > 0) continue;
        const Duration gap = now() - std::max(reads.unread_since, marked_);
        figures.unread += gap;
        figures.worst_gap = std::max(figures.worst_gap, gap);
    }
    return figures;
}

std::uint64_t BalanceWorld::requests() const {
    std::uint64_t requests = 0;
    for (const auto& [id, process] : processes_)
        requests += process->coordinator->status().requests;
    return requests;
}

void BalanceWorld::violate(const std::string& what) {
    if (violations_.find(what) != std::string::npos || violations_.size() > 2000) return;
    violations_ +=
        fmt::format("at {:.3f} s: {}\n", static_cast<double>(now().nanoseconds) / 1e9 - 1000, what);
}

bool BalanceWorld::is_running(const std::string& id) const {
    return find(id) != nullptr;
}

bool BalanceWorld::is_paused(const std::string& id) const {
    const Process* process = find(id);
    return process != nullptr && process->is_paused;
}

std::vector<std::string> BalanceWorld::running() const {
    std::vector<std::string> ids;
    for (const auto& [id, process] : processes_) {
        if (!process->is_gone && !process->is_leaving) ids.push_back(id);
    }
    return ids;
}

processor::Coordinator* BalanceWorld::coordinator(const std::string& id) {
    Process* process = find(id);
    return process == nullptr ? nullptr : process->coordinator.get();
}

std::optional<Error> BalanceWorld::start_error(const std::string& id) const {
    const auto found = start_errors_.find(id);
    return found == start_errors_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Error> BalanceWorld::end_error(const std::string& id) const {
    const auto found = end_errors_.find(id);
    return found == end_errors_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::uint32_t> BalanceWorld::owned_by(const std::string& id) const {
    std::vector<std::uint32_t> partitions;
    for (std::uint32_t p = 0; p < owners_.size(); ++p) {
        if (owners_[p] == id) partitions.push_back(p);
    }
    return partitions;
}

double BalanceWorld::load_of(const std::string& id) const {
    double load = 0;
    for (const std::uint32_t p : owned_by(id)) load += loads_[p];
    return load;
}

std::string BalanceWorld::describe() const {
    std::string text;
    for (std::uint32_t p = 0; p < owners_.size(); ++p) {
        const Process* process = find(owners_[p]);
        const bool is_read = process != nullptr && process->host.is_attached({p});
        text += fmt::format("{}:{}{} ", p, owners_[p].empty() ? "-" : owners_[p],
                            is_read ? "" : "(unread)");
    }
    text += "\n";
    for (const auto& [id, process] : processes_) {
        if (process->is_gone) continue;
        text += process->coordinator->explain();
        for (const auto& holding : process->coordinator->status().holdings) {
            text += fmt::format("  {} {};", holding.partition.value, holding.state);
        }
        text += "\n";
    }
    return text;
}

}  // namespace evenkeel::sim
