// What a hub is made of, durably: its event hubs with their options, incarnations and groups. One
// small file and a copy of it (io/twin_file.h).
//
// Format: docs/formats/catalogue.md.
//
// Invariants
//   HUB-4  save() returns when both files are durable, so that each of them alone tells all that
//          was acknowledged; a crash leaves the old one or the new one. Without space nothing
//          changes.
//   HUB-5  An event hub that is being created is marked so until its partitions are there; load()
//          gives it to the caller to be rolled back.
//   HUB-6  A folder is removed only while `removing` names it; a folder that nobody names is not
//          ours to touch.
// Calls block. Threads: one at a time.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "commitlog/record.h"
#include "io/file.h"

namespace evenkeel::hub {

struct EventHubRecord {
    std::string name;
    commitlog::Incarnation incarnation{};
    std::uint32_t partitions = 0;
    std::chrono::milliseconds retention{0};  // 0: for ever
    std::uint64_t partition_bytes_max = 0;   // 0: no limit
    WallTime created;
    bool creating = false;
    std::vector<std::string> groups;  // without "$Default"
    bool operator==(const EventHubRecord&) const = default;
};

struct Catalogue {
    std::uint64_t generation = 0;
    // Random, for the life of the data folder and its copies: by it checkpoint stores tell hubs
    // apart. All zero: written before there were identities; open_data_folder() gives one.
    commitlog::Incarnation identity{};
    std::vector<EventHubRecord> event_hubs;
    std::vector<commitlog::Incarnation> removing;
    // There may be journals to replay (hub/journals.h). Such a catalogue is of version 2.
    bool journals = false;
    bool operator==(const Catalogue&) const = default;
};

inline constexpr const char* catalogue_file_name = "catalogue";
inline constexpr const char* catalogue_copy_name = "catalogue.copy";

std::string encode(const Catalogue& catalogue);
// `corrupt`, saying what is wrong, if the text is not a catalogue.
Result<Catalogue> decode_catalogue(std::string_view text);

struct LoadedCatalogue {
    Catalogue catalogue;
    bool whole = true;  // false if a file is missing, damaged or older: save() again
};
// The newer of the two good ones; none if neither file exists; `corrupt`, naming the files, if no
// good one is left; `unsupported` if a newer version of Evenkeel wrote one of them.
Result<std::optional<LoadedCatalogue>> load_catalogue(io::FileSystem& files,
                                                      const std::string& directory);
Result<> save_catalogue(io::FileSystem& files, const std::string& directory,
                        const Catalogue& catalogue);

// 32 hex digits; the name of an event hub's folder.
std::string to_text(const commitlog::Incarnation& incarnation);
std::optional<commitlog::Incarnation> parse_incarnation(std::string_view text);

}  // namespace evenkeel::hub
