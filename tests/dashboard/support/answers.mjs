// The made-up answers of the stand-in, by route and by the name of a state.
import { readFileSync } from 'node:fs';
import { groups, moment, evil, random } from './groups.mjs';
import { events, letters, one_event, one_letter } from './events.mjs';

// What the server says of partition 11; its own test compares it.
const explained = JSON.parse(readFileSync(new URL('explain.json', import.meta.url), 'utf8'));
const iso = ms => new Date(moment - ms).toISOString();
const root_key = { name: 'RootManageSharedAccessKey', hub: null, rights: ['Listen', 'Manage', 'Send'], fixed: true };
const hub_of = (name, partitions) => ({ name, partitions, retention_ms: 86_400_000, partition_bytes_max: 0, created_at: iso(9e8), groups: ['$Default', 'aggregator'] });
const homes_key = { name: 'of homes', hub: 'homes', rights: ['Listen', 'Manage', 'Send'], fixed: true };
const group_of = state => (groups[state] ?? groups.why)();

const server = () => ({
    version: '0.2.0', identity: 'stand-in', mode: 'dev', demo: null, started_at: iso(273_600_000), up_seconds: 273_600, now: iso(0), amqp_port: 5673, amqps_port: null,
    disk_free_bytes: 212e9, disk_total_bytes: 500e9, access: { rule: null, rights: ['Listen', 'Manage', 'Send'], hub: null, open: true },
});

function watched(state) {
    if (state === 'empty') return [];
    if (state === 'two_groups') return ['aggregator', 'alarms'].map(group => ({ ...watched('balanced')[0], group }));
    if (state === 'unknown') return watched('balanced').map(group => ({ ...group, behind_ms: null, furthest: null, lag_events: null, loss_s: null }));
    const snapshot = group_of(state), owners = snapshot.members.map(one => one.id);
    const worst = Math.max(0, ...snapshot.partitions.map(one => one.behind_ms ?? 0));
    return [{
        hub: snapshot.hub, group: snapshot.group, store: snapshot.store, state: snapshot.state, error: snapshot.error, retry_in_s: snapshot.retry_in_s,
        members: owners.length, partitions: snapshot.partitions.length, owned: snapshot.partitions.filter(one => one.owner).length, behind_ms: worst, furthest: snapshot.partitions.find(one => one.behind_ms === worst)?.p ?? null,
        lag_events: snapshot.partitions.reduce((sum, one) => sum + (one.lag ?? 0), 0), loss_s: Math.floor(86_399 - worst / 1000), dead_letters: snapshot.dead_letters,
        owners, strip: snapshot.partitions.map(one => owners.indexOf(one.owner)),
        needs: snapshot.partitions.filter(one => one.state === 'stalled' || one.state === 'parked').sort((a, b) => (a.state < b.state ? 1 : -1)).map(one => ({ p: one.p, state: one.state, since: one.since, cause: one.cause, lag: one.lag })),
    }];
}

export function answers(state, method, url, body, authorization) {
    const path = decodeURIComponent(url.pathname.replace('/api/v1', ''));
    if (state === 'closed' && !authorization) return [401, { error: { code: 'unauthorized', message: 'A token is needed.' } }];
    if (state === 'closed' && !authorization.includes('skn=operators')) return [401, { error: { code: 'unauthorized', message: 'The key is not known.' } }];
    if (state === 'one_hub' && /^\/(keys|connections)(\/|$)/.test(path)) return [403, { error: { code: 'forbidden', message: 'the token does not allow this' } }];
    if (state === 'one_hub' && path === '/server') return [200, { ...server(), access: { rule: 'of homes', rights: ['Listen', 'Manage', 'Send'], hub: 'homes', open: false } }];
    if (path === '/server') return [200, state === 'closed' ? { ...server(), mode: 'serve', access: { rule: 'operators', rights: ['Listen', 'Manage'], hub: null, open: false } } : server()];
    if (path === '/groups') return [200, { groups: watched(state) }];
    if (path === '/hubs' && method === 'GET') return [200, { hubs: state === 'hostile' ? [hub_of(evil, 16)] : [hub_of('homes', 16), hub_of('telemetry', 1000)] }];
    if (path.endsWith('/processors')) return [200, group_of(state)];
    if (path.includes('/explain')) return [200, { p: Number(url.searchParams.get('p')), owner: explained.owner, epoch: explained.epoch, sentences: state === 'hostile' ? [evil] : explained.sentences }];
    if (path.endsWith('/requests') && method === 'POST') return JSON.parse(body).preview ? [200, JSON.parse(body).to === 'newest' ? { repeats: 0, skips: 48_726, partitions: [] } : { repeats: 12_410, skips: 0, partitions: [] }] : [202, { asked: true }];
    const more = browse(state, path, url, method, body);
    return more ?? [404, { error: { code: 'not_found', message: 'There is no such route.' } }];
}

function browse(state, path, url, method, body) {
    if (path === '/overview') return [200, overview(state)];
    if (path.endsWith('/lag')) return [200, lag()];
    if (/\/events\/\d+$/.test(path)) return [200, one_event(state)];
    if (path.endsWith('/events')) return method === 'POST' ? [201, { sent: [{ partition: 11, first: 18_338_221, last: 18_338_221 }] }] : [200, events(state, url.searchParams.get('where'))];
    if (path.endsWith('/dead-letters')) return [200, letters(state, url.searchParams.get('cause'))];
    if (/\/dead-letters\/\d+\/\d+$/.test(path)) return method === 'DELETE' ? [204, undefined] : [200, one_letter(state)];
    if (state === 'refused' && path.endsWith('/2/18199120/resend')) return [429, { error: { code: 'overloaded', message: 'The quota of this key is used up.' } }];
    if (path.endsWith('/resend')) return [200, { partition: 7, sequence_number: 18_338_221 }];
    if (path.endsWith('/connections')) return [200, { total: connections(state).length, next: null, connections: connections(state) }];
    if (path.endsWith('/keys') && method === 'POST') return [201, { ...JSON.parse(body), hub: path === '/keys' ? null : 'homes', fixed: false, primary_key: 'made-key', secondary_key: 'other-key' }];
    if (path.includes('/keys/')) return method === 'DELETE' ? [204, undefined] : [200, { ...(path.startsWith('/keys/') ? root_key : decodeURIComponent(path).endsWith('/of homes') ? homes_key : { name: 'devices', hub: 'homes', rights: ['Send'], fixed: false }), primary_key: 'shown-key', secondary_key: 'other-key' }];
    if (path === '/hubs' && method === 'POST') return [201, hub_of(JSON.parse(body).name, JSON.parse(body).partitions)];
    if (path.endsWith('/homes/keys')) return [200, { keys: [homes_key, { name: 'devices', hub: 'homes', rights: ['Send'], fixed: false }] }];
    if (path === '/keys') return [200, { keys: [root_key, { name: state === 'hostile' ? evil : 'devices', hub: 'homes', rights: ['Send'], fixed: false }] }];
    if (path.endsWith('/readers')) return [200, { readers: groups.balanced().partitions.flatMap(one => [{ partition: one.p, group: state === 'hostile' ? evil : 'aggregator', name: state === 'hostile' ? evil : one.owner, epoch: one.epoch, next_sequence_number: one.end }, { partition: one.p, group: 'alarms', name: null, epoch: null, next_sequence_number: one.end }]) }];
    if (path.endsWith('/partitions')) return [200, { partitions: balanced_partitions() }];
    if (/^\/hubs\/[^/]+$/.test(path)) return [200, hub_of('homes', 16)];
    return null;
}

const balanced_partitions = () => groups.balanced().partitions.map(one => ({
    partition: one.p, begin_sequence_number: 0, last_sequence_number: one.end, last_offset: one.end * 150, last_enqueued_at: one.end_at, oldest_enqueued_at: iso(86_000_000),
    is_empty: false, size_bytes: one.end * 130, readers: 2, events_in_per_second: one.in_per_s, events_out_per_second: one.out_per_s * 2, problems: [],
}));

function connections(state) {
    const made = (id, peer, product, links) => ({ id, peer, transport: 'amqp', container: product, product, rule: 'RootManageSharedAccessKey', opened_at: iso(3_600_000), link_count: links.length, links });
    const link = (role, partition, group, rate) => ({ role, hub: 'homes', partition, group, epoch: group ? 14 : null, credit: role === 'receiver' ? 300 : 1000, events: 18_204_331, events_per_s: rate, attached_at: iso(3_600_000) });
    return [made('1', '10.0.0.4:50212', state === 'hostile' ? evil : 'evenkeel 0.2.0', [link('receiver', 0, 'aggregator', 641), link('receiver', 3, 'aggregator', 630)]), made('2', '10.0.0.9:50310', 'devices', [link('sender', null, null, 10_002)])];
}

function lag() {
    const next = random(5), t = [], furthest_ms = [], median_ms = [], heat = [];
    for (let i = 0; i < 288; ++i) {
        t.push(moment - (287 - i) * 300_000);
        const slow = i > 60 && i < 99, column = Array.from({ length: 16 }, (_, p) => p === 5 && i > 222 ? (i - 222) * 300_000 : (slow ? (2 + next() * 6) * (1 + Math.sin((i - 60) / 39 * 3.14) * 3) : 0.2 + next() * 0.4) * 1000);
        if (i === 210) column.fill(5000 + next() * 2000);
        for (const [p, value] of column.entries()) column[p] = Math.round(value);
        heat.push(column);
        furthest_ms.push(Math.max(...column));
        median_ms.push([...column].sort((a, b) => a - b)[8]);
    }
    return { since: iso(273_600_000), step_s: 300, partitions: 16, retention_ms: 86_400_000, t, furthest_ms, median_ms, heat };
}

function overview(state) {
    if (state === 'empty') return { in_per_s: 0, out_per_s: 0, behind_ms: null, loss_s: null, connections: 0, disk_free_bytes: 212e9, disk_total_bytes: 500e9, disk_full_s: null, hubs: [{ name: 'homes', partitions: 16, events: 0, bytes: 0, in_per_s: 0, out_per_s: 0, groups: 1, retention_ms: 86_400_000 }], history: { t: [], in: [], out: [], hubs: {} }, moves: [] };
    const next = random(3), t = [], ins = [], outs = [];
    let drift = 0;
    for (let i = 0; i < 360; ++i) {
        drift = drift * 0.9 + (next() - 0.5) * 400;
        t.push(moment - (359 - i) * 10_000);
        ins.push(10_080 + drift);
        outs.push((10_080 + drift) * 2 + (i === 262 ? -3500 : i === 264 ? 2900 : 0));
    }
    const spark = seed => { const roll = random(seed); return Array.from({ length: 40 }, () => 8 + roll() * 4); };
    const lines = {}, hub = (name, partitions, events, bytes, in_per_s, out_per_s, seed, kept_h) => { lines[name] = spark(seed); return { name, partitions, events, bytes, in_per_s, out_per_s, groups: 1, retention_ms: kept_h * 3_600_000 }; };
    const group = group_of(state);
    return {
        in_per_s: 10_112, out_per_s: 20_190, behind_ms: Math.max(...group.partitions.map(one => one.behind_ms ?? 0)), loss_s: Math.min(...group.partitions.map(one => one.loss_s ?? 86_400)), connections: 14, disk_free_bytes: 212e9, disk_total_bytes: 500e9, disk_full_s: Math.round(41.4 * 86_400),
        hubs: state === 'hostile' ? [hub(evil, 16, 10, 10, 1, 1, 1, 24)] : [hub('homes', 16, 291_269_296, 38.1e9, 10_002, 20_004, 5, 24), hub('telemetry', 1000, 9_120_004, 4.2e9, 110, 186, 9, 168), hub('door-events', 4, 80_212, 12e6, 0.3, 0.3, 12, 24), hub('letters', 1, 48, 48e3, 0, 0, 15, 720)],
        history: { t, in: ins, out: outs, hubs: lines }, moves: [...group.moves.map(move => ({ ...move, hub: group.hub, group: group.group })),
            { at: iso(970_000), p: 7, from: group.members[2]?.id ?? 'x', to: group.members[1]?.id ?? 'y', reason: state === 'hostile' ? evil : "taken over: 'agg-03da' has not been heard of", gap_ms: 6800, repeated: null, hub: group.hub, group: group.group }].sort((a, b) => a.at < b.at ? 1 : -1),
    };
}
