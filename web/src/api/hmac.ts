// HMAC-SHA-256 in the page itself: a browser offers crypto.subtle only to secure pages.

const primes: number[] = [];
for (let candidate = 2; primes.length < 64; ++candidate)
    if (primes.every(prime => candidate % prime !== 0)) primes.push(candidate);
const fraction = (value: number): number => ((value - Math.floor(value)) * 0x1_0000_0000) | 0;
const start = primes.slice(0, 8).map(prime => fraction(Math.sqrt(prime)));
const rounds = primes.map(prime => fraction(Math.cbrt(prime)));

export function sha256(message: Uint8Array): Uint8Array {
    const length = (message.length + 9 + 63) & ~63, padded = new Uint8Array(length), view = new DataView(padded.buffer);
    padded.set(message);
    padded[message.length] = 0x80;
    view.setUint32(length - 8, Math.floor(message.length / 0x2000_0000));
    view.setUint32(length - 4, message.length << 3);
    const state = Int32Array.from(start), w = new Int32Array(64);
    const turn = (value: number, by: number) => (value >>> by) | (value << (32 - by));
    for (let block = 0; block < length; block += 64) {
        for (let i = 0; i < 16; ++i) w[i] = view.getInt32(block + i * 4);
        for (let i = 16; i < 64; ++i) {
            const a = w[i - 15]!, b = w[i - 2]!;
            w[i] = w[i - 16]! + w[i - 7]! + (turn(a, 7) ^ turn(a, 18) ^ (a >>> 3)) + (turn(b, 17) ^ turn(b, 19) ^ (b >>> 10));
        }
        let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number];
        for (let i = 0; i < 64; ++i) {
            const one = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + rounds[i]! + w[i]!) | 0;
            const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
            [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
        }
        [a, b, c, d, e, f, g, h].forEach((value, i) => { state[i] = (state[i]! + value) | 0; });
    }
    const out = new DataView(new ArrayBuffer(32));
    state.forEach((value, i) => out.setInt32(i * 4, value));
    return new Uint8Array(out.buffer);
}

export function hmac_sha256(key: Uint8Array, message: Uint8Array): Uint8Array {
    const block = new Uint8Array(64);
    block.set(key.length > 64 ? sha256(key) : key);
    const inner = new Uint8Array(64 + message.length), outer = new Uint8Array(96);
    block.forEach((value, i) => { inner[i] = value ^ 0x36; outer[i] = value ^ 0x5c; });
    inner.set(message, 64);
    outer.set(sha256(inner), 64);
    return sha256(outer);
}

export function base64(bytes: Uint8Array): string {
    let text = '';
    for (const byte of bytes) text += String.fromCharCode(byte);
    return btoa(text);
}
