import { test } from 'node:test';
import { strict as assert } from 'node:assert';
import { spans } from './stripes';

const at = (ms: number) => new Date(ms).toISOString();
const view = (moves: [number, string | null, string][], silent: number | null = null) => ({
    moves: moves.map(([ms, from, to]) => ({ at: at(ms), p: 0, from, to, reason: '', gap_ms: null, repeated: null })),
    owner_of: () => moves[0]?.[2] ?? 'a', orphaned: () => silent !== null, owned_since: [null], silent_since: () => silent,
});

test('owners follow each other without a hole', () => {
    assert.deepEqual(spans(view([[800, 'b', 'c'], [300, 'a', 'b']]), 0, 100, 1000), [
        { from: 100, to: 300, owner: 'a' }, { from: 300, to: 800, owner: 'b' }, { from: 800, to: 1000, owner: 'c' }]);
});

test('what was before the first owner is not drawn', () => {
    assert.deepEqual(spans(view([[800, null, 'a']]), 0, 100, 1000), [{ from: 800, to: 1000, owner: 'a' }]);
});

test('a silent owner reads nothing since its last heartbeat', () => {
    assert.deepEqual(spans(view([[300, null, 'a']], 900), 0, 100, 1000), [{ from: 300, to: 900, owner: 'a' }, { from: 900, to: 1000, owner: null }]);
});
