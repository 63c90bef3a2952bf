#include "processor/ownership/store_loss.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "processor/ownership/store_mark.h"
#include "processor/pump/retry.h"

namespace evenkeel::processor {

using checkpoint::Checkpoint;

namespace {

constexpr Duration idle_poll = std::chrono::milliseconds(20);
constexpr std::uint32_t seed_attempts_max = 4;

bool is_further(const Checkpoint& a, const Checkpoint& b) {
    return std::pair(a.sequence, a.attempts) > std::pair(b.sequence, b.attempts);
}

}  // namespace

// A pump that was opened on the emptied store knows nothing.
void StoreLoss::remember(const Checkpoint& progress) {
    if (progress.sequence.value < 0) return;
    const auto [known, is_new] = progress_.try_emplace(progress.partition, progress);
    const bool is_other_hub = known->second.hub_created_ms != progress.hub_created_ms;
    if (is_new || (!is_other_hub && !is_further(progress, known->second))) return;
    known->second = progress;
}

void StoreLoss::begin(const std::string& incarnation, bool is_accepted) {
    EK_CHECK(state_ == State::none, "a store is lost once");
    incarnation_ = incarnation;
    is_accepted_ = is_accepted;
    if (is_accepted) return wait_in(State::draining);
    set_state(State::seeding);
    attempts_left_ = seed_attempts_max;
    seed();
}

// With exactly_once the results are in the store too: what it says of the position is true of them.
void StoreLoss::seed() {
    for (const Checkpoint& each : owner_.progress()) remember(each);
    if (place_.options.delivery == Delivery::exactly_once || progress_.empty()) return seeded();
    place_.store.list_checkpoints(
        lifetime_.guard([this](const Result<std::vector<Checkpoint>>& listed) {
            if (!listed.ok() && !is_retriable(listed.error())) return seeded();
            if (!listed.ok()) return seed_later();
            write_seeds(*listed);
        }));
}

void StoreLoss::write_seeds(const std::vector<Checkpoint>& stored) {
    std::vector<Checkpoint> seeds;
    for (const auto& [partition, known] : progress_) {
        Checkpoint seed = known;
        bool is_there = false;
        for (const Checkpoint& each : stored) {
            if (each.partition != partition) continue;
            is_there = !is_further(known, each) && each.hub_created_ms == known.hub_created_ms;
            seed.epoch = std::max(seed.epoch, each.epoch);
        }
        if (!is_there) seeds.push_back(std::move(seed));
    }
    if (seeds.empty()) return seeded();
    unanswered_ = seeds.size();
    must_repeat_ = false;
    for (const Checkpoint& seed : seeds) {
        place_.store.write_checkpoint(
            seed, lifetime_.guard([this](const Result<>& written) { on_written(written); }));
    }
}

void StoreLoss::on_written(const Result<>& written) {
    EK_CHECK(unanswered_ > 0, "more answers than seeds");
    // Sealed meanwhile by whoever claims, or not answered.
    if (!written.ok()) {
        must_repeat_ = must_repeat_ || is_retriable(written.error()) ||
                       written.error().code == ErrorCode::fenced;
    }
    if (--unanswered_ > 0) return;
    if (must_repeat_) return seed_later();
    seeded();
}

void StoreLoss::seed_later() {
    if (attempts_left_ <= 1) return seeded();
    --attempts_left_;
    place_.loop.run_after(restart_delay(1, place_.random), lifetime_.guard([this] { seed(); }));
}

void StoreLoss::seeded() {
    if (state_ == State::seeding) return announce();
    close();
}

void StoreLoss::close() {
    owner_.abandon();
    wait_in(State::closing);
}

// No member begins on this store until an operator has accepted the loss.
void StoreLoss::announce() {
    set_state(State::announcing);
    const StoreLost lost{incarnation_, place_.options.id};
    place_.store.write_record(
        {std::string(store_lost_key), encode(lost)},
        lifetime_.guard([this](const Result<std::string>&) { wait_in(State::draining); }));
}

// At most for as long as a handler may take to end.
void StoreLoss::wait_in(State state) {
    set_state(state);
    until_ = place_.loop.clock().now() + place_.options.drain_max;
    look();
}

void StoreLoss::look() {
    const bool must_wait = state_ == State::draining ? owner_.is_handling() : owner_.has_pumps();
    if (must_wait && place_.loop.clock().now() < until_) {
        place_.loop.run_after(idle_poll, lifetime_.guard([this] { look(); }));
        return;
    }
    if (state_ == State::closing) {
        set_state(State::ended);
        return owner_.on_loss_ended();
    }
    if (is_accepted_) return close();
    set_state(State::seeding_again);
    attempts_left_ = 1;
    seed();
}

void StoreLoss::set_state(State state) {
    state_ = state;
    check_state();
}

void StoreLoss::check_state() const {
    const bool may_write = state_ == State::seeding || state_ == State::seeding_again;
    EK_CHECK(unanswered_ == 0 || may_write, "goes on before its seeds are answered");
    EK_CHECK(!is_accepted_ || !(may_write || state_ == State::announcing),
             "stores again what an operator has accepted as lost");
}

}  // namespace evenkeel::processor
