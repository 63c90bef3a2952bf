#include "processor/ownership/coordinator.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "base/check.h"
#include "processor/canary.h"
#include "processor/ownership/coordinator_core.h"

namespace evenkeel::processor {

using checkpoint::Member;

Coordinator::Coordinator(io::Loop& loop, checkpoint::Store& store, PartitionHost& host,
                         CoordinatorOptions options, Random random)
    : core_(std::make_unique<Core>(loop, store, host, std::move(options), random)) {}

Coordinator::~Coordinator() = default;

void Coordinator::start(std::uint32_t partitions, Callback<void(Result<>)> started) {
    core_->start(partitions, std::move(started));
}

void Coordinator::set_partitions(std::uint32_t partitions) {
    core_->set_partitions(partitions);
}

bool Coordinator::may_act(PartitionId partition) const {
    return core_->may_act(partition);
}

bool Coordinator::hangs_on_reader(PartitionId partition) const {
    return core_->hangs_on_reader(partition);
}

bool Coordinator::is_shared(PartitionId partition) const {
    return core_->is_shared(partition);
}

LeaseTerm Coordinator::term(PartitionId partition) const {
    return core_->term(partition);
}

void Coordinator::on_fenced(PartitionId partition) {
    core_->on_fenced(partition);
}

void Coordinator::set_unread(std::optional<Instant> since) {
    core_->set_unread(since);
}

void Coordinator::leave(Task done) {
    core_->leave(std::move(done));
}

void Coordinator::abandon() {
    core_->give_up();
}

CoordinatorStatus Coordinator::status() const {
    return core_->status();
}

std::string Coordinator::explain() const {
    return core_->explain();
}

Coordinator::Core::Core(io::Loop& loop, checkpoint::Store& store, PartitionHost& host,
                        CoordinatorOptions options, Random random)
    : loop_(loop),
      store_(store),
      options_(std::move(options)),
      random_(random),
      members_(options_.id, timing_),
      holdings_(host),
      heartbeat_(
          loop, store, timing_, random_.fork(),
          {.on_lapsed = [this] { on_lapsed(); },
           .on_gained = [this] { on_gained(); },
           .on_taken = [this](Error error) { on_taken(std::move(error)); },
           .on_failure = [this](const Error& error,
                                Duration in) { report("heartbeat", error, in); },
           .on_doubt =
               [this] {
                   if (options_.on_doubt) options_.on_doubt();
               },
           .on_answer =
               [this](Duration latency) { members_.note_answer(latency, loop_.clock().now()); }}),
      hand_overs_({loop, store, holdings_, ownerships_, members_},
                  [this](PartitionId partition, HandOvers::Outcome outcome) {
                      on_hand_over_ended(partition, outcome);
                  }) {}

Coordinator::Core::~Core() {
    stop();
}

void Coordinator::Core::start(std::uint32_t partitions, Callback<void(Result<>)> started) {
    loop_.check_here();
    EK_CHECK(phase_ == Phase::created, "a coordinator starts once");
    Result<> valid = validate(timing_);
    if (valid && (options_.id.empty() || options_.incarnation.empty())) {
        valid = Error{ErrorCode::invalid_argument, "a processor needs an id and an incarnation"};
    }
    if (valid && partitions == 0) {
        valid = Error{ErrorCode::invalid_argument, "an event hub has at least one partition"};
    }
    if (!valid) {
        phase_ = Phase::ended;
        return loop_.post([started = std::move(started), valid]() mutable { started(valid); });
    }
    phase_ = Phase::starting;
    ownerships_.resize(partitions);
    started_ = std::move(started);
    look_for_own_entry();
}

void Coordinator::Core::look_for_own_entry() {
    ++requests_;
    const Instant asked = loop_.clock().now();
    store_.list_members(guarded([this, asked](Result<std::vector<Member>> listed) {
        judge_own_entry(std::move(listed), asked);
    }));
}

// An entry under our id is a crash of ours, unless it still changes: then it is another instance.
void Coordinator::Core::judge_own_entry(Result<std::vector<Member>> listed, Instant asked) {
    const auto look_after = [this](Duration delay) {
        loop_.run_after(delay, guarded([this] { look_for_own_entry(); }));
    };
    if (!listed) {
        backoff_ = std::clamp(2 * backoff_, timing_.poll_fast, timing_.heartbeat);
        look_after(backoff_);
        return report("start", listed.error(), backoff_);
    }
    backoff_ = Duration(0);
    const Instant now = loop_.clock().now();
    const auto own = std::find_if(listed->begin(), listed->end(),
                                  [&](const Member& member) { return member.id == options_.id; });
    if (own == listed->end()) return enter(std::nullopt, asked);
    if (watched_ && watched_->version != own->version) {
        phase_ = Phase::ended;
        return std::exchange(started_, {})(
            Error{ErrorCode::conflict,
                  fmt::format("an instance with the id '{}' is running ({}): stop it, or give this "
                              "one another id",
                              options_.id, own->note.empty() ? "no note" : own->note)});
    }
    // Whoever lives has written within a heartbeat, give or take a half for a slow store. If we are
    // wrong, the other one finds out and ends.
    const Duration silence = timing_.heartbeat * 3 / 2;
    if (!watched_) {
        watched_ = *own;
        watched_since_ = now;
    }
    if (known_age(*own) >= silence || now - watched_since_ >= silence) return enter(*own, asked);
    look_after(std::max(timing_.poll_fast, timing_.heartbeat / 10));
}

// The store's clock can be set, and then a living entry looks old: it counts only where nobody can.
// Where requests are dear the watch would take most of a minute, and the clock is the service's.
Duration Coordinator::Core::known_age(const Member& own) const {
    if (!own.is_age_exact && !timing_.is_thrifty) return Duration(0);
    // Stores may cut ages to whole seconds.
    const Duration error = own.is_age_exact ? Duration(0) : Duration(std::chrono::seconds(1));
    return std::max(own.age - error, Duration(0));
}

void Coordinator::Core::enter(const std::optional<Member>& old, Instant asked) {
    Member entry{.id = options_.id, .incarnation = options_.incarnation};
    entry.since_ms = loop_.clock().wall().milliseconds;
    entry.note = options_.note;
    entry.expecting = true;
    if (old) {
        entry.version = old->version;
        if (old->age < timing_.restart_memory) entry.restarts = old->restarts + 1;
        // The process before us may still have its lease, unless it is known to be old.
        const Duration watched = watched_ ? asked - watched_since_ : Duration(0);
        const Duration left = timing_.dead - std::max(known_age(*old), watched);
        if (!options_.exclusive_source) accept_from_ = asked + std::max(left, Duration(0));
    }
    probation_ = members_.probation(entry.restarts);
    heartbeat_.start(std::move(entry),
                     guarded([this](Result<> written) { entered(std::move(written)); }));
}

void Coordinator::Core::entered(Result<> written) {
    if (!written) {
        phase_ = Phase::ended;
        return std::exchange(started_, {})(std::move(written));
    }
    phase_ = Phase::running;
    started_at_ = loop_.clock().now();
    calm_at_ = started_at_ + timing_.settle;
    has_push_ = store_.watch(guarded([this] { on_pushed(); }));
    look_now();
    if (options_.load) watch_loads();
    std::exchange(started_, {})({});
}

void Coordinator::Core::set_partitions(std::uint32_t partitions) {
    loop_.check_here();
    if (partitions <= ownerships_.size()) return;
    ownerships_.resize(partitions);
    relist_ = true;
    if (phase_ == Phase::running || phase_ == Phase::leaving) look_now();
}

bool Coordinator::Core::may_act(PartitionId partition) const {
    if (phase_ != Phase::running && phase_ != Phase::leaving) return false;
    const Instant now = loop_.clock().now();
    if (!heartbeat_.lease().is_valid(now) && !is_attentive(now)) return false;
    return holdings_.may_act(partition);
}

bool Coordinator::Core::hangs_on_reader(PartitionId partition) const {
    if (!options_.exclusive_source) return false;
    const Holding* holding = holdings_.find(partition);
    return holding == nullptr || !is_covered(*holding, loop_.clock().now());
}

// Without a lease it is the broker who keeps others away.
LeaseTerm Coordinator::Core::term(PartitionId partition) const {
    return hangs_on_reader(partition) ? LeaseTerm() : heartbeat_.lease().term();
}

// A lease that came back covers only what was written under it: before that, somebody who took us
// for dead may have taken the partition, or be about to.
bool Coordinator::Core::is_covered(const Holding& holding, Instant now) const {
    return heartbeat_.lease().covers(holding.renewed, now);
}

// Whoever is cut again and again, though the store says that the partition is ours, faces a reader
// that lost it or an older version of us: then the epoch is needed.
bool Coordinator::Core::is_shared(PartitionId partition) const {
    constexpr std::uint32_t cuts_max = 2;
    const Holding* holding = holdings_.find(partition);
    if (holding == nullptr) return options_.may_be_mixed || has_foreign_;
    if (options_.may_be_mixed) return holding->fences <= cuts_max;
    return has_foreign_ && holding->fences == 0;
}

void Coordinator::Core::on_fenced(PartitionId partition) {
    loop_.check_here();
    Holding* holding = holdings_.find(partition);
    if (holding == nullptr || holdings_.is_closed(partition)) return;
    // The first time we look at once; if the store still says that it is ours, somebody reads it
    // without asking the store, and we do not fight over it.
    const Instant now = loop_.clock().now();
    constexpr Duration quiet = std::chrono::seconds(30);
    constexpr Duration fight_min = std::chrono::seconds(1);
    holding->fences = now - holding->renewed > quiet ? 1 : std::min(holding->fences + 1, 10U);
    if (holding->fences > 1) {
        holding->not_before =
            now + std::min(quiet, Duration(fight_min.count() *
                                           (std::int64_t{1} << (holding->fences - 2))));
    }
    holdings_.unverify(partition);
    relist_ = true;
    look_now();
}

void Coordinator::Core::on_lapsed() {
    if (canary_lapse_keeps_holdings) return;
    const Instant now = loop_.clock().now();
    // With exclusive readers they may go on: whoever takes over cuts them at the broker. But we
    // must have been there to hear of it: what a process that was stopped still has in memory may
    // have been handled by another since.
    if (options_.exclusive_source && now - heartbeat_.lease().until() <= attention_max) {
        return attend();
    }
    holdings_.unverify_all();
}

void Coordinator::Core::attend() {
    attended_ = loop_.clock().now();
    loop_.cancel(attention_timer_);
    attention_timer_ = loop_.run_after(attention_max / 2, guarded([this] {
                                           const Instant now = loop_.clock().now();
                                           if (heartbeat_.lease().is_valid(now)) return;
                                           if (!is_attentive(now)) return holdings_.unverify_all();
                                           attend();
                                       }));
}

bool Coordinator::Core::is_attentive(Instant now) const {
    return options_.exclusive_source && attended_ >= heartbeat_.lease().until() &&
           now - attended_ <= attention_max;
}

void Coordinator::Core::on_gained() {
    if (phase_ != Phase::running && phase_ != Phase::leaving) return;
    relist_ = true;
    backoff_ = Duration(0);
    look_now();
}

void Coordinator::Core::on_taken(Error error) {
    if (phase_ == Phase::ended) return;
    std::vector<PartitionId> held;
    for (const auto& [partition, holding] : holdings_.all()) held.push_back(partition);
    for (const PartitionId partition : held) holdings_.forget(partition);
    Task left = std::exchange(left_, {});
    stop();
    // Whoever leaves gets what it waits for: nothing is held any more.
    if (left) return left();
    const auto ended = options_.on_ended;
    if (ended) ended(std::move(error));
}

void Coordinator::Core::leave(Task done) {
    loop_.check_here();
    EK_CHECK(!left_, "a coordinator leaves once");
    if (phase_ != Phase::running) {
        started_ = {};
        stop();
        return loop_.post(std::move(done));
    }
    phase_ = Phase::leaving;
    left_ = std::move(done);
    left_at_ = loop_.clock().now();
    await_others(left_at_);
    heartbeat_.change([](Member& entry) {
        entry.state = checkpoint::MemberState::leaving;
        entry.expecting = false;
    });
    loop_.run_after(timing_.leave_max, guarded([this] { give_up(); }));
    relist_ = true;
    look_now();
}

// Time is up: what is left is fenced, not handed over.
void Coordinator::Core::give_up() {
    std::vector<PartitionId> held;
    for (const auto& [partition, holding] : holdings_.all()) held.push_back(partition);
    for (const PartitionId partition : held) holdings_.forget(partition);
    // The entry is removed if the store lets us; the others do not depend on it.
    const std::string id = heartbeat_.entry().id;
    const std::string version = heartbeat_.entry().version;
    Task left = std::exchange(left_, {});
    stop();
    store_.remove_member(id, version, [](const Result<>&) {});
    if (left) left();
}

bool Coordinator::Core::finish_leaving() {
    if (!holdings_.all().empty() || !hand_overs_.empty() || !holdings_.all_closed()) return false;
    if (is_scheduled_) loop_.cancel(round_timer_);
    heartbeat_.remove([this] {
        Task left = std::exchange(left_, {});
        stop();
        if (left) left();
    });
    return true;
}

void Coordinator::Core::stop() {
    phase_ = Phase::ended;
    heartbeat_.stop();
    hand_overs_.abandon();
    holdings_.abandon();
    if (is_scheduled_) loop_.cancel(round_timer_);
    is_scheduled_ = false;
}

void Coordinator::Core::report(std::string_view operation, const Error& error,
                               Duration retried_in) {
    if (!options_.on_failure) return;
    options_.on_failure(
        {.scope = ErrorScope::store,
         .partition = {},
         .operation = std::string(operation),
         .error = error,
         .is_retried = true,
         .retried_in = std::chrono::duration_cast<std::chrono::milliseconds>(retried_in)});
}

CoordinatorStatus Coordinator::Core::status() const {
    CoordinatorStatus status;
    for (const auto& [partition, holding] : holdings_.all()) {
        const bool is_offered = hand_overs_.contains(partition);
        std::string state = "unverified";
        if (holdings_.is_open(partition)) {
            state = is_offered ? "offered" : "reading";
        } else if (!holdings_.is_closed(partition)) {
            state = "closing";
        }
        status.holdings.push_back({partition, holding.entry.epoch, std::move(state)});
    }
    status.members = 1;
    for (const auto& [id, seen] : members_.others()) status.members += seen.is_dead ? 0 : 1;
    status.unowned = unowned_;
    const bool all_read =
        std::all_of(status.holdings.begin(), status.holdings.end(),
                    [](const HoldingStatus& holding) { return holding.state == "reading"; });
    status.is_balanced = phase_ == Phase::running && has_listed_ownerships_ && unowned_ == 0 &&
                         plan_.moves.empty() && !plan_.expects && all_read;
    status.is_leased = heartbeat_.lease().is_valid(loop_.clock().now());
    status.claims = claims_;
    status.handed_over = handed_over_;
    status.received = received_;
    status.lost = lost_;
    status.requests = requests_ + heartbeat_.requests() + hand_overs_.requests();
    return status;
}

std::string Coordinator::Core::explain() const {
    const Instant now = loop_.clock().now();
    const auto seconds = [](Duration duration) {
        return std::chrono::duration<double>(duration).count();
    };
    std::string text = fmt::format("processor '{}' ({})\n", options_.id, options_.incarnation);
    text += heartbeat_.lease().is_valid(now)
                ? fmt::format("lease: {:.1f} s left\n", seconds(heartbeat_.lease().until() - now))
                : "lease: none, the store has not heard us in time\n";
    if (now < accept_from_) {
        text += fmt::format("waits {:.1f} s: an earlier run of it may still read\n",
                            seconds(accept_from_ - now));
    }
    if (!is_calm(now)) text += "members changed just now: nothing is moved yet\n";
    return text + processor::explain(view_, plan_);
}

}  // namespace evenkeel::processor
