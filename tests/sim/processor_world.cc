#include "sim/processor_world.h"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include <fmt/core.h>

#include "processor/core.h"
#include "sim/watched_store.h"

namespace evenkeel::sim {

using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

double in_seconds(Instant at) {
    return static_cast<double>(at.nanoseconds) / 1e9 - 1000;
}

CheckerOptions checked(const ProcessorWorldOptions& options) {
    CheckerOptions result;
    result.partitions = options.partitions;
    result.delivery = options.processor.delivery;
    result.manual = options.processor.checkpoints.manual;
    result.exclusive = options.exclusive;
    // One whose lease is over goes on until it hears that its reader was cut; and it may have been
    // stopped for as long as it is still taken for attentive (Coordinator).
    result.cut_max = options.cut_after + milliseconds(250 + 5);
    result.attempts_max = options.processor.retry.attempts_max;
    return result;
}

}  // namespace

// Threads for handlers, as many as are needed; each call takes the time it draws, and has its
// effect at the end of it.
class ProcessorWorld::Pool final : public io::Executor {
public:
    Pool(ProcessorWorld& world, const std::string& id)
        : world_(world), lane_(world.scheduler_, id + "/work"), random_(world.random_.fork()) {}

    void post(Task task) override {
        const Duration takes = draw();
        busy_until_ = std::max(busy_until_, world_.now() + takes);
        lane_.post([this, began = world_.now(), takes, task = std::move(task)]() mutable {
            lane_.run_after(takes, [this, began, task = std::move(task)]() mutable {
                began_ = began;
                task();
            });
        });
    }
    Instant began() const { return began_; }
    // A call runs that is not over at once.
    bool is_stuck() const { return busy_until_ > world_.now() + milliseconds(10); }
    Random& random() { return random_; }
    void pause(Duration duration) { lane_.pause(duration); }
    void discard() { lane_.discard(); }

private:
    Duration draw() {
        const HandlerHabits& habits = world_.habits_;
        if (random_.chance(habits.stuck_per_thousand, 1000)) {
            return milliseconds(random_.between(5'000, 40'000));
        }
        if (random_.chance(habits.slow_per_thousand, 1000)) {
            return milliseconds(random_.between(50, 2000));
        }
        return Duration(random_.between(0, habits.usual_max.count()));
    }

    ProcessorWorld& world_;
    io::sim::SimLoop lane_;
    Random random_;
    Instant began_;
    Instant busy_until_;
};

// Everything of one process; what it destroys last it uses longest.
struct ProcessorWorld::Process {
    Process(ProcessorWorld& world, const std::string& process_id);
    ~Process() {
        loop.discard();
        pool.discard();
        core.reset();
    }

    const std::string id;
    io::sim::SimLoop loop;
    Pool pool;
    const std::shared_ptr<checkpoint::Faults> faults;  // outlive requests on their way
    std::shared_ptr<WatchedStore> inner;
    checkpoint::FaultyStore store;
    source::SimSource source;
    std::unique_ptr<processor::Core> core;
    bool is_leaving = false;
    bool is_gone = false;
};

class ProcessorWorld::Handler final : public PartitionHandler {
public:
    Handler(ProcessorWorld& world, Process& process) : world_(world), process_(process) {}

    Result<> on_events(Partition& partition, Events events) override {
        if (events.empty()) return {};
        Random& random = process_.pool.random();
        HandlerCall call;
        call.by = process_.id;
        call.partition = partition.id();
        call.epoch = partition.epoch();
        call.began = process_.pool.began();
        call.ended = world_.now();
        call.first = events.front().sequence_number;
        call.last = events.back().sequence_number;
        for (std::size_t i = 1; i < events.size(); ++i) {
            if (events[i].sequence_number != events[i - 1].sequence_number + 1) {
                world_.violate("GROUP-1: a batch has a gap");
            }
        }
        // Up to the first that is poisonous, or any one if the call fails by chance.
        std::size_t fails_at = events.size();
        for (std::size_t i = events.size(); i-- > 0;) {
            if (is_poisonous(events[i])) fails_at = i;
        }
        const bool is_unlucky = random.chance(world_.habits_.failing_per_thousand, 1000);
        if (is_unlucky) fails_at = std::min<std::size_t>(fails_at, random.below(events.size()));
        const std::uint32_t outages = world_.habits_.outage_per_thousand;
        call.is_outage = outages > 0 && random.chance(outages, 1000);
        if (call.is_outage) fails_at = std::min<std::size_t>(fails_at, random.below(events.size()));
        call.is_good = fails_at == events.size();
        if (world_.habits_.window_events > 0) {
            call.asked = keep(partition, events.first(fails_at), call.is_good);
        } else if (fails_at > 0 && random.chance(1, 2)) {
            const bool is_manual = world_.checker_.is_manual();
            is_manual ? partition.checkpoint(events[fails_at - 1])
                      : partition.done(events[fails_at - 1]);
            call.asked = events[fails_at - 1].sequence_number;
        }
        world_.checker_.on_call(call);
        if (call.is_good) return {};
        if (call.is_outage) return Error{ErrorCode::unavailable, "what the handler needs is away"};
        if (random.chance(1, 2)) throw std::runtime_error("an unlucky handler");
        return Error{ErrorCode::handler_failed, "an unlucky handler"};
    }
    void on_closed(Partition& partition, Closed reason) override {
        world_.checker_.on_closed(process_.id, partition.id(), partition.epoch(), reason);
    }

private:
    // Returns the last event that it asked a checkpoint for; -1: none. What a failed call has begun
    // comes again, so it is forgotten.
    std::int64_t keep(Partition& partition, Events events, bool is_good) {
        std::vector<std::int64_t> kept = kept_;
        std::int64_t asked = -1;
        for (const Event& event : events) {
            kept.push_back(event.sequence_number);
            if (kept.size() < world_.habits_.window_events) continue;
            world_.windowed_[partition.id()].insert(kept.begin(), kept.end());
            partition.checkpoint(event);
            asked = event.sequence_number;
            kept.clear();
            kept_.clear();
        }
        if (is_good) kept_ = kept;
        return asked;
    }

    bool is_poisonous(const Event& event) const {
        const std::uint32_t one_in = world_.habits_.poison_one_in;
        return one_in > 0 && event.sequence_number % one_in == one_in / 2;
    }

    ProcessorWorld& world_;
    Process& process_;
    std::vector<std::int64_t> kept_;  // the open window
};

ProcessorWorld::Process::Process(ProcessorWorld& world, const std::string& process_id)
    : id(process_id),
      loop(world.scheduler_, process_id),
      pool(world, process_id),
      faults(std::make_shared<checkpoint::Faults>(world.faults_)),
      inner(std::make_shared<WatchedStore>(
          std::make_shared<checkpoint::MemoryStore>(world.server_loop_, world.server_,
                                                    world.group_),
          StoreWatch{
              .owned = [&world, writer = id, keep = faults](
                           const checkpoint::Ownership& entry) { world.on_owner(writer, entry); },
              .sealed = [&world](const auto& found) { world.checker_.on_sealed(found); },
              .stored = [&world](const auto& stored) { world.on_stored(stored); },
              .put_aside = [&world](const auto& letter) { world.checker_.on_put_aside(letter); }})),
      store(loop, world.server_loop_, inner, *faults, world.scheduler_.fork_random()),
      source(world.hub_, loop) {
    ProcessorOptions options = world.options_.processor;
    options.id = id;
    options.on_error = [&world, name = id](const Failure& failure) {
        world.on_failure(name, failure);
    };
    processor::CoordinatorOptions coordination;
    coordination.id = id;
    coordination.incarnation = fmt::format("{}.{}", id, ++world.starts_);
    coordination.timing = world.options_.timing;
    core = std::make_unique<processor::Core>(
        processor::CorePlace{loop, pool, store, source}, std::move(options),
        [&world, this](std::uint32_t) { return std::make_unique<Handler>(world, *this); },
        std::move(coordination), world.scheduler_.fork_random(),
        [&world, name = id](const Error&) {
            world.scheduler_.run_after(Duration(0), [&world, name] { world.crash(name); });
        });
}

ProcessorWorld::ProcessorWorld(const ProcessorWorldOptions& options)
    : options_(options),
      scheduler_(options.seed),
      server_(scheduler_.clock(),
              {.whole_seconds = !options.exact_ages, .is_steady = options.steady_store}),
      random_(scheduler_.fork_random()),
      server_loop_(scheduler_, "store"),
      faults_(options.faults),
      habits_(options.habits),
      hub_({.partitions = options.partitions,
            .latency_max = options.hub_latency_max,
            .cut_after = options.cut_after,
            .exclusive = options.exclusive,
            .seed = options.seed}),
      checker_(checked(options), [this](const std::string& what) { violate(what); }),
      owners_(options.partitions) {}

ProcessorWorld::~ProcessorWorld() {
    processes_.clear();
    server_loop_.discard();
}

ProcessorWorld::Process* ProcessorWorld::find(const std::string& id) const {
    const auto found = processes_.find(id);
    return found == processes_.end() || found->second->is_gone ? nullptr : found->second.get();
}

void ProcessorWorld::start(const std::string& id) {
    if (find(id) != nullptr) return;
    crash(id);
    auto& process = processes_[id] = std::make_unique<Process>(*this, id);
    process->core->start([this, id](const Result<>& started) {
        if (!started.ok()) scheduler_.run_after(Duration(0), [this, id] { crash(id); });
    });
}

void ProcessorWorld::crash(const std::string& id) {
    processes_.erase(id);
}

void ProcessorWorld::leave(const std::string& id) {
    Process* process = find(id);
    if (process == nullptr || process->is_leaving) return;
    process->is_leaving = true;
    process->core->stop([this, id, process](const StopReport&) {
        process->is_gone = true;
        scheduler_.run_after(Duration(0), [this, id] {
            if (find(id) == nullptr) crash(id);
        });
    });
}

void ProcessorWorld::pause(const std::string& id, Duration duration) {
    Process* process = find(id);
    if (process == nullptr) return;
    process->loop.pause(duration);
    process->pool.pause(duration);
}

void ProcessorWorld::set_wall_skew(const std::string& id, milliseconds skew) {
    if (Process* process = find(id)) process->loop.set_wall_skew(skew);
}

void ProcessorWorld::set_outage(bool is_away) {
    faults_.outage = is_away;
    for (const auto& [id, process] : processes_) process->faults->outage = is_away;
}

void ProcessorWorld::set_outage(const std::string& id, bool is_away) {
    if (Process* process = find(id)) process->faults->outage = is_away;
}

void ProcessorWorld::set_hub_path(const std::string& id, bool is_open) {
    if (Process* process = find(id)) process->source.set_path(is_open);
}

void ProcessorWorld::quieten() {
    const auto calm = [](checkpoint::Faults& faults) {
        faults.outage = false;
        faults.lost_per_thousand = faults.silent_per_thousand = 0;
        faults.refused_per_thousand = faults.conflict_per_thousand = 0;
    };
    calm(faults_);
    for (const auto& [id, process] : processes_) {
        calm(*process->faults);
        process->source.set_path(true);
    }
}

void ProcessorWorld::append(std::uint32_t partition, std::size_t count) {
    hub_.append_many({partition}, count, scheduler_.clock().wall());
}

void ProcessorWorld::on_owner(const std::string& writer, const checkpoint::Ownership& entry) {
    checker_.on_owner(writer, entry, now());
    std::string& before = owners_[entry.partition.value];
    if (before == entry.owner) return;
    if (!before.empty() && !entry.owner.empty()) ++moves_;
    if (writer == entry.owner) check_take_over(writer, before, entry.partition);
    if (std::getenv("EVENKEEL_TELL") != nullptr) {
        fmt::print("{:.3f} s: partition {}: '{}' -> '{}' (epoch {})\n", in_seconds(now()),
                   entry.partition.value, before, entry.owner, entry.epoch.value);
    }
    before = entry.owner;
}

// Nobody takes what its owner holds under a lease, whatever the store's clock says.
void ProcessorWorld::check_take_over(const std::string& by, const std::string& owner,
                                     PartitionId partition) {
    const Process* process = find(owner);
    if (process == nullptr) return;
    const processor::Coordinator& coordinator = process->core->coordinator();
    if (!coordinator.may_act(partition) || coordinator.hangs_on_reader(partition)) return;
    violate(fmt::format("GROUP-7: {} takes partition {} from {}, which has it under a lease", by,
                        partition.value, owner));
}

void ProcessorWorld::on_failure(const std::string& id, const Failure& failure) {
    if (const char* tell = std::getenv("EVENKEEL_TELL"); tell != nullptr && *tell == '2') {
        fmt::print("{:.3f} s: {}: {}{}: {}\n", in_seconds(now()), id, failure.operation,
                   failure.partition ? fmt::format(" {}", *failure.partition) : "",
                   to_string(failure.error));
    }
    if (!failure.partition) return;
    if (failure.operation == "close" || failure.operation == "last checkpoint") {
        checker_.on_excuse(id, *failure.partition);
    }
}

// Whoever resumes behind it must not miss an event that was only kept.
void ProcessorWorld::on_stored(const checkpoint::Checkpoint& stored) {
    checker_.on_stored(stored);
    if (habits_.window_events == 0) return;
    const std::set<std::int64_t>& done = windowed_[stored.partition.value];
    for (std::int64_t sequence = 0; sequence <= stored.sequence.value; ++sequence) {
        if (done.contains(sequence)) continue;
        return violate(fmt::format("event {} of partition {} is stored as done in no window",
                                   sequence, stored.partition.value));
    }
}

std::vector<std::string> ProcessorWorld::running() const {
    std::vector<std::string> ids;
    for (const auto& [id, process] : processes_) {
        if (!process->is_gone && !process->is_leaving) ids.push_back(id);
    }
    return ids;
}

bool ProcessorWorld::is_balanced() const {
    std::map<std::string, std::uint32_t> counts;
    for (const std::string& id : running()) counts[id] = 0;
    for (const std::string& owner : owners_) {
        const auto found = counts.find(owner);
        if (found == counts.end()) return false;
        ++found->second;
    }
    const auto [least, most] =
        std::minmax_element(counts.begin(), counts.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; });
    return most->second - least->second <= 1;
}

// Never owned but unread.
bool ProcessorWorld::is_all_read() const {
    for (std::uint32_t p = 0; p < owners_.size(); ++p) {
        if (hub_.readers({p}) != 1) return false;
    }
    return true;
}

bool ProcessorWorld::is_settled() {
    if (!is_balanced() || !is_all_read()) return false;
    for (const auto& [id, process] : processes_) {
        if (process->pool.is_stuck()) return false;
    }
    return is_all_handled();
}

bool ProcessorWorld::is_all_handled() {
    for (std::uint32_t p = 0; p < options_.partitions; ++p) {
        if (!checker_.is_all_done(p, hub_.last({p}).value)) return false;
    }
    return true;
}

std::vector<std::uint32_t> ProcessorWorld::owned_by(const std::string& id) const {
    std::vector<std::uint32_t> owned;
    for (std::uint32_t p = 0; p < owners_.size(); ++p) {
        if (owners_[p] == id) owned.push_back(p);
    }
    return owned;
}

bool ProcessorWorld::run_until_settled(Duration at_most) {
    const Instant end = now() + at_most;
    while (now() < end && !is_settled()) run_for(milliseconds(100));
    return is_settled();
}

void ProcessorWorld::judge_quiet() {
    const std::uint64_t before = moves_;
    for (std::uint32_t p = 0; p < options_.partitions; ++p) append(p, 3);
    run_for(seconds(5));
    if (moves_ != before) violate("moves though nothing changed");
    if (!is_balanced()) violate("out of balance though nothing changed\n" + describe());
    if (!is_all_read()) violate("owned but not read in the end\n" + describe());
    for (std::uint32_t p = 0; p < options_.partitions; ++p) {
        checker_.judge_end(p, hub_.last({p}).value);
    }
}

void ProcessorWorld::violate(const std::string& what) {
    if (violations_.find(what) != std::string::npos || violations_.size() > 2000) return;
    violations_ += fmt::format("at {:.3f} s: {}\n", in_seconds(now()), what);
}

std::string ProcessorWorld::describe() const {
    std::string text;
    for (std::uint32_t p = 0; p < owners_.size(); ++p) {
        text += fmt::format("{}:{} {} readers, {} of {} done\n", p,
                            owners_[p].empty() ? "-" : owners_[p], hub_.readers({p}),
                            checker_.done_to(p) + 1, hub_.last({p}).value + 1);
    }
    for (const auto& [id, process] : processes_) {
        text += fmt::format("{}{}:", id, process->is_leaving ? " (leaving)" : "");
        for (const auto& each : process->core->status().partitions) {
            text += fmt::format(" {} {} {};", each.partition, each.state, each.handled_sequence);
        }
        text += "\n" + process->core->explain();
    }
    return text;
}

}  // namespace evenkeel::sim
