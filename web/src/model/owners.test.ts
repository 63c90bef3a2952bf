import { test } from 'node:test';
import { strict as assert } from 'node:assert';
import { OwnerMarks, mark_of } from './owners';

test('the first twelve have a letter, later ones a pattern too', () => {
    assert.deepEqual(mark_of(2), { slot: 2, colour: 3, letters: 'C', pattern: 'plain' });
    assert.deepEqual(mark_of(12), { slot: 12, colour: 1, letters: 'AA', pattern: 'diagonal' });
    assert.deepEqual(mark_of(35), { slot: 35, colour: 12, letters: 'BL', pattern: 'dots' });
    assert.equal(mark_of(36).pattern, 'plain');
});

test('an owner keeps its letter when another leaves', () => {
    const marks = new OwnerMarks();
    marks.update(['a', 'b', 'c'], []);
    marks.update(['b', 'c'], ['a']);
    assert.equal(marks.of('a')?.letters, 'A');
    marks.update(['b', 'c'], []);
    assert.equal(marks.of('b')?.letters, 'B');
    marks.update(['b', 'c', 'd'], []);
    assert.equal(marks.of('d')?.letters, 'A');
    assert.equal(marks.of(null), null);
});
