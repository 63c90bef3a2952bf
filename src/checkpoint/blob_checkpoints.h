// The checkpoints of a group in Blob storage. The service has no fence of its own, but conditions:
// each partition's writes are a chain, each on the very version that the last one made or that was
// read. A write that is refused reads again, and judges itself anew (S3, S4).
//
//     waiting ops ──all of them──▶ applied to the value we know ──▶ one write, If-Match its ETag
//                                        ▲                              │ 412: somebody else wrote
//                                        └──────────── read ◀───────────┘
//
// Operations that wait for the same partition share one write.
// Threads: pinned to the loop.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/blob_records.h"
#include "checkpoint/blob_service.h"
#include "checkpoint/store.h"
#include "checkpoint/table.h"

namespace evenkeel::checkpoint {

class BlobCheckpoints {
public:
    // Both outlive it.
    BlobCheckpoints(BlobService& service, const BlobNames& names)
        : service_(service), names_(names) {}

    void seal(PartitionId partition, Epoch epoch, Store::Answer<Checkpoint> done);
    void write(const Checkpoint& checkpoint, Store::Answer<> done);
    void reset(const Checkpoint& checkpoint, Store::Answer<> done);
    // Who writes, for people and for .NET's tools.
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
        std::string etag;  // "" = there is no blob
        std::optional<Checkpoint> value;
    };
    struct Chain {
        std::vector<Operation> waiting;
        std::vector<Operation> running;
        std::optional<Known> known;
        bool is_fresh = false;  // read for the operations that run
        int rounds = 0;
    };

    void add(Operation operation);
    void begin(PartitionId partition);
    void read(PartitionId partition);
    void on_read(PartitionId partition, const Result<BlobAnswer>& answer);
    void apply(PartitionId partition);
    void store(PartitionId partition, const Checkpoint& value);
    void on_stored(PartitionId partition, const Checkpoint& value,
                   const Result<BlobAnswer>& answer);
    void finish(PartitionId partition, const std::optional<Error>& error);

    BlobService& service_;
    const BlobNames& names_;
    std::string writer_ = "evenkeel";
    std::map<PartitionId, Chain> chains_;
    const std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace evenkeel::checkpoint
