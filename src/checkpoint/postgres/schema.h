// The schema "evenkeel" in a PostgreSQL database: made by the first to connect, brought up to date
// step by step. Many may begin at once. Format and contract: docs/formats/postgresql.md.
#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "checkpoint/postgres/connection.h"

namespace evenkeel::checkpoint {

// What this program knows.
inline constexpr int postgres_schema_version = 1;

// Blocks. Needs the right to create only if something is missing. `unsupported` if a newer program
// made it.
Result<> prepare_postgres_schema(PostgresConnection& connection, const PostgresAddress& address,
                                 Instant deadline);

// Whether anything of it is there. Blocks.
Result<bool> has_postgres_schema(PostgresConnection& connection, Instant deadline);

}  // namespace evenkeel::checkpoint
