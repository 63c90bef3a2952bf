import { after, test } from 'node:test';
import { strict as assert } from 'node:assert';
import { Live, type Status } from './live';

// A browser of which only the clock and the feed move: `feeds` are the feeds that were opened, and answers are immediate.
class World {
    now = 0;
    hidden = false;
    feeds: { push(text: string): void; open: boolean }[] = [];
    feed_works = true;
    asked = 0;
    visibility: (() => void)[] = [];
    private timers = new Map<number, { at: number; every: number | null; run(): void }>();
    private last = 0;

    constructor() {
        const set = (run: () => void, ms = 0, every: number | null = null) => { this.timers.set(++this.last, { at: this.now + ms, every, run }); return this.last; };
        const world = this;
        Object.assign(globalThis, {
            setTimeout: (run: () => void, ms: number) => set(run, ms), setInterval: (run: () => void, ms: number) => set(run, ms, ms),
            clearTimeout: (id: number) => this.timers.delete(id), clearInterval: (id: number) => this.timers.delete(id),
            fetch: (address: string, options: RequestInit) => this.fetch(String(address), options),
            document: { get hidden() { return world.hidden; }, addEventListener: (_: string, run: () => void) => this.visibility.push(run), removeEventListener: () => undefined },
            sessionStorage: { getItem: () => null },
        });
        performance.now = () => this.now;
    }

    private fetch(address: string, { signal }: RequestInit): Promise<Response> {
        if (!address.includes('/live?')) return Promise.resolve(new Response('{}'));
        if (!this.feed_works) return new Promise((_, failed) => signal!.addEventListener('abort', () => failed(new Error('aborted'))));
        const feed = { push: (_: string) => undefined as void, open: true };
        this.feeds.push(feed);
        return Promise.resolve(new Response(new ReadableStream({
            start: to => {
                feed.push = text => to.enqueue(new TextEncoder().encode(text));
                signal!.addEventListener('abort', () => { feed.open = false; to.error(new Error('aborted')); });
            },
        })));
    }

    async pass(ms: number): Promise<void> {
        await settle();
        for (const end = this.now + ms; ; ) {
            const next = [...this.timers].filter(([, timer]) => timer.at <= end).sort((a, b) => a[1].at - b[1].at)[0];
            if (!next) { this.now = end; return; }
            const [id, timer] = next;
            this.now = timer.at;
            if (timer.every === null) this.timers.delete(id); else timer.at += timer.every;
            timer.run();
            await settle();
        }
    }
}

const tick = 'event: tick\ndata: {}\n\n';
const settle = async () => { for (let i = 0; i < 20; ++i) await new Promise(done => setImmediate(done)); };
const globals = ['setTimeout', 'setInterval', 'clearTimeout', 'clearInterval', 'fetch'] as const;
const before = Object.fromEntries(globals.map(name => [name, globalThis[name]])), real_now = performance.now;
after(() => { Object.assign(globalThis, before); performance.now = real_now; });

function follow(world: World): { live: Live; said: Status[] } {
    const said: Status[] = [];
    const live = new Live({ topics: ['overview'], event: () => undefined, status: status => said.push(status), poll: async () => { ++world.asked; } });
    return { live, said };
}

test('a feed that brings nothing for 20 s is opened again, though the server answers', async () => {
    const world = new World(), { live, said } = follow(world);
    await world.pass(10);
    world.feeds[0]!.push(tick);
    await world.pass(15_000);
    world.feeds[0]!.push(': ping\n\n');
    await world.pass(19_000);
    assert.equal(world.feeds.length, 1);
    await world.pass(4000);
    assert.equal(world.feeds[0]!.open, false);
    assert.equal(world.feeds.length, 2);
    world.feeds[1]!.push(tick);
    await world.pass(10);
    assert.deepEqual(said, ['live', 'connecting', 'live']);
    live.close();
});

test('polling goes on after "Try now" and after the tab was hidden', async () => {
    const world = new World(), { live, said } = follow(world);
    world.feed_works = false;
    live.try_now();  // the first try was before the feed failed
    await world.pass(50_000);
    assert.equal(said.at(-1), 'polling');
    for (const again of [() => live.try_now(), () => { for (const hidden of [true, false]) { world.hidden = hidden; for (const run of world.visibility) run(); } }]) {
        again();
        const asked = world.asked;
        await world.pass(11_000);
        assert.ok(world.asked >= asked + 2, `asked ${world.asked - asked} times`);
    }
    world.hidden = true;
    for (const run of world.visibility) run();
    await world.pass(31_000);
    const asked = world.asked;
    await world.pass(20_000);
    assert.equal(world.asked, asked, 'a hidden tab asks');
    world.hidden = false;
    for (const run of world.visibility) run();
    await world.pass(11_000);
    assert.ok(world.asked >= asked + 2);
    world.feed_works = true;
    live.try_now();
    await world.pass(10);
    world.feeds.at(-1)!.push(tick);
    await world.pass(10);
    const last = world.asked;
    await world.pass(14_000);
    assert.equal(said.at(-1), 'live');
    assert.equal(world.asked, last, 'it polls beside a feed that works');
    live.close();
});
