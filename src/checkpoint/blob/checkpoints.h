// The checkpoints of a group in Blob storage. The service has no fence of its own, but conditions:
// each partition's writes are a chain, each on the very version that the last one made or that was
// read. A write that is refused reads again, and judges itself anew (STORE-3, STORE-4).
//
//     waiting ops ──all of them──▶ applied to the value we know ──▶ one write, If-Match its ETag
//                                        ▲                              │ 412: somebody else wrote
//                                        └──────────── read ◀───────────┘
//
// Operations that wait for the same partition share one write.
//
// What has no position yet lies in a blob "seal" where SDKs do not look: to one of them that starts
// at the end, a checkpoint at the beginning would be all events again. The first position is
// written in two steps, so that an owner that was replaced between them is fenced too:
//
//     seal, epoch 1 ──▶ seal, epoch 1, opened ──▶ checkpoint, only if there is none
//           └──▶ seal, epoch 2: the opening        └──▶ epoch 2 finds it opened, and makes the
//                of epoch 1 is refused                  checkpoint itself, at the beginning
// Threads: pinned to the loop.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/lifetime.h"
#include "checkpoint/blob/records.h"
#include "checkpoint/blob/service.h"
#include "checkpoint/memory/table.h"
#include "checkpoint/store.h"

namespace evenkeel::checkpoint {

class BlobCheckpoints {
public:
    // Both outlive it.
    BlobCheckpoints(BlobService& service, const BlobNames& names)
        : service_(service), names_(names) {}

    void seal(PartitionId partition, Epoch epoch, Store::Answer<Checkpoint> done);
    void write(const Checkpoint& checkpoint, Store::Answer<> done);
    void reset(const Checkpoint& checkpoint, Store::Answer<> done);
    // The writer's name, for operators and .NET's tools.
    void set_writer(std::string writer) { writer_ = std::move(writer); }

private:
    struct Operation {
        enum class Kind : unsigned char { seal, write, reset };
        Kind kind;
        Checkpoint checkpoint;
        Store::Answer<Checkpoint> done;
        Result<Checkpoint> result = Checkpoint{};
    };
    struct Known {
        std::string etag;  // of the checkpoint; "" = there is none, and the seal counts
        std::optional<Checkpoint> value;
        std::string seal_etag = {};  // "" = there is no seal either
        bool is_opened = false;
    };
    struct Chain {
        std::vector<Operation> waiting;
        std::vector<Operation> running;
        std::optional<Known> known;
        bool is_fresh = false;        // read for the operations that run
        bool is_open_looked = false;  // for the checkpoint, once the seal was seen opened
        int rounds = 0;
    };

    void add(Operation operation);
    void begin(PartitionId partition);
    void read(PartitionId partition);
    void look(PartitionId partition);
    void on_read(PartitionId partition, const Result<BlobAnswer>& answer);
    void read_seal(PartitionId partition);
    void on_seal_read(PartitionId partition, const Result<BlobAnswer>& answer);
    Result<> take(PartitionId partition, const Result<BlobAnswer>& answer, std::string& etag);
    void apply(PartitionId partition);
    void store(PartitionId partition, const Checkpoint& value);
    void store_seal(PartitionId partition, const Checkpoint& value);
    void on_stored(PartitionId partition, const Checkpoint& value,
                   const Result<BlobAnswer>& answer);
    void finish(PartitionId partition, const std::optional<Error>& error);

    BlobService& service_;
    const BlobNames& names_;
    std::string writer_ = "evenkeel";
    std::map<PartitionId, Chain> chains_;
    Lifetime lifetime_;
};

}  // namespace evenkeel::checkpoint
