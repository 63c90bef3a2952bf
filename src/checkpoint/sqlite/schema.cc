#include "checkpoint/sqlite/schema.h"

#include <cstdint>

#include <fmt/format.h>

namespace evenkeel::checkpoint {

namespace {

constexpr std::int64_t schema_version = 2;

// Everything is there or nothing, so that only an old file lacks something.
constexpr const char* schema = R"(
CREATE TABLE evenkeel_schema (version INTEGER NOT NULL) STRICT;
INSERT INTO evenkeel_schema VALUES (2);

CREATE TABLE evenkeel_group (
    id INTEGER PRIMARY KEY,
    hub_namespace TEXT NOT NULL, event_hub TEXT NOT NULL, name TEXT NOT NULL,
    changes INTEGER NOT NULL DEFAULT 0,
    UNIQUE (hub_namespace, event_hub, name)
) STRICT;

CREATE TABLE evenkeel_member (
    group_id INTEGER NOT NULL REFERENCES evenkeel_group, id TEXT NOT NULL,
    incarnation TEXT NOT NULL, state INTEGER NOT NULL, since_ms INTEGER NOT NULL,
    note TEXT NOT NULL, restarts INTEGER NOT NULL, generation INTEGER NOT NULL,
    expecting INTEGER NOT NULL, offers TEXT NOT NULL,
    version TEXT NOT NULL, written_ns INTEGER NOT NULL, written_ms INTEGER NOT NULL,
    PRIMARY KEY (group_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE evenkeel_ownership (
    group_id INTEGER NOT NULL REFERENCES evenkeel_group, partition INTEGER NOT NULL,
    owner TEXT NOT NULL, epoch INTEGER NOT NULL, since_ms INTEGER NOT NULL, load REAL NOT NULL,
    version TEXT NOT NULL, written_ns INTEGER NOT NULL, written_ms INTEGER NOT NULL,
    PRIMARY KEY (group_id, partition)
) STRICT, WITHOUT ROWID;

CREATE TABLE evenkeel_checkpoint (
    group_id INTEGER NOT NULL REFERENCES evenkeel_group, partition INTEGER NOT NULL,
    sequence INTEGER NOT NULL, "offset" TEXT NOT NULL, epoch INTEGER NOT NULL,
    attempts INTEGER NOT NULL, hub_created_ms INTEGER NOT NULL,
    written_ms INTEGER NOT NULL, stamp TEXT NOT NULL, enqueued_ms INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (group_id, partition)
) STRICT, WITHOUT ROWID;

CREATE TABLE evenkeel_dead_letter (
    group_id INTEGER NOT NULL REFERENCES evenkeel_group, partition INTEGER NOT NULL,
    sequence INTEGER NOT NULL, "offset" TEXT NOT NULL, enqueued_ms INTEGER NOT NULL,
    partition_key TEXT NOT NULL, cause TEXT NOT NULL, attempts INTEGER NOT NULL,
    at_ms INTEGER NOT NULL, sections BLOB NOT NULL,
    PRIMARY KEY (group_id, partition, sequence)
) STRICT;

CREATE TABLE evenkeel_record (
    group_id INTEGER NOT NULL REFERENCES evenkeel_group, key TEXT NOT NULL,
    value BLOB NOT NULL, version TEXT NOT NULL,
    PRIMARY KEY (group_id, key)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER evenkeel_member_added AFTER INSERT ON evenkeel_member BEGIN
    UPDATE evenkeel_group SET changes = changes + 1 WHERE id = new.group_id;
END;
CREATE TRIGGER evenkeel_member_removed AFTER DELETE ON evenkeel_member BEGIN
    UPDATE evenkeel_group SET changes = changes + 1 WHERE id = old.group_id;
END;
CREATE TRIGGER evenkeel_member_changed AFTER UPDATE ON evenkeel_member
WHEN (old.incarnation, old.state, old.restarts, old.generation, old.expecting, old.offers) IS NOT
     (new.incarnation, new.state, new.restarts, new.generation, new.expecting, new.offers) BEGIN
    UPDATE evenkeel_group SET changes = changes + 1 WHERE id = new.group_id;
END;
CREATE TRIGGER evenkeel_ownership_added AFTER INSERT ON evenkeel_ownership BEGIN
    UPDATE evenkeel_group SET changes = changes + 1 WHERE id = new.group_id;
END;
CREATE TRIGGER evenkeel_ownership_removed AFTER DELETE ON evenkeel_ownership BEGIN
    UPDATE evenkeel_group SET changes = changes + 1 WHERE id = old.group_id;
END;
CREATE TRIGGER evenkeel_ownership_changed AFTER UPDATE ON evenkeel_ownership
WHEN (old.owner, old.epoch) IS NOT (new.owner, new.epoch) BEGIN
    UPDATE evenkeel_group SET changes = changes + 1 WHERE id = new.group_id;
END;
)";

// From version 1.
constexpr const char* upgrade = R"(
ALTER TABLE evenkeel_checkpoint ADD COLUMN enqueued_ms INTEGER NOT NULL DEFAULT 0;
CREATE TABLE evenkeel_record (
    group_id INTEGER NOT NULL REFERENCES evenkeel_group, key TEXT NOT NULL,
    value BLOB NOT NULL, version TEXT NOT NULL,
    PRIMARY KEY (group_id, key)
) STRICT, WITHOUT ROWID;
UPDATE evenkeel_schema SET version = 2;
)";

// The file's schema; 0 if it has none of ours.
Result<std::int64_t> stored_schema(Database& database) {
    {
        Query query = database.query("SELECT 1 FROM sqlite_schema WHERE name = 'evenkeel_schema'");
        EK_TRY_ASSIGN(const bool exists, query.next());
        if (!exists) return 0;
    }
    Query query = database.query("SELECT version FROM evenkeel_schema");
    EK_TRY_ASSIGN(const bool found, query.next());
    const std::int64_t version = found ? query.integer(0) : 0;
    if (version >= 1 && version <= schema_version) return version;
    return Error{ErrorCode::unsupported,
                 fmt::format("checkpoint store '{}': made by another version of Evenkeel (its "
                             "schema is {}, this program knows {}); use that version, or another "
                             "file",
                             database.file(), version, schema_version)};
}

}  // namespace

Result<bool> has_schema(Database& database) {
    EK_TRY_ASSIGN(const std::int64_t present, stored_schema(database));
    return present > 0;
}

Result<> bring_schema(Database& database) {
    EK_TRY_ASSIGN(const std::int64_t present, stored_schema(database));
    if (present == schema_version) return {};
    EK_TRY(database.begin());
    Result<> brought = [&]() -> Result<> {
        // Another process may have been first.
        EK_TRY_ASSIGN(const std::int64_t version, stored_schema(database));
        if (version == 0) EK_TRY(database.execute(schema));
        if (version == 1) EK_TRY(database.execute(upgrade));
        return database.commit();
    }();
    database.rollback();
    return brought;
}

}  // namespace evenkeel::checkpoint
