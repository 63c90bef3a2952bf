// The tables of a SQLite checkpoint store (docs/formats/sqlite.md): made where there are none, and
// brought up to date where an older program made them.
#pragma once

#include "base/result.h"
#include "checkpoint/sqlite/database.h"

namespace evenkeel::checkpoint {

// Everything is there or nothing. `unsupported` if a newer program made the file.
Result<> bring_schema(Database& database);
Result<bool> has_schema(Database& database);

}  // namespace evenkeel::checkpoint
