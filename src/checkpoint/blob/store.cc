#include "checkpoint/blob/store.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/lifetime.h"
#include "base/log.h"
#include "base/number.h"
#include "base/random.h"
#include "checkpoint/blob/checkpoints.h"
#include "checkpoint/blob/listing.h"
#include "checkpoint/memory/table.h"

namespace evenkeel::checkpoint {
namespace {

Error not_as_expected(std::string_view what, std::string_view version) {
    return {ErrorCode::conflict,
            fmt::format("{}: the store has another version than {}", what,
                        version.empty() ? "none" : fmt::format("'{}'", version))};
}

// Some SDKs keep the case of names: their records of the same group would lie beside ours.
void warn_of_twins(BlobService& service, const GroupName& group) {
    const std::string given =
        fmt::format("{}/{}/{}/", group.hub_namespace, group.event_hub, group.group);
    if (given == BlobNames(group).prefix()) return;
    const auto answer = service.ask_now(blob_list_request(given + "ownership/", 1, ""));
    if (!answer.ok() || !answer->is_good()) return;
    const auto page = parse_blob_list(answer->body);
    if (!page.ok() || page->items.empty()) return;
    trace(TraceLevel::warning,
          "another program keeps this group under names that differ by case: both would read every "
          "partition; give it the names in lower case",
          {{"theirs", given}, {"ours", BlobNames(group).prefix()}});
}

}  // namespace

struct BlobStore::State {
    State(io::Loop& loop_, std::unique_ptr<BlobService> service_, const GroupName& group)
        : loop(loop_),
          service(std::move(service_)),
          names(group),
          listings(loop_, *service, names),
          checkpoints(*service, names) {}

    struct Batch;

    // Sends a write with a condition, and finds out about refusals that may be our own success.
    void write(BlobRequest request, std::string what, Answer<std::string> done);
    void put(const std::string& name, const Metadata& fields, const std::string& version,
             std::string what, Answer<std::string> done);
    void remove(const std::string& name, std::string_view version, std::string what, Answer<> done);
    void write_next(const std::shared_ptr<Batch>& batch, PartitionId partition);
    void write_ownership(const Ownership& ownership, Answer<std::string> done);
    void release(const Ownership& ownership, BlobRequest request, Answer<std::string> done);

    io::Loop& loop;
    const std::unique_ptr<BlobService> service;
    const BlobNames names;
    BlobListings listings;
    BlobCheckpoints checkpoints;
    Lifetime lifetime;
};

// Each for itself and at once, but one after another where they are of one partition.
struct BlobStore::State::Batch {
    std::vector<Ownership> wanted;
    std::vector<Result<std::string>> results;
    std::map<PartitionId, std::deque<std::size_t>> turns;
    std::size_t left = 0;
    Answer<std::vector<Result<std::string>>> done;
};

Result<std::unique_ptr<BlobStore>> BlobStore::open(std::string_view address, const GroupName& group,
                                                   io::Loop& loop, const BlobOptions& options) {
    EK_TRY_ASSIGN(BlobAccount account, parse_blob_account(address));
    const bool creates = account.creates;
    EK_TRY_ASSIGN(auto service, BlobService::open(std::move(account), options, loop));
    const auto probe = blob_list_request(BlobNames(group).prefix(), 1, "");
    auto answer = service->ask_now(probe);
    if (!answer.ok() && answer.error().code == ErrorCode::not_found && creates) {
        if (!options.may_create) return std::unique_ptr<BlobStore>();
        // Somebody else may be doing the same.
        EK_TRY(service->ask_now({.method = "PUT", .query = {{"restype", "container"}}}));
        answer = service->ask_now(probe);
    }
    if (!answer.ok()) return answer.error();
    if (!answer->is_good() || !parse_blob_list(answer->body).ok()) {
        return Error{ErrorCode::invalid_argument,
                     fmt::format("{} does not answer as Blob storage does (status {})",
                                 to_string(service->account()), answer->status)};
    }
    warn_of_twins(*service, group);
    return std::unique_ptr<BlobStore>(
        new BlobStore(std::make_unique<State>(loop, std::move(service), group)));
}

BlobStore::BlobStore(std::unique_ptr<State> state) : state_(std::move(state)) {}

BlobStore::~BlobStore() = default;

void BlobStore::list_members(Answer<std::vector<Member>> done) {
    state_->listings.members(std::move(done));
}

void BlobStore::write_member(const Member& member, Answer<std::string> done) {
    state_->checkpoints.set_writer(member.id);
    state_->put(state_->names.member(member.id), to_metadata(member), member.version,
                "member '" + member.id + "'", std::move(done));
}

void BlobStore::remove_member(std::string_view id, std::string_view version, Answer<> done) {
    state_->remove(state_->names.member(id), version, fmt::format("member '{}'", id),
                   std::move(done));
}

void BlobStore::list_ownerships(Answer<std::vector<Ownership>> done) {
    state_->listings.ownerships(std::move(done));
}

void BlobStore::write_ownerships(std::vector<Ownership> wanted,
                                 Answer<std::vector<Result<std::string>>> done) {
    state_->loop.check_here();
    auto batch = std::make_shared<State::Batch>();
    batch->wanted = std::move(wanted);
    batch->left = batch->wanted.size();
    batch->done = std::move(done);
    if (batch->left == 0) {
        state_->loop.post(
            state_->lifetime.guard([batch] { batch->done(std::vector<Result<std::string>>()); }));
        return;
    }
    for (std::size_t i = 0; i < batch->wanted.size(); ++i) {
        batch->results.emplace_back(Error{ErrorCode::unavailable, "not asked"});
        batch->turns[batch->wanted[i].partition].push_back(i);
    }
    std::vector<PartitionId> partitions;
    for (const auto& [partition, turns] : batch->turns) partitions.push_back(partition);
    for (const PartitionId partition : partitions) state_->write_next(batch, partition);
}

void BlobStore::State::write_next(const std::shared_ptr<Batch>& batch, PartitionId partition) {
    auto& turns = batch->turns[partition];
    const std::size_t i = turns.front();
    turns.pop_front();
    write_ownership(batch->wanted[i], [this, batch, partition, i](Result<std::string> result) {
        batch->results[i] = std::move(result);
        if (!batch->turns[partition].empty()) write_next(batch, partition);
        if (--batch->left > 0) return;
        for (const auto& each : batch->results) {
            if (each.ok() || each.error().code == ErrorCode::conflict) {
                return batch->done(std::move(batch->results));
            }
        }
        batch->done(batch->results.front().error());
    });
}

void BlobStore::State::write_ownership(const Ownership& ownership, Answer<std::string> done) {
    BlobRequest request{.method = "PUT",
                        .blob = names.ownership(ownership.partition),
                        .metadata = to_metadata(ownership)};
    if (ownership.version.empty()) {
        request.only_if_new = true;
        request.is_block_blob = true;
    } else {
        request.query = {{"comp", "metadata"}};
        request.if_match = ownership.version;
    }
    if (ownership.owner.empty()) return release(ownership, std::move(request), std::move(done));
    request.metadata.emplace_back(nonce_key, secure_hex(8));
    write(std::move(request), fmt::format("ownership of partition {}", ownership.partition.value),
          std::move(done));
}

// The epoch must outlive the release, and nothing of ours may stand on a released entry.
void BlobStore::State::release(const Ownership& ownership, BlobRequest request,
                               Answer<std::string> done) {
    const std::string what = fmt::format("ownership of partition {}", ownership.partition.value);
    if (ownership.epoch.value == 0) return write(std::move(request), what, std::move(done));
    service->ask({.method = "PUT",
                  .blob = names.epoch(ownership.partition),
                  .metadata = {{"ekepoch", std::to_string(ownership.epoch.value)}},
                  .is_block_blob = true},
                 [this, request = std::move(request), what,
                  done = std::move(done)](const Result<BlobAnswer>& answer) mutable {
                     if (!answer.ok()) return done(answer.error());
                     write(std::move(request), what, std::move(done));
                 });
}

void BlobStore::State::write(BlobRequest request, std::string what, Answer<std::string> done) {
    const std::string name = request.blob;
    const std::string version = request.if_match;
    const Metadata metadata = request.metadata;
    service->ask(
        std::move(request), [this, name, version, metadata, what = std::move(what),
                             done = std::move(done)](const Result<BlobAnswer>& answer) mutable {
            if (!answer.ok()) return done(answer.error());
            if (answer->is_good()) return done(answer->etag);
            if (!answer->is_uncertain) return done(not_as_expected(what, version));
            // Perhaps an earlier try of ours was carried out, and its answer was lost.
            service->ask({.method = "HEAD", .blob = name},
                         [version, metadata, what = std::move(what),
                          done = std::move(done)](const Result<BlobAnswer>& stored) mutable {
                             if (!stored.ok()) return done(stored.error());
                             if (stored->is_good() && is_same(stored->metadata, metadata)) {
                                 return done(stored->etag);
                             }
                             done(not_as_expected(what, version));
                         });
        });
}

void BlobStore::State::put(const std::string& name, const Metadata& fields,
                           const std::string& version, std::string what, Answer<std::string> done) {
    BlobContent content = pack(fields);
    content.metadata.emplace_back(nonce_key, secure_hex(8));
    write({.method = "PUT",
           .blob = name,
           .if_match = version,
           .only_if_new = version.empty(),
           .metadata = std::move(content.metadata),
           .is_block_blob = true,
           .body = std::move(content.body)},
          std::move(what), std::move(done));
}

void BlobStore::State::remove(const std::string& name, std::string_view version, std::string what,
                              Answer<> done) {
    // Without a version only absence is right; it must not be removed without a condition.
    BlobRequest request{.method = version.empty() ? "HEAD" : "DELETE",
                        .blob = name,
                        .if_match = std::string(version)};
    service->ask(std::move(request),
                 [this, name, version = std::string(version), what = std::move(what),
                  done = std::move(done)](const Result<BlobAnswer>& answer) mutable {
                     if (!answer.ok()) return done(answer.error());
                     if (answer->status == 404) return done({});
                     if (answer->is_good() && !version.empty()) return done({});
                     if (answer->is_good()) return done(not_as_expected(what, version));
                     // The condition was not met: because it is another one, or because it is gone.
                     remove(name, "", std::move(what), std::move(done));
                 });
}

void BlobStore::list_checkpoints(Answer<std::vector<Checkpoint>> done) {
    state_->listings.checkpoints(std::move(done));
}

void BlobStore::seal(PartitionId partition, Epoch epoch, Answer<Checkpoint> done) {
    state_->checkpoints.seal(partition, epoch, std::move(done));
}

void BlobStore::write_checkpoint(const Checkpoint& checkpoint, Answer<> done) {
    state_->checkpoints.write(checkpoint, std::move(done));
}

void BlobStore::reset_checkpoint(const Checkpoint& checkpoint, Answer<> done) {
    state_->checkpoints.reset(checkpoint, std::move(done));
}

void BlobStore::add_dead_letter(const DeadLetter& letter, Answer<> done) {
    state_->service->ask({.method = "PUT",
                          .blob = state_->names.dead_letter(letter.partition, letter.sequence),
                          .only_if_new = true,
                          .is_block_blob = true,
                          .body = to_body(letter)},
                         [done = std::move(done)](const Result<BlobAnswer>& answer) mutable {
                             // It is there already: the first one stays.
                             done(answer.ok() ? Result<>() : Result<>(answer.error()));
                         });
}

void BlobStore::list_dead_letters(const DeadLetterPage& page,
                                  Answer<std::vector<DeadLetter>> done) {
    State& state = *state_;
    if (page.count_max == 0) {
        state.loop.post(state.lifetime.guard(
            [done = std::move(done)]() mutable { done(std::vector<DeadLetter>()); }));
        return;
    }
    state.service->list(
        state.names.dead_letters(), page.count_max,
        [&state, done = std::move(done)](Result<std::vector<ListedBlob>> found) mutable {
            if (!found.ok()) return done(found.error());
            state.listings.read(
                std::move(*found), [&state, done = std::move(done)](
                                       const Result<BlobListings::Contents>& contents) mutable {
                    if (!contents.ok()) return done(contents.error());
                    std::vector<DeadLetter> letters;
                    for (const auto& [blob, body] : *contents) {
                        auto letter = dead_letter_of(body);
                        if (letter.ok()) {
                            letters.push_back(std::move(*letter));
                        } else {
                            state.listings.complain(blob.item.name, letter.error().detail);
                        }
                    }
                    done(std::move(letters));
                });
        },
        page.after ? state.names.dead_letter(page.after->partition, page.after->sequence) : "");
}

void BlobStore::count_dead_letters(Answer<std::map<PartitionId, std::uint64_t>> done) {
    const std::string prefix = state_->names.dead_letters();
    state_->service->list(
        prefix, std::numeric_limits<std::size_t>::max(),
        [prefix, done = std::move(done)](const Result<std::vector<ListedBlob>>& found) mutable {
            if (!found.ok()) return done(found.error());
            std::map<PartitionId, std::uint64_t> counts;
            for (const ListedBlob& blob : *found) {
                const std::string_view rest =
                    std::string_view(blob.item.name).substr(prefix.size());
                const auto partition = parse_number<std::uint32_t>(rest.substr(0, rest.find('/')));
                if (partition) ++counts[{*partition}];
            }
            done(std::move(counts));
        });
}

void BlobStore::remove_dead_letter(const DeadLetterId& id, Answer<> done) {
    state_->service->ask(
        {.method = "DELETE", .blob = state_->names.dead_letter(id.partition, id.sequence)},
        [done = std::move(done)](const Result<BlobAnswer>& answer) mutable {
            if (!answer.ok()) return done(answer.error());
            if (answer->is_good() || answer->status == 404) return done({});
            done(
                Error{ErrorCode::unavailable, fmt::format("the dead letter was not removed ({} {})",
                                                          answer->status, answer->code)});
        });
}

void BlobStore::list_records(std::string_view prefix, Answer<std::vector<Record>> done) {
    state_->listings.records(std::string(prefix), std::move(done));
}

void BlobStore::write_record(const Record& record, Answer<std::string> done) {
    State& state = *state_;
    const std::string what = "record '" + record.key + "'";
    if (const auto checked = check(record); !checked.ok()) {
        state.loop.post(
            state.lifetime.guard([error = checked.error(), done = std::move(done)]() mutable {
                done(std::move(error));
            }));
        return;
    }
    if (!record.value.empty()) {
        return state.put(state.names.record(record.key), to_metadata(record), record.version, what,
                         std::move(done));
    }
    state.remove(state.names.record(record.key), record.version, what,
                 [done = std::move(done)](const Result<>& removed) mutable {
                     done(removed.ok() ? Result<std::string>(std::string())
                                       : Result<std::string>(removed.error()));
                 });
}

// Each request costs money, and a millisecond to a second.
Pace BlobStore::pace() const {
    return Pace::thrifty;
}

// The service tells nobody; processors look for themselves.
bool BlobStore::watch(std::function<void()>) {
    return false;
}

}  // namespace evenkeel::checkpoint
