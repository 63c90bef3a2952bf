// What the server answers under /api/v1. Times are ISO 8601 texts, unknown figures null.

export type Right = 'Listen' | 'Manage' | 'Send';

export interface Server {
    version: string; identity: string; mode: 'dev' | 'serve'; demo: { actions: { id: string; label: string }[] } | null;
    started_at: string; up_seconds: number; now: string;
    amqp_port: number | null; amqps_port: number | null;  // null: it does not listen there
    disk_free_bytes: number | null; disk_total_bytes: number | null;
    access: { rule: string | null; rights: Right[]; hub: string | null; open: boolean };
}

export interface Group {
    hub: string; group: string; store: string; state: 'ok' | 'opening' | 'failed'; error: string | null; retry_in_s: number | null;
    members: number; partitions: number; owned: number; behind_ms: number | null; furthest?: number | null; lag_events: number | null;
    loss_s: number | null; dead_letters: number | null; owners: string[]; strip: number[];
    needs?: { p: number; state: string; since: string | null; cause: string | null; lag: number | null }[];
}

export type MemberState = 'active' | 'standby' | 'leaving' | 'unable' | 'silent' | 'gone';

export interface Member {
    id: string; state: MemberState; host: string | null; since: string | null; silent_ms: number | null;
    lease_ms: number | null; dead_after_ms: number | null; profile: string | null; share: number; in_per_s: number | null;
}

export type Phase = 'owned' | 'offered' | 'draining' | 'stored' | 'free';
export type State = 'ok' | 'stalled' | 'parked' | 'paused';

export interface Partition {
    p: number; owner: string | null; epoch: number | null; owned_since: string | null; phase: Phase; next: string | null;
    in_per_s: number | null; out_per_s: number | null; begin: number; end: number; end_at: string | null;
    checkpoint: number | null; checkpoint_at: string | null; stored_ms: number | null;
    behind_ms: number | null; lag: number | null; loss_s: number | null; lost: number; repeats_max: number | null;
    state: State; since: string | null; cause: string | null; reader_epoch: number | null;
}

export interface Move {
    at: string; p: number; from: string | null; to: string | null; reason: string; gap_ms: number | null; repeated: number | null;
    hub?: string; group?: string;
}

export interface Request { kind: string; what: string; at: string }

export interface Snapshot {
    at: string; steady_ms: number; hub: string; group: string; store: string;
    state: 'ok' | 'opening' | 'failed'; error: string | null; retry_in_s: number | null; retention_ms: number | null;
    members: Member[]; partitions: Partition[]; moves: Move[]; requests: Request[]; dead_letters: number | null;
}

export interface Tick {
    at: string; p: number[]; in: (number | null)[]; end: (number | null)[]; cp: (number | null)[];
    behind_ms: (number | null)[]; lag: (number | null)[]; loss_s: (number | null)[]; stored_ms: (number | null)[];
}

export interface HubSummary { name: string; partitions: number; events: number | null; bytes: number | null; in_per_s: number | null; out_per_s: number | null; groups: number; retention_ms?: number | null }

export interface Overview {
    in_per_s: number | null; out_per_s: number | null; behind_ms: number | null; loss_s: number | null; connections: number | null;
    disk_free_bytes: number | null; disk_total_bytes: number | null; disk_full_s?: number | null; hubs: HubSummary[];
    history: { t: number[]; in: (number | null)[]; out: (number | null)[]; hubs?: Record<string, number[]> }; moves: Move[];
}

export interface Body { kind: 'json' | 'text' | 'base64'; value: string; truncated: boolean }

export interface Event {
    p: number; seq: number; offset: string; enqueued_at: string; partition_key: string | null; content_type: string | null;
    message_id: string | null; correlation_id: string | null; properties: Record<string, unknown>; properties_truncated?: boolean; bytes: number; body: Body;
    sections?: { name: string; hex: string }[];
}

export interface EventPage { events: Event[]; looked_at: number; matched: number; cursor: string | null; until?: string; problems: string[] }

export interface Lag {
    since: string; step_s: number; partitions: number; retention_ms: number | null; t: number[];
    furthest_ms: (number | null)[]; median_ms: (number | null)[]; heat: (number | null)[][];
}

export interface Letter {
    p: number; seq: number; enqueued_at: string | null; at: string; partition_key: string | null; cause: string; attempts: number; bytes: number;
}
export interface Cause { cause: string; count: number; first_at: string; last_at: string }
export interface LetterPage { total: number; causes: Cause[]; dead_letters: Letter[]; next: string | null }

export interface Link {
    role: 'sender' | 'receiver'; hub: string; partition: number | null; group: string | null; epoch: number | null;
    credit: number; events: number; events_per_s: number | null; attached_at: string;
}
export interface Connection {
    id: string; peer: string; transport: string; container: string; product: string | null; rule: string | null; opened_at: string; link_count: number; links: Link[];
}
export interface ConnectionPage { total: number; next: string | null; connections: Connection[] }
export interface Reader { partition: number; group: string; name: string | null; epoch: number | null; next_sequence_number: number }

export interface Key { name: string; hub: string | null; rights: Right[]; fixed: boolean; primary_key?: string; secondary_key?: string }

export interface HubDetail { name: string; partitions: number; retention_ms: number | null; partition_bytes_max: number | null; created_at: string; groups: { name: string }[] | string[] }

export interface HubPartition {
    partition: number; begin_sequence_number: number; last_sequence_number: number; last_offset: number; last_enqueued_at: string | null;
    oldest_enqueued_at: string | null; is_empty: boolean; size_bytes: number; readers: number;
    events_in_per_second: number | null; events_out_per_second: number | null; problems: string[]; error?: string;
}
