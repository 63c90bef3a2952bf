// tidy: no test: legacy_source_test.cc runs it on a server, tests/process/store/blob_import_test.cc
// on two
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "checkpoint/blob/records.h"
#include "checkpoint/blob/service.h"
#include "checkpoint/import/source.h"
#include "io/system/loop.h"

namespace evenkeel::checkpoint {
namespace {

constexpr std::size_t page_items = 5000;
constexpr std::size_t listing_pages_max = 1000;
constexpr std::size_t others_max = 5;
constexpr std::uint64_t body_bytes_max = 64 << 10;

struct Found {
    BlobItem item;
    LegacyPlace place;
    Duration age;
};

// What lies in the container of this group, by layout.
struct Container {
    std::map<LegacyLayout, std::vector<Found>> found;
    std::set<std::string> others;
};

constexpr LegacyLayout layouts[] = {LegacyLayout::metadata, LegacyLayout::functions,
                                    LegacyLayout::lease};

void take(Container& container, BlobItem item, WallTime now, const LegacyQuery& query) {
    const Duration age = std::max(now - item.modified, std::chrono::milliseconds(0));
    for (const LegacyLayout layout : layouts) {
        if (query.layout && *query.layout != layout) continue;
        const auto place = legacy_place(layout, item.name, query.group, query.path);
        if (!place) continue;
        container.found[layout].push_back({std::move(item), *place, age});
        return;
    }
    const std::size_t slash = item.name.rfind('/');
    const std::string path = item.name.substr(0, slash == item.name.npos ? 0 : slash + 1);
    if (!path.empty() && container.others.size() < others_max &&
        legacy_place(LegacyLayout::lease, item.name, query.group, path)) {
        container.others.insert(path);
    }
}

Result<Container> look(BlobService& service, const LegacyQuery& query) {
    Container container;
    std::string marker;
    for (std::size_t pages = 0; pages < listing_pages_max; ++pages) {
        EK_TRY_ASSIGN(const BlobAnswer answer,
                      service.ask_now(blob_list_request(query.path, page_items, marker)));
        if (!answer.is_good()) {
            return Error{ErrorCode::invalid_argument,
                         fmt::format("{} does not answer as Blob storage does (status {})",
                                     to_string(service.account()), answer.status)};
        }
        EK_TRY_ASSIGN(BlobPage page, parse_blob_list(answer.body));
        for (BlobItem& item : page.items) take(container, std::move(item), answer.date, query);
        if (page.next.empty()) return container;
        marker = std::move(page.next);
    }
    return Error{ErrorCode::overloaded,
                 fmt::format("{} has more than {} blobs; say where to look with --path",
                             to_string(service.account()), page_items * listing_pages_max)};
}

Result<LegacyRecord> metadata_record(const Found& found) {
    EK_TRY_ASSIGN(auto checkpoint,
                  checkpoint_of(found.place.partition, found.item.metadata, found.item.modified));
    checkpoint.epoch = {};  // the other group's are its own
    checkpoint.attempts = 0;
    if (checkpoint.sequence.value < 0 && checkpoint.offset.empty()) {
        return LegacyRecord{std::nullopt, "it is at the beginning: nothing was handled yet"};
    }
    LegacyRecord record{std::move(checkpoint)};
    if (record.checkpoint->offset.empty()) {
        const std::string* const offset = find(found.item.metadata, "offset");
        record.remark = fmt::format("its offset is {}: its sequence number is taken",
                                    offset == nullptr ? "missing"
                                    : offset->empty() ? "empty"
                                                      : "the text '" + *offset + "'");
    } else if (record.checkpoint->sequence.value < 0) {
        record.remark = "it has no sequence number: its offset is taken";
    }
    return record;
}

Result<LegacyRecord> body_record(BlobService& service, const Found& found) {
    if (found.item.bytes > body_bytes_max) {
        return Error{ErrorCode::corrupt,
                     fmt::format("it has {} bytes: it is no checkpoint", found.item.bytes)};
    }
    EK_TRY_ASSIGN(const BlobAnswer answer,
                  service.ask_now({.method = "GET", .blob = found.item.name}));
    if (!answer.is_good()) {
        return Error{ErrorCode::unavailable,
                     fmt::format("the service answers {} {}", answer.status, answer.code)};
    }
    return lease_record(found.place.partition, answer.body);
}

// The owner in the entry beside a checkpoint, if it was renewed a short time ago.
std::string live_owner(const std::vector<Found>& all, const Found& found) {
    for (const Found& each : all) {
        if (!each.place.is_ownership || each.place.path != found.place.path) continue;
        if (each.place.partition != found.place.partition || each.age > legacy_alive_max) continue;
        return ownership_of(each.place.partition, each.item.metadata).owner;
    }
    return {};
}

std::vector<LegacyPath> paths_of(const std::vector<Found>& found) {
    std::map<std::string, std::size_t> counts;
    for (const Found& each : found) counts[each.place.path] += each.place.is_ownership ? 0 : 1;
    std::vector<LegacyPath> paths;
    for (const auto& [path, count] : counts) {
        if (count > 0) paths.push_back({path, count});
    }
    return paths;
}

}  // namespace

Result<LegacyCheckpoints> read_legacy_blobs(const LegacyQuery& query) {
    EK_TRY_ASSIGN(BlobAccount account,
                  parse_blob_account(std::string_view(query.address).substr(sizeof("azblob"))));
    io::system::LoopThread loop("legacy");  // never started: it only has the time
    EK_TRY_ASSIGN(const auto service, BlobService::open(std::move(account), {}, loop));
    EK_TRY_ASSIGN(Container container, look(*service, query));
    LegacyLayout layout = query.layout.value_or(LegacyLayout::metadata);
    for (const LegacyLayout each : layouts) {
        if (query.layout || paths_of(container.found[each]).empty()) continue;
        layout = each;
        break;
    }
    auto& all = container.found[layout];
    EK_TRY_ASSIGN(
        const std::string path,
        only_path(paths_of(all), query, {container.others.begin(), container.others.end()}));
    LegacyCheckpoints result{layout, path, {}};
    for (const Found& found : all) {
        if (found.place.is_ownership || !is_wanted(query, found.place.partition)) continue;
        const bool is_metadata = layout == LegacyLayout::metadata;
        result.entries.push_back(
            {found.item.name, found.place.partition,
             is_metadata ? metadata_record(found) : body_record(*service, found),
             is_metadata            ? live_owner(all, found)
             : found.item.is_leased ? "the holder of the blob's lease"
                                    : ""});
    }
    std::sort(result.entries.begin(), result.entries.end(),
              [](const LegacyEntry& a, const LegacyEntry& b) { return a.partition < b.partition; });
    return result;
}

}  // namespace evenkeel::checkpoint
