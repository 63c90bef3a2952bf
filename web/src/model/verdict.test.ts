import { test } from 'node:test';
import { strict as assert } from 'node:assert';
import { GroupModel } from './group';
import { slowest, verdict } from './verdict';
import type { Member, Partition, Snapshot } from '../api/types';

const lease = { lease_ms: 5000, dead_after_ms: 6000, profile: 'fast', in_per_s: null, host: null, since: null };

// Partition p belongs to owner p modulo their number, and is `behind[owner]` behind.
const group = (partitions: number, behind: Record<string, number>, silent: string | null = null): GroupModel => {
    const model = new GroupModel(), owners = Object.keys(behind);
    model.snapshot({
        at: '2026-03-09T10:00:00Z', hub: 'h', group: 'g', store: '', state: 'ok', error: null, retry_in_s: null, retention_ms: null, moves: [], requests: [], dead_letters: 0, steady_ms: 0,
        members: owners.map(id => ({ id, state: id === silent ? 'silent' : 'active', silent_ms: id === silent ? 4000 : 10, share: partitions / owners.length, ...lease }) as Member),
        partitions: Array.from({ length: partitions }, (_, p) => ({ p, owner: owners[p % owners.length]!, phase: 'owned', next: null, state: 'ok', lost: 0, behind_ms: behind[owners[p % owners.length]!]! }) as Partition),
    } as Snapshot);
    return model;
};

test('the slowest owner is named only if it is far behind all others', () => {
    assert.equal(slowest(group(8, { a: 300, b: 40_000 })), 'b');
    assert.equal(slowest(group(8, { a: 30_000, b: 40_000 })), null);
    assert.equal(slowest(group(8, { a: 300, b: 4000 })), null);
});

test('of many partitions it says how many wait for a silent owner', () => {
    const words = (model: GroupModel) => verdict(model).head.map(piece => piece.text).join('').replace(/[\d.]+ s\./, '… s.');
    assert.equal(words(group(80, { a: 300, b: 300 }, 'b')), 'b is silent. Its 40 partitions move in … s.');
    assert.equal(words(group(8, { a: 300, b: 300 }, 'b')), 'b is silent. Take-over in … s.');
});
