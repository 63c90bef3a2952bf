#include "cli/commands/top.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include <fmt/core.h>

#include "base/time_point.h"
#include "cli/remote/admin_client.h"
#include "cli/remote/entries.h"
#include "cli/remote/group_contact.h"
#include "cli/remote/store_session.h"
#include "cli/text/top_view.h"
#include "cli/watch.h"
#include "dashboard/group_reader.h"
#include "dashboard/group_view.h"
#include "processor/ownership/requests.h"

namespace evenkeel::cli {
namespace {

using checkpoint::Record;
using checkpoint::Store;
using dashboard::GroupState;
using dashboard::GroupView;

// Looks again and again: rates come from two looks, and who is silent from more of them.
class Looker {
public:
    Looker(const TopOptions& options, const Remote& remote) : options_(options), remote_(remote) {}

    Result<GroupView> look() {
        hub_answered_ = false;
        EK_TRY_ASSIGN(auto hub, look_at_hub());
        hub_answered_ = true;
        auto state = look_into_store();
        if (!state.ok()) {
            seen_.note_failure();
            session_.reset();
            return state.error();
        }
        if (*state) EK_TRY(look_at_ends_again((*state)->checkpoints, hub));
        const Instant now = clock_.now();
        seen_.observe(*state ? (*state)->members : std::vector<checkpoint::Member>(), now);
        return make_group_view(state->get(), hub, seen_, now, clock_.wall());
    }
    bool hub_answered() const { return hub_answered_; }
    bool has_entries() const { return session_ != nullptr; }
    bool has_rates() const { return looks_ > 1; }

private:
    Result<dashboard::HubSide> look_at_hub() {
        if (!client_) {
            EK_TRY_ASSIGN(const auto properties, first_contact(remote_, options_.event_hub));
            EK_TRY_ASSIGN(client_, Client::open(client_options(remote_, options_.event_hub,
                                                               "evenkeel top", Patience::none)));
            partitions_ = properties.partitions;
            created_ms_ = wall_time(properties.created_time).milliseconds;
            const auto info = AdminClient(remote_).hub(options_.event_hub);
            if (info.ok() && info->options.retention.count() > 0) {
                retention_ms_ = info->options.retention.count();
            }
        }
        dashboard::HubSide hub;
        hub.retention_ms = retention_ms_;
        std::vector<std::int64_t> last;
        for (std::uint32_t i = 0; i < partitions_; ++i) {
            const auto info = client_->properties(i);
            if (!info.ok()) {
                client_.reset();  // the next look begins anew
                return info.error();
            }
            dashboard::HubPartition partition;
            partition.end = end_of(*info);
            last.push_back(info->last_enqueued_sequence_number);
            hub.partitions.push_back(partition);
        }
        take_rates(hub, std::move(last));
        return hub;
    }

    dashboard::PartitionEnd end_of(const PartitionInfo& info) const {
        return {info.begin_sequence_number, info.last_enqueued_sequence_number,
                wall_time(info.last_enqueued_time).milliseconds, info.is_empty, created_ms_};
    }

    // Events may have come and been handled after the look at the hub.
    Result<> look_at_ends_again(const std::vector<checkpoint::Checkpoint>& checkpoints,
                                dashboard::HubSide& hub) {
        for (const auto& checkpoint : checkpoints) {
            const std::uint32_t partition = checkpoint.partition.value;
            if (partition >= hub.partitions.size()) continue;
            auto& end = hub.partitions[partition].end;
            if (checkpoint.sequence.value <= end.last) continue;
            EK_TRY_ASSIGN(const auto info, client_->properties(partition));
            end = end_of(info);
        }
        return {};
    }

    void take_rates(dashboard::HubSide& hub, std::vector<std::int64_t> last) {
        const Instant now = clock_.now();
        const double seconds = std::chrono::duration<double>(now - looked_).count();
        for (std::size_t i = 0; i < std::min(last.size(), last_.size()) && seconds > 0; ++i) {
            const auto events = static_cast<double>(std::max<std::int64_t>(0, last[i] - last_[i]));
            hub.partitions[i].in_per_s = events / seconds;
        }
        last_ = std::move(last);
        looked_ = now;
        ++looks_;
    }

    // None if the store has no entries of the group.
    Result<std::unique_ptr<GroupState>> look_into_store() {
        if (!session_) {
            EK_TRY_ASSIGN(const auto name, entries_of(options_.store, remote_, options_.event_hub,
                                                      options_.group, EntriesFor::looking));
            EK_TRY_ASSIGN(session_,
                          StoreSession::open(options_.store, name, {.may_create = false}));
        }
        if (!session_) return std::unique_ptr<GroupState>();
        auto state = std::make_unique<GroupState>();
        EK_TRY_ASSIGN(state->pace, session_->ask<checkpoint::Pace>(
                                       [](Store& store, auto answer) { answer(store.pace()); }));
        EK_TRY_ASSIGN(state->members,
                      session_->ask<std::vector<checkpoint::Member>>([](Store& store, auto answer) {
                          store.list_members(std::move(answer));
                      }));
        EK_TRY_ASSIGN(state->ownerships, session_->ask<std::vector<checkpoint::Ownership>>(
                                             [](Store& store, auto answer) {
                                                 store.list_ownerships(std::move(answer));
                                             }));
        EK_TRY_ASSIGN(state->checkpoints, session_->ask<std::vector<checkpoint::Checkpoint>>(
                                              [](Store& store, auto answer) {
                                                  store.list_checkpoints(std::move(answer));
                                              }));
        EK_TRY_ASSIGN(state->requests, records(processor::request_prefix));
        EK_TRY_ASSIGN(const auto moves, records(processor::moves_prefix));
        state->moves =
            std::make_shared<const std::vector<processor::OwnerMove>>(dashboard::moves_of(moves));
        return state;
    }

    Result<std::vector<Record>> records(std::string_view prefix) {
        return session_->ask<std::vector<Record>>(
            [prefix = std::string(prefix)](Store& store, auto answer) {
                store.list_records(prefix, std::move(answer));
            });
    }

    const TopOptions& options_;
    const Remote& remote_;
    const SystemClock clock_;
    std::unique_ptr<Client> client_;
    std::unique_ptr<StoreSession> session_;
    std::uint32_t partitions_ = 0;
    std::int64_t created_ms_ = 0;
    std::optional<std::int64_t> retention_ms_;
    processor::Members seen_{"", processor::standard_timing()};
    std::vector<std::int64_t> last_;  // sequence numbers at the last look
    Instant looked_;
    std::uint64_t looks_ = 0;
    bool hub_answered_ = false;
};

}  // namespace

ExitCode top(const TopOptions& options) {
    const std::string what = fmt::format("cannot show event hub '{}'", options.event_hub);
    const auto remote = remote_of(options.remote);
    if (!remote.ok()) return fail_options(remote.error());
    Looker looker(options, *remote);
    const auto show = [&]() -> ExitCode {
        const auto view = looker.look();
        if (!view.ok()) {
            return looker.hub_answered() ? fail_store(what, view.error(), options.store)
                                         : fail_remote(what, view.error(), *remote);
        }
        if (!looker.has_entries() && !has_group(*remote, options.event_hub, options.group)) {
            return fail_no_group(what, *remote, options.event_hub, options.group);
        }
        const TopPlace place{options.event_hub, options.group, looker.has_rates()};
        fmt::print("{}", top_text(*view, place, terminal_of(stdout)));
        return ExitCode::done;
    };
    const Terminal terminal = terminal_of(stdout);
    const bool is_once = !terminal.is_terminal || terminal.is_dumb;
    return watched({is_once ? "" : options.interval}, false, show);
}

}  // namespace evenkeel::cli
