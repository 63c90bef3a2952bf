// How figures, durations, times and names from outside are written. Unknown is "–", never 0.
// Durations round down where they say what is left, and half up where they say what has passed.

export const unknown = '–';
export type Figure = number | null | undefined;

const known = (value: Figure): value is number => value !== null && value !== undefined && Number.isFinite(value);

export function count(value: Figure): string {
    return known(value) ? Math.round(value).toLocaleString('en-US') : unknown;
}

// For axes: 20 k, 1.5 M.
export function short_count(value: number): string {
    for (const [size, unit] of [[1e9, 'G'], [1e6, 'M'], [1e3, 'k']] as const)
        if (Math.abs(value) >= size) return `${+(value / size).toFixed(1)} ${unit}`;
    return String(+value.toFixed(value < 10 ? 1 : 0));
}

export function rate(value: Figure): string {
    if (!known(value)) return unknown;
    const tenths = Math.round(value * 10);
    return tenths === 0 ? '0/s' : tenths < 100 ? `${(tenths / 10).toFixed(1)}/s` : `${count(value)}/s`;
}

export function bytes(value: Figure): string {
    if (!known(value)) return unknown;
    let amount = value;
    for (const unit of ['B', 'KB', 'MB', 'GB', 'TB']) {
        const text = unit === 'B' ? String(Math.round(amount)) : String(+amount.toFixed(amount < 99.95 ? 1 : 0));
        if (+text < 1000 || unit === 'TB') return `${text} ${unit}`;
        amount /= 1000;
    }
    return unknown;
}

export function pad(partition: number, partitions: number): string {
    return String(partition).padStart(Math.max(2, String(Math.max(0, partitions - 1)).length), '0');
}

export type Meaning = 'lag' | 'move' | 'left';

// Largest two units of a duration: [[1, 'min'], [14, 's']]. Rounds at the smaller of the two, so that nothing carries to 60.
function units(ms: number, meaning: Meaning): [string, string][] {
    const round = meaning === 'left' ? Math.floor : Math.round;
    const two = (value: number) => String(value).padStart(2, '0');
    if (meaning === 'move' && round(ms) < 1000) return [[String(round(ms)), 'ms']];
    const tenths = round(ms / 100);
    if (tenths < 100) return [[(tenths / 10).toFixed(1), 's']];
    const seconds = round(ms / 1000);
    if (seconds < 60) return [[String(seconds), 's']];
    if (seconds < 3600) return [[String(Math.floor(seconds / 60)), 'min'], [two(seconds % 60), 's']];
    const minutes = round(ms / 60_000);
    if (minutes < 1440) return [[String(Math.floor(minutes / 60)), 'h'], [two(minutes % 60), 'min']];
    const hours = round(ms / 3_600_000);
    return [[String(Math.floor(hours / 24)), 'd'], [String(hours % 24), 'h']];
}

export function duration(ms: Figure, meaning: Meaning = 'lag'): string {
    return known(ms) ? units(Math.max(0, ms), meaning).map(unit => unit.join(' ')).join(' ') : unknown;
}

// Only the largest unit, where room is scarce: "43 min".
export function rough(ms: Figure, meaning: Meaning = 'lag'): string {
    if (!known(ms)) return unknown;
    const [first] = units(Math.max(0, ms), meaning);
    return first!.join(' ');
}

// "less than 2 min": the next whole unit, so that what is exactly a minute is less than two.
export function below(ms: Figure): string {
    if (!known(ms)) return unknown;
    const seconds = Math.floor(Math.max(0, ms) / 1000) + 1;
    if (seconds < 60) return `${seconds} s`;
    const minutes = Math.floor(ms / 60_000) + 1;
    if (minutes < 60) return `${minutes} min`;
    return `${Math.floor(ms / 3_600_000) + 1} h`;
}

// A span that was set by somebody: "24 h", "7 d", "90 min", without units that are zero.
export function setting(ms: Figure): string {
    if (!known(ms)) return unknown;
    const hours = ms / 3_600_000;
    if (Number.isInteger(hours) && hours > 0 && hours <= 48) return `${hours} h`;
    return units(ms, 'left').filter(([amount], i) => i === 0 || +amount !== 0).map(([amount, unit]) => `${+amount} ${unit}`).join(' ');
}

const words: Record<string, string> = { ms: 'millisecond', s: 'second', min: 'minute', h: 'hour', d: 'day' };

// As a screen reader says it: "1 minute 14 seconds".
export function spoken(ms: Figure, meaning: Meaning = 'lag'): string {
    if (!known(ms)) return 'unknown';
    return units(Math.max(0, ms), meaning)
        .map(([amount, unit]) => `${+amount} ${words[unit]}${+amount === 1 ? '' : 's'}`).join(' ');
}

export function ago(ms: Figure): string {
    if (!known(ms)) return unknown;
    return ms < 100 ? 'just now' : `${duration(ms)} ago`;
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const digits = (value: number, width = 2) => String(value).padStart(width, '0');

export type Moment = string | number | null | undefined;

export function moment(value: Moment): number | null {
    if (value === null || value === undefined) return null;
    const ms = typeof value === 'number' ? value : Date.parse(value);
    return Number.isFinite(ms) ? ms : null;
}

// 14:32:08, or 15 Nov 14:32 on another day than `now`.
export function time(value: Moment, now: number, exact = false): string {
    const ms = moment(value);
    if (ms === null) return unknown;
    const date = new Date(ms), today = new Date(now);
    const clock = `${digits(date.getHours())}:${digits(date.getMinutes())}`;
    if (date.toDateString() !== today.toDateString()) return `${date.getDate()} ${months[date.getMonth()]} ${clock}`;
    const seconds = `${clock}:${digits(date.getSeconds())}`;
    return exact ? `${seconds}.${digits(date.getMilliseconds(), 3)}` : seconds;
}

// 14:32, or 15 Nov 14:32 on another day than `now`: where seconds do not matter.
export function short_time(value: Moment, now: number): string {
    return time(value, now).replace(/^(\d\d:\d\d):\d\d$/, '$1');
}

export function hour_minute(value: number): string {
    const date = new Date(value);
    return `${digits(date.getHours())}:${digits(date.getMinutes())}`;
}

// When something ends: "tomorrow 14:32".
export function until(value: Moment, now: number): string {
    const ms = moment(value);
    if (ms === null) return unknown;
    const day = (at: number) => new Date(at).toDateString();
    if (day(ms) === day(now)) return `today ${hour_minute(ms)}`;
    if (day(ms) === day(now + 86_400_000)) return `tomorrow ${hour_minute(ms)}`;
    return time(ms, now);
}

// ISO 8601 with this machine's zone, for titles and for copying.
export function iso(value: Moment): string {
    const ms = moment(value);
    if (ms === null) return '';
    const date = new Date(ms), zone = -date.getTimezoneOffset();
    const local = new Date(ms + zone * 60_000).toISOString().slice(0, -1);
    const offset = `${zone < 0 ? '-' : '+'}${digits(Math.floor(Math.abs(zone) / 60))}:${digits(Math.abs(zone) % 60)}`;
    return local + (zone === 0 ? 'Z' : offset);
}

// Control characters become visible signs. What changes the direction of text or has no width becomes "�".
export function visible(text: string, lines = false): string {
    return text.replace(/[\u0000-\u001f\u007f]/g, sign => {
        if (lines && (sign === '\n' || sign === '\t')) return sign;
        return sign === '\u007f' ? '\u2421' : String.fromCharCode(0x2400 + sign.charCodeAt(0));
    }).replace(/[\u0080-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, '\ufffd');
}

// A name from outside, cut in the middle at 32 characters.
export function cut(text: string, most = 32): string {
    const signs = [...visible(text)];
    if (signs.length <= most) return signs.join('');
    const head = Math.ceil((most - 1) / 2);
    return [...signs.slice(0, head), '…', ...signs.slice(signs.length - (most - 1 - head))].join('');
}

export function plural(amount: number, one: string, many = one + 's'): string {
    return `${count(amount)} ${amount === 1 ? one : many}`;
}

// Where a lag lies on the scale of every bar: 0 at 50 ms, 1 at 1 h, logarithmic, never rescaled.
export function lag_position(ms: Figure): number {
    if (!known(ms)) return 0;
    return Math.min(1, Math.max(0, Math.log10(Math.max(ms, 50) / 50) / Math.log10(3_600_000 / 50)));
}
