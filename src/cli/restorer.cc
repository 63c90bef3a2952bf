// tidy: no test: tests/process/cli/backup_test.cc tests it against a hub
#include "cli/restorer.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/time_point.h"
#include "cli/remote/admin_client.h"
#include "eventhubs/forward.h"
#include "eventhubs/names.h"
#include "producer/batch_access.h"

namespace evenkeel::cli {
namespace {

constexpr auto try_pause = std::chrono::milliseconds(500);

bool may_pass(ErrorCode code) {
    return code == ErrorCode::unavailable || code == ErrorCode::timed_out ||
           code == ErrorCode::overloaded;
}

Error conflict(std::string why) {
    return {ErrorCode::conflict, std::move(why)};
}

}  // namespace

Result<std::unique_ptr<Restorer>> Restorer::open(const Remote& remote, const std::string& name,
                                                 const BackupHub& hub, bool resume,
                                                 Interrupt& interrupt) {
    std::unique_ptr<Restorer> restorer(new Restorer(remote, name, interrupt));
    EK_TRY(restorer->prepare(hub, resume));
    EK_TRY(restorer->connect());
    return restorer;
}

Result<> Restorer::prepare(const BackupHub& hub, bool resume) {
    AdminClient admin(remote_);
    auto info = admin.hub(name_);
    if (!info.ok() && info.error().code != ErrorCode::not_found) return info.error();
    if (!info.ok()) {
        EventHubChange wanted;
        wanted.partitions = hub.partitions;
        wanted.retention = std::chrono::milliseconds(hub.retention_ms);
        wanted.partition_bytes_max = hub.partition_bytes_max;
        EK_TRY_ASSIGN(const auto created, admin.create(name_, wanted));
        info = created;
    } else {
        if (info->options.partitions != hub.partitions) {
            return conflict(fmt::format("event hub '{}' has {} partitions, the back-up {}", name_,
                                        info->options.partitions, hub.partitions));
        }
        EK_TRY_ASSIGN(const auto partitions, admin.partitions(name_));
        const bool is_used = std::ranges::any_of(partitions, [](const PartitionState& partition) {
            return partition.last_enqueued_sequence_number >= 0;
        });
        if (is_used && !resume) {
            return conflict(fmt::format(
                "event hub '{}' has events, or had some: restore to a new one, or go on with "
                "--resume what was interrupted",
                name_));
        }
    }
    for (const auto& group : hub.groups) {
        if (eventhubs::folded(group) == eventhubs::folded(eventhubs::default_group)) continue;
        const auto made = admin.create_group(name_, group);
        if (!made.ok() && made.error().code != ErrorCode::already_exists) return made.error();
    }
    return {};
}

Result<> Restorer::connect() {
    producer_.reset();
    client_.reset();
    EK_TRY_ASSIGN(client_, Client::open(client_options(remote_, name_, "evenkeel hub restore",
                                                       Patience::none)));
    EK_TRY_ASSIGN(producer_, Producer::open(*client_, {.receipts = true, .restore = true}));
    return {};
}

Result<PartitionInfo> Restorer::look() {
    for (int i = 1;; ++i) {
        Result<> connected = client_ ? Result<>() : connect();
        if (connected.ok()) {
            auto info = client_->properties(*partition_);
            if (info.ok() || !may_pass(info.error().code) || i == tries_max) return info;
            client_.reset();
        } else if (!may_pass(connected.error().code) || i == tries_max) {
            return connected.error();
        }
        if (interrupt_.wait(try_pause * i)) {
            return Error{ErrorCode::cancelled, "interrupted"};
        }
    }
}

Result<> Restorer::begin_partition(std::uint32_t partition) {
    partition_ = partition;
    EK_TRY_ASSIGN(const auto info, look());
    next_ = info.last_enqueued_sequence_number + 1;
    present_ = next_;
    present_ms_ = wall_time(info.last_enqueued_time).milliseconds;
    seen_ = 0;
    batch_.emplace(Route{.partition = partition}, producer_->make_batch().value().bytes_max());
    return {};
}

Result<> Restorer::add(std::uint32_t partition, const BackupEvent& event) {
    if (partition_ != partition) {
        EK_TRY(flush());
        EK_TRY(begin_partition(partition));
    }
    ++seen_;
    if (seen_ <= present_) {
        ++skipped_;
        // The last one that is there must be the one of the back-up.
        if (seen_ == present_ && event.enqueued_ms != present_ms_) {
            return conflict(
                fmt::format("event {} of partition {} is not that of the back-up: another program "
                            "has sent events",
                            present_ - 1, partition));
        }
        return {};
    }
    const auto section = producer::BatchAccess::in_batch(
        eventhubs::restorable(event.sections, event.key, event.enqueued_ms));
    if (batch_->size() >= batch_events_max || !producer::BatchAccess::try_add(*batch_, section)) {
        EK_TRY(flush());
        if (!producer::BatchAccess::try_add(*batch_, section)) {
            return Error{
                ErrorCode::invalid_argument,
                fmt::format("event {} of partition {} has {} bytes; the hub accepts {}",
                            event.sequence_number, partition, section.size(), batch_->bytes_max())};
        }
    }
    return {};
}

Result<> Restorer::flush() {
    if (!batch_ || batch_->empty()) return {};
    for (int i = 1;; ++i) {
        bool is_stored = false;
        auto sent = send_once(is_stored);
        if (is_stored) break;
        if (sent.ok() || !may_pass(sent.error().code) || i == tries_max) return sent;
        if (interrupt_.wait(try_pause * i)) return Error{ErrorCode::cancelled, "interrupted"};
    }
    next_ += static_cast<std::int64_t>(batch_->size());
    stored_ += batch_->size();
    batch_->clear();
    return {};
}

Result<> Restorer::send_once(bool& is_stored) {
    const auto count = static_cast<std::int64_t>(batch_->size());
    const Error foreign = conflict(
        fmt::format("another program sends to partition {} of event hub '{}': its events lie "
                    "among the restored ones",
                    *partition_, name_));
    if (!producer_) EK_TRY(connect());
    const auto receipt = producer_->send_with_receipt(*batch_);
    if (receipt.ok()) {
        is_stored = receipt->first_sequence_number == next_;
        return is_stored ? Result<>() : Result<>(foreign);
    }
    if (!may_pass(receipt.error().code)) return receipt.error();
    // Whether it was stored is not known: the hub is asked.
    producer_.reset();
    client_.reset();
    EK_TRY_ASSIGN(const auto info, look());
    const std::int64_t behind = info.last_enqueued_sequence_number + 1;
    is_stored = behind == next_ + count;
    if (is_stored) return {};
    return behind == next_ ? Result<>(receipt.error()) : Result<>(foreign);
}

}  // namespace evenkeel::cli
