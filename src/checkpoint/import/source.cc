#include "checkpoint/import/source.h"

#include <algorithm>

#include <fmt/format.h>

namespace evenkeel::checkpoint {
namespace {

// The kind of layout that the other one has.
Error wrong_layout(std::string_view place, std::string_view layouts) {
    return {ErrorCode::invalid_argument,
            fmt::format("in {} there is only the layout {}", place, layouts)};
}

std::string quoted(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) {
        text += fmt::format("{}'{}'", text.empty() ? "" : ", ", name);
    }
    return text;
}

}  // namespace

Result<LegacyCheckpoints> read_legacy(const LegacyQuery& query) {
    const std::string scheme = query.address.substr(0, query.address.find(':'));
    const bool is_jedis = query.layout == LegacyLayout::jedis;
    if (scheme == "azblob") {
        if (is_jedis) return wrong_layout("Blob storage", "functions, lease or metadata");
        return read_legacy_blobs(query);
    }
    if (scheme == "redis" || scheme == "rediss") {
        if (query.layout && !is_jedis) return wrong_layout("Redis", "jedis");
        return read_legacy_redis(query);
    }
    // Only the scheme is shown: behind it there may be a password.
    const bool is_ours = scheme == "sqlite" || scheme == "postgresql" || scheme == "postgres";
    return Error{ErrorCode::invalid_argument,
                 fmt::format("{}; other programs' checkpoints are read from azblob:... and "
                             "redis://...",
                             is_ours ? "'" + scheme +
                                           "' is a store of Evenkeel's own, for which "
                                           "there is 'evenkeel checkpoint copy'"
                             : scheme.size() == query.address.size()
                                 ? std::string("an address without a kind in front of ':'")
                                 : "unknown kind of address '" + scheme + "'")};
}

bool is_wanted(const LegacyQuery& query, PartitionId partition) {
    const auto& wanted = query.partitions;
    return wanted.empty() ||
           std::find(wanted.begin(), wanted.end(), partition.value) != wanted.end();
}

Result<std::string> only_path(const std::vector<LegacyPath>& found, const LegacyQuery& query,
                              const std::vector<std::string>& others) {
    if (found.size() == 1) return found.front().path;
    if (found.empty()) {
        const GroupName& group = query.group;
        const std::string where =
            query.path.empty() ? fmt::format("'{}/{}/{}' (in any case of letters)",
                                             group.hub_namespace, group.event_hub, group.group)
                               : fmt::format("'{}'", query.path);
        return Error{ErrorCode::not_found,
                     fmt::format("there is no checkpoint of {}; {}", where,
                                 others.empty() ? "nor of any other group"
                                                : fmt::format("but something lies at {}: name it "
                                                              "with --path",
                                                              quoted(others)))};
    }
    std::string twins;
    for (const LegacyPath& each : found) {
        twins += fmt::format("{}'{}' ({} partitions)", twins.empty() ? "" : ", ", each.path,
                             each.records);
    }
    return Error{ErrorCode::conflict,
                 fmt::format("the group is there {} times, under names that differ only by the "
                             "case of letters: {}. Programs that use different ones each handle "
                             "every event. Give all of them the name in lower case, and import the "
                             "one that was right with --path NAME",
                             found.size(), twins)};
}

}  // namespace evenkeel::checkpoint
