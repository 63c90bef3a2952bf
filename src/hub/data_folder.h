// The folder a hub lives in:
//
//   lock             names the process that has the hub open (HUB-1, hub/folder_lock.h)
//   catalogue        what there is (hub/catalogue.h), and catalogue.copy
//   keys             who may do what (door/auth/keys.h), and keys.copy
//   clock            what time it was (hub/folder_clock.h)
//   hubs/journal/    small flushes of all partitions, synced together (hub/journals.h)
//   hubs/<incarnation>/<partition>/   segments of one partition (commitlog/segment.h)
//
// A folder that holds anything else is refused before a byte in it is changed.
// Calls block.
#pragma once

#include <memory>
#include <string>

#include "base/ids.h"
#include "base/result.h"
#include "commitlog/record.h"
#include "hub/catalogue.h"
#include "hub/folder_lock.h"
#include "io/file.h"

namespace evenkeel::hub {

struct DataFolder {
    std::unique_ptr<FolderLock> lock;
    Catalogue catalogue;
};

// Locks the folder and reads its catalogue; makes both if the folder is new or empty. Finishes
// removals and takes back creations that a crash cut short.
Result<DataFolder> open_data_folder(io::FileSystem& files, const std::string& directory);

std::string hubs_path(const std::string& directory);
std::string journals_path(const std::string& directory);
std::string event_hub_path(const std::string& directory, const commitlog::Incarnation& incarnation);
std::string partition_path(const std::string& directory, const commitlog::Incarnation& incarnation,
                           PartitionId partition);

}  // namespace evenkeel::hub
