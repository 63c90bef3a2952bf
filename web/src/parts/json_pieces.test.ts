import { test } from 'node:test';
import { strict as assert } from 'node:assert';
import { json_pieces } from './json_pieces';

const drawn = (text: string, stored: string | null = null): string => (json_pieces(text, stored) ?? []).map(piece => piece.text).join('');

test('numbers keep all their digits, and names their order', () => {
    assert.equal(drawn('{"id":9223372036854775807,"10":-1.50e3, "2":[ ],"10":{}}'), '{\n  "id": 9223372036854775807,\n  "10": -1.50e3,\n  "2": [],\n  "10": {}\n}');
    assert.equal(drawn('[0.1,123456789012345678901234567890]'), '[\n  0.1,\n  123456789012345678901234567890\n]');
});

test('strings are text, names and values have their tones', () => {
    assert.deepEqual(json_pieces('{"a{":"b\\"]\\n,"}', null)!.filter(piece => piece.tone === 'k' || piece.tone === 's'), [{ tone: 'k', text: '"a{"' }, { tone: 's', text: '"b"]\u240a,"' }]);
    assert.deepEqual(json_pieces('[true,null,"x"]', null)!.filter(piece => piece.tone === 'w').map(piece => piece.text), ['true', 'null']);
    assert.equal(json_pieces('{"a":', null), null);
});

test('a number that may be a time says how long before the event was stored', () => {
    assert.ok(drawn('{"at":1763476328000}', '2025-11-18T14:32:08.162Z').endsWith('1763476328000  162 ms before stored\n}'));
});

test('deep and long bodies are cut', () => {
    const deep = json_pieces('['.repeat(5000) + ']'.repeat(5000), null);
    assert.ok(deep === null || deep.map(piece => piece.text).join('').length < 2_000_000);
    assert.equal(json_pieces(`[${'1,'.repeat(20_000)}1]`, null)!.at(-1)!.text, '…');
});
