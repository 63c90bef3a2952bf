// tidy: no test: blob_store_test.cc and the contract of stores run it
#include "checkpoint/blob/listing.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "base/log.h"

namespace evenkeel::checkpoint {
namespace {

constexpr std::size_t everything = std::numeric_limits<std::size_t>::max();
constexpr std::size_t complaints_max = 1000;

// Storage with a hierarchical namespace lists folders too.
bool is_folder(const BlobItem& item) {
    return find(item.metadata, "hdi_isfolder") != nullptr || item.name.ends_with('/');
}

}  // namespace

void BlobListings::members(Store::Answer<std::vector<Member>> done) {
    wanted_.members.push_back(std::move(done));
    list_soon();
}

void BlobListings::ownerships(Store::Answer<std::vector<Ownership>> done) {
    wanted_.ownerships.push_back(std::move(done));
    list_soon();
}

void BlobListings::checkpoints(Store::Answer<std::vector<Checkpoint>> done) {
    wanted_.checkpoints.push_back(std::move(done));
    list_soon();
}

// Those that lie with the group are listed with it; an empty prefix wants the others as well.
void BlobListings::records(std::string prefix, Store::Answer<std::vector<Record>> done) {
    if (prefix.starts_with(BlobNames::request_keys)) {
        wanted_.requests.emplace_back(std::move(prefix), std::move(done));
        return list_soon();
    }
    const bool wants_requests = BlobNames::request_keys.starts_with(prefix);
    const std::string like = names_.records_like(prefix);
    service_.list(like, everything,
                  [this, wants_requests, prefix = std::move(prefix),
                   done = std::move(done)](Result<Found> found) mutable {
                      if (!found.ok()) return done(found.error());
                      if (!wants_requests) {
                          return records_of(std::move(*found), std::move(prefix), std::move(done));
                      }
                      service_.list(names_.requests(), everything,
                                    [this, found = std::move(*found), prefix = std::move(prefix),
                                     done = std::move(done)](Result<Found> asked) mutable {
                                        if (!asked.ok()) return done(asked.error());
                                        found.insert(found.end(), asked->begin(), asked->end());
                                        records_of(std::move(found), std::move(prefix),
                                                   std::move(done));
                                    });
                  });
}

void BlobListings::list_soon() {
    loop_.check_here();
    if (is_posted_) return;
    is_posted_ = true;
    loop_.post(lifetime_.guard([this] { list_now(); }));
}

void BlobListings::list_now() {
    is_posted_ = false;
    Wanted wanted = std::exchange(wanted_, {});
    std::string prefix = names_.prefix();
    if (wanted.ownerships.empty() && wanted.checkpoints.empty()) {
        if (wanted.requests.empty()) prefix = names_.members();
        if (wanted.members.empty()) prefix = names_.requests();
    }
    service_.list(
        prefix, everything, [this, wanted = std::move(wanted)](Result<Found> found) mutable {
            if (found.ok()) {
                std::erase_if(*found, [](const ListedBlob& blob) { return is_folder(blob.item); });
            }
            on_listed(std::move(wanted), found);
        });
}

void BlobListings::on_listed(Wanted wanted, const Result<Found>& found) {
    const Lifetime::Watch watch = lifetime_.watch();
    const auto fail = [&](auto& answers) {
        for (auto& done : answers) {
            if (watch.over()) return;
            done(found.error());
        }
    };
    if (!found.ok()) {
        fail(wanted.members);
        fail(wanted.ownerships);
        fail(wanted.checkpoints);
        for (auto& [prefix, done] : wanted.requests) {
            if (watch.over()) return;
            done(found.error());
        }
        return;
    }
    if (!wanted.ownerships.empty()) {
        const auto listed = ownerships_of(*found);
        for (auto& done : wanted.ownerships) {
            done(listed);
            if (watch.over()) return;
        }
    }
    if (!wanted.checkpoints.empty()) {
        const auto listed = checkpoints_of(*found);
        for (auto& done : wanted.checkpoints) {
            done(listed);
            if (watch.over()) return;
        }
    }
    for (auto& [prefix, done] : wanted.requests) {
        Found requests = *found;
        std::erase_if(requests, [&](const ListedBlob& blob) {
            return !blob.item.name.starts_with(names_.requests());
        });
        records_of(std::move(requests), std::move(prefix), std::move(done));
        if (watch.over()) return;
    }
    if (!wanted.members.empty()) members_of(*found, std::move(wanted.members));
}

// A released entry tells no epoch, for nothing of ours may stand there; it is the highest that its
// partition is known to have had.
std::vector<Ownership> BlobListings::ownerships_of(const Found& found) {
    std::map<PartitionId, Epoch> epochs;
    std::vector<Ownership> listed;
    for (const ListedBlob& blob : found) {
        const BlobItem& item = blob.item;
        for (const char* kind : {"checkpoint/", "epoch/", "seal/"}) {
            if (const auto partition = partition_of(item.name, names_.prefix() + kind)) {
                Epoch& epoch = epochs[*partition];
                epoch = std::max(epoch, Epoch{number(item.metadata, "ekepoch")});
            }
        }
        if (!item.name.starts_with(names_.prefix() + "ownership/")) continue;
        const auto partition = partition_of(item.name, names_.prefix() + "ownership/");
        if (!partition) {
            complain(item.name, "no partition has such an id");
            continue;
        }
        if (find(item.metadata, "ownerid") == nullptr) {
            complain(item.name, "it has no ownerid, and counts as free; some SDKs fail at it");
        }
        listed.push_back(ownership_of(*partition, item.metadata));
        listed.back().version = item.etag;
        listed.back().age = blob.age;
    }
    for (Ownership& ownership : listed) {
        if (ownership.owner.empty()) ownership.epoch = epochs[ownership.partition];
    }
    std::sort(listed.begin(), listed.end(),
              [](const Ownership& a, const Ownership& b) { return a.partition < b.partition; });
    return listed;
}

std::vector<Checkpoint> BlobListings::checkpoints_of(const Found& found) {
    std::vector<Checkpoint> listed;
    std::map<PartitionId, Checkpoint> sealed;
    for (const ListedBlob& blob : found) {
        if (const auto partition = partition_of(blob.item.name, names_.seals())) {
            auto seal = checkpoint_of(*partition, blob.item.metadata, blob.item.modified);
            if (seal.ok()) sealed[*partition] = std::move(*seal);
        }
    }
    for (const ListedBlob& blob : found) {
        if (!blob.item.name.starts_with(names_.checkpoints())) continue;
        const auto partition = partition_of(blob.item.name, names_.checkpoints());
        if (!partition) {
            complain(blob.item.name, "no partition has such an id");
            continue;
        }
        sealed.erase(*partition);
        auto checkpoint = checkpoint_of(*partition, blob.item.metadata, blob.item.modified);
        if (checkpoint.ok()) {
            listed.push_back(std::move(*checkpoint));
        } else {
            complain(blob.item.name, checkpoint.error().detail);
        }
    }
    for (auto& [partition, seal] : sealed) listed.push_back(std::move(seal));
    std::sort(listed.begin(), listed.end(),
              [](const Checkpoint& a, const Checkpoint& b) { return a.partition < b.partition; });
    return listed;
}

void BlobListings::members_of(Found found,
                              std::vector<Store::Answer<std::vector<Member>>> answers) {
    const std::string prefix = names_.members();
    std::erase_if(found,
                  [&](const ListedBlob& blob) { return !blob.item.name.starts_with(prefix); });
    read(std::move(found),
         [this, prefix, answers = std::move(answers)](const Result<Contents>& contents) mutable {
             Result<std::vector<Member>> listed = std::vector<Member>();
             if (!contents.ok()) listed = contents.error();
             for (std::size_t i = 0; contents.ok() && i < contents->size(); ++i) {
                 const auto& [blob, body] = (*contents)[i];
                 const std::string id = name_decoded(blob.item.name.substr(prefix.size()));
                 const auto fields = unpack(blob.item.metadata, body);
                 auto member = fields.ok() ? member_of(id, *fields) : fields.error();
                 if (!member.ok()) {
                     complain(blob.item.name, member.error().detail);
                     continue;
                 }
                 member->version = blob.item.etag;
                 member->age = blob.age;
                 listed->push_back(std::move(*member));
             }
             const Lifetime::Watch watch = lifetime_.watch();
             for (auto& done : answers) {
                 done(listed);
                 if (watch.over()) return;
             }
         });
}

void BlobListings::records_of(Found found, std::string prefix,
                              Store::Answer<std::vector<Record>> done) {
    std::erase_if(found, [&](const ListedBlob& blob) {
        return !names_.record_key(blob.item.name).starts_with(prefix);
    });
    read(std::move(found),
         [this, done = std::move(done)](const Result<Contents>& contents) mutable {
             if (!contents.ok()) return done(contents.error());
             std::vector<Record> records;
             for (const auto& [blob, body] : *contents) {
                 const auto fields = unpack(blob.item.metadata, body);
                 auto record = fields.ok() ? record_of(names_.record_key(blob.item.name), *fields)
                                           : fields.error();
                 if (!record.ok()) {
                     complain(blob.item.name, record.error().detail);
                     continue;
                 }
                 record->version = blob.item.etag;
                 records.push_back(std::move(*record));
             }
             std::sort(records.begin(), records.end(),
                       [](const Record& a, const Record& b) { return a.key < b.key; });
             done(std::move(records));
         });
}

struct BlobListings::Reading {
    Contents contents;
    std::size_t left = 1;
    std::optional<Error> failed = {};
    Callback<void(Result<Contents>)> done;

    void end() {
        if (--left > 0) return;
        if (failed) return done(*failed);
        std::erase_if(contents, [](const Content& each) { return each.blob.item.name.empty(); });
        done(std::move(contents));
    }
};

void BlobListings::read(Found found, Callback<void(Result<Contents>)> done) {
    auto reading = std::make_shared<Reading>();
    reading->done = std::move(done);
    reading->contents.reserve(found.size());
    for (ListedBlob& blob : found) reading->contents.push_back({std::move(blob), {}});
    for (std::size_t i = 0; i < reading->contents.size(); ++i) {
        const BlobItem& item = reading->contents[i].blob.item;
        if (item.bytes == 0) continue;
        ++reading->left;
        service_.ask({.method = "GET", .blob = item.name},
                     [reading, i](const Result<BlobAnswer>& answer) {
                         auto& [seen, body] = reading->contents[i];
                         if (!answer.ok()) {
                             reading->failed = answer.error();
                         } else if (answer->is_good()) {
                             // It may be younger than the list.
                             seen.item.etag = answer->etag;
                             seen.item.metadata = answer->metadata;
                             body = answer->body;
                         } else {
                             seen.item.name.clear();
                         }
                         reading->end();
                     });
    }
    reading->end();
}

void BlobListings::complain(const std::string& name, std::string_view why) {
    if (complained_.size() >= complaints_max || !complained_.insert(name).second) return;
    trace(TraceLevel::warning, "a blob of the group is left out",
          {{"blob", name}, {"why", std::string(why)}});
}

}  // namespace evenkeel::checkpoint
