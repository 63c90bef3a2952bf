#include "hub/data_folder.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/log.h"
#include "base/random.h"
#include "hub/folder_clock.h"

namespace evenkeel::hub {
namespace {

constexpr std::string_view hubs_name = "hubs";
constexpr std::string_view journals_name = "journal";

// The rules and keys of the door lie beside the catalogue.
bool is_ours(const std::string& name) {
    return name == "keys" || name == "keys.copy" || name == "keys.tmp" || name == "keys.copy.tmp" ||
           name == clock_file_name || name == std::string(clock_file_name) + ".tmp" ||
           name == lock_file_name || name == hubs_name || name == catalogue_file_name ||
           name == catalogue_copy_name || name == std::string(catalogue_file_name) + ".tmp" ||
           name == std::string(catalogue_copy_name) + ".tmp" || name == "lost+found";
}

// True if there is a hub in the folder, false if it is empty or does not exist.
Result<bool> look_before_touching(io::FileSystem& files, const std::string& directory) {
    const auto entries = files.list(directory);
    if (!entries.ok()) {
        if (entries.error().code == ErrorCode::not_found) return false;
        return entries.error();
    }
    bool has_hubs = false;
    bool has_catalogue = false;
    for (const auto& entry : *entries) {
        if (!is_ours(entry.name)) {
            return Error{ErrorCode::corrupt,
                         fmt::format("{} holds '{}', which is not part of a hub; move it away, or "
                                     "choose another data folder",
                                     directory, entry.name)};
        }
        has_hubs = has_hubs || entry.name == hubs_name;
        has_catalogue =
            has_catalogue || entry.name == catalogue_file_name || entry.name == catalogue_copy_name;
    }
    if (has_hubs && !has_catalogue) {
        const auto inside = files.list(directory + "/" + std::string(hubs_name));
        if (inside.ok() && !inside->empty()) {
            return Error{ErrorCode::corrupt,
                         fmt::format("{} has event hubs but neither '{}' nor '{}'; restore one of "
                                     "them from a copy",
                                     directory, catalogue_file_name, catalogue_copy_name)};
        }
    }
    return has_catalogue;
}

Result<> make_if_missing(io::FileSystem& files, const std::string& path) {
    const auto made = files.make_directory(path);
    if (!made.ok() && made.error().code != ErrorCode::already_exists) return made.error();
    return {};
}

Result<> refuse_unknown_folders(io::FileSystem& files, const std::string& directory,
                                const Catalogue& catalogue) {
    const std::string hubs = directory + "/" + std::string(hubs_name);
    const auto entries = files.list(hubs);
    if (!entries.ok()) {
        if (entries.error().code == ErrorCode::not_found) return {};
        return entries.error();
    }
    for (const auto& entry : *entries) {
        if (entry.name == journals_name) continue;
        const auto incarnation = parse_incarnation(entry.name);
        const bool named =
            incarnation &&
            (std::any_of(catalogue.event_hubs.begin(), catalogue.event_hubs.end(),
                         [&](const auto& hub) { return hub.incarnation == *incarnation; }) ||
             std::find(catalogue.removing.begin(), catalogue.removing.end(), *incarnation) !=
                 catalogue.removing.end());
        if (!named) {
            return Error{ErrorCode::corrupt,
                         fmt::format("{}/{} belongs to no event hub of this hub; move it away",
                                     hubs, entry.name)};
        }
    }
    return {};
}

// What was being created was never acknowledged, what was being removed was: both go. What cannot
// be removed now stays named, and keeps nobody from working.
Result<> finish_what_was_begun(io::FileSystem& files, const std::string& directory,
                               Catalogue& catalogue) {
    for (const auto& hub : catalogue.event_hubs) {
        if (hub.creating) catalogue.removing.push_back(hub.incarnation);
    }
    std::erase_if(catalogue.event_hubs, [](const auto& hub) { return hub.creating; });
    std::erase_if(catalogue.removing, [&](const auto& incarnation) {
        const std::string path = event_hub_path(directory, incarnation);
        const auto removed = io::remove_tree(files, path);
        if (removed.ok() || removed.error().code == ErrorCode::not_found) return true;
        trace(TraceLevel::warning, "what is left of a removed event hub stays for now",
              {{"folder", path}, {"cause", removed.error().detail}});
        return false;
    });
    EK_TRY(files.sync_directory(directory + "/" + std::string(hubs_name)));
    catalogue.generation += 1;
    return save_catalogue(files, directory, catalogue);
}

// The name of a folder that was made here, or by one who came this far, must last as well.
Result<> make_lasting_folder(io::FileSystem& files, const std::string& directory) {
    const auto made = files.make_directory(directory);
    if (!made.ok() && made.error().code != ErrorCode::already_exists) return made.error();
    // "a/b/" lies in "a" as "a/b" does.
    const auto slash = directory.rfind('/', directory.find_last_not_of('/'));
    const std::string parent = slash == std::string::npos ? "." : directory.substr(0, slash);
    const auto synced = files.sync_directory(parent.empty() ? "/" : parent);
    // A folder that was there may lie where we may not look.
    return made.ok() ? synced : Result<>();
}

}  // namespace

std::string hubs_path(const std::string& directory) {
    return fmt::format("{}/{}", directory, hubs_name);
}

std::string journals_path(const std::string& directory) {
    return fmt::format("{}/{}", hubs_path(directory), journals_name);
}

std::string event_hub_path(const std::string& directory,
                           const commitlog::Incarnation& incarnation) {
    return fmt::format("{}/{}/{}", directory, hubs_name, to_text(incarnation));
}

std::string partition_path(const std::string& directory, const commitlog::Incarnation& incarnation,
                           PartitionId partition) {
    return fmt::format("{}/{:05}", event_hub_path(directory, incarnation), partition.value);
}

Result<DataFolder> open_data_folder(io::FileSystem& files, const std::string& directory) {
    if (directory.empty()) {
        return Error{ErrorCode::invalid_argument, "the hub needs a data folder; name one"};
    }
    EK_TRY_ASSIGN(const bool existed, look_before_touching(files, directory));
    if (!existed) EK_TRY(make_lasting_folder(files, directory));
    DataFolder folder;
    EK_TRY_ASSIGN(folder.lock, FolderLock::take(files, directory));
    // Again, now that nobody else can have made a hub in between.
    EK_TRY_ASSIGN(const bool exists, look_before_touching(files, directory));
    if (exists) {
        EK_TRY_ASSIGN(auto loaded, load_catalogue(files, directory));
        if (!loaded) {
            return Error{ErrorCode::unavailable,
                         directory + ": its catalogue went away while it was opened"};
        }
        folder.catalogue = std::move(loaded->catalogue);
        EK_TRY(refuse_unknown_folders(files, directory, folder.catalogue));
        EK_TRY(make_if_missing(files, directory + "/" + std::string(hubs_name)));
        const bool begun =
            !folder.catalogue.removing.empty() ||
            std::any_of(folder.catalogue.event_hubs.begin(), folder.catalogue.event_hubs.end(),
                        [](const auto& hub) { return hub.creating; });
        const bool is_nameless = folder.catalogue.identity == commitlog::Incarnation{};
        if (is_nameless) secure_bytes(folder.catalogue.identity);
        if (begun || is_nameless || !loaded->whole) {
            EK_TRY(finish_what_was_begun(files, directory, folder.catalogue));
        }
        return folder;
    }
    EK_TRY(make_if_missing(files, directory + "/" + std::string(hubs_name)));
    folder.catalogue.generation = 1;
    secure_bytes(folder.catalogue.identity);
    EK_TRY(save_catalogue(files, directory, folder.catalogue));
    return folder;
}

}  // namespace evenkeel::hub
