// tidy: no test: tested by groups_test.cc
#include "dashboard/group_reader.h"

#include <algorithm>
#include <utility>

#include "base/number.h"
#include "processor/ownership/group_home.h"
#include "processor/ownership/requests.h"

namespace evenkeel::dashboard {
namespace {

using checkpoint::GroupName;
using checkpoint::Record;
using checkpoint::Store;
using processor::OwnerMove;

constexpr std::uint64_t letters_every = 5;  // looks
// A move is written down a moment after it happened.
constexpr int looks_after_a_move = 3;

// 1, 2, 4, 8, 15 s: looking for what is not there opens connections.
Duration pause_after(std::uint32_t times) {
    return std::min<Duration>(GroupReader::retry_max,
                              std::chrono::seconds(1LL << std::min(times, 4U)));
}

std::string value_of(const std::vector<Record>& records, std::string_view key) {
    for (const Record& record : records) {
        if (record.key == key) return record.value;
    }
    return "";
}

}  // namespace

std::vector<OwnerMove> moves_of(const std::vector<Record>& records) {
    std::vector<OwnerMove> moves;
    for (const Record& record : records) {
        if (!record.key.starts_with(processor::moves_prefix)) continue;
        const auto number = std::string_view(record.key).substr(processor::moves_prefix.size());
        const auto partition = parse_number<std::uint32_t>(number);
        if (!partition) continue;  // not written by a processor
        for (OwnerMove& move : processor::decode_moves({*partition}, record.value)) {
            moves.push_back(std::move(move));
        }
    }
    std::ranges::stable_sort(moves, {}, &OwnerMove::at_ms);
    return moves;
}

GroupReader::~GroupReader() {
    lifetime_.end();
    timed_.reset();
}

Result<Store*> GroupReader::store() {
    place_.loop.check_here();
    if (timed_) return timed_.get();
    return Error{ErrorCode::unavailable, "the store of this group is not open"};
}

void GroupReader::look_soon() {
    place_.loop.check_here();
    misses_ = 0;
    if (!timer_.is_pending()) return;
    const Instant soonest = last_look_ + pause_min;
    timer_.run_at(std::max(soonest, place_.loop.clock().now()), [this] { look(); });
}

void GroupReader::look() {
    place_.loop.check_here();
    last_look_ = place_.loop.clock().now();
    if (timed_) return list();
    find();
}

void GroupReader::find() {
    auto found =
        place_.open(processor::identity_group({"", name_.event_hub, name_.group}, name_.identity));
    if (!found.ok()) return fail(found.error());
    if (!*found) return find_under(0);
    tried_ = std::move(*found);
    tried_->list_records(processor::home_name_key,
                         lifetime_.guard([this](const Result<std::vector<Record>>& listed) {
                             place_.loop.post([dropped = std::move(tried_)] {});
                             if (!listed.ok()) return fail(listed.error());
                             const std::string host = value_of(*listed, processor::home_name_key);
                             if (host.empty()) return find_under(0);
                             try_host(
                                 host, [this] { find_under(0); }, true);
                         }));
}

void GroupReader::find_under(std::size_t host) {
    if (host == name_.hosts.size()) return end_look({}, pause_after(++misses_));
    try_host(
        name_.hosts[host], [this, host] { find_under(host + 1); }, name_.is_host_given);
}

void GroupReader::try_host(const std::string& host, std::function<void()> otherwise,
                           bool takes_unowned) {
    auto found = place_.open({host, name_.event_hub, name_.group});
    if (!found.ok()) return fail(found.error());
    if (!*found) return otherwise();
    tried_ = std::move(*found);
    tried_->list_records(processor::home_hub_key,
                         lifetime_.guard([this, takes_unowned, otherwise = std::move(otherwise)](
                                             const Result<std::vector<Record>>& listed) {
                             auto tried = std::move(tried_);
                             if (listed.ok()) {
                                 const std::string owner =
                                     value_of(*listed, processor::home_hub_key);
                                 if (owner == name_.identity || (owner.empty() && takes_unowned)) {
                                     store_ = std::move(tried);
                                     return opened();
                                 }
                             }
                             place_.loop.post([dropped = std::move(tried)] {});
                             if (!listed.ok()) return fail(listed.error());
                             otherwise();
                         }));
}

void GroupReader::opened() {
    misses_ = 0;
    timed_ = std::make_unique<checkpoint::TimedStore>(place_.loop, *store_, call_max);
    moves_wanted_ = 1;
    looks_ = 0;
    store_->watch([this] { look_soon(); });
    list();
}

// Hands an answer to `then`, which stores it, and ends the look with the last one.
template <typename T, typename Then>
auto GroupReader::taking(Then then) {
    ++pending_;
    return lifetime_.guard([this, then = std::move(then)](Result<T> answer) mutable {
        if (answer.ok()) {
            then(std::move(*answer));
        } else if (!error_) {
            error_ = answer.error();
        }
        answered();
    });
}

void GroupReader::list() {
    state_ = std::make_unique<GroupState>();
    state_->pace = store_->pace();
    error_.reset();
    are_moves_decided_ = false;
    GroupState& state = *state_;
    timed_->list_members(taking<std::vector<checkpoint::Member>>(
        [&state](auto members) { state.members = std::move(members); }));
    timed_->list_ownerships(taking<std::vector<checkpoint::Ownership>>(
        [&state](auto ownerships) { state.ownerships = std::move(ownerships); }));
    timed_->list_records(processor::request_prefix,
                         taking<std::vector<Record>>(
                             [&state](auto records) { state.requests = std::move(records); }));
    timed_->list_checkpoints(taking<std::vector<checkpoint::Checkpoint>>(
        [&state](auto checkpoints) { state.checkpoints = std::move(checkpoints); }));
    if (looks_++ % letters_every == 0) {
        timed_->count_dead_letters(
            taking<std::map<PartitionId, std::uint64_t>>([this](const auto& counts) {
                dead_letters_ = 0;
                for (const auto& [partition, count] : counts) *dead_letters_ += count;
            }));
    }
}

void GroupReader::answered() {
    if (--pending_ > 0) return;
    if (error_) return fail(*error_);
    if (!std::exchange(are_moves_decided_, true)) {
        note_ownerships();
        if (moves_wanted_ > 0) return list_moves();
    }
    state_->moves = moves_;
    state_->dead_letters = dead_letters_;
    const bool is_thrifty = state_->pace == checkpoint::Pace::thrifty;
    failures_ = 0;
    end_look({.state = std::move(state_)}, is_thrifty ? period_thrifty : period);
}

void GroupReader::list_moves() {
    --moves_wanted_;
    timed_->list_records(
        processor::moves_prefix, taking<std::vector<Record>>([this](const auto& records) {
            moves_ = std::make_shared<const std::vector<OwnerMove>>(moves_of(records));
        }));
}

void GroupReader::note_ownerships() {
    std::uint64_t hash = 1;
    for (const auto& each : state_->ownerships) {
        hash = hash * 1099511628211U + std::hash<std::string>()(each.owner);
        hash = hash * 1099511628211U + static_cast<std::uint64_t>(each.epoch.value);
    }
    if (std::exchange(ownerships_hash_, hash) != hash) moves_wanted_ = looks_after_a_move;
}

void GroupReader::fail(const Error& error) {
    drop_store();
    const Duration delay = pause_after(failures_++);
    end_look({.error = error, .retried_in = delay}, delay);
}

void GroupReader::drop_store() {
    state_.reset();
    tried_.reset();
    if (!store_) return;
    store_->watch({});
    // One of its answers may be on the stack.
    place_.loop.post([store = std::move(store_), timed = std::move(timed_)]() mutable {
        timed.reset();
        store.reset();
    });
}

void GroupReader::end_look(GroupLook look, Duration next) {
    timer_.run_after(next, [this] { this->look(); });
    place_.seen(std::move(look));
}

}  // namespace evenkeel::dashboard
