// The store in a container of Azure Blob storage, shared with processors of the official SDKs in
// the same consumer group: ownerships and checkpoints lie where they look for them and as they
// write them, all else where they do not look (checkpoint/blob/records.h, docs/formats/blob.md).
//
//     loop: calls ──▶ BlobService: requests, tries again ──▶ http/0: libcurl ──▶ the service
//
// Versions are ETags, every write has a condition, ages are measured by the service's own clock in
// whole seconds. Listings that are asked for in one task share one request. It cannot watch.
// STORE-3 and STORE-4 hold among Evenkeel's processors; those of the SDKs write checkpoints without
// looking.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "checkpoint/blob/service.h"
#include "checkpoint/store.h"
#include "io/loop.h"

namespace evenkeel::checkpoint {

class BlobStore final : public Store {
public:
    // Blocks: asks for the container, and creates it if it may. The loop outlives the store. None
    // if the address says to create it, and the options forbid it.
    static Result<std::unique_ptr<BlobStore>> open(std::string_view address, const GroupName& group,
                                                   io::Loop& loop, const BlobOptions& options = {});
    ~BlobStore() override;
    BlobStore(const BlobStore&) = delete;
    BlobStore& operator=(const BlobStore&) = delete;

    void list_members(Answer<std::vector<Member>> done) override;
    void write_member(const Member& member, Answer<std::string> done) override;
    void remove_member(std::string_view id, std::string_view version, Answer<> done) override;
    void list_ownerships(Answer<std::vector<Ownership>> done) override;
    void write_ownerships(std::vector<Ownership> wanted,
                          Answer<std::vector<Result<std::string>>> done) override;
    void list_checkpoints(Answer<std::vector<Checkpoint>> done) override;
    void seal(PartitionId partition, Epoch epoch, Answer<Checkpoint> done) override;
    void write_checkpoint(const Checkpoint& checkpoint, Answer<> done) override;
    void reset_checkpoint(const Checkpoint& checkpoint, Answer<> done) override;
    void add_dead_letter(const DeadLetter& letter, Answer<> done) override;
    void list_dead_letters(const DeadLetterPage& page,
                           Answer<std::vector<DeadLetter>> done) override;
    void count_dead_letters(Answer<std::map<PartitionId, std::uint64_t>> done) override;
    void remove_dead_letter(const DeadLetterId& id, Answer<> done) override;
    void list_records(std::string_view prefix, Answer<std::vector<Record>> done) override;
    void write_record(const Record& record, Answer<std::string> done) override;
    bool watch(std::function<void()> changed) override;
    Pace pace() const override;

private:
    struct State;
    explicit BlobStore(std::unique_ptr<State> state);

    std::unique_ptr<State> state_;
};

}  // namespace evenkeel::checkpoint
