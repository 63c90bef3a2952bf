// Made-up groups for states that a real server cannot easily be put into. The same figures each time.

export const moment = Date.parse('2026-11-18T14:32:08.410Z');
const at = ms => new Date(moment - ms).toISOString();

export function random(seed) {
    let state = seed;
    return () => {
        state = (state + 0x6D2B79F5) | 0;
        let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
        mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
        return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
    };
}

const assigned = [...'ABCACBABCABCBACA'];
const ids = { A: 'agg-7f2c', B: 'agg-b91e', C: 'agg-03da', D: 'agg-e5a0' };

function member(id, since_ms, beat_ms, host, more = {}) {
    return { id, state: 'active', host, since: at(since_ms), silent_ms: beat_ms, lease_ms: 5000, dead_after_ms: 6000, profile: 'standard', share: 0, in_per_s: 0, ...more };
}

const moved = new Set([2, 4, 8, 11, 14]);  // partitions that moved when the third member joined

function partition(p, owner, next) {
    const end = 18204331 + p * 7719 + Math.round(next() * 5000), behind = Math.round(120 + next() * 500), lag = Math.round(60 + next() * 300);
    return {
        p, owner, epoch: 14, owned_since: at(moved.has(p) ? 357_000 : 2_046_000), phase: 'owned', next: null, in_per_s: 590 + next() * 110, out_per_s: 590 + next() * 110,
        begin: 0, end, end_at: at(100), checkpoint: end - lag, checkpoint_at: at(behind + 100), stored_ms: Math.round(100 + next() * 800), behind_ms: behind, lag,
        loss_s: Math.floor(86_399 - behind / 1000), lost: 0, repeats_max: Math.round(60 + next() * 540), state: 'ok', since: null, cause: null, reader_epoch: 14,
    };
}

function snapshot(members, partitions, moves, more = {}) {
    for (const one of members) {
        const mine = partitions.filter(other => other.owner === one.id);
        one.share = mine.length;
        one.in_per_s = mine.reduce((sum, other) => sum + (other.in_per_s ?? 0), 0);
    }
    return {
        at: at(0), steady_ms: 1_000_000, hub: 'homes', group: 'aggregator', store: 'sqlite:progress.db', state: 'ok', error: null, retry_in_s: null,
        retention_ms: 86_400_000, members, partitions, moves, requests: [], dead_letters: 7, ...more,
    };
}

const joined = [[14, 'B', 357_000, 38], [11, 'A', 357_100, 41], [8, 'B', 358_000, 36], [4, 'B', 358_100, 52], [2, 'A', 358_200, 44]]
    .map(([p, from, ms, gap]) => ({ at: at(ms), p, from: ids[from], to: ids.C, reason: `handed over: '${ids.C}' joined`, gap_ms: gap, repeated: 0 }));
const first = [[15, 'A'], [14, 'C'], [13, 'A'], [9, 'A']].map(([p, to]) => ({ at: at(2_046_000), p, from: null, to: ids[to], reason: 'nobody had it before', gap_ms: null, repeated: 0 }));

function three() {
    return [member(ids.A, 3_600_000, 700, 'host-1'), member(ids.B, 3_500_000, 1300, 'host-2'), member(ids.C, 360_000, 200, 'host-3')];
}

function sixteen() {
    const next = random(7);
    return assigned.map((letter, p) => partition(p, ids[letter], next));
}

export function balanced() {
    return snapshot(three(), sixteen(), [...joined, first[3]]);
}

export function takeover() {
    const members = three(), partitions = sixteen(), next = random(9);
    Object.assign(members[2], { state: 'silent', silent_ms: 4100 });
    let turn = 0;
    for (const one of partitions) if (one.owner === ids.C)
        Object.assign(one, { behind_ms: Math.round(4100 + next() * 400), stored_ms: Math.round(4200 + next() * 500), repeats_max: Math.round(400 + next() * 400), next: turn++ % 2 ? ids.A : ids.B });
    return snapshot(members, partitions, joined);
}

// As `handover`, a moment before partition 0 has arrived.
export function leaving() {
    const group = handover();
    Object.assign(group.partitions[0], { owner: ids.A, phase: 'draining', next: ids.D, epoch: 14, reader_epoch: 14 });
    return group;
}

export function handover() {
    const members = [...three(), member(ids.D, 3200, 300, 'host-4')], partitions = sixteen();
    members[2].since = at(3_400_000);
    const set = (p, change) => Object.assign(partitions[p], change);
    for (const one of partitions) one.owned_since = at(2_046_000);
    set(0, { owner: ids.D, owned_since: at(283), epoch: 15, reader_epoch: 15, stored_ms: 100, repeats_max: 62 });
    set(5, { phase: 'draining', next: ids.D, behind_ms: 700, stored_ms: 20, repeats_max: 0 });
    set(8, { phase: 'draining', next: ids.D, behind_ms: 900 });
    set(13, { phase: 'offered', next: ids.D });
    return snapshot(members, partitions, [{ at: at(283), p: 0, from: ids.A, to: ids.D, reason: `handed over: '${ids.D}' joined`, gap_ms: 38, repeated: 0 }, ...first]);
}

export function why() {
    const group = balanced();
    Object.assign(group.partitions[11], { state: 'stalled', since: at(74_000), cause: 'Events wait, but no checkpoint was stored since then.', behind_ms: 74_000, stored_ms: 74_000, repeats_max: 256, lag: 48_726, end: 18_338_220, checkpoint: 18_289_494, loss_s: 86_326, out_per_s: 0 });
    Object.assign(group.partitions[5], { state: 'parked', since: at(1_104_000), cause: 'event 18246736 failed 5 times: unknown sensor type co', behind_ms: 1_104_000, stored_ms: 1_104_000, repeats_max: 0, lag: 686_000, loss_s: 85_296, out_per_s: 0 });
    group.moves = [...joined, { at: at(1_768_000), p: 11, from: ids.B, to: ids.A, reason: "taken over: 'agg-b91e' has not been heard of", gap_ms: 6800, repeated: 212 }];
    return group;
}

// As `why`, hours later: the parked partition is on its way to loss.
export function parked() {
    const group = why();
    Object.assign(group.partitions[5], { since: at(19_764_000), behind_ms: 19_764_000, lag: 12_300_180, loss_s: 66_636 });
    return group;
}

export function thousand() {
    const next = random(21), owners = Array.from({ length: 24 }, (_, i) => `idx-${String(i + 1).padStart(2, '0')}`);
    const members = owners.map((id, i) => member(id, 9_000_000 - i * 60_000, 200 + Math.round(next() * 900), `host-${i + 1}`));
    const partitions = Array.from({ length: 1000 }, (_, p) => {
        const made = partition(p, owners[(p * 7 + Math.floor(p / 24)) % 24], next);
        made.behind_ms = Math.round((0.08 + next() ** 3 * 3) * 1000);
        if (made.owner === owners[5]) made.behind_ms = Math.round(6000 + next() * 40_000);
        return made;
    });
    Object.assign(members[16], { state: 'silent', silent_ms: 4800 });
    for (const one of partitions) if (one.owner === owners[16]) Object.assign(one, { behind_ms: Math.round(3000 + next() * 3000), next: owners[one.p % 16] });
    Object.assign(partitions[482], { state: 'stalled', since: at(340_000), behind_ms: 340_000 });
    Object.assign(partitions[905], { state: 'stalled', since: at(96_000), behind_ms: 96_000 });
    Object.assign(partitions[730], { state: 'parked', since: at(2_600_000), behind_ms: 2_600_000 });
    const moves = [];
    const batch = (ms, reason, to, n) => { for (let i = 0; i < n; ++i) moves.push({ at: at(ms + i), p: (i * 24 + n) % 1000, from: owners[i % 20], to, reason, gap_ms: 40, repeated: 0 }); };
    batch(738_000, "handed over: 'idx-24' joined", owners[23], 41);
    batch(3_116_000, "handed over: 'idx-09' stops", owners[8], 43);
    batch(3_217_000, "handed over: 'idx-23' joined", owners[22], 43);
    return snapshot(members, partitions, moves, { hub: 'telemetry', group: 'indexer', dead_letters: 0 });
}

export function failed() {
    return snapshot([], [], [], { store: 'postgresql://db.internal:5432/progress', state: 'failed', error: 'connection refused (tried 4 times, last at 14:32:07)', retry_in_s: 8, dead_letters: null });
}

export const evil = '"><img src=x onerror="window.hit=1"><script>window.hit=1</script>\u202egnp.exe\u0000' + 'x'.repeat(200);

export function hostile() {
    const group = balanced();
    for (const [i, letter] of ['A', 'B', 'C'].entries()) {
        const name = `${i}${evil}`;
        group.members[i].id = name;
        group.members[i].host = evil;
        for (const one of group.partitions) if (one.owner === ids[letter]) one.owner = name;
        for (const move of group.moves) { if (move.from === ids[letter]) move.from = name; if (move.to === ids[letter]) move.to = name; move.reason = evil; }
    }
    Object.assign(group.partitions[3], { state: 'stalled', cause: evil });
    return { ...group, hub: evil, group: evil };
}

export function nobody() {
    return snapshot([], sixteen().map(one => ({ ...one, owner: null, phase: 'free', epoch: null, reader_epoch: null, behind_ms: 10_800_000, stored_ms: 10_800_000 })), joined);
}

export const groups = { balanced, takeover, handover, leaving, why, parked, thousand, failed, hostile, nobody };
