// An event hub over AMQP: Evenkeel's, or Azure Event Hubs. All readers share one connection, which
// reconnects after a loss; each reader then resumes after the last event it returned. Threads:
// pinned to the connection's loop.
#pragma once

#include <memory>
#include <string>

#include "client/connection.h"
#include "source/source.h"

namespace evenkeel::source {

class AmqpSource final : public Source {
public:
    // The connection outlives this.
    AmqpSource(client::Connection& connection, std::string group);

    const Name& name() const override { return name_; }
    bool is_exclusive() const override { return true; }
    void properties(Callback<void(Result<HubProperties>)> answer) override;
    void properties(PartitionId partition,
                    Callback<void(Result<PartitionProperties>)> answer) override;
    void open(PartitionId partition, const Position& position, const ReadOptions& options,
              Callback<void(Result<std::unique_ptr<Reader>>)> answer) override;
    void close(Task done) override;

private:
    class LinkReader;

    client::Connection& connection_;
    const std::string group_;
    const Name name_;
};

}  // namespace evenkeel::source
