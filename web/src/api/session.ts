// The key that the reader signed in with. It lives in this tab's sessionStorage only; requests carry tokens made from it.
import { base64, hmac_sha256 } from './hmac';

export interface Credentials { rule: string; key: string; hub: string | null }

const place = 'evenkeel.key';
const token_seconds = 3600;
let made: { text: string; until: number } | null = null;

export type Parsed = { ok: true; credentials: Credentials } | { ok: false; problem: string };

// Reads a connection string, or a bare key, which is taken for the rule that every server starts with.
export function parse(text: string): Parsed {
    const trimmed = text.trim();
    if (!trimmed) return { ok: false, problem: '' };
    if (!trimmed.includes(';') && !/^endpoint=/i.test(trimmed)) {
        if (/\s/.test(trimmed)) return { ok: false, problem: 'A key has no spaces. Copy it again.' };
        return { ok: true, credentials: { rule: 'RootManageSharedAccessKey', key: trimmed, hub: null } };
    }
    const fields = new Map<string, string>();
    for (const part of trimmed.split(';')) {
        const at = part.indexOf('=');
        if (at > 0) fields.set(part.slice(0, at).trim().toLowerCase(), part.slice(at + 1).trim());
    }
    const rule = fields.get('sharedaccesskeyname'), key = fields.get('sharedaccesskey');
    if (!rule) return { ok: false, problem: 'SharedAccessKeyName is missing in this connection string.' };
    if (!key) return { ok: false, problem: 'SharedAccessKey is missing in this connection string.' };
    return { ok: true, credentials: { rule, key, hub: fields.get('entitypath') ?? null } };
}

export function token(credentials: Credentials, host: string, now_s: number): string {
    const resource = encodeURIComponent(host), until = Math.floor(now_s) + token_seconds;
    const encoder = new TextEncoder();
    const signature = base64(hmac_sha256(encoder.encode(credentials.key), encoder.encode(`${resource}\n${until}`)));
    return `SharedAccessSignature sr=${resource}&sig=${encodeURIComponent(signature)}&se=${until}&skn=${encodeURIComponent(credentials.rule)}`;
}

function stored(): Credentials | null {
    try {
        const value: unknown = JSON.parse(sessionStorage.getItem(place) ?? 'null');
        return value && typeof value === 'object' && 'key' in value ? value as Credentials : null;
    } catch {
        return null;
    }
}

export function sign_in(credentials: Credentials): void {
    made = null;
    sessionStorage.setItem(place, JSON.stringify(credentials));
}

export function sign_out(): void {
    made = null;
    sessionStorage.removeItem(place);
}

export const signed_in = (): boolean => stored() !== null;

export function authorization(): Record<string, string> {
    const credentials = stored();
    if (!credentials) return {};
    const now = Date.now() / 1000;
    if (!made || made.until < now + 300) {
        const host = location.hostname + (credentials.hub ? `/${credentials.hub}` : '');
        made = { text: token(credentials, host, now), until: now + token_seconds };
    }
    return { Authorization: made.text };
}
