-- A file of version 1 as SQL (docs/formats/sqlite.md): the schema that this version made, with entries.
CREATE TABLE evenkeel_schema (version INTEGER NOT NULL) STRICT;
INSERT INTO evenkeel_schema VALUES (1);

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
    written_ms INTEGER NOT NULL, stamp TEXT NOT NULL,
    PRIMARY KEY (group_id, partition)
) STRICT, WITHOUT ROWID;

CREATE TABLE evenkeel_dead_letter (
    group_id INTEGER NOT NULL REFERENCES evenkeel_group, partition INTEGER NOT NULL,
    sequence INTEGER NOT NULL, "offset" TEXT NOT NULL, enqueued_ms INTEGER NOT NULL,
    partition_key TEXT NOT NULL, cause TEXT NOT NULL, attempts INTEGER NOT NULL,
    at_ms INTEGER NOT NULL, sections BLOB NOT NULL,
    PRIMARY KEY (group_id, partition, sequence)
) STRICT;

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

INSERT INTO evenkeel_group (id, hub_namespace, event_hub, name) VALUES (1, 'localhost', 'homes', '$default');
INSERT INTO evenkeel_member VALUES (1, 'a', 'run-7', 1, 1767225600123, 'host:1', 2, 9, 1, '17:1:b;',
    '0123456789abcdef01234567', 5000000000, 1767225600456);
INSERT INTO evenkeel_ownership VALUES (1, 17, 'a', 7, 1767225600123, 0.5,
    'abcdef0123456789abcdef01', 5000000000, 1767225600456);
INSERT INTO evenkeel_checkpoint VALUES (1, 3, 42, '4294967296', 7, 1, 1767225600123, 1767225600125, 'stamp');
INSERT INTO evenkeel_dead_letter VALUES (1, 3, 41, '4294960000', 1767225600123, 'key', 'bad event', 3,
    1767225600125, x'005375a00178');
