// An event hub in this process, read without a connection in between.
//
//     processor's loop           hub's loop                    reads (may block)
//     Reader::read  ──post──▶    StreamReader::read
//                                   └─ a cold read  ──post──▶  perform
//        events     ◀──post──    slice           ◀──post──
//
// What a read brings beyond what was asked for waits in the reader: at most 256 KiB, or one event.
// Threads: pinned to `loop`; the other half of each reader to the hub's.
#pragma once

#include <memory>
#include <string>

#include "base/lifetime.h"
#include "hub/namespace.h"
#include "io/loop.h"
#include "source/source.h"

namespace evenkeel::source {

struct EmbeddedPlace {
    io::Loop& loop;      // where it is called and answers
    io::Loop& hub_loop;  // the hub's
    io::Executor& reads;
    hub::Namespace& hubs;  // pinned to hub_loop
};

class EmbeddedSource final : public Source {
public:
    // All of `place` outlives this and all its tasks: after this is destroyed, `reads` and then
    // `hub_loop` run what was posted, before `loop` is destroyed.
    EmbeddedSource(const EmbeddedPlace& place, Name name, std::string group);

    const Name& name() const override { return name_; }
    bool is_exclusive() const override { return true; }
    void properties(Callback<void(Result<HubProperties>)> answer) override;
    void properties(PartitionId partition,
                    Callback<void(Result<PartitionProperties>)> answer) override;
    void open(PartitionId partition, const Position& position, const ReadOptions& options,
              Callback<void(Result<std::unique_ptr<Reader>>)> answer) override;
    void close(Task done) override;

private:
    struct Half;
    class LocalReader;

    const EmbeddedPlace place_;
    const Name name_;
    const std::string group_;
    Lifetime lifetime_;
};

}  // namespace evenkeel::source
