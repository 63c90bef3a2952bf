import { test } from 'node:test';
import { strict as assert } from 'node:assert';
import { loss_is_soon } from './loss';
import { GroupModel } from './group';
import { troubles } from './verdict';
import type { Partition, Snapshot } from '../api/types';

test('a hub that keeps an hour is in no danger until half of it is used up', () => {
    assert.equal(loss_is_soon(3599, 3_600_000), false);
    assert.equal(loss_is_soon(1799, 3_600_000), true);
    assert.equal(loss_is_soon(3599, 86_400_000), true);
    assert.equal(loss_is_soon(3601, 86_400_000), false);
    assert.equal(loss_is_soon(null, 3_600_000), false);
    assert.equal(loss_is_soon(Number.NaN, 3_600_000), false);
});

const group = (retention_ms: number, ...partitions: Partial<Partition>[]): GroupModel => {
    const model = new GroupModel();
    model.snapshot({
        at: '2026-03-09T10:00:00Z', hub: 'h', group: 'g', store: '', state: 'ok', error: null, retry_in_s: null, retention_ms, members: [], moves: [], requests: [], dead_letters: 0, steady_ms: 0,
        partitions: partitions.map((more, p) => ({ p, owner: 'a', phase: 'owned', next: null, state: 'ok', lost: 0, ...more }) as Partition),
    } as Snapshot);
    return model;
};

test('a partition that is paused or parked is named when it is about to lose events', () => {
    assert.deepEqual(troubles(group(86_400_000, { state: 'paused', loss_s: 900 }, { state: 'parked', loss_s: 900 }, { state: 'parked', loss_s: 80_000 })).map(one => [one.p, one.kind]), [[0, 'loss'], [1, 'loss'], [2, 'parked']]);
    assert.deepEqual(troubles(group(3_600_000, { loss_s: 3595 })), []);
});
