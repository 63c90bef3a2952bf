// Made-up events and dead letters, some of them as hostile as a sender can make them.
import { evil, moment, random } from './groups.mjs';

const iso = ms => new Date(moment - ms).toISOString();
const kinds = [['door', 'opened', 'front door'], ['motion', 'seen', 'hall'], ['window', 'closed', 'kitchen window'], ['motion', 'seen', 'living room'], ['door', 'closed', 'back door']];

function event(p, seq, ms, key, body, more = {}) {
    const value = typeof body === 'string' ? body : JSON.stringify(body);
    return { p, seq, offset: String(seq * 150), enqueued_at: iso(ms), partition_key: key, content_type: 'application/json', message_id: null, correlation_id: null, properties: { 'device-version': '3.2.0', traceparent: '00-7c1e2ab0d2-01' }, bytes: value.length, body: { kind: typeof body === 'string' ? 'text' : 'json', value, truncated: false }, ...more };
}

export function one_event(state) {
    if (state === 'hostile') return event(0, 1, 154, evil, { [evil]: evil }, { properties: { [evil]: evil }, content_type: evil, message_id: evil, sections: [{ name: evil, hex: '00534f' }] });
    if (state === 'options') return event(11, 18_289_733, 154, '--count=1000', '--file=/etc/passwd', { sections: [] });
    if (state === 'cut') return event(11, 18_289_733, 154, null, 'x'.repeat(65_536), { bytes: 900_000, sections: [], body: { kind: 'text', value: 'x'.repeat(65_536), truncated: true } });
    return event(11, 18_289_733, 154, 'home-48213', { home: 48213, kind: 'glass', state: 'broken', sensor: { id: 4, name: 'terrace door', battery: 0.81 }, at: moment - 162 }, { sections: [{ name: 'application-properties', hex: '00537400c1' }] });
}

// A list has no sections.
const listed = ({ sections, ...event }) => event;

export function events(state, where) {
    if (state === 'hostile') {
        const large = 'A'.repeat(1 << 20);
        return { events: [listed(one_event(state)), event(0, 2, 200, null, large), event(0, 3, 210, '\u202e\u0000', '\u0000\u0001\u001b[31m<b>x</b>\ufffd')], looked_at: 3, matched: 3, cursor: null, until: '0.4', problems: [evil] };
    }
    const next = random(11), rows = Array.from({ length: 24 }, (_, i) => {
        if (i === 4) return listed(one_event(state));
        const [kind, word, sensor] = kinds[Math.floor(next() * 5)], home = Math.floor(next() * 100_000);
        return event(Math.floor(next() * 16), 18_204_331 + Math.floor(next() * 90_000), 10 + i * 37, `home-${String(home).padStart(5, '0')}`, { kind, state: word, sensor, at: moment - i * 37 });
    });
    const kind = /^body\.kind == "(\w+)"$/.exec(where ?? '')?.[1];  // the only filter that is known here
    const matched = rows.filter(row => !kind || JSON.parse(row.body.value).kind === kind);
    return { events: matched, looked_at: 812, matched: matched.length, cursor: '1', until: '0.18204331,11.18289734', problems: [] };
}

const causes = [{ cause: 'unknown sensor type co', count: 3, first_at: iso(660_000), last_at: iso(126_000) }, { cause: 'body is not JSON', count: 3, first_at: iso(2e7), last_at: iso(18_000_000) }, { cause: 'home 99,214 has no address', count: 1, first_at: iso(19_800_000), last_at: iso(19_800_000) }];

export function letters(state, cause) {
    const letter = (ms, p, seq, key, attempts = 5) => ({ p, seq, enqueued_at: iso(ms + 6200), at: iso(ms), partition_key: key, cause: state === 'hostile' ? evil : 'unknown sensor type co', attempts, bytes: 98 });
    const list = [letter(126_000, 7, 18_241_507, 'home-20417'), letter(320_000, 2, 18_199_120, 'home-88310'), letter(653_000, 13, 18_190_442, state === 'hostile' ? evil : 'home-05126')];
    void cause;
    return { total: 7, causes: state === 'hostile' ? [{ ...causes[0], cause: evil }] : causes, dead_letters: list, next: null };
}

export function one_letter(state) {
    const { dead_letters: [first] } = letters(state, null);
    return { ...first, ...event(7, 18_241_507, 132_200, 'home-20417', { home: 20417, kind: 'co', state: 'ppm', value: 4, sensor: { id: 9, name: 'boiler room' } }, { sections: [] }), at: first.at, cause: first.cause, attempts: 5 };
}
