// The residents' page of examples/home-security with days that are made up: what /api/home/NUMBER answers in each
// state, at a moment that stands still; and the aggregates from which the program itself reads such a day.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const files = fileURLToPath(new URL('../../../examples/home-security/page/', import.meta.url));
const types = { html: 'text/html; charset=utf-8', css: 'text/css; charset=utf-8', js: 'text/javascript; charset=utf-8', svg: 'image/svg+xml' };
const bucket_ms = 600_000, day = Date.parse('2026-11-17T00:00:00Z');
const at = (time) => day + Date.parse(`1970-01-01T${time.padEnd(8, ':00')}Z`);
const homes = 100_000;

// A sensor with the times at which something happened today.
function sensor(place, kind, state, times, first_bucket) {
    const counts = new Array(150).fill(0);
    for (const time of times) ++counts[Math.floor(at(time) / bucket_ms) - first_bucket];
    return { place, kind, state, known: at('15:09'), changed: times.length ? at(times.at(-1)) : 0, counts };
}

const quiet_times = {
    'Front door': ['06:41', '06:42', '07:10', '07:11', '07:55', '07:56', '08:15', '08:16', '12:20', '12:21', '14:01', '14:02'],
    'Back door': ['07:31', '07:32', '13:02', '13:04'],
    'Hall': ['06:24', '06:31', '06:44', '07:09', '07:20', '07:31', '07:42', '07:55', '08:04', '08:14', '12:21', '12:33', '12:41', '12:52', '13:01', '14:02'],
    'Living room': ['06:40', '07:05', '07:33', '07:41', '07:52', '09:21', '10:22', '12:24', '12:35', '12:47', '12:58', '13:48'],
    'Kitchen window': ['06:50', '07:12', '12:07', '12:27'],
    'Terrace door': [], 'Boiler room': [],
};
const kinds = { 'Front door': ['door', 'closed'], 'Back door': ['door', 'closed'], 'Hall': ['motion', 'still'], 'Living room': ['motion', 'still'],
    'Kitchen window': ['window', 'closed'], 'Terrace door': ['glass', 'whole'], 'Boiler room': ['carbon monoxide', 'good'] };

function quiet(home) {
    const now = at('15:10'), first_bucket = Math.floor(now / bucket_ms) - 149;
    const sensors = Object.entries(quiet_times).map(([place, times]) => sensor(place, ...kinds[place], times, first_bucket));
    const what = (time, place, state) => ({ at: at(time), place, kind: kinds[place][0], state });
    return { home, now, as_of: now - 2000, window_ms: 60_000, bucket_ms, first_bucket, sensors, incident: null,
        happenings: [what('07:31', 'Back door', 'open'), what('07:32', 'Back door', 'closed'), what('08:16', 'Front door', 'closed'), what('12:07', 'Kitchen window', 'open'),
            what('12:27', 'Kitchen window', 'closed'), what('13:48', 'Living room', 'motion'), what('14:01', 'Front door', 'open'), what('14:02', 'Front door', 'closed')] };
}

function with_glass_broken(home) {
    const data = quiet(home), change = (place, state, time) => {
        const found = data.sensors.find((one) => one.place === place);
        ++found.counts[Math.floor(at(time) / bucket_ms) - data.first_bucket];
        Object.assign(found, { state, changed: at(time) });
        data.happenings.push({ at: at(time), place, kind: found.kind, state });
    };
    change('Terrace door', 'broken', '15:08:08');
    change('Living room', 'motion', '15:08:11');
    change('Back door', 'open', '15:08:40');
    data.incident = { at: at('15:08:08'), place: 'Terrace door', kind: 'glass', state: 'broken' };
    return data;
}

// What is answered in each state; a number is a status without a body.
export const states = {
    quiet,
    someone: (home) => { const data = quiet(home); data.happenings.push({ at: data.now - 30_000, place: 'Hall', kind: 'motion', state: 'motion' }); return data; },
    incident: with_glass_broken,
    // The aggregates stand still 21 s after the glass broke.
    'incident-no-news': (home) => { const data = with_glass_broken(home); data.as_of = at('15:09:01'); data.now = data.as_of + 400_000; return data; },
    'bad-air': (home) => { const data = quiet(home), room = data.sensors.at(-1); Object.assign(room, { state: 'alarm', changed: data.now - 60_000 });
        data.incident = { at: data.now - 60_000, place: 'Boiler room', kind: 'carbon monoxide', state: 'alarm' }; data.happenings.push(data.incident); return data; },
    'no-news': (home) => ({ ...quiet(home), as_of: at('14:20') }),
    'no-news-yet': (home) => ({ ...quiet(home), as_of: 0, window_ms: 0, happenings: [], sensors: quiet(home).sensors.map((one) => ({ ...one, state: '', known: 0, changed: 0, counts: new Array(150).fill(0) })) }),
    hostile: (home) => { const data = quiet(home); for (const one of data.sensors) one.place = '<img src=x onerror=alert(1)>'; data.happenings[0].place = '<script>alert(1)</script>'; data.happenings[0].state = '\u0000\u202e'; return data; },
    broken: () => 503,
};

// Serves the page's files, and answers for homes in a state that may be changed.
export async function residents(state) {
    const stand = { state, away: false };
    const server = createServer((request, response) => {
        if (stand.away) return request.socket.destroy();
        const answer = (status, type, body) => { response.writeHead(status, { 'Content-Type': type, 'Content-Security-Policy': "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'" }); response.end(body); };
        const path = new URL(request.url, 'http://x').pathname, api = path.match(/^\/api\/home\/(.*)$/);
        if (api) {
            const text = api[1].replaceAll('%2C', ','), number = /^[\d,]+$/.test(text) ? Number(text.replaceAll(',', '')) : NaN;
            if (!(number < homes)) return answer(404, 'application/json', JSON.stringify({ homes, error: 'no such home' }));
            const data = states[stand.state](number);
            return typeof data === 'number' ? answer(data, 'application/json', '{"error":"the aggregates cannot be read"}') : answer(200, 'application/json', JSON.stringify(data));
        }
        const name = path === '/' || path.startsWith('/home/') ? 'home.html' : path.slice(1);
        if (!/^(home\.(html|css|js)|icon\.svg)$/.test(name)) return answer(404, 'text/plain', '');
        return answer(200, types[name.split('.')[1]], readFileSync(join(files, name)));
    });
    await new Promise((done) => server.listen(0, '127.0.0.1', done));
    stand.address = `http://127.0.0.1:${server.address().port}`;
    stand.close = () => new Promise((done) => { server.closeAllConnections(); server.close(done); });
    return stand;
}

// One object of aggregates, as `aggregator` writes it: one home in partition 0, a window of a second.
export function write_aggregate(folder, home, from_ms, sensors, incidents = [], number = 0) {
    const line = JSON.stringify({ home, first: number, last: number, sensors, incidents });
    const head = { partition: 0, from: from_ms, to: from_ms + 1000, first_sequence: number, last_sequence: number, events: 1, unreadable: 0, index: [[home, 0]] };
    const sequence = String(number).padStart(12, '0'), time = new Date(from_ms).toISOString(), two = (text) => String(text).padStart(2, '0');
    const file = join(folder, `${time.slice(0, 10)}/${time.slice(11, 13)}/00/${two(time.slice(14, 16))}${two(time.slice(17, 19))}-${sequence}-${sequence}.jsonl`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${JSON.stringify(head)}\n${line}\n`);
}
