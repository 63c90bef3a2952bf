// A table of events in the checkpoint store's own SQLite file, for `evenkeel process --into`: rows
// and progress commit as one, so that each event is in it exactly once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <evenkeel/error.h>
#include <evenkeel/processor.h>

namespace evenkeel::cli {

// Letters, digits and '_', and none of our own tables.
Result<> check_table_name(std::string_view name);

// Adds the events, in the transaction that Partition::sqlite() gave; makes the table if there is
// none.
Result<> insert_events(sqlite3* database, const std::string& table, std::string_view event_hub,
                       std::uint32_t partition, Events events);

}  // namespace evenkeel::cli
