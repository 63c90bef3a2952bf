import { test } from 'node:test';
import { strict as assert } from 'node:assert';
import { in_short, why } from './why';
import type { KnownMember } from './group';

const member = (id: string, share: number): KnownMember => ({ id, state: 'active', host: null, since: null, silent_ms: 0, lease_ms: null, dead_after_ms: null, profile: null, share, in_per_s: 0, seen: 0 });
const facts = (shares: number[], next: string | null = null, orphaned = false) => ({
    moves: [{ at: '', p: 11, from: 'agg-a', to: 'agg-c', reason: 'handed over: agg-c joined', gap_ms: 41, repeated: 0 }], members: shares.map((share, i) => member(`agg-${i}`, share)),
    phase: new Uint8Array(16), owner_of: () => 'agg-c', next_of: () => next, orphaned: () => orphaned,
});

test('says whence it came and what it cost', () => {
    assert.equal(why(facts([6, 5, 5]), 11)[0], 'It came from agg-a (handed over: agg-c joined); nobody read it for 41 ms and nothing repeated.');
    assert.match(why(facts([6, 5, 5]), 3)[0]!, /No move of it/);
});

test('says why it stays or where it goes', () => {
    assert.equal(why(facts([6, 5, 5]), 11)[1], 'It stays: shares are 6, 5 and 5, and moving it would make nothing more even.');
    assert.equal(why(facts([8, 8, 0]), 11)[1], 'Shares are 8, 8 and 0, so partitions still move.');
    assert.equal(why(facts([16]), 11)[1], 'It stays: there is nobody else.');
    assert.equal(why(facts([6, 5, 5], 'agg-b', true), 11)[1], 'It goes to agg-b when its owner counts as gone.');
});

test('reasons are short, and names in them are cut', () => {
    assert.equal(in_short("taken over: 'agg-03da' has not been heard of"), 'taken over: agg-03da silent');
    assert.equal(in_short("handed over: 'agg-03da' stops"), 'handed over: agg-03da stops');
    assert.equal(in_short('nobody had it before'), 'free: first start');
    assert.equal(in_short('handed over for balance, 3 members'), 'handed over for balance, 3 members');
    assert.ok(in_short(`taken over: '${'x'.repeat(200)}' has not been heard of`).length < 50);
});
