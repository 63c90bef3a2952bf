import { test } from 'node:test';
import { strict as assert } from 'node:assert';
import { StreamParser } from './stream';

test('events are the same however the bytes are cut', () => {
    const text = ': ping\n\nid: 7\nevent: tick\ndata: {"a":1}\n\nevent: two\r\ndata: x\r\ndata: y\r\n\r\ndata\n\n';
    const expected = [{ event: 'tick', data: '{"a":1}', id: '7' }, { event: 'two', data: 'x\ny', id: '7' }, { event: 'message', data: '', id: '7' }];
    for (let size = 1; size <= text.length; ++size) {
        const parser = new StreamParser(), found = [];
        for (let at = 0; at < text.length; at += size) found.push(...parser.push(text.slice(at, at + size)));
        assert.deepEqual(found, expected, `pieces of ${size}`);
    }
});

test('an event that is not complete is not given', () => {
    assert.deepEqual(new StreamParser().push('event: tick\ndata: 1\n'), []);
});
