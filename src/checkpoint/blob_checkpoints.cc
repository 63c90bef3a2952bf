// tidy: no test: blob_store_test.cc and the contract of stores run it
#include "checkpoint/blob_checkpoints.h"

#include <utility>

#include <fmt/format.h>

#include "base/log.h"

namespace evenkeel::checkpoint {
namespace {

// Each round that fails was won by somebody else; so many in a row are no coincidence.
constexpr int rounds_max = 1000;

bool is_refusal(const Error& error) {
    return error.code == ErrorCode::conflict || error.code == ErrorCode::fenced;
}

}  // namespace

void BlobCheckpoints::seal(PartitionId partition, Epoch epoch, Store::Answer<Checkpoint> done) {
    Checkpoint checkpoint;
    checkpoint.partition = partition;
    checkpoint.epoch = epoch;
    add({Operation::Kind::seal, checkpoint, std::move(done)});
}

void BlobCheckpoints::write(const Checkpoint& checkpoint, Store::Answer<> done) {
    add({Operation::Kind::write, checkpoint,
         [done = std::move(done)](Result<Checkpoint> result) mutable {
             done(result.ok() ? Result<>() : Result<>(result.error()));
         }});
}

void BlobCheckpoints::reset(const Checkpoint& checkpoint, Store::Answer<> done) {
    add({Operation::Kind::reset, checkpoint,
         [done = std::move(done)](Result<Checkpoint> result) mutable {
             done(result.ok() ? Result<>() : Result<>(result.error()));
         }});
}

void BlobCheckpoints::add(Operation operation) {
    const PartitionId partition = operation.checkpoint.partition;
    Chain& chain = chains_[partition];
    chain.waiting.push_back(std::move(operation));
    if (chain.running.empty()) begin(partition);
}

void BlobCheckpoints::begin(PartitionId partition) {
    Chain& chain = chains_[partition];
    chain.running.swap(chain.waiting);
    chain.is_fresh = false;
    chain.rounds = 0;
    bool must_read = !chain.known;
    for (const Operation& operation : chain.running) {
        must_read = must_read || operation.kind != Operation::Kind::write;
    }
    if (must_read) return read(partition);
    apply(partition);
}

void BlobCheckpoints::read(PartitionId partition) {
    service_.ask(
        {.method = "HEAD", .blob = names_.checkpoint(partition)},
        [this, partition](const Result<BlobAnswer>& answer) { on_read(partition, answer); });
}

void BlobCheckpoints::on_read(PartitionId partition, const Result<BlobAnswer>& answer) {
    Chain& chain = chains_[partition];
    if (!answer.ok()) return finish(partition, answer.error());
    chain.is_fresh = true;
    chain.known = Known{};
    if (answer->is_good()) {
        chain.known->etag = answer->etag;
        auto value = checkpoint_of(partition, answer->metadata, answer->modified);
        if (value.ok()) {
            chain.known->value = std::move(*value);
        } else {
            trace(TraceLevel::warning, "a checkpoint cannot be used, as if there were none",
                  {{"blob", names_.checkpoint(partition)}, {"why", value.error().detail}});
        }
    } else if (answer->status != 404) {
        return finish(partition, Error{ErrorCode::unavailable,
                                       fmt::format("checkpoint of partition {}: the service "
                                                   "answers {} {}",
                                                   partition.value, answer->status, answer->code)});
    }
    apply(partition);
}

// What the operations do, by the rules that all stores share.
void BlobCheckpoints::apply(PartitionId partition) {
    Chain& chain = chains_[partition];
    const Moment at{service_.clock().now(), service_.clock().wall()};
    Table table;
    if (chain.known->value) table.reset_checkpoint(*chain.known->value, at);
    bool has_written = false, has_refused = false;
    for (Operation& operation : chain.running) {
        const Checkpoint& wanted = operation.checkpoint;
        switch (operation.kind) {
            case Operation::Kind::seal:
                operation.result = table.seal(partition, wanted.epoch, at);
                break;
            case Operation::Kind::write: {
                const auto written = table.write_checkpoint(wanted, at);
                operation.result = written.ok() ? Result<Checkpoint>(wanted) : written.error();
                break;
            }
            case Operation::Kind::reset: table.reset_checkpoint(wanted, at); break;
        }
        has_refused = has_refused || !operation.result.ok();
        has_written = has_written || operation.result.ok();
    }
    // A refusal by what we remember is none: people may have set it back since.
    if (has_refused && !chain.is_fresh) return read(partition);
    if (!has_written) return finish(partition, std::nullopt);
    Checkpoint value = table.checkpoints().at(0);
    value.written_ms = at.wall.milliseconds;
    store(partition, value);
}

void BlobCheckpoints::store(PartitionId partition, const Checkpoint& value) {
    const Chain& chain = chains_[partition];
    BlobRequest request{.method = "PUT",
                        .blob = names_.checkpoint(partition),
                        .metadata = to_metadata(value, writer_)};
    if (chain.known->etag.empty()) {
        request.only_if_new = true;
        request.is_block_blob = true;
    } else {
        request.query = {{"comp", "metadata"}};
        request.if_match = chain.known->etag;
    }
    service_.ask(std::move(request), [this, partition, value](const Result<BlobAnswer>& answer) {
        on_stored(partition, value, answer);
    });
}

void BlobCheckpoints::on_stored(PartitionId partition, const Checkpoint& value,
                                const Result<BlobAnswer>& answer) {
    Chain& chain = chains_[partition];
    if (!answer.ok()) return finish(partition, answer.error());
    if (answer->is_good()) {
        chain.known = Known{answer->etag, value};
        return finish(partition, std::nullopt);
    }
    if (++chain.rounds == rounds_max) {
        return finish(partition, Error{ErrorCode::unavailable,
                                       fmt::format("checkpoint of partition {}: others write it "
                                                   "all the time",
                                                   partition.value)});
    }
    read(partition);
}

void BlobCheckpoints::finish(PartitionId partition, const std::optional<Error>& error) {
    Chain& chain = chains_[partition];
    if (error) chain.known.reset();
    const bool was_fresh = chain.is_fresh;
    std::vector<Operation> ended = std::exchange(chain.running, {});
    if (!chain.waiting.empty()) begin(partition);
    const std::weak_ptr<char> weak = alive_;
    for (Operation& operation : ended) {
        const bool is_told =
            was_fresh && !operation.result.ok() && is_refusal(operation.result.error());
        operation.done(error && !is_told ? Result<Checkpoint>(*error)
                                         : std::move(operation.result));
        if (weak.expired()) return;  // by the answer
    }
}

}  // namespace evenkeel::checkpoint
