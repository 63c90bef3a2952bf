import { test } from 'node:test';
import { strict as assert } from 'node:assert';
import * as f from './formats';

test('counts have separators and unknown is a dash', () => {
    assert.equal(f.count(18204331), '18,204,331');
    assert.equal(f.count(null), '–');
    assert.equal(f.count(Number.NaN), '–');
    assert.equal(f.short_count(20000), '20 k');
    assert.equal(f.short_count(1500), '1.5 k');
});

test('rates have one digit below ten', () => {
    assert.deepEqual([641, 0.3, 0, 9.96, 10002, null].map(f.rate), ['641/s', '0.3/s', '0/s', '10/s', '10,002/s', '–']);
});

test('bytes are decimal', () => {
    assert.deepEqual([38.1e9, 12e6, 48e3, 167, 4.2e9, 212e9, 999_999, 0].map(f.bytes),
        ['38.1 GB', '12 MB', '48 KB', '167 B', '4.2 GB', '212 GB', '1 MB', '0 B']);
});

test('durations choose their units and never carry to sixty', () => {
    assert.equal(f.duration(38, 'move'), '38 ms');
    assert.equal(f.duration(999.6, 'move'), '1.0 s');
    assert.equal(f.duration(380), '0.4 s');
    assert.equal(f.duration(4100), '4.1 s');
    assert.equal(f.duration(9960), '10 s');
    assert.equal(f.duration(46_400), '46 s');
    assert.equal(f.duration(59_600), '1 min 00 s');
    assert.equal(f.duration(74_000), '1 min 14 s');
    assert.equal(f.duration(19_764_000), '5 h 29 min');
    assert.equal(f.duration(3_599_800), '1 h 00 min');
    assert.equal(f.duration(86_399_000), '1 d 0 h');
    assert.equal(f.duration(273_600_000), '3 d 4 h');
});

test('what is left rounds down', () => {
    assert.equal(f.duration(1999, 'left'), '1.9 s');
    assert.equal(f.duration(59_999, 'left'), '59 s');
    assert.equal(f.duration(86_399_999, 'left'), '23 h 59 min');
});

test('a screen reader says whole words', () => {
    assert.equal(f.spoken(74_000), '1 minute 14 seconds');
    assert.equal(f.spoken(1000), '1 second');
});

test('times name the day only when it is another', () => {
    const now = new Date(2026, 10, 18, 14, 32, 8, 410).getTime();
    assert.equal(f.time(now, now), '14:32:08');
    assert.equal(f.time(now, now, true), '14:32:08.410');
    assert.equal(f.time(now - 3 * 86_400_000, now), '15 Nov 14:32');
    assert.equal(f.until(now + 86_400_000, now), 'tomorrow 14:32');
    assert.equal(f.time('nonsense', now), '–');
});

test('partition ids have the width of their hub', () => {
    assert.equal(f.pad(7, 16), '07');
    assert.equal(f.pad(48, 1000), '048');
});

test('names cannot hide what they are', () => {
    assert.equal(f.cut('a\u0000b\u202ec'), 'a␀b\ufffdc');
    assert.equal([...f.cut('x'.repeat(100))].length, 32);
    assert.equal(f.cut('<img src=x onerror=alert(1)>'), '<img src=x onerror=alert(1)>');
    assert.equal(f.visible('a\nb', true), 'a\nb');
});

test('the lag scale is fixed', () => {
    assert.equal(f.lag_position(50), 0);
    assert.equal(f.lag_position(3_600_000), 1);
    assert.equal(f.lag_position(99_999_999), 1);
    assert.equal(f.lag_position(null), 0);
});

test('what somebody set has no units that are zero', () => {
    assert.deepEqual([86_400_000, 7 * 86_400_000, 6000, 90 * 60_000, null].map(f.setting), ['24 h', '7 d', '6 s', '1 h 30 min', '–']);
});

test('what is less than a bound is never the bound', () => {
    assert.deepEqual([0, 999, 1000, 58_999, 59_000, 60_000, 74_000, 3_599_999, 3_600_000].map(ms => f.below(ms)), ['1 s', '1 s', '2 s', '59 s', '1 min', '2 min', '2 min', '1 h', '2 h']);
    assert.equal(f.below(null), '–');
});

test('a time without seconds', () => {
    const now = Date.parse('2026-11-18T14:32:08'), day = 86_400_000;
    assert.equal(f.short_time(now, now), '14:32');
    assert.equal(f.short_time(now - day, now), '17 Nov 14:32');
});
