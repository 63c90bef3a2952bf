// A JSON body as an indented tree, drawn from its own text; numbers that look like times get a note.
import { useState } from 'preact/hooks';
import { visible } from '../formats';
import { json_pieces } from './json_pieces';

const shown_max = 64 * 1024;

export function JsonTree({ text, stored }: { text: string; stored: string | null }) {
    const pieces = json_pieces(text, stored);
    return pieces ? <div class="json">{pieces.map(piece => <span class={piece.tone}>{piece.text}</span>)}</div> : <PlainText text={text} />;
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
