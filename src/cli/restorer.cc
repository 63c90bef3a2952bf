// tidy: no test: tests/process/cli/backup_test.cc tests it against a hub
#include "cli/restorer.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/time_point.h"
#include "cli/remote/admin_client.h"
#include "eventhubs/forward.h"
#include "eventhubs/names.h"
#include "producer/batch_access.h"
#include <evenkeel/client.h>

namespace evenkeel::cli {
namespace {

Error conflict(std::string why) {
    return {ErrorCode::conflict, std::move(why)};
}

class HubLink final : public SenderLink {
public:
    HubLink(const Remote& remote, std::string event_hub, Interrupt& interrupt)
        : remote_(remote), event_hub_(std::move(event_hub)), interrupt_(interrupt) {}

    Result<SendReceipt> send(const SendBatch& batch) override {
        EK_TRY(connect());
        return producer_->send_with_receipt(batch);
    }
    Result<PartitionInfo> look(std::uint32_t partition) override {
        EK_TRY(connect());
        return client_->properties(partition);
    }
    Result<std::size_t> bytes_max() override {
        EK_TRY(connect());
        EK_TRY_ASSIGN(const auto batch, producer_->make_batch());
        return batch.bytes_max();
    }
    void drop() override {
        producer_.reset();
        client_.reset();
    }
    bool wait(Duration pause) override { return interrupt_.wait(pause); }

private:
    // Both or none.
    Result<> connect() {
        if (producer_) return {};
        EK_TRY_ASSIGN(auto client,
                      Client::open(client_options(remote_, event_hub_, "evenkeel hub restore",
                                                  Patience::none)));
        EK_TRY_ASSIGN(producer_, Producer::open(*client, {.receipts = true, .restore = true}));
        client_ = std::move(client);
        return {};
    }

    const Remote& remote_;
    const std::string event_hub_;
    Interrupt& interrupt_;
    std::unique_ptr<Client> client_;
    std::unique_ptr<Producer> producer_;
};

}  // namespace

Restorer::Restorer(const Remote& remote, std::string name, Interrupt& interrupt)
    : remote_(remote),
      name_(std::move(name)),
      link_(std::make_unique<HubLink>(remote, name_, interrupt)),
      sender_(*link_) {}

Restorer::~Restorer() = default;

Result<std::unique_ptr<Restorer>> Restorer::open(const Remote& remote, const std::string& name,
                                                 const BackupHub& hub, bool resume,
                                                 Interrupt& interrupt) {
    std::unique_ptr<Restorer> restorer(new Restorer(remote, name, interrupt));
    EK_TRY(restorer->prepare(hub, resume));
    EK_TRY(restorer->sender_.bytes_max());  // connects
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

Result<> Restorer::begin_partition(std::uint32_t partition) {
    partition_ = partition;
    EK_TRY_ASSIGN(const auto info, sender_.begin(partition));
    present_ = info.last_enqueued_sequence_number + 1;
    present_ms_ = wall_time(info.last_enqueued_time).milliseconds;
    seen_ = 0;
    EK_TRY_ASSIGN(const std::size_t bytes_max, sender_.bytes_max());
    batch_.emplace(Route{.partition = partition}, bytes_max);
    return {};
}

Result<> Restorer::end_partition(std::uint32_t partition) {
    if (partition_ != partition) EK_TRY(begin_partition(partition));
    EK_TRY(flush());
    if (seen_ >= present_) return {};
    return conflict(fmt::format(
        "partition {} of event hub '{}' has {} events, or had them, and the source has {}: another "
        "program has sent events, it is another event hub, or retention has removed events of the "
        "source since",
        partition, name_, present_, seen_));
}

Result<> Restorer::add(std::uint32_t partition, const BackupEvent& event) {
    if (partition_ != partition) EK_TRY(begin_partition(partition));
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
    if (batch_->empty()) return {};
    EK_TRY(sender_.send(*batch_));
    stored_ += batch_->size();
    batch_->clear();
    return {};
}

}  // namespace evenkeel::cli
