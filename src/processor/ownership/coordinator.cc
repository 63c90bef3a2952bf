#include "processor/ownership/coordinator.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "base/canary.h"
#include "base/check.h"

namespace evenkeel::processor {

using checkpoint::Member;

Coordinator::Coordinator(io::Loop& loop, checkpoint::Store& store, PartitionHost& host,
                         CoordinatorOptions options, Random random)
    : loop_(loop),
      store_(store),
      options_(std::move(options)),
      random_(random),
      holdings_(host),
      heartbeat_(loop, store, options_.timing, random_.fork(),
                 {.on_lapsed = [this] { on_lapsed(); },
                  .on_gained = [this] { rounds_.on_gained(); },
                  .on_taken = [this](Error error) { on_taken(std::move(error)); },
                  .on_failure =
                      [this](const Error& error, Duration retried_in) {
                          report_store_failure(options_, "heartbeat", error, retried_in);
                      },
                  .on_doubt =
                      [this] {
                          if (options_.on_doubt) options_.on_doubt();
                      },
                  .on_answer = [this](Duration latency) { rounds_.on_answer(latency); }}),
      steps_(heartbeat_),
      admission_(loop, store, steps_, options_),
      stalls_(loop, steps_, heartbeat_.lease(), [this] { holdings_.unverify_all(); }),
      rounds_({loop, store, options_, holdings_, heartbeat_, steps_}, random_,
              [this] { on_emptied(); }) {}

Coordinator::~Coordinator() {
    stop();
}

void Coordinator::start(std::uint32_t partitions, Callback<void(Result<>)> started) {
    loop_.check_here();
    EK_CHECK(state_ == State::created, "a coordinator starts once");
    if (Result<> valid = check_options(partitions); !valid) {
        stop();
        return loop_.post([started = std::move(started), valid]() mutable { started(valid); });
    }
    state_ = State::joining;
    started_ = std::move(started);
    check_state();
    rounds_.set_partitions(partitions);
    admission_.start(
        [this](Result<Admission::Entrance> entrance) { on_admitted(std::move(entrance)); });
}

Result<> Coordinator::check_options(std::uint32_t partitions) const {
    EK_TRY(validate(options_.timing));
    if (options_.id.empty() || options_.incarnation.empty()) {
        return Error{ErrorCode::invalid_argument, "a processor needs an id and an incarnation"};
    }
    if (partitions == 0) {
        return Error{ErrorCode::invalid_argument, "an event hub has at least one partition"};
    }
    return {};
}

void Coordinator::on_admitted(Result<Admission::Entrance> entrance) {
    if (!entrance) return on_entered(entrance.error());
    accept_from_ = entrance->accept_from;
    heartbeat_.start(std::move(entrance->entry),
                     steps_.wrap([this](Result<> written) { on_entered(std::move(written)); }));
}

void Coordinator::on_entered(Result<> written) {
    Callback<void(Result<>)> started = std::exchange(started_, {});
    if (!written) {
        state_ = State::ended;
        steps_.end();
        return started(std::move(written));
    }
    state_ = State::running;
    check_state();
    rounds_.start(accept_from_);
    started({});
}

void Coordinator::set_partitions(std::uint32_t partitions) {
    loop_.check_here();
    if (partitions > rounds_.partitions()) rounds_.set_partitions(partitions);
}

bool Coordinator::may_act(PartitionId partition) const {
    if (!is_active()) return false;
    const Instant now = loop_.clock().now();
    const bool is_vouched = options_.exclusive_source && stalls_.is_attentive(now);
    return (heartbeat_.lease().is_valid(now) || is_vouched) && holdings_.may_act(partition);
}

bool Coordinator::hangs_on_reader(PartitionId partition) const {
    if (!options_.exclusive_source) return false;
    const Holding* holding = holdings_.find(partition);
    return holding == nullptr || !is_covered(*holding, loop_.clock().now());
}

// Without a lease it is the broker that keeps others away.
LeaseTerm Coordinator::term(PartitionId partition) const {
    return hangs_on_reader(partition) ? LeaseTerm() : heartbeat_.lease().term();
}

bool Coordinator::is_covered(const Holding& holding, Instant now) const {
    return heartbeat_.lease().covers(holding.renewed, now);
}

// Whoever is cut again and again, though the store says that the partition is ours, faces a reader
// that lost it or an older version of us: then the epoch is needed.
bool Coordinator::is_shared(PartitionId partition) const {
    constexpr std::uint32_t cuts_max = 2;
    const Holding* holding = holdings_.find(partition);
    if (holding == nullptr) return options_.may_be_mixed || rounds_.has_foreign();
    if (options_.may_be_mixed) return holding->fences <= cuts_max;
    return rounds_.has_foreign() && holding->fences == 0;
}

void Coordinator::on_fenced(PartitionId partition) {
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
    rounds_.look_again();
}

void Coordinator::set_unread(std::optional<Instant> since) {
    loop_.check_here();
    rounds_.set_unread(since);
}

void Coordinator::on_lapsed() {
    if (EK_CANARY(lapse_keeps_holdings)) return;
    // Exclusive readers may go on: whoever takes over cuts them at the broker. But this process
    // must have been running to hear of it.
    const Duration late = loop_.clock().now() - heartbeat_.lease().until();
    if (options_.exclusive_source && late <= StallWatch::stall_max) return stalls_.watch();
    holdings_.unverify_all();
}

void Coordinator::on_taken(Error error) {
    if (state_ == State::ended) return;
    forget_all();
    Task left = std::exchange(left_, {});
    stop();
    // leave() is answered: nothing is held any more.
    if (left) return left();
    const auto ended = options_.on_ended;
    if (ended) ended(std::move(error));
}

void Coordinator::leave(Task done) {
    loop_.check_here();
    EK_CHECK(!left_, "a coordinator leaves once");
    if (state_ != State::running) {
        started_ = {};
        stop();
        return loop_.post(std::move(done));
    }
    state_ = State::leaving;
    left_ = std::move(done);
    check_state();
    rounds_.leave();
    loop_.run_after(options_.timing.leave_max, steps_.wrap([this] { abandon(); }));
    rounds_.look_again();
}

// What is left is fenced, not handed over.
void Coordinator::abandon() {
    forget_all();
    // The entry is removed if the store lets us; the others do not depend on it.
    const std::string id = heartbeat_.entry().id;
    const std::string version = heartbeat_.entry().version;
    Task left = std::exchange(left_, {});
    stop();
    store_.remove_member(id, version, [](const Result<>&) {});
    if (left) left();
}

void Coordinator::on_emptied() {
    heartbeat_.remove([this] {
        Task left = std::exchange(left_, {});
        stop();
        if (left) left();
    });
}

void Coordinator::forget_all() {
    std::vector<PartitionId> held;
    for (const auto& [partition, holding] : holdings_.all()) held.push_back(partition);
    for (const PartitionId partition : held) holdings_.forget(partition);
}

void Coordinator::stop() {
    state_ = State::ended;
    steps_.end();
    heartbeat_.stop();
    rounds_.stop();
    holdings_.abandon();
}

std::string Coordinator::state_of(PartitionId partition) const {
    if (holdings_.is_open(partition)) return rounds_.is_offered(partition) ? "offered" : "reading";
    return holdings_.is_closed(partition) ? "unverified" : "closing";
}

CoordinatorStatus Coordinator::status() const {
    CoordinatorStatus status;
    bool all_read = true;
    for (const auto& [partition, holding] : holdings_.all()) {
        status.holdings.push_back({partition, holding.entry.epoch, state_of(partition)});
        all_read = all_read && status.holdings.back().state == "reading";
    }
    status.members = rounds_.live_members();
    status.unowned = rounds_.unowned();
    status.is_balanced = rounds_.is_balanced() && all_read;
    status.is_leased = heartbeat_.lease().is_valid(loop_.clock().now());
    const Rounds::Counts& counts = rounds_.counts();
    status.claims = counts.claims;
    status.handed_over = counts.handed_over;
    status.received = counts.received;
    status.lost = counts.lost;
    status.requests = admission_.requests() + heartbeat_.requests() + rounds_.requests();
    return status;
}

std::string Coordinator::explain() const {
    const Instant now = loop_.clock().now();
    std::string text = fmt::format("processor '{}' ({})\n", options_.id, options_.incarnation);
    if (const Lease& lease = heartbeat_.lease(); lease.is_valid(now)) {
        const auto left = std::chrono::duration<double>(lease.until() - now).count();
        text += fmt::format("lease: {:.1f} s left\n", left);
    } else {
        text += "lease: none, the store has not heard us in time\n";
    }
    return text + rounds_.explain(now);
}

void Coordinator::check_state() const {
    EK_CHECK((state_ == State::joining) == static_cast<bool>(started_),
             "start() is answered once, when joining is over");
    EK_CHECK((state_ == State::leaving) == static_cast<bool>(left_),
             "leave() is answered once, when leaving is over");
}

}  // namespace evenkeel::processor
