// A JSON text as an indented tree, drawn from what was parsed; numbers that look like times get a note.
import { useState } from 'preact/hooks';
import { duration, moment, visible } from '../formats';

const shown_max = 64 * 1024, nodes_max = 3000;

function time_note(value: number, stored: string | null): string {
    const ms = value > 1e12 && value < 4e12 ? value : value > 1e9 && value < 4e9 ? value * 1000 : null, at = moment(stored);
    if (ms === null || at === null) return '';
    const before = at - ms;
    return Math.abs(before) > 31 * 86_400_000 ? '' : `${duration(Math.abs(before), 'move')} ${before >= 0 ? 'before' : 'after'} stored`;
}

interface Budget { left: number }

function Value({ value, stored, depth, budget }: { value: unknown; stored: string | null; depth: number; budget: Budget }): preact.ComponentChildren {
    if (--budget.left < 0) return <span class="p">…</span>;
    if (value === null || typeof value === 'boolean') return <span class="w">{String(value)}</span>;
    if (typeof value === 'number') {
        const note = time_note(value, stored);
        return <><span class="nu">{String(value)}</span>{note ? <span class="p">  {note}</span> : null}</>;
    }
    if (typeof value === 'string') return <span class="s">"{visible(value)}"</span>;
    const list = Array.isArray(value), entries: [string, unknown][] = list ? value.map((one, i) => [String(i), one]) : Object.entries(value as object);
    if (entries.length === 0) return <span class="p">{list ? '[]' : '{}'}</span>;
    const inner = '  '.repeat(depth + 1);
    return <><span class="p">{list ? '[' : '{'}</span>{'\n'}
        {entries.map(([name, one], i) => <>{inner}{list ? null : <><span class="k">"{visible(name)}"</span><span class="p">: </span></>}
            {Value({ value: one, stored, depth: depth + 1, budget })}<span class="p">{i < entries.length - 1 ? ',' : ''}</span>{'\n'}</>)}
        {'  '.repeat(depth)}<span class="p">{list ? ']' : '}'}</span></>;
}

export function JsonTree({ text, stored }: { text: string; stored: string | null }) {
    let value: unknown;
    try { value = JSON.parse(text); } catch { return <PlainText text={text} />; }
    return <div class="json">{Value({ value, stored, depth: 0, budget: { left: nodes_max } })}</div>;
}

export function PlainText({ text }: { text: string }) {
    const [all, set_all] = useState(false);
    const more = text.length - shown_max;
    return <><div class="json wrap"><bdi>{visible(all ? text : text.slice(0, shown_max), true)}</bdi></div>
        {more > 0 && !all ? <button type="button" class="linkbutton" onClick={() => set_all(true)}>Show {Math.ceil(more / 1000)} KB more</button> : null}</>;
}

export function hex_lines(bytes: Uint8Array, most = 4096): string {
    const lines: string[] = [];
    for (let at = 0; at < Math.min(bytes.length, most); at += 16) {
        const part = [...bytes.subarray(at, at + 16)];
        const text = part.map(byte => byte >= 32 && byte < 127 ? String.fromCharCode(byte) : '.').join('');
        lines.push(`${at.toString(16).padStart(6, '0')}  ${part.map(byte => byte.toString(16).padStart(2, '0')).join(' ').padEnd(47)}  ${text}`);
    }
    if (bytes.length > most) lines.push(`… ${bytes.length - most} bytes more`);
    return lines.join('\n');
}

export function body_bytes(body: { kind: string; value: string }): Uint8Array {
    if (body.kind !== 'base64') return new TextEncoder().encode(body.value);
    return Uint8Array.from(atob(body.value), sign => sign.charCodeAt(0));
}
