import { test } from 'node:test';
import { strict as assert } from 'node:assert';
import { furthest_behind } from './furthest';

test('a group without a checkpoint is not 0 s behind', () => {
    assert.equal(furthest_behind([{ behind_ms: null }]), '–');
    assert.equal(furthest_behind([{ behind_ms: null }, { behind_ms: 4100 }]), '≥ 4.1 s');
    assert.equal(furthest_behind([{ behind_ms: 0 }, { behind_ms: 4100 }]), '4.1 s');
    assert.equal(furthest_behind([]), 'no group');
});
