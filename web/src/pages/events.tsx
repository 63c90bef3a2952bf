// Events: start anywhere, filter, follow live, look at one.
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, get, hub_path } from '../api/client';
import type { Event, EventPage } from '../api/types';
import { steady } from '../clock';
import { bytes, count, pad, plural, rate, visible } from '../formats';
import { use_keys } from '../frame/keys';
import { use_title } from '../model/load';
import { use_redraw } from '../model/use';
import { Chevron, Name, Text, Time, Waiting } from '../parts/basics';
import { Failed } from '../parts/failed';
import { go_query } from '../route';
import { state, use_state } from '../state';
import { EventPanel } from './events/panel';

const kept_max = 2000, drawn = 40;

const shown_a_second = 20, asked = 100;
const since_max = 8000;  // characters of an address

interface Sample { at: number; matched: number; shown: number; more: boolean }

// Rows, newest first, from requests; while live, the newest are asked for every second.
class Rows {
    events: Event[] = [];
    waiting: Event[] = [];  // came while the reader had scrolled away
    page: Omit<EventPage, 'events'> | null = null;
    error: ApiError | null = null;
    loading = false;
    asked = 0;  // the last request; the answers of earlier ones are not wanted any more
    private samples: Sample[] = [];
    private newest = new Map<number, number>();  // partition → sequence number

    know(events: Event[]): Event[] {
        const fresh = events.filter(event => event.seq > (this.newest.get(event.p) ?? -1));
        for (const event of fresh) this.newest.set(event.p, Math.max(event.seq, this.newest.get(event.p) ?? -1));
        return fresh;
    }

    // `events` are the newest that match, newest first; `more`: there are others that were not looked at.
    add(events: Event[], hold: boolean, more: boolean): void {
        const fresh = this.know(events), shown = fresh.slice(0, shown_a_second);
        this.samples = [...this.samples, { at: steady(), matched: fresh.length, shown: shown.length, more: more || fresh.length >= asked }].slice(-5);
        if (hold) this.waiting = [...shown, ...this.waiting].slice(0, kept_max);
        else this.events = [...shown, ...this.events].slice(0, kept_max);
    }

    release(): void {
        this.events = [...this.waiting, ...this.events].slice(0, kept_max);
        this.waiting = [];
    }

    // Per second, over the last few seconds. `more`: so many came that not all were counted.
    rates(): { matched: number; hidden: number; more: boolean } | null {
        const first = this.samples[0], last = this.samples.at(-1);
        if (!first || !last || last.at - first.at < 900) return null;
        const counted = this.samples.slice(1), seconds = (last.at - first.at) / 1000, sum = (of: (one: Sample) => number) => counted.reduce((total, one) => total + of(one), 0) / seconds;
        return { matched: sum(one => one.matched), hidden: sum(one => one.matched - one.shown), more: counted.some(one => one.more) };
    }
}

const newest_first = (events: Event[]): Event[] => [...events].sort((a, b) => a.enqueued_at < b.enqueued_at ? 1 : a.enqueued_at > b.enqueued_at ? -1 : b.seq - a.seq);

function use_rows(hub: string, query: URLSearchParams, held: { current: boolean }): { rows: Rows; more(): void; redraw(): void } {
    const redraw = use_redraw(), rows = useRef(new Rows()).current;
    const from = query.get('from') ?? 'newest', p = query.get('p') ?? '', where = query.get('where') ?? '', tail = query.get('tail') === '1';
    const ask = async (cursor: string | null) => {
        const turn = ++rows.asked, is_stale = () => turn !== rows.asked;
        rows.loading = true;
        redraw();
        const search = new URLSearchParams({ from, limit: String(asked), ...(p ? { p } : {}), ...(where ? { where } : {}), ...(cursor ? { cursor } : {}) });
        try {
            const { events, ...page } = await get<EventPage>(`${hub_path(hub)}/events?${search}`);
            if (is_stale()) return;
            const found = from === 'newest' ? newest_first(events) : events;
            rows.know(found);
            rows.events = cursor ? [...rows.events, ...found].slice(-kept_max) : found;
            rows.page = cursor && rows.page ? { ...page, looked_at: rows.page.looked_at + page.looked_at, matched: rows.page.matched + page.matched } : page;
            rows.error = null;
        } catch (error) {
            if (is_stale()) return;
            rows.error = error as ApiError;
        }
        rows.loading = false;
        redraw();
    };
    useEffect(() => { Object.assign(rows, new Rows(), { asked: rows.asked }); void ask(null); }, [hub, from, p, where]);
    useEffect(() => {
        if (!tail) return undefined;
        let busy = false, current = true, since = '';  // what came before was looked at
        const timer = setInterval(() => {
            if (busy || document.hidden) return;
            busy = true;
            const search = new URLSearchParams({ from: 'newest', limit: String(asked), ...(p ? { p } : {}), ...(where ? { where } : {}), ...(since ? { since } : {}) });
            void get<EventPage>(`${hub_path(hub)}/events?${search}`).then(
                page => {
                    if (!current) return;
                    rows.add(newest_first(page.events), held.current, since !== '' && page.cursor !== null);
                    since = page.until && page.until.length <= since_max ? page.until : '';
                    rows.error = null;
                    redraw();
                },
                (error: unknown) => { if (current && (error as ApiError).status !== 0) { rows.error = error as ApiError; redraw(); } }).finally(() => { busy = false; });
        }, 1000);
        return () => { current = false; clearInterval(timer); };
    }, [tail, hub, p, where]);
    return { rows, more: () => void ask(rows.page?.cursor ?? null), redraw };
}

const toggled_max = 128;

// All partitions, or some: each by a button of its own where there are not too many, else as text.
function Partitions({ hub, p }: { hub: string; p: string }) {
    const [open, set_open] = useState(false), [text, set_text] = useState(p);
    useEffect(() => set_text(p), [p]);
    use_keys(open ? { Escape: () => set_open(false) } : {});
    const partitions = state.hubs?.find(one => one.name === hub)?.partitions ?? 0;
    const chosen = new Set(p.split(',').filter(Boolean).map(Number)), choose = (to: string) => go_query({ p: to || null }, true);
    const toggle = (one: number) => { if (!chosen.delete(one)) chosen.add(one); choose([...chosen].sort((a, b) => a - b).join(',')); };
    const apply = () => { if (/^[\d,\s]*$/.test(text)) choose(text.replace(/\s/g, '').replace(/,+/g, ',').replace(/^,|,$/g, '')); };
    const said = chosen.size === 0 ? partitions ? `all ${count(partitions)}` : 'all' : chosen.size <= 3 ? [...chosen].map(one => pad(one, partitions)).join(', ') : `${chosen.size} of ${count(partitions)}`;
    return <span class="pickbox partitions" onFocusOut={event => { if (!(event.currentTarget as Element).contains(event.relatedTarget as Node | null)) set_open(false); }}>
        <button type="button" class="field" aria-haspopup="true" aria-expanded={open} aria-label={`Partitions: ${said}`} onClick={() => set_open(!open)}><span>Partitions</span>{said}<Chevron /></button>
        {open ? <div class="menu"><div class="row-actions"><input class="input mono full" aria-label="Numbers of partitions" placeholder="0, 3, 11" value={text} onInput={event => set_text(event.currentTarget.value)} onKeyDown={event => { if (event.key === 'Enter') { event.preventDefault(); apply(); } }} onBlur={apply} /><span><button type="button" class="btn" disabled={chosen.size === 0} onClick={() => choose('')}>All</button></span></div>
            {partitions <= toggled_max ? <div class="toggles">{Array.from({ length: partitions }, (_, one) => <button type="button" class={`mono ${chosen.has(one) ? 'on' : ''}`} aria-pressed={chosen.has(one)} onClick={() => toggle(one)}>{pad(one, partitions)}</button>)}</div> : null}</div> : null}</span>;
}

const starts = [['newest', 'newest'], ['oldest', 'oldest'], ['time', 'a time'], ['seq', 'a sequence number'], ['offset', 'an offset']] as const;

function Controls({ hub, query }: { hub: string; query: URLSearchParams }) {
    const from = query.get('from') ?? 'newest', kind = from.split(':')[0]!, tail = query.get('tail') === '1';
    const [where, set_where] = useState(query.get('where') ?? ''), [value, set_value] = useState(from.includes(':') ? from.slice(from.indexOf(':') + 1) : ''), [chosen, set_kind] = useState(kind);
    useEffect(() => { set_where(query.get('where') ?? ''); set_kind(kind); }, [query.toString()]);
    const start = (name: string, text: string) => {
        if (name === 'newest' || name === 'oldest') go_query({ from: name, tail: null });
        else if (text) go_query({ from: `${name}:${name === 'time' ? new Date(text).toISOString() : text}`, tail: null });
    };
    const apply = (event: { preventDefault(): void }) => { event.preventDefault(); go_query({ where: where || null }); };
    return <form class="controls" onSubmit={apply}>
        <label class="field"><span>From</span><select value={chosen} onChange={event => { set_kind(event.currentTarget.value); start(event.currentTarget.value, ''); }}>{starts.map(([name, text]) => <option value={name}>{text}</option>)}</select></label>
        {chosen === 'time' ? <input class="input" type="datetime-local" step="1" aria-label="Time" onChange={event => { if (event.currentTarget.value) start('time', event.currentTarget.value); }} /> : null}
        {chosen === 'seq' || chosen === 'offset' ? <input class="input" inputMode="numeric" aria-label="Number" size={12} value={value} onInput={event => set_value(event.currentTarget.value)} onChange={() => { if (/^\d+$/.test(value)) start(chosen, value); }} /> : null}
        <Partitions hub={hub} p={/^[\d,]*$/.test(query.get('p') ?? '') ? query.get('p') ?? '' : ''} />
        <label class="field full"><span>Where</span><input class="mono full" placeholder='body.kind != "heartbeat"' spellcheck={false} value={where} onInput={event => set_where(event.currentTarget.value)} /></label>
        <button type="submit" hidden>Apply</button>{/* of several fields, Enter needs one */}
        <button type="button" class="btn pri" onClick={() => go_query({ tail: tail ? null : '1', from: null })}>{tail ? '‖ Pause' : '▶ Live'}</button>
    </form>;
}

function Honest({ hub, rows, tail, redraw, whole }: { hub: string; rows: Rows; tail: boolean; redraw(): void; whole(): void }) {
    const comes = state.overview?.hubs.find(one => one.name === hub)?.in_per_s;
    const rates = tail ? rows.rates() : null;
    return <div class="honest">
        {tail ? rates ? <><span><b>{rates.more ? '≥ ' : ''}{rate(rates.matched)}</b> match</span><span class="muted">{rate(comes)} come in</span>{rates.hidden >= 0.5 ? <span class="warn">Shows 20 a second; {rates.more ? 'at least ' : ''}{rate(rates.hidden)} are not shown</span> : null}</> : <span class="muted">Waiting for events…</span>
            : rows.page ? <><span><b>{count(rows.page.matched)}</b> match</span><span class="muted">{count(rows.page.looked_at)} looked at</span></> : null}
        {rows.waiting.length ? <button type="button" class="linkbutton" onClick={() => { rows.release(); redraw(); }}>{count(rows.waiting.length)} new ↑</button> : null}
        {rows.page?.problems?.map(problem => <span class="bad"><Text v={problem} /></span>)}
        <span class="sp" /><button type="button" class="linkbutton" disabled={rows.events.length === 0} onClick={whole}>Export</button>
    </div>;
}

const one_line = (event: Event): string => event.body.kind === 'base64' ? `${event.body.value.slice(0, 120)} (base64)` : visible(event.body.value.slice(0, 240));

export function save(name: string, text: string): void {
    const address = URL.createObjectURL(new Blob([text], { type: 'application/x-ndjson' })), link = document.createElement('a');
    link.href = address;
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

export function EventsPage({ hub, query }: { hub: string; query: URLSearchParams }) {
    use_state();
    use_title(`Events · ${hub}`);
    const held = useRef(false), [shown, set_shown] = useState(drawn);
    const { rows, more, redraw } = use_rows(hub, query, held), tail = query.get('tail') === '1', opened = query.get('open');
    const partitions = state.hubs?.find(one => one.name === hub)?.partitions ?? 16;
    const at = opened ? rows.events.findIndex(event => `${event.p}/${event.seq}` === opened) : -1;
    const open = (event: Event | undefined) => { if (event) go_query({ open: `${event.p}/${event.seq}` }, opened !== null); };
    const step = (by: number) => () => open(rows.events[at < 0 ? 0 : Math.min(rows.events.length - 1, Math.max(0, at + by))]);
    use_keys({
        j: step(1), k: step(-1), ArrowDown: step(1), ArrowUp: step(-1), J: step(1), K: step(-1),
        space: () => go_query({ tail: tail ? null : '1', from: null }), ...(opened ? { Escape: () => go_query({ open: null }) } : {}),
    });
    if (rows.error && rows.error.status !== 400) return <Failed error={rows.error} again={more} right="read events" />;
    const scrolled = (event: { currentTarget: HTMLElement }) => {
        const box = event.currentTarget;
        held.current = box.scrollTop > 60;
        if (!held.current && rows.waiting.length) { rows.release(); redraw(); }
        if (box.scrollTop + box.clientHeight > box.scrollHeight - 200 && shown < rows.events.length) set_shown(shown + drawn);
    };
    const last_where = query.get('where');
    return <div class="withpanel"><section class="page events" onScroll={scrolled}>
        <h1 class="hidden">Events of <Name v={hub} /></h1>
        <Controls hub={hub} query={query} />
        <Honest hub={hub} rows={rows} tail={tail} redraw={redraw} whole={() => save(`${hub.replace(/[^\w-]/g, '_')}.ndjson`, rows.events.map(event => JSON.stringify(event)).join('\n'))} />
        {rows.error ? <p class="bad" role="alert"><Text v={rows.error.message} /></p> : null}
        {rows.events.length ? <table class="eventrows"><thead><tr><th scope="col">Time</th><th scope="col" class="r">Partition</th><th scope="col" class="r">Sequence</th><th scope="col">Key</th><th scope="col" class="r">Size</th><th scope="col">Body</th></tr></thead><tbody>
            {rows.events.slice(0, shown).map(event => <tr key={`${event.p}/${event.seq}`} class={`open ${`${event.p}/${event.seq}` === opened ? 'sel' : ''}`} onClick={() => open(event)}>
                <td class="mono"><button type="button" class="mono" onClick={() => open(event)}><Time v={event.enqueued_at} exact /></button></td><td class="r mono">{pad(event.p, partitions)}</td><td class="r mono muted">{count(event.seq)}</td>
                <td class="mono">{event.partition_key === null ? <span class="faint">–</span> : <Name v={event.partition_key} most={18} />}</td><td class="r muted">{bytes(event.bytes)}</td><td class="mono muted bodycell"><bdi>{one_line(event)}</bdi></td></tr>)}</tbody></table>
            : rows.loading || !rows.page ? (rows.error || tail ? null : <Waiting>Reading…</Waiting>) : <Nothing where={last_where} looked={rows.page.looked_at} cursor={rows.page.cursor} more={more} />}
        {rows.events.length && !tail && rows.page?.cursor && shown >= rows.events.length ? <div class="row-actions"><button type="button" class="btn" disabled={rows.loading} onClick={() => { set_shown(shown + 100); more(); }}>Look further</button></div> : null}
    </section>
    {opened ? <EventPanel key={opened} hub={hub} open={opened} listed={rows.events[at] ?? null} as={query.get('as') ?? 'json'} partitions={partitions} /> : null}</div>;
}

function Nothing({ where, looked, cursor, more }: { where: string | null; looked: number; cursor: string | null; more(): void }) {
    return <div class="nothing"><h2>{where ? `Looked at ${plural(looked, 'event')}, none matched.` : 'No events here.'}</h2>
        <div class="row-actions">{cursor ? <button type="button" class="btn pri" onClick={more}>Look further</button> : null}{where ? <button type="button" class="btn" onClick={() => go_query({ where: null })}>Clear filter</button> : null}</div></div>;
}

