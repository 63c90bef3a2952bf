import { test } from 'node:test';
import { strict as assert } from 'node:assert';
import { address, own_address, parse } from './route';

test('every address leads back to its view', () => {
    const hub = 'a/b c<', group = '$Default';
    for (const [page, with_hub, with_group] of [['overview', 0, 0], ['hubs', 0, 0], ['partitions', 1, 0], ['events', 1, 0], ['send', 1, 0],
        ['processors', 1, 1], ['lag', 1, 1], ['letters', 1, 1], ['connections', 0, 0], ['keys', 0, 0]] as const) {
        const url = new URL(address(page, hub, group, { p: '11' }), 'http://localhost');
        const route = parse(url.pathname, url.search);
        assert.equal(route.page, page);
        assert.equal(route.hub, with_hub ? hub : null);
        assert.equal(route.group, with_group ? group : null);
        assert.equal(route.query.get('p'), '11');
    }
});

test('what is no view is said to be missing', () => {
    for (const path of ['/ui/nonsense', '/ui/hubs/a/groups/b', '/ui/hubs/%zz/events', '/ui/hubs/a/groups/b/c/d'])
        assert.equal(parse(path, '').page, 'missing');
});

test('signing in leads only to own addresses', () => {
    assert.equal(own_address('/ui/keys?x=1'), '/ui/keys?x=1');
    for (const bad of ['//evil.example', 'https://evil.example', '/ui//evil.example', '/other', 'javascript:alert(1)', '/ui/\\evil', null])
        assert.equal(own_address(bad), '/ui/');
});
