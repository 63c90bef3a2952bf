import { test } from 'node:test';
import { strict as assert } from 'node:assert';
import { in_short } from './reason';

test('reasons are short, and names in them are cut', () => {
    assert.equal(in_short("taken over: 'agg-03da' has not been heard of"), 'taken over: agg-03da silent');
    assert.equal(in_short("handed over: 'agg-03da' stops"), 'handed over: agg-03da stops');
    assert.equal(in_short('nobody had it before'), 'free: first start');
    assert.equal(in_short("handed over: 'agg-03da' joined"), 'handed over: agg-03da joined');
    assert.equal(in_short('handed over: shares differ'), 'handed over: shares differ');
    assert.ok(in_short(`taken over: '${'x'.repeat(200)}' has not been heard of`).length < 50);
});
