// Overview: what needs somebody, six figures, events in and out, hubs, groups, last moves.
import { useMemo } from 'preact/hooks';
import type { Group, HubSummary, Move, Overview } from '../api/types';
import { server_now } from '../clock';
import { bytes, count, duration, moment, pad, plural, rate, setting, short_count, time } from '../formats';
import { use_title } from '../model/load';
import { furthest_behind } from '../model/furthest';
import { loss_is_soon } from '../model/loss';
import { OwnerMarks } from '../model/owners';
import { in_short } from '../model/reason';
import { use_interval } from '../model/use';
import { Badge, CopyButton, Name, Segments, Text, Time, Waiting, use_width } from '../parts/basics';
import { Chart, Sparkline } from '../parts/chart';
import { Spoken } from '../parts/spoken';
import { connection_string } from '../parts/connection_string';
import { colour_class } from '../picture/dom';
import { address, go_query } from '../route';
import { state, use_state } from '../state';
import { FirstStart } from './first_start';

export interface Need { tone: 'bad' | 'warn'; sign: string; what: preact.ComponentChildren; more: preact.ComponentChildren; to: string }

const far_behind_ms = 60_000, disk_low = 0.05;

// Everything that somebody should look at, the most urgent first.
function needs(groups: Group[], overview: Overview): Need[] {
    const found: Need[] = [];
    for (const group of groups) {
        const name = <><Name v={group.hub} /> / <Name v={group.group} /></>, to = address('processors', group.hub, group.group);
        if (group.state === 'failed') found.push({ tone: 'bad', sign: '✕', what: <>The store of {name} cannot be opened.</>, more: group.error ?? '', to });
        for (const one of group.needs ?? []) {
            const more = <>{one.cause ? <Text v={/[.!?]$/.test(one.cause) ? one.cause : `${one.cause}.`} /> : null} {one.lag === null ? '' : `${plural(one.lag, 'event')} wait.`}</>;
            found.push({ tone: one.state === 'parked' ? 'warn' : 'bad', sign: one.state === 'parked' ? '■' : '✕', what: <>Partition {pad(one.p, group.partitions)} of {name} is {one.state}.</>, more, to: address('processors', group.hub, group.group, { p: String(one.p) }) });
        }
        if (group.state === 'ok' && group.members === 0) found.push({ tone: 'warn', sign: '!', what: <>Nobody reads {name}.</>, more: group.lag_events === null ? '' : `${plural(group.lag_events, 'event')} wait.`, to });
        else if (group.state === 'ok' && group.owned < group.partitions) found.push({ tone: 'warn', sign: '!', what: <>{plural(group.partitions - group.owned, 'partition')} of {name} {group.partitions - group.owned === 1 ? 'has' : 'have'} no owner.</>, more: 'An owner takes them up within two heartbeats.', to });
        if (group.loss_s !== null && loss_is_soon(group.loss_s, overview.hubs.find(hub => hub.name === group.hub)?.retention_ms)) found.push({ tone: 'bad', sign: '!', what: <>{name} loses events in {duration(group.loss_s * 1000, 'left')}.</>, more: 'The hub removes them before they are handled.', to: address('lag', group.hub, group.group) });
        else if (!group.needs?.length && group.members > 0 && (group.behind_ms ?? 0) > far_behind_ms) found.push({ tone: 'warn', sign: '!', what: <>{name} is {duration(group.behind_ms)} behind.</>, more: group.lag_events === null ? '' : `${plural(group.lag_events, 'event')} wait.`, to: address('lag', group.hub, group.group) });
        if (group.dead_letters) found.push({ tone: 'warn', sign: '!', what: <>{plural(group.dead_letters, 'dead letter')} in {name}.</>, more: 'Each is kept until it is resent or discarded.', to: address('letters', group.hub, group.group) });
    }
    if (overview.disk_free_bytes !== null && overview.disk_total_bytes && overview.disk_free_bytes / overview.disk_total_bytes < disk_low)
        found.unshift({ tone: 'bad', sign: '!', what: 'The disk is nearly full.', more: `${bytes(overview.disk_free_bytes)} are left.`, to: address('hubs') });
    return found.sort((a, b) => (a.tone === 'bad' ? 0 : 1) - (b.tone === 'bad' ? 0 : 1));
}

const words = ['No', 'One', 'Two', 'Three', 'Four', 'Five', 'Six', 'Seven', 'Eight', 'Nine'];

function Head({ found }: { found: Need[] }) {
    const n = found.length, head = n === 0 ? 'All good.' : `${words[n] ?? count(n)} ${n === 1 ? 'thing needs' : 'things need'} you.`;
    return <>
        <div class="verdict"><div><h1>{head}</h1></div><Spoken text={head} /><div class="act">{state.may('Manage') ? <CopyButton label="Copy connection string" text={() => connection_string(state.only_hub)} /> : null}</div></div>
        {n ? <ul class="needs">{found.slice(0, 5).map(need => <li><span class={`${need.tone} sign`}>{need.sign}</span><span><b>{need.what}</b> <span class="muted">{need.more}</span></span><a class="link" href={need.to}>Look →</a></li>)}
            {n > 5 ? <li><span /><span class="muted">{n - 5} more</span></li> : null}</ul> : null}</>;
}

function Figures({ overview, groups }: { overview: Overview; groups: Group[] }) {
    const worst = groups.reduce<Group | null>((most, one) => (one.behind_ms ?? -1) > (most?.behind_ms ?? -1) ? one : most, null);
    const figure = (value: string, what: preact.ComponentChildren, tone = '') => <div class="fig"><b class={tone}>{value}</b><span>{what}</span></div>;
    const disk_days = overview.disk_full_s == null || overview.disk_full_s > 1000 * 86_400 ? null : overview.disk_full_s / 86_400;
    return <div class="figures">
        {figure(rate(overview.in_per_s), 'events in')}
        {figure(rate(overview.out_per_s), `events out, ${plural(groups.length, 'group')}`)}
        {figure(duration(overview.behind_ms), worst && worst.behind_ms !== null ? <>furthest behind: <Name v={worst.group} most={18} />{worst.furthest == null || !worst.behind_ms ? '' : `, ${pad(worst.furthest, worst.partitions)}`}</> : 'furthest behind', (overview.behind_ms ?? 0) > far_behind_ms ? 'bad' : '')}
        {figure(duration(overview.loss_s === null ? null : overview.loss_s * 1000, 'left'), 'nearest loss')}
        {disk_days === null ? figure(bytes(overview.disk_free_bytes), 'left on the disk') : figure(disk_days < 1 ? duration(overview.disk_full_s! * 1000, 'left') : plural(Math.floor(disk_days), 'day'), `until the disk is full, ${bytes(overview.disk_free_bytes)} left`, disk_days < 1 ? 'bad' : '')}
        {figure(count(overview.connections), 'connections')}
    </div>;
}

const ranges = { '15m': 900_000, '1h': 3_600_000 } as const;

// A few moves that had a gap worth a note in the chart.
function notes(moves: Move[]): { at: number; text: string }[] {
    const found: { at: number; text: string }[] = [];
    for (const move of moves) {
        const at = moment(move.at);
        if (at === null || (move.gap_ms ?? 0) < 1000 || found.some(one => Math.abs(one.at - at) < 300_000)) continue;
        found.push({ at, text: `${in_short(move.reason).replace(/^[a-z ]+: /, '').slice(0, 40)}, taken over in ${duration(move.gap_ms, 'move')}` });
    }
    return found.sort((a, b) => b.at - a.at).slice(0, 3);
}

function Rates({ overview, range }: { overview: Overview; range: keyof typeof ranges }) {
    const [box, width] = use_width();
    const { t, in: ins, out } = overview.history ?? { t: [], in: [], out: [] }, now = server_now(), first = t.findIndex(at => at >= now - ranges[range]);
    const cut = <T,>(values: T[]): T[] => first < 0 ? [] : values.slice(first);
    const most = Math.max(10, ...cut(ins).map(value => value ?? 0), ...cut(out).map(value => value ?? 0)) * 1.15, step = 10 ** Math.floor(Math.log10(most));
    const unit = most / step < 2.5 ? step / 2 : most / step < 5 ? step : step * 2;
    const ticks = Array.from({ length: Math.floor(most / unit) + 1 }, (_, i) => ({ value: i * unit, text: short_count(i * unit) }));
    return <>
        <div class="legend"><h2>Events a second</h2><span><i class="line accent" /> in</span><span><i class="line dashed" /> out</span><span class="sp" />
            <Segments label="Range" options={[['15m', '15 min'], ['1h', '1 h']] as const} value={range} choose={value => go_query({ range: value }, true)} /></div>
        <div ref={box} class="charthold">{width ? <Chart t={cut(t)} from={now - ranges[range]} to={now} width={width} height={innerHeight < 780 ? 190 : 236} low={0} high={most} ticks={ticks} marks={notes(overview.moves)}
            label={`Events a second: ${rate(overview.in_per_s)} in, ${rate(overview.out_per_s)} out`}
            lines={[{ values: cut(ins), colour: '--accent', width: 1.8, fill: true }, { values: cut(out), colour: '--muted', dash: [5, 3] }]} /> : null}</div></>;
}

function Hubs({ overview, groups }: { overview: Overview; groups: Group[] }) {
    const behind = (hub: HubSummary) => furthest_behind(groups.filter(one => one.hub === hub.name));
    const late = (hub: HubSummary) => groups.some(one => one.hub === hub.name && (one.behind_ms ?? 0) > far_behind_ms);
    const lines = overview.history?.hubs ?? {}, with_history = Object.values(lines).some(line => line.length > 1);
    return <table><thead><tr><th scope="col">Hub</th><th scope="col" class="r">Partitions</th>{with_history ? <th scope="col">Last hour</th> : null}<th scope="col" class="r">In</th><th scope="col" class="r">Out</th><th scope="col" class="r">Furthest behind</th><th scope="col" class="r">Size</th><th scope="col" class="r">Kept for</th></tr></thead><tbody>
        {overview.hubs.map(hub => <tr><td><a class="medium" href={address('partitions', hub.name)}><Name v={hub.name} /></a></td><td class="r muted">{count(hub.partitions)}</td>{with_history ? <td><Sparkline values={lines[hub.name] ?? []} /></td> : null}
            <td class="r">{rate(hub.in_per_s)}</td><td class="r">{rate(hub.out_per_s)}</td><td class={`r ${late(hub) ? 'bad' : ''}`}>{behind(hub)}</td><td class="r">{bytes(hub.bytes)}</td><td class="r muted">{hub.retention_ms ? setting(hub.retention_ms) : '–'}</td></tr>)}
    </tbody></table>;
}

export function OwnerStrip({ group, marks, width }: { group: Group; marks: OwnerMarks; width: number }) {
    const each = width / Math.max(1, group.strip.length);
    return <svg class="strip" width={width} height={14} viewBox={`0 0 ${width} 14`} preserveAspectRatio="none" aria-hidden="true">{group.strip.map((owner, p) => {
        const mark = marks.of(group.owners[owner] ?? null);
        return <rect x={p * each} width={Math.max(0.5, each - (each > 4 ? 2 : 0))} height={14} rx={each > 4 ? 1 : 0} class={colour_class(mark)} />;
    })}</svg>;
}

function Groups({ groups }: { groups: Group[] }) {
    if (groups.length === 0) return <p class="muted gap">No store is being watched. The hub keeps no progress itself. Start with <code>--watch-store URL</code>, or add <code>[[group]]</code> to the server's file.</p>;
    return <table class="gap"><thead><tr><th scope="col">Group</th><th scope="col">Owners</th><th scope="col">Who owns what</th><th scope="col" class="r">Furthest behind</th><th scope="col" class="r">Nearest loss</th></tr></thead><tbody>{groups.map(group => {
        const marks = new OwnerMarks();
        marks.update(group.owners, []);
        return <tr><td><a class="medium" href={address('processors', group.hub, group.group)}><Name v={group.hub} most={20} /> / <Name v={group.group} most={20} /></a></td>
            <td>{group.owners.slice(0, 8).map(id => <><Badge mark={marks.of(id)} id={id} /> </>)}{group.owners.length > 8 ? <span class="muted">+ {group.owners.length - 8}</span> : null}{group.owners.length ? null : <span class="faint">{group.state === 'failed' ? 'store failed' : 'nobody'}</span>}</td>
            <td><OwnerStrip group={group} marks={marks} width={200} /></td>
            <td class={`r ${(group.behind_ms ?? 0) > far_behind_ms ? 'bad' : ''}`}>{duration(group.behind_ms)}</td><td class="r muted">{duration(group.loss_s === null ? null : group.loss_s * 1000, 'left')}</td></tr>;
    })}</tbody></table>;
}

function LastMoves({ moves, groups }: { moves: Move[]; groups: Group[] }) {
    const all = useMemo(() => {
        const by_group = new Map<string, OwnerMarks>();
        for (const group of groups) { const marks = new OwnerMarks(); marks.update(group.owners, moves.filter(move => move.hub === group.hub && move.group === group.group).flatMap(move => [move.from, move.to])); by_group.set(`${group.hub}\n${group.group}`, marks); }
        return by_group;
    }, [moves, groups]);
    const owner = (move: Move, id: string | null) => id === null ? <span class="faint">nobody</span> : <Badge mark={all.get(`${move.hub}\n${move.group}`)?.of(id) ?? null} id={id} />;
    return <div><h2>Last moves</h2><ul class="lastmoves">{moves.slice(0, 7).map(move => <li><span class="mono muted"><Time v={move.at} /></span><span class="muted ellipsis"><Name v={move.hub ?? ''} most={12} /> {pad(move.p, groups.find(one => one.hub === move.hub && one.group === move.group)?.partitions ?? move.p + 1)}</span>
        <span>{owner(move, move.from)} <span class="faint">→</span> {owner(move, move.to)}</span><span class="muted ellipsis"><Text v={in_short(move.reason).replace(/^(handed over|released|taken over): /, '')} /></span><span>{duration(move.gap_ms, 'move')}</span></li>)}</ul>
        {moves.length === 0 ? <p class="muted">None yet.</p> : null}</div>;
}

export function OverviewPage({ query }: { query: URLSearchParams }) {
    use_state();
    use_interval(5000);
    const { overview, groups } = state, found = overview ? needs(groups ?? [], overview) : [];
    use_title(`${found.length ? `(${found.length}) ` : ''}Overview`);
    if (state.offline_since !== null && !overview) return <section class="page note-page"><h1>No answer from the server since {time(state.offline_since, server_now())}.</h1><p class="lead">Owners go on without this page. It tries again by itself.</p></section>;
    if (!overview) return <Waiting>Asking the server…</Waiting>;
    if (overview.hubs.every(hub => !hub.events)) return <FirstStart hub={overview.hubs[0]?.name ?? null} />;
    const range = query.get('range') === '15m' ? '15m' : '1h';
    return <section class={`page ${state.offline_since === null ? '' : 'stalepage'}`}>
        {state.offline_since === null ? <Head found={found} /> : <div class="verdict"><div><h1>No answer from the server since {time(state.offline_since, server_now())}.</h1><p>You see what was known then. Owners go on without this page.</p></div>
            <div class="act"><button type="button" class="btn pri" onClick={() => state.live?.try_now()}>Try now</button></div></div>}
        <Figures overview={overview} groups={groups ?? []} />
        <Rates overview={overview} range={range} />
        <div class="oversplit"><div><div class="scrollx"><Hubs overview={overview} groups={groups ?? []} /></div><div class="scrollx"><Groups groups={groups ?? []} /></div></div><LastMoves moves={overview.moves ?? []} groups={groups ?? []} /></div>
    </section>;
}

