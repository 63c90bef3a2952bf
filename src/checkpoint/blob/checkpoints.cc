// tidy: no test: blob_store_test.cc and the contract of stores run it
#include "checkpoint/blob/checkpoints.h"

#include <utility>

#include <fmt/format.h>

#include "base/log.h"

namespace evenkeel::checkpoint {
namespace {

// Each round that fails was won by somebody else; so many in a row are no coincidence.
constexpr int rounds_max = 1000;
constexpr std::string_view opened_key = "ekopen";

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
    chains_[partition].is_open_looked = false;
    look(partition);
}

void BlobCheckpoints::look(PartitionId partition) {
    service_.ask(
        {.method = "HEAD", .blob = names_.checkpoint(partition)},
        [this, partition](const Result<BlobAnswer>& answer) { on_read(partition, answer); });
}

void BlobCheckpoints::on_read(PartitionId partition, const Result<BlobAnswer>& answer) {
    Chain& chain = chains_[partition];
    // Opened, and the checkpoint is still not there when it was looked for again.
    Known seal = chain.known && chain.is_open_looked ? std::move(*chain.known) : Known{};
    chain.known = Known{};
    const Result<> taken = take(partition, answer, chain.known->etag);
    if (!taken.ok()) return finish(partition, taken.error());
    chain.is_fresh = true;
    if (!chain.known->etag.empty()) return apply(partition);
    if (!chain.is_open_looked) return read_seal(partition);
    chain.known = std::move(seal);
    apply(partition);
}

void BlobCheckpoints::read_seal(PartitionId partition) {
    service_.ask(
        {.method = "HEAD", .blob = names_.seal(partition)},
        [this, partition](const Result<BlobAnswer>& answer) { on_seal_read(partition, answer); });
}

void BlobCheckpoints::on_seal_read(PartitionId partition, const Result<BlobAnswer>& answer) {
    Chain& chain = chains_[partition];
    const Result<> taken = take(partition, answer, chain.known->seal_etag);
    if (!taken.ok()) return finish(partition, taken.error());
    chain.known->is_opened = answer->is_good() && find(answer->metadata, opened_key) != nullptr;
    if (!chain.known->is_opened) return apply(partition);
    // Its checkpoint may have come between the two looks.
    chain.is_open_looked = true;
    look(partition);
}

// Remembers what a blob holds, if it is there.
Result<> BlobCheckpoints::take(PartitionId partition, const Result<BlobAnswer>& answer,
                               std::string& etag) {
    if (!answer.ok()) return answer.error();
    if (answer->is_good()) {
        etag = answer->etag;
        auto value = checkpoint_of(partition, answer->metadata, answer->modified);
        if (value.ok()) {
            chains_[partition].known->value = std::move(*value);
        } else {
            trace(TraceLevel::warning, "a checkpoint cannot be used, as if there were none",
                  {{"blob", names_.checkpoint(partition)}, {"why", value.error().detail}});
        }
    } else if (answer->status != 404) {
        return Error{ErrorCode::unavailable,
                     fmt::format("checkpoint of partition {}: the service answers {} {}",
                                 partition.value, answer->status, answer->code)};
    }
    return {};
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
    // A refusal by what we remember is none: an operator may have set it back since.
    if (has_refused && !chain.is_fresh) return read(partition);
    if (!has_written) return finish(partition, std::nullopt);
    Checkpoint value = table.checkpoints().at(0);
    value.written_ms = at.wall.milliseconds;
    store(partition, value);
}

void BlobCheckpoints::store(PartitionId partition, const Checkpoint& value) {
    const Chain& chain = chains_[partition];
    if (chain.known->etag.empty() && !chain.known->is_opened) return store_seal(partition, value);
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

// The value itself if it has no position; else the seal is opened for it.
void BlobCheckpoints::store_seal(PartitionId partition, const Checkpoint& value) {
    const Known& known = *chains_[partition].known;
    const bool opens = value.sequence.value >= 0 || !value.offset.empty();
    Checkpoint sealed = value;
    if (opens) {
        sealed = known.value.value_or(Checkpoint{.partition = partition});
        sealed.epoch = value.epoch;
        sealed.written_ms = value.written_ms;
    }
    BlobRequest request{.method = "PUT",
                        .blob = names_.seal(partition),
                        .if_match = known.seal_etag,
                        .only_if_new = known.seal_etag.empty(),
                        .metadata = to_metadata(sealed, writer_),
                        .is_block_blob = true};
    if (opens) request.metadata.emplace_back(opened_key, "1");
    service_.ask(std::move(request),
                 [this, partition, value, sealed, opens](const Result<BlobAnswer>& answer) {
                     Chain& chain = chains_[partition];
                     if (!answer.ok() || !answer->is_good())
                         return on_stored(partition, value, answer);
                     chain.known = Known{"", sealed, answer->etag, opens};
                     if (opens) return store(partition, value);
                     finish(partition, std::nullopt);
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
    const Lifetime::Watch watch = lifetime_.watch();
    for (Operation& operation : ended) {
        const bool is_told =
            was_fresh && !operation.result.ok() && is_refusal(operation.result.error());
        operation.done(error && !is_told ? Result<Checkpoint>(*error)
                                         : std::move(operation.result));
        if (watch.over()) return;  // by the answer
    }
}

}  // namespace evenkeel::checkpoint
