// tidy: no test: tests/client runs the contract of sources against a door
#include "source/amqp_source.h"

#include <algorithm>

#include "base/lifetime.h"
#include "base/time_point.h"
#include "client/reader_core.h"
#include "client/requests.h"

namespace evenkeel::source {

using client::NodeReply;

// A ReaderCore answers within the call where it can, and in the middle of a delivery; this one
// answers from the loop, so that the callback may destroy the reader or read again.
class AmqpSource::LinkReader final : public Reader {
public:
    LinkReader(client::Connection& connection, std::string_view group, PartitionId partition,
               const Position& position, const ReadOptions& options)
        : loop_(connection.loop()),
          core_(connection, group, partition.value, position, options_of(options)) {}

    // `answer` gets this reader back, or the reader is gone.
    static void open(std::unique_ptr<LinkReader> reader,
                     Callback<void(Result<std::unique_ptr<Reader>>)> answer) {
        LinkReader& self = *reader;
        self.core_.open(
            [reader = std::move(reader), answer = std::move(answer)](Result<> opened) mutable {
                io::Loop& loop = reader->loop_;
                loop.post([reader = std::move(reader), answer = std::move(answer),
                           opened = std::move(opened)]() mutable {
                    if (!opened.ok()) {
                        reader.reset();
                        return answer(opened.error());
                    }
                    answer(std::unique_ptr<Reader>(std::move(reader)));
                });
            });
    }

    void read(std::size_t events_max, Duration wait,
              Callback<void(Result<EventBatch>)> answer) override {
        answer_ = std::move(answer);
        core_.read(events_max, wait, [this](Result<EventBatch> batch) {
            if (batch.ok() && !batch->empty()) {
                last_read_ = {batch->back().sequence_number};
            }
            arrived_ = std::move(batch);
            loop_.post(lifetime_.guard([this] {
                auto reply = std::move(answer_);
                answer_ = nullptr;
                reply(std::move(arrived_));
            }));
        });
    }

    SequenceNumber last_enqueued() const override {
        const auto& known = core_.last_enqueued();
        if (!known) return last_read_;
        return std::max(last_read_, SequenceNumber{known->sequence_number});
    }

    bool is_attached() const override { return core_.is_attached(); }

private:
    static RemoteReaderOptions options_of(const ReadOptions& options) {
        RemoteReaderOptions result;
        if (options.epoch) result.epoch = options.epoch->value;
        result.name = options.name;
        result.prefetch_events = options.prefetch_events;
        result.prefetch_bytes = options.prefetch_bytes;
        result.track_last_enqueued = options.track_end;
        return result;
    }

    io::Loop& loop_;
    client::ReaderCore core_;
    Callback<void(Result<EventBatch>)> answer_;
    Result<EventBatch> arrived_ = EventBatch();
    SequenceNumber last_read_;
    Lifetime lifetime_;  // the last member
};

AmqpSource::AmqpSource(client::Connection& connection, std::string group)
    : connection_(connection),
      group_(std::move(group)),
      name_{connection.options().target.endpoint.host, connection.options().target.event_hub} {}

void AmqpSource::properties(Callback<void(Result<HubProperties>)> answer) {
    connection_.read_event_hub([answer = std::move(answer)](Result<NodeReply> reply) mutable {
        if (!reply.ok()) return answer(reply.error());
        const auto decoded = client::decode_event_hub(reply->body);
        if (!decoded.ok()) return answer(decoded.error());
        answer(HubProperties{decoded->partitions, wall_time(decoded->created_time).milliseconds,
                             decoded->identity});
    });
}

void AmqpSource::properties(PartitionId partition,
                            Callback<void(Result<PartitionProperties>)> answer) {
    connection_.read_partition(
        partition.value, [answer = std::move(answer)](Result<NodeReply> reply) mutable {
            if (!reply.ok()) return answer(reply.error());
            const auto decoded = client::decode_partition(reply->body);
            if (!decoded.ok()) return answer(decoded.error());
            PartitionProperties properties;
            properties.first = {decoded->begin_sequence_number};
            properties.last = {decoded->last_enqueued_sequence_number};
            properties.last_offset = {decoded->last_enqueued_offset};
            properties.last_enqueued_ms = wall_time(decoded->last_enqueued_time).milliseconds;
            answer(properties);
        });
}

void AmqpSource::open(PartitionId partition, const Position& position, const ReadOptions& options,
                      Callback<void(Result<std::unique_ptr<Reader>>)> answer) {
    LinkReader::open(
        std::make_unique<LinkReader>(connection_, group_, partition, position, options),
        std::move(answer));
}

void AmqpSource::close(Task done) {
    connection_.stop(std::move(done));
}

}  // namespace evenkeel::source
