// Answers a reader of a partition one question at a time: with events, with damage as an error, or
// with no events when the time is over. What the library's Reader and the embedded source share.
//
// Ownership: `loop` and `cold_reads` outlive it.
// Threads: pinned to the hub's loop, made and destroyed there; has_ended() and last() from any.
#pragma once

#include <atomic>
#include <optional>
#include <string_view>

#include "hub/event_hub.h"
#include "hub/partition_stream.h"
#include "io/timer.h"

namespace evenkeel::hub {

class StreamReader final : private PartitionStream::Owner {
public:
    using Answer = Callback<void(Result<commitlog::Slice>)>;

    StreamReader(io::Loop& loop, ColdReads& cold_reads)
        : loop_(loop), stream_(*this, cold_reads, {}) {}

    Result<> attach(EventHub& event_hub, std::string_view group, PartitionId partition,
                    const Position& position, const ReaderRequest& request);
    // One at a time. Answers at once, or when there is something to read, or with no events after
    // `wait`. `corrupt`: these events are damaged, the next read goes on behind them.
    void read(Duration wait, Answer answer);
    // The question is not answered; the next read() asks again.
    void cancel() { answer_ = nullptr; }
    // Answers `cancelled` from now on.
    void close();

    // Threads: any. What was read but not handed out yet is not handed out after the end.
    bool has_ended() const { return has_ended_; }
    // The last event of the partition as of the last read; -1 = not known.
    SequenceNumber last() const { return {last_}; }

private:
    void on_ready() override;
    void on_ended(const Error& why) override;
    void try_read();
    void wait_until_deadline();
    void look_at_end();
    void reply(Result<commitlog::Slice> slice);

    io::Loop& loop_;
    PartitionStream stream_;
    Partition* partition_ = nullptr;  // none once the stream has ended
    Answer answer_;
    Instant deadline_;
    io::Timer timer_{loop_};
    std::atomic<bool> has_ended_ = false;
    std::atomic<std::int64_t> last_ = -1;
};

}  // namespace evenkeel::hub
