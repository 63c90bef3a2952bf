// Listings of a group's blobs. Those that are asked for within one task share one request: a round
// of a processor wants members, ownerships and requests, and gets all for the price of one.
// Threads: pinned to the loop.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/lifetime.h"
#include "checkpoint/blob/records.h"
#include "checkpoint/blob/service.h"
#include "checkpoint/store.h"
#include "io/loop.h"

namespace evenkeel::checkpoint {

class BlobListings {
public:
    // All outlive it.
    BlobListings(io::Loop& loop, BlobService& service, const BlobNames& names)
        : loop_(loop), service_(service), names_(names) {}

    void members(Store::Answer<std::vector<Member>> done);
    void ownerships(Store::Answer<std::vector<Ownership>> done);
    void checkpoints(Store::Answer<std::vector<Checkpoint>> done);
    void records(std::string prefix, Store::Answer<std::vector<Record>> done);

    using Found = std::vector<ListedBlob>;
    struct Content {
        ListedBlob blob;
        std::string body;  // empty if the list says so
    };
    using Contents = std::vector<Content>;
    // With their bodies. Those that were removed meanwhile are left out.
    void read(Found found, Callback<void(Result<Contents>)> done);
    // Once for each blob: it cannot be used.
    void complain(const std::string& name, std::string_view why);

private:
    struct Wanted {
        std::vector<Store::Answer<std::vector<Member>>> members;
        std::vector<Store::Answer<std::vector<Ownership>>> ownerships;
        std::vector<Store::Answer<std::vector<Checkpoint>>> checkpoints;
        std::vector<std::pair<std::string, Store::Answer<std::vector<Record>>>> requests;
    };
    struct Reading;

    void list_soon();
    void list_now();
    void on_listed(Wanted wanted, const Result<Found>& found);
    std::vector<Ownership> ownerships_of(const Found& found);
    std::vector<Checkpoint> checkpoints_of(const Found& found);
    void members_of(Found found, std::vector<Store::Answer<std::vector<Member>>> answers);
    void records_of(Found found, std::string prefix, Store::Answer<std::vector<Record>> done);

    io::Loop& loop_;
    BlobService& service_;
    const BlobNames& names_;
    Wanted wanted_;
    bool is_posted_ = false;
    std::set<std::string> complained_;  // once for each blob
    Lifetime lifetime_;
};

}  // namespace evenkeel::checkpoint
