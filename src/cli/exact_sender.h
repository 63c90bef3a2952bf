// Stores batches behind each other in one partition, each exactly once, while connections come and
// go. The hub says where it stored a batch: if that is not right behind the one before, another
// program sends too. If the answer does not come, nothing is sent before the hub has said how far
// it came, however long it is out of reach.
// Threads: one at a time. Calls block.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/clock.h"
#include "base/result.h"
#include <evenkeel/producer.h>

namespace evenkeel::cli {

// The way to the hub. Each call connects first if that is not done.
class SenderLink {
public:
    virtual ~SenderLink() = default;
    virtual Result<SendReceipt> send(const SendBatch& batch) = 0;
    virtual Result<PartitionInfo> look(std::uint32_t partition) = 0;
    // The largest batch that the hub accepts.
    virtual Result<std::size_t> bytes_max() = 0;
    // The next call connects anew.
    virtual void drop() = 0;
    // True: the user wants it to end.
    virtual bool wait(Duration pause) = 0;
};

class ExactSender {
public:
    // So often each step is tried, with growing pauses between.
    static constexpr int tries_max = 8;

    // `link` outlives it.
    explicit ExactSender(SenderLink& link) : link_(link) {}

    // Goes on with this partition. Answers what it has.
    Result<PartitionInfo> begin(std::uint32_t partition);
    Result<std::size_t> bytes_max() { return link_.bytes_max(); }
    // `conflict`: another program sends to the partition. `cancelled`: interrupted.
    Result<> send(const SendBatch& batch);

private:
    Result<PartitionInfo> look();
    Result<> try_once(const SendBatch& batch, bool& is_stored);
    Error foreign() const;

    SenderLink& link_;
    std::uint32_t partition_ = 0;
    std::int64_t next_ = 0;    // number of the next event that is sent
    bool is_unknown_ = false;  // a batch was sent and not answered
};

}  // namespace evenkeel::cli
