// What the page knows of one processor group: columns of typed arrays, one entry a partition. NaN and -1 are "unknown".
//
// Events of the live feed are applied here; each marks the partitions it changed. Painters take the marks with `take_dirty`.
import { set_server_time, steady } from '../clock';
import { moment } from '../formats';
import type { Member, Move, Partition, Request, Snapshot, Tick } from '../api/types';
import { OwnerMarks } from './owners';

export const phases = ['owned', 'offered', 'draining', 'stored', 'free'] as const;
export const states = ['ok', 'stalled', 'parked', 'paused'] as const;
export const nobody = -1;

export interface KnownMember extends Member { seen: number }  // `seen`: steady time at which silent_ms was true

const moves_max = 200;
const number = (value: number | null | undefined): number => value ?? Number.NaN;

export class GroupModel {
    size = 0;
    in_per_s = new Float64Array(0); out_per_s = new Float64Array(0); begin = new Float64Array(0); end = new Float64Array(0);
    checkpoint = new Float64Array(0); behind = new Float64Array(0); lag = new Float64Array(0); loss = new Float64Array(0);
    stored_at = new Float64Array(0);  // steady time of the checkpoint's write
    repeats = new Float64Array(0); lost = new Float64Array(0); epoch = new Float64Array(0); reader_epoch = new Float64Array(0);
    owner = new Int32Array(0); next = new Int32Array(0);  // index of `ids`, or `nobody`
    phase = new Uint8Array(0); state = new Uint8Array(0);
    owned_since: (string | null)[] = []; since: (string | null)[] = []; cause: (string | null)[] = []; checkpoint_at: (string | null)[] = [];
    phase_seen = new Float64Array(0);  // steady time at which the phase began, as far as the page saw it

    ids: string[] = [];  // every id that was ever met; an index stays valid
    members: KnownMember[] = [];  // in order of joining
    moves: Move[] = [];  // newest first
    requests: Request[] = [];
    marks = new OwnerMarks();
    ready = false;
    at = ''; store = ''; hub = ''; group = '';
    store_state: Snapshot['state'] = 'opening'; error: string | null = null; retry_in_s: number | null = null; retry_seen = 0;
    retention_ms: number | null = null; dead_letters: number | null = null;
    dropped = 0; dropped_at = -Infinity;
    beats_at = -Infinity;  // steady time at which heartbeats were last told
    newest_move = -Infinity;  // steady time at which the last move was seen
    version = 0;  // grows with every change
    shape = 0;  // grows when an owner, phase, state, member or the size changes

    private dirty = new Uint8Array(0);
    private listeners = new Set<() => void>();
    private scheduled = false;
    private index = new Map<string, number>();

    listen(listener: () => void): () => void {
        this.listeners.add(listener);
        return () => this.listeners.delete(listener);
    }

    id_index(id: string | null): number {
        if (id === null) return nobody;
        let found = this.index.get(id);
        if (found === undefined) {
            found = this.ids.push(id) - 1;
            this.index.set(id, found);
        }
        return found;
    }

    member(id: string): KnownMember | undefined {
        return this.members.find(member => member.id === id);
    }

    owner_of(partition: number): string | null {
        return this.ids[this.owner[partition]!] ?? null;
    }

    next_of(partition: number): string | null {
        return this.ids[this.next[partition]!] ?? null;
    }

    silent_ms(member: KnownMember): number | null {
        return member.silent_ms === null ? null : member.silent_ms + steady() - member.seen;
    }

    stored_age(partition: number): number {
        return steady() - this.stored_at[partition]!;
    }

    // True when nobody reads the partition: it has no owner, or its owner is silent.
    orphaned(partition: number): boolean {
        const owner = this.owner_of(partition);
        if (owner === null) return true;
        const member = this.member(owner);
        return member === undefined || member.state === 'silent' || member.state === 'gone';
    }

    // Calls `paint` for each partition that changed since the last call, and forgets the marks.
    take_dirty(paint: (partition: number) => void): void {
        for (let p = 0; p < this.size; ++p) {
            if (!this.dirty[p]) continue;
            this.dirty[p] = 0;
            paint(p);
        }
    }

    apply(name: string, data: Record<string, unknown>): void {
        const value = data as never;
        switch (name) {
            case 'snapshot': this.snapshot(value); break;
            case 'tick': this.tick(value); break;
            case 'member': this.set_member(value); break;
            case 'owner': this.set_owner(value); break;
            case 'move': this.add_move(value); break;
            case 'state': this.set_state(value); break;
            case 'request': this.requests = (data['requests'] as Request[] | undefined) ?? this.requests; break;
            case 'letter': this.dead_letters = (data['dead_letters'] as number | null | undefined) ?? this.dead_letters; break;
            case 'group': this.set_group(value); break;
            case 'dropped': this.dropped = Number(data['count'] ?? 0); this.dropped_at = steady(); break;
            default: return;
        }
        this.changed();
    }

    snapshot(snapshot: Snapshot): void {
        set_server_time(snapshot.at);
        const now = steady();
        if (snapshot.partitions.length !== this.size) this.resize(snapshot.partitions.length);
        this.at = snapshot.at; this.store = snapshot.store; this.hub = snapshot.hub; this.group = snapshot.group;
        this.store_state = snapshot.state; this.error = snapshot.error; this.retry_in_s = snapshot.retry_in_s; this.retry_seen = now;
        this.retention_ms = snapshot.retention_ms; this.dead_letters = snapshot.dead_letters;
        this.members = snapshot.members.filter(member => member.state !== 'gone').map(member => ({ ...member, seen: now }));
        this.moves = snapshot.moves.slice(0, moves_max);
        this.requests = snapshot.requests ?? [];
        this.remark();
        for (const partition of snapshot.partitions) if (partition.p < this.size) this.set_partition(partition, now);
        this.dirty.fill(1);
        ++this.shape;
        this.beats_at = now;
        this.ready = true;
    }

    // Takes from a snapshot what events do not tell: heartbeats, and figures that change without an event.
    refresh(snapshot: Snapshot): void {
        if (snapshot.partitions.length !== this.size) return;
        const now = steady();
        for (const fresh of snapshot.members) {
            const known = this.member(fresh.id);
            if (!known || known.state !== fresh.state) continue;
            Object.assign(known, { silent_ms: fresh.silent_ms, dead_after_ms: fresh.dead_after_ms, lease_ms: fresh.lease_ms, seen: now });
        }
        for (const fresh of snapshot.partitions) {
            this.out_per_s[fresh.p] = number(fresh.out_per_s);
            this.repeats[fresh.p] = number(fresh.repeats_max);
            this.lost[fresh.p] = fresh.lost ?? 0;
            this.reader_epoch[fresh.p] = number(fresh.reader_epoch);
            this.stored_at[fresh.p] = now - number(fresh.stored_ms);
            this.dirty[fresh.p] = 1;
        }
        this.beats_at = now;
        this.changed();
    }

    private resize(size: number): void {
        this.size = size;
        for (const name of ['in_per_s', 'out_per_s', 'begin', 'end', 'checkpoint', 'behind', 'lag', 'loss', 'stored_at', 'repeats', 'lost', 'epoch', 'reader_epoch', 'phase_seen'] as const)
            this[name] = new Float64Array(size).fill(Number.NaN);
        this.owner = new Int32Array(size).fill(nobody);
        this.next = new Int32Array(size).fill(nobody);
        this.phase = new Uint8Array(size);
        this.state = new Uint8Array(size);
        this.dirty = new Uint8Array(size);
        this.owned_since = Array<null>(size).fill(null);
        this.since = Array<null>(size).fill(null);
        this.cause = Array<null>(size).fill(null);
        this.checkpoint_at = Array<null>(size).fill(null);
    }

    private set_partition(partition: Partition, now: number): void {
        const p = partition.p;
        this.in_per_s[p] = number(partition.in_per_s); this.out_per_s[p] = number(partition.out_per_s);
        this.begin[p] = partition.begin; this.end[p] = partition.end; this.checkpoint[p] = number(partition.checkpoint);
        this.behind[p] = number(partition.behind_ms); this.lag[p] = number(partition.lag); this.loss[p] = number(partition.loss_s);
        this.stored_at[p] = now - number(partition.stored_ms); this.repeats[p] = number(partition.repeats_max);
        this.lost[p] = partition.lost ?? 0; this.epoch[p] = number(partition.epoch); this.reader_epoch[p] = number(partition.reader_epoch);
        this.owner[p] = this.id_index(partition.owner); this.next[p] = this.id_index(partition.next);
        this.set_phase(p, partition.phase, now);
        this.state[p] = Math.max(0, states.indexOf(partition.state));
        this.owned_since[p] = partition.owned_since; this.since[p] = partition.since; this.cause[p] = partition.cause;
        this.checkpoint_at[p] = partition.checkpoint_at;
    }

    private set_phase(p: number, phase: string, now: number): void {
        const index = Math.max(0, phases.indexOf(phase as typeof phases[number]));
        if (this.phase[p] !== index || Number.isNaN(this.phase_seen[p]!)) this.phase_seen[p] = now;
        this.phase[p] = index;
    }

    private tick(tick: Tick & { out?: number[]; repeats_max?: number[]; beats?: Record<string, number> }): void {
        set_server_time(tick.at);
        const now = steady();
        const columns = [['in', this.in_per_s], ['out', this.out_per_s], ['end', this.end], ['cp', this.checkpoint], ['behind_ms', this.behind],
            ['lag', this.lag], ['loss_s', this.loss], ['repeats_max', this.repeats]] as const;
        tick.p.forEach((p, i) => {
            if (p >= this.size) return;
            for (const [name, column] of columns) {
                const given = tick[name];
                if (given && i in given) column[p] = number(given[i]);
            }
            if (tick.stored_ms && i in tick.stored_ms) this.stored_at[p] = now - number(tick.stored_ms[i]);
            this.dirty[p] = 1;
        });
        if (tick.beats) this.beats_at = now;
        for (const member of this.members) {
            const beat = tick.beats?.[member.id];
            if (beat !== undefined) { member.silent_ms = beat; member.seen = now; }
        }
        this.sum_rates();
    }

    private sum_rates(): void {
        const sums = new Float64Array(this.ids.length), shares = new Int32Array(this.ids.length);
        for (let p = 0; p < this.size; ++p) {
            const owner = this.owner[p]!;
            if (owner === nobody) continue;
            sums[owner]! += this.in_per_s[p]! || 0;
            ++shares[owner]!;
        }
        for (const member of this.members) {
            const index = this.id_index(member.id);
            member.in_per_s = sums[index] ?? 0;
            member.share = shares[index] ?? 0;
        }
    }

    private set_member(member: Member): void {
        const known = { ...member, seen: steady() };
        const at = this.members.findIndex(other => other.id === member.id);
        if (member.state === 'gone') {
            if (at >= 0) this.members.splice(at, 1);
        } else if (at >= 0) {
            const before = this.members[at]!;
            this.members[at] = known;
            if (before.state === member.state && before.share === member.share) return;  // a heartbeat: nothing moves
        } else {
            this.members.push(known);
            const joined = (one: Member) => moment(one.since) ?? Infinity;
            this.members.sort((a, b) => joined(a) - joined(b) || (a.id < b.id ? -1 : 1));
        }
        this.remark();
        this.reshape();
    }

    private set_owner(change: Pick<Partition, 'p' | 'owner' | 'epoch' | 'owned_since' | 'phase' | 'next'>): void {
        const p = change.p;
        if (p >= this.size) return;
        this.owner[p] = this.id_index(change.owner);
        this.next[p] = this.id_index(change.next);
        this.epoch[p] = number(change.epoch);
        this.owned_since[p] = change.owned_since;
        this.set_phase(p, change.phase, steady());
        this.remark();
        this.sum_rates();
        this.reshape();
    }

    private set_state(change: Pick<Partition, 'p' | 'state' | 'since' | 'cause'>): void {
        if (change.p >= this.size) return;
        this.state[change.p] = Math.max(0, states.indexOf(change.state));
        this.since[change.p] = change.since;
        this.cause[change.p] = change.cause;
        this.reshape();
    }

    // A move is told again when its gap is known.
    private add_move(move: Move): void {
        const known = this.moves.findIndex(one => one.p === move.p && one.at === move.at && one.from === move.from && one.to === move.to);
        if (known >= 0) {
            this.moves = this.moves.map((one, i) => i === known ? move : one);
            return;
        }
        this.moves = [move, ...this.moves].slice(0, moves_max);
        this.newest_move = steady();
        this.remark();
    }

    private set_group(change: Partial<Pick<Snapshot, 'state' | 'error' | 'retry_in_s'>>): void {
        this.store_state = change.state ?? this.store_state;
        this.error = change.error ?? null;
        this.retry_in_s = change.retry_in_s ?? null;
        this.retry_seen = steady();
    }

    private reshape(): void {
        this.dirty.fill(1);
        ++this.shape;
    }

    private remark(): void {
        const recent = this.moves.slice(0, 40).flatMap(move => [move.from, move.to]);
        this.marks.update(this.members.map(member => member.id), [...this.ids.filter((_, i) => this.owner.includes(i)), ...recent]);
    }

    private changed(): void {
        ++this.version;
        if (this.scheduled) return;
        this.scheduled = true;
        requestAnimationFrame(() => {
            this.scheduled = false;
            for (const listener of [...this.listeners]) listener();
        });
    }
}
