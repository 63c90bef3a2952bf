import { test } from 'node:test';
import { strict as assert } from 'node:assert';
import { createHash, createHmac } from 'node:crypto';
import { hmac_sha256, sha256 } from './hmac';

test('sha256 agrees with another implementation at every length of padding', () => {
    for (let length = 0; length < 200; ++length) {
        const bytes = Uint8Array.from({ length }, (_, i) => (i * 31 + length) & 255);
        assert.equal(Buffer.from(sha256(bytes)).toString('hex'), createHash('sha256').update(bytes).digest('hex'));
    }
});

test('hmac agrees for short and for long keys', () => {
    for (const length of [0, 1, 44, 63, 64, 65, 300]) {
        const key = Uint8Array.from({ length }, (_, i) => i & 255), message = new TextEncoder().encode(`host\n${length}`);
        assert.equal(Buffer.from(hmac_sha256(key, message)).toString('hex'), createHmac('sha256', key).update(message).digest('hex'));
    }
});
