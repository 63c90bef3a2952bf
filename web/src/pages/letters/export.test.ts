import { test } from 'node:test';
import { strict as assert } from 'node:assert';
import type { Letter } from '../../api/types';
import { collect } from './export';

const letter = (p: number, seq: number): Letter => ({ p, seq, enqueued_at: null, at: '', partition_key: null, cause: 'c', attempts: 5, bytes: 1 });
const pages: Record<string, unknown> = {
    '/x?limit=500&cause=bad%20json': { dead_letters: [letter(1, 2), letter(1, 3)], next: '1/3' },
    '/x?limit=500&cause=bad%20json&after=1/3': { dead_letters: [], next: '1/9' },
    '/x?limit=500&cause=bad%20json&after=1/9': { dead_letters: [letter(2, 1)], next: null },
};
const get = async <T>(path: string): Promise<T> => {
    const whole = /^\/x\/(\d+)\/(\d+)$/.exec(path), answer = whole ? { p: +whole[1]!, seq: +whole[2]!, body: { value: `of ${whole[2]}` } } : pages[path];
    assert.ok(answer, path);
    return answer as T;
};

test('an export has the events of all pages', async () => {
    const told: number[] = [], { lines, is_all } = await collect(get, '/x', 'bad json', [], done => told.push(done));
    assert.deepEqual(lines.map(line => (JSON.parse(line) as { body: { value: string } }).body.value), ['of 2', 'of 3', 'of 1']);
    assert.equal(is_all, true);
    assert.deepEqual(told, [1, 2, 3]);
});

test('an export of what is picked has no more', async () => {
    const { lines, is_all } = await collect(get, '/x', null, [letter(1, 3)], () => undefined);
    assert.equal(lines.length, 1);
    assert.equal(is_all, true);
});
