#include "checkpoint/postgres/schema.h"

#include <fmt/format.h>

namespace evenkeel::checkpoint {

namespace {

constexpr const char* tables = R"(
CREATE TABLE evenkeel.schema_version (version integer NOT NULL);
INSERT INTO evenkeel.schema_version VALUES (1);

CREATE TABLE evenkeel.consumer_group (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    hub_namespace text NOT NULL, event_hub text NOT NULL, name text NOT NULL,
    UNIQUE (hub_namespace, event_hub, name)
);

CREATE TABLE evenkeel.member (
    group_id bigint NOT NULL REFERENCES evenkeel.consumer_group, id text COLLATE "C" NOT NULL,
    incarnation text NOT NULL, state smallint NOT NULL, since_ms bigint NOT NULL,
    note text NOT NULL, restarts bigint NOT NULL, generation bigint NOT NULL,
    expecting boolean NOT NULL, offers text NOT NULL,
    version uuid NOT NULL, written timestamptz NOT NULL,
    PRIMARY KEY (group_id, id)
) WITH (fillfactor = 50);

CREATE TABLE evenkeel.ownership (
    group_id bigint NOT NULL REFERENCES evenkeel.consumer_group, partition bigint NOT NULL,
    owner text NOT NULL, epoch bigint NOT NULL, since_ms bigint NOT NULL,
    load double precision NOT NULL,
    version uuid NOT NULL, written timestamptz NOT NULL,
    PRIMARY KEY (group_id, partition)
) WITH (fillfactor = 50);

CREATE TABLE evenkeel.checkpoint (
    group_id bigint NOT NULL REFERENCES evenkeel.consumer_group, partition bigint NOT NULL,
    sequence bigint NOT NULL, event_offset text NOT NULL, epoch bigint NOT NULL,
    attempts bigint NOT NULL, hub_created_ms bigint NOT NULL, enqueued_ms bigint NOT NULL,
    written timestamptz NOT NULL, stamp text NOT NULL,
    PRIMARY KEY (group_id, partition)
) WITH (fillfactor = 50);

CREATE TABLE evenkeel.dead_letter (
    group_id bigint NOT NULL REFERENCES evenkeel.consumer_group, partition bigint NOT NULL,
    sequence bigint NOT NULL, event_offset text NOT NULL, enqueued_ms bigint NOT NULL,
    partition_key text NOT NULL, cause text NOT NULL, attempts bigint NOT NULL,
    at_ms bigint NOT NULL, sections bytea NOT NULL,
    PRIMARY KEY (group_id, partition, sequence)
);

CREATE TABLE evenkeel.record (
    group_id bigint NOT NULL REFERENCES evenkeel.consumer_group, key text COLLATE "C" NOT NULL,
    value bytea NOT NULL, version uuid NOT NULL, written timestamptz NOT NULL,
    PRIMARY KEY (group_id, key)
);

CREATE FUNCTION evenkeel.group_id(the_namespace text, the_hub text, the_name text)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE found_id bigint;
BEGIN
    LOOP
        SELECT g.id INTO found_id FROM evenkeel.consumer_group g
            WHERE (g.hub_namespace, g.event_hub, g.name) = (the_namespace, the_hub, the_name);
        IF FOUND THEN RETURN found_id; END IF;
        INSERT INTO evenkeel.consumer_group (hub_namespace, event_hub, name)
            VALUES (the_namespace, the_hub, the_name) ON CONFLICT DO NOTHING;
    END LOOP;
END $$;
)";

constexpr const char* membership = R"(
CREATE FUNCTION evenkeel.write_member(the_group bigint, the_id text, the_incarnation text,
    the_state smallint, the_since bigint, the_note text, the_restarts bigint,
    the_generation bigint, is_expecting boolean, the_offers text, the_version text)
RETURNS TABLE (applied boolean, stored_version text) LANGUAGE plpgsql AS $$
DECLARE new_version uuid := gen_random_uuid();
BEGIN
    IF the_version = '' THEN
        INSERT INTO evenkeel.member VALUES (the_group, the_id, the_incarnation, the_state,
            the_since, the_note, the_restarts, the_generation, is_expecting, the_offers,
            new_version, clock_timestamp()) ON CONFLICT DO NOTHING;
    ELSE
        UPDATE evenkeel.member m SET incarnation = the_incarnation, state = the_state,
            since_ms = the_since, note = the_note, restarts = the_restarts,
            generation = the_generation, expecting = is_expecting, offers = the_offers,
            version = new_version, written = clock_timestamp()
            WHERE m.group_id = the_group AND m.id = the_id AND m.version::text = the_version;
    END IF;
    applied := FOUND;
    stored_version := CASE WHEN FOUND THEN new_version::text ELSE coalesce(
        (SELECT m.version::text FROM evenkeel.member m
            WHERE m.group_id = the_group AND m.id = the_id), '') END;
    RETURN NEXT;
END $$;

CREATE FUNCTION evenkeel.remove_member(the_group bigint, the_id text, the_version text)
RETURNS TABLE (applied boolean, stored_version text) LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM evenkeel.member m
        WHERE m.group_id = the_group AND m.id = the_id AND m.version::text = the_version;
    applied := FOUND;
    stored_version := coalesce((SELECT m.version::text FROM evenkeel.member m
        WHERE m.group_id = the_group AND m.id = the_id), '');
    RETURN NEXT;
END $$;

CREATE FUNCTION evenkeel.write_ownerships(the_group bigint, partitions bigint[], owners text[],
    epochs bigint[], sinces bigint[], loads double precision[], versions text[])
RETURNS TABLE (index bigint, applied boolean, stored_version text) LANGUAGE plpgsql AS $$
DECLARE item record; new_version uuid;
BEGIN
    FOR item IN SELECT * FROM unnest(partitions, owners, epochs, sinces, loads, versions)
        WITH ORDINALITY AS t(p, o, e, s, l, v, n) ORDER BY p, n  -- in one order: no deadlocks
    LOOP
        new_version := gen_random_uuid();
        IF item.v = '' THEN
            INSERT INTO evenkeel.ownership VALUES (the_group, item.p, item.o, item.e, item.s,
                item.l, new_version, clock_timestamp()) ON CONFLICT DO NOTHING;
        ELSE
            UPDATE evenkeel.ownership w SET owner = item.o, epoch = item.e, since_ms = item.s,
                load = item.l, version = new_version, written = clock_timestamp()
                WHERE w.group_id = the_group AND w.partition = item.p
                    AND w.version::text = item.v;
        END IF;
        index := item.n;
        applied := FOUND;
        stored_version := CASE WHEN FOUND THEN new_version::text ELSE coalesce(
            (SELECT w.version::text FROM evenkeel.ownership w
                WHERE w.group_id = the_group AND w.partition = item.p), '') END;
        RETURN NEXT;
    END LOOP;
END $$;

CREATE FUNCTION evenkeel.tell() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('evenkeel_group_'
        || CASE WHEN TG_OP = 'DELETE' THEN OLD.group_id ELSE NEW.group_id END, '');
    RETURN NULL;
END $$;
CREATE TRIGGER tell AFTER INSERT OR DELETE ON evenkeel.member
    FOR EACH ROW EXECUTE FUNCTION evenkeel.tell();
CREATE TRIGGER tell_of_change AFTER UPDATE ON evenkeel.member FOR EACH ROW
    WHEN ((OLD.incarnation, OLD.state, OLD.restarts, OLD.generation, OLD.expecting, OLD.offers)
        IS DISTINCT FROM
        (NEW.incarnation, NEW.state, NEW.restarts, NEW.generation, NEW.expecting, NEW.offers))
    EXECUTE FUNCTION evenkeel.tell();
CREATE TRIGGER tell AFTER INSERT OR DELETE ON evenkeel.ownership
    FOR EACH ROW EXECUTE FUNCTION evenkeel.tell();
CREATE TRIGGER tell_of_change AFTER UPDATE ON evenkeel.ownership FOR EACH ROW
    WHEN ((OLD.owner, OLD.epoch) IS DISTINCT FROM (NEW.owner, NEW.epoch))
    EXECUTE FUNCTION evenkeel.tell();
)";

constexpr const char* checkpoints = R"(
CREATE FUNCTION evenkeel.seal(the_group bigint, the_partition bigint, the_epoch bigint)
RETURNS TABLE (applied boolean, stored evenkeel.checkpoint) LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO evenkeel.checkpoint AS c VALUES
        (the_group, the_partition, -1, '', the_epoch, 0, 0, 0, clock_timestamp(), '')
        ON CONFLICT (group_id, partition) DO UPDATE SET epoch = EXCLUDED.epoch
        WHERE c.epoch <= EXCLUDED.epoch;
    applied := FOUND;
    SELECT c.* INTO stored FROM evenkeel.checkpoint c
        WHERE c.group_id = the_group AND c.partition = the_partition;
    RETURN NEXT;
END $$;

CREATE FUNCTION evenkeel.write_checkpoints(the_group bigint, partitions bigint[],
    sequences bigint[], offsets text[], epochs bigint[], tries bigint[], hubs bigint[],
    enqueued bigint[])
RETURNS TABLE (index bigint, outcome text, stored_epoch bigint, stored_sequence bigint,
    stored_attempts bigint) LANGUAGE plpgsql AS $$
DECLARE item record;
BEGIN
    FOR item IN SELECT * FROM unnest(partitions, sequences, offsets, epochs, tries, hubs, enqueued)
        WITH ORDINALITY AS t(p, s, o, e, a, h, q, n) ORDER BY p, n  -- in one order: no deadlocks
    LOOP
        INSERT INTO evenkeel.checkpoint AS c VALUES (the_group, item.p, item.s, item.o, item.e,
            item.a, item.h, item.q, clock_timestamp(), '')
            ON CONFLICT (group_id, partition) DO UPDATE SET sequence = EXCLUDED.sequence,
                event_offset = EXCLUDED.event_offset, epoch = EXCLUDED.epoch,
                attempts = EXCLUDED.attempts, hub_created_ms = EXCLUDED.hub_created_ms,
                enqueued_ms = EXCLUDED.enqueued_ms, written = EXCLUDED.written
            WHERE c.epoch <= EXCLUDED.epoch
                AND (c.sequence, c.attempts) <= (EXCLUDED.sequence, EXCLUDED.attempts);
        index := item.n;
        IF FOUND THEN
            outcome := 'written';
        ELSE
            SELECT c.epoch, c.sequence, c.attempts
                INTO stored_epoch, stored_sequence, stored_attempts FROM evenkeel.checkpoint c
                WHERE c.group_id = the_group AND c.partition = item.p;
            outcome := CASE WHEN item.e < stored_epoch THEN 'fenced' ELSE 'behind' END;
        END IF;
        RETURN NEXT;
    END LOOP;
END $$;

CREATE FUNCTION evenkeel.reset_checkpoint(the_group bigint, the_partition bigint,
    the_sequence bigint, the_offset text, the_epoch bigint, the_attempts bigint, the_hub bigint,
    the_enqueued bigint)
RETURNS void LANGUAGE sql AS $$
    INSERT INTO evenkeel.checkpoint AS c VALUES (the_group, the_partition, the_sequence,
        the_offset, the_epoch, the_attempts, the_hub, the_enqueued, clock_timestamp(), '')
        ON CONFLICT (group_id, partition) DO UPDATE SET sequence = EXCLUDED.sequence,
            event_offset = EXCLUDED.event_offset, epoch = greatest(c.epoch, EXCLUDED.epoch),
            attempts = EXCLUDED.attempts, hub_created_ms = EXCLUDED.hub_created_ms,
            enqueued_ms = EXCLUDED.enqueued_ms, written = EXCLUDED.written;
$$;
)";

// A transaction's position is written only if no other transaction has ended since it began, and
// settle() counts as one: after it, one that is still under way can commit no more.
constexpr const char* transactions = R"(
CREATE FUNCTION evenkeel.begin_transaction(the_group bigint, the_partition bigint)
RETURNS TABLE (transaction_id text, stored_stamp text) LANGUAGE sql AS $$
    SELECT pg_current_xact_id()::text, coalesce((SELECT c.stamp FROM evenkeel.checkpoint c
        WHERE c.group_id = the_group AND c.partition = the_partition), '');
$$;

CREATE FUNCTION evenkeel.end_transaction(the_transaction text, expected_stamp text,
    new_stamp text, the_group bigint, the_partition bigint, the_sequence bigint, the_offset text,
    the_epoch bigint, the_attempts bigint, the_hub bigint, the_enqueued bigint)
RETURNS TABLE (outcome text, stored_epoch bigint, stored_sequence bigint, stored_attempts bigint)
LANGUAGE plpgsql AS $$
BEGIN
    IF pg_current_xact_id()::text <> the_transaction THEN
        outcome := 'ended';
        RETURN NEXT;
        RETURN;
    END IF;
    INSERT INTO evenkeel.checkpoint AS c VALUES (the_group, the_partition, the_sequence,
        the_offset, the_epoch, the_attempts, the_hub, the_enqueued, clock_timestamp(), new_stamp)
        ON CONFLICT (group_id, partition) DO UPDATE SET sequence = EXCLUDED.sequence,
            event_offset = EXCLUDED.event_offset, epoch = EXCLUDED.epoch,
            attempts = EXCLUDED.attempts, hub_created_ms = EXCLUDED.hub_created_ms,
            enqueued_ms = EXCLUDED.enqueued_ms, written = EXCLUDED.written, stamp = EXCLUDED.stamp
        WHERE c.epoch <= EXCLUDED.epoch AND c.stamp = expected_stamp
            AND (c.sequence, c.attempts) <= (EXCLUDED.sequence, EXCLUDED.attempts);
    IF FOUND THEN
        outcome := 'written';
        -- Whoever stops between this and COMMIT must not hold the partition for long.
        PERFORM set_config('idle_in_transaction_session_timeout', '3000', true);
    ELSE
        SELECT c.epoch, c.sequence, c.attempts
            INTO stored_epoch, stored_sequence, stored_attempts FROM evenkeel.checkpoint c
            WHERE c.group_id = the_group AND c.partition = the_partition;
        outcome := CASE WHEN the_epoch < stored_epoch THEN 'fenced' ELSE 'behind' END;
    END IF;
    RETURN NEXT;
END $$;

CREATE FUNCTION evenkeel.settle(the_group bigint, the_partition bigint, the_stamp text)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE found_stamp text;
BEGIN
    INSERT INTO evenkeel.checkpoint VALUES (the_group, the_partition, -1, '', 0, 0, 0, 0,
        clock_timestamp(), '') ON CONFLICT DO NOTHING;
    SELECT c.stamp INTO found_stamp FROM evenkeel.checkpoint c
        WHERE c.group_id = the_group AND c.partition = the_partition FOR UPDATE;
    IF found_stamp = the_stamp THEN RETURN true; END IF;
    UPDATE evenkeel.checkpoint c SET stamp = gen_random_uuid()::text
        WHERE c.group_id = the_group AND c.partition = the_partition;
    RETURN false;
END $$;
)";

constexpr const char* records = R"(
CREATE FUNCTION evenkeel.write_record(the_group bigint, the_key text, the_value bytea,
    the_version text)
RETURNS TABLE (applied boolean, stored_version text) LANGUAGE plpgsql AS $$
DECLARE new_version uuid := gen_random_uuid();
BEGIN
    IF length(the_value) = 0 THEN
        DELETE FROM evenkeel.record r
            WHERE r.group_id = the_group AND r.key = the_key AND r.version::text = the_version;
    ELSIF the_version = '' THEN
        INSERT INTO evenkeel.record VALUES (the_group, the_key, the_value, new_version,
            clock_timestamp()) ON CONFLICT DO NOTHING;
    ELSE
        UPDATE evenkeel.record r SET value = the_value, version = new_version,
            written = clock_timestamp()
            WHERE r.group_id = the_group AND r.key = the_key AND r.version::text = the_version;
    END IF;
    applied := FOUND;
    stored_version := coalesce((SELECT r.version::text FROM evenkeel.record r
        WHERE r.group_id = the_group AND r.key = the_key), '');
    RETURN NEXT;
END $$;
)";

// Any number will do, if all programs take the same one.
constexpr std::int64_t lock_key = 0x6576656e6b65656c;  // "evenkeel"

// Asks the tables of the catalogue: to_regclass() may answer from a cache that is older than the
// lock.
Result<bool> exists(PostgresConnection& connection, const char* query, Instant deadline) {
    EK_TRY_ASSIGN(const PostgresRows rows, connection.execute(query, deadline));
    return rows.size() > 0;
}

// 0 if there is none.
Result<int> stored_version(PostgresConnection& connection, Instant deadline) {
    EK_TRY_ASSIGN(const bool has_table,
                  exists(connection,
                         "SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
                         " WHERE n.nspname = 'evenkeel' AND c.relname = 'schema_version'",
                         deadline));
    if (!has_table) return 0;
    EK_TRY_ASSIGN(const PostgresRows version,
                  connection.execute("SELECT version FROM evenkeel.schema_version", deadline));
    return version.size() == 0 ? 0 : static_cast<int>(version.integer(0, 0));
}

Result<> migrate(PostgresConnection& connection, Instant deadline) {
    EK_TRY(connection.execute(fmt::format("BEGIN; SELECT pg_advisory_xact_lock({})", lock_key),
                              deadline));
    // Another program may have been first.
    EK_TRY_ASSIGN(const int version, stored_version(connection, deadline));
    if (version == 0) {
        EK_TRY_ASSIGN(
            const bool has_schema,
            exists(connection, "SELECT 1 FROM pg_namespace WHERE nspname = 'evenkeel'", deadline));
        if (!has_schema) EK_TRY(connection.execute("CREATE SCHEMA evenkeel", deadline));
        for (const char* part : {tables, membership, checkpoints, transactions, records}) {
            EK_TRY(connection.execute(part, deadline));
        }
    }
    EK_TRY(connection.execute("COMMIT", deadline));
    return {};
}

}  // namespace

Result<bool> has_postgres_schema(PostgresConnection& connection, Instant deadline) {
    EK_TRY_ASSIGN(const int version, stored_version(connection, deadline));
    return version > 0;
}

Result<> prepare_postgres_schema(PostgresConnection& connection, const PostgresAddress& address,
                                 Instant deadline) {
    EK_TRY_ASSIGN(int version, stored_version(connection, deadline));
    if (version == 0) {
        const Result<> migrated = migrate(connection, deadline);
        if (!migrated.ok()) {
            if (!connection.is_broken()) (void)connection.execute("ROLLBACK", deadline);
            return migrated.error();
        }
        EK_TRY_ASSIGN(version, stored_version(connection, deadline));
    }
    if (version == postgres_schema_version) return {};
    return Error{ErrorCode::unsupported,
                 fmt::format("{}: its schema evenkeel was made by another version of Evenkeel (it "
                             "is {}, this program knows {}); use that version, or another database",
                             address.shown(), version, postgres_schema_version)};
}

}  // namespace evenkeel::checkpoint
