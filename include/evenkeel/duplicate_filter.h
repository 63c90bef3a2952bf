// For handlers that must not do an event twice: tells which events of a partition were done before.
//
// A partition's events come in order, so that one number for each partition is enough: the sequence
// number of the last one that was done. It filters what repeats within this process: the events of
// a failed batch that had gone well, and those of a partition that was lost and won back. What a
// crash repeats it cannot know, unless the handler keeps that number with its results and tells it:
//
//   auto filter = std::make_shared<evenkeel::DuplicateFilter>();
//   for (auto [partition, sequence] : read_from_my_results()) filter->done(partition, sequence);
//   return evenkeel::run(processor, evenkeel::once_each(filter, [](auto& partition, const auto&
//   event) {
//       handle(event);
//   }));
//
// After a deliberate step back (seek(), `evenkeel checkpoint`), or when the event hub was deleted
// and made again, forget() the partition: its numbers mean other events then.
#pragma once

#include <cstdint>
#include <memory>

#include <evenkeel/processor.h>

namespace evenkeel {

// Threads: any. Memory: a few bytes for each partition that was seen.
class DuplicateFilter {
public:
    DuplicateFilter();
    ~DuplicateFilter();
    DuplicateFilter(const DuplicateFilter&) = delete;
    DuplicateFilter& operator=(const DuplicateFilter&) = delete;

    // All up to this one were done. A lower number than before changes nothing.
    void done(std::uint32_t partition, std::int64_t sequence_number);
    bool was_done(std::uint32_t partition, std::int64_t sequence_number) const;
    void forget(std::uint32_t partition);

private:
    struct State;
    const std::unique_ptr<State> state_;
};

// Calls `handler(Partition&, const Event&)`, which returns Result<> or nothing, for events that
// were not done before, and takes down each that ends well.
template <typename Handler>
BatchHandler once_each(std::shared_ptr<DuplicateFilter> filter, Handler handler) {
    return batch_handler([filter = std::move(filter), handler = std::move(handler)](
                             Partition& partition, const Event& event) mutable -> Result<> {
        if (filter->was_done(partition.id(), event.sequence_number)) return {};
        if constexpr (std::is_void_v<std::invoke_result_t<Handler&, Partition&, const Event&>>) {
            handler(partition, event);
        } else if (Result<> result = handler(partition, event); !result.ok()) {
            return result;
        }
        filter->done(partition.id(), event.sequence_number);
        return {};
    });
}

}  // namespace evenkeel
