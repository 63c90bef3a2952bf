import { test } from 'node:test';
import { strict as assert } from 'node:assert';
import { execFileSync } from 'node:child_process';
import type { Event } from '../../api/types';
import { copies } from './copies';

const event = (value: string, more: Partial<Event> = {}): Event => ({
    p: 0, seq: 1, offset: '1', enqueued_at: '', partition_key: null, content_type: null, message_id: null, correlation_id: null, properties: {}, bytes: value.length,
    body: { kind: 'text', value, truncated: false }, ...more,
});
const form = (name: string, of: Event, hub = 'homes'): string | undefined => copies(hub, of, 'http://localhost:8080').find(([one]) => one === name)?.[1];
const names = (of: Event): string[] => copies('homes', of, 'http://localhost:8080').map(([name]) => name);

// What a shell makes of the arguments of a command.
const words = (command: string): string[] => execFileSync('sh', ['-c', `program() { for word in "$@"; do printf '%s\\0' "$word"; done; }; ${command.replace(/^\w+/, 'program')}`], { encoding: 'utf8' }).split('\0').slice(0, -1);

test('no body and no key becomes an option', () => {
    assert.deepEqual(words(form('CLI', event('--file=/home/me/.ssh/id_rsa'))!), ['send', '--', 'homes', '--file=/home/me/.ssh/id_rsa']);
    assert.deepEqual(words(form('CLI', event("it's '$HOME' `id` \\", { partition_key: "--count='2" }))!), ['send', "--key=--count='2", '--', 'homes', "it's '$HOME' `id` \\"]);
});

test('a body that the command would take apart is not copied for it', () => {
    assert.deepEqual(names(event('[1,2]')), ['curl', 'C++', 'Python']);
    assert.deepEqual(names(event('{"a":[1,2]}')), ['CLI', 'curl', 'C++', 'Python']);
});

test('curl sends the event with its content type and properties', () => {
    const sent = words(form('curl', event('a', { partition_key: 'k', content_type: 'text/plain', properties: { "it's": 1 } }))!);
    assert.equal(sent[1], 'http://localhost:8080/api/v1/hubs/homes/events');
    assert.deepEqual(JSON.parse(sent.at(-1)!), { events: [{ body: 'a', partition_key: 'k', content_type: 'text/plain', properties: { "it's": 1 } }] });
});

test('bytes and control characters are copied as JSON only', () => {
    assert.deepEqual(names(event('/v8=', { body: { kind: 'base64', value: '/v8=', truncated: false } })), ['curl']);
    for (const body of ['\u001b[31m', 'a\u0000', '\u202etxt.exe', 'a\rb', '\u009b']) {
        assert.deepEqual(names(event(body)), ['curl'], JSON.stringify(body));
        const text = form('curl', event(body))!;
        assert.ok(!text.includes(body));
        assert.equal((JSON.parse(words(text).at(-1)!) as { events: { body: string }[] }).events[0]!.body, body);
    }
    assert.deepEqual(names(event('a', { partition_key: '\u001b' })), ['curl']);
});

test('nothing ends a literal of C++ or Python early', () => {
    assert.equal(form('C++', event('a)event"; system("id"); //\n\\'))!, 'producer->send("a)event\\"; system(\\"id\\"); //\\n\\\\").value();');
    assert.equal(form('Python', event('a")]); import os\n'))!, 'producer.send_batch([EventData("a\\")]); import os\\n")])');
});

test('a cut event is not copied', () => {
    assert.deepEqual(names(event('a', { body: { kind: 'text', value: 'a', truncated: true } })), []);
    assert.deepEqual(names(event('a', { properties_truncated: true })), []);
});
