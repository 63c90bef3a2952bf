// Lag: the nearest loss in words, behind over time against the hub's retention, every partition over time, and a table.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { group_path } from '../api/client';
import type { Lag } from '../api/types';
import { server_now } from '../clock';
import { below, count, duration, moment, pad, rate, setting, short_time, time, unknown } from '../formats';
import { type GroupModel, states } from '../model/group';
import { use_get, use_title } from '../model/load';
import { loss_is_soon } from '../model/loss';
import { use_model, use_redraw } from '../model/use';
import { Badge, Segments, use_width, Waiting } from '../parts/basics';
import { Chart, chart_step } from '../parts/chart';
import { Failed } from '../parts/failed';
import { Spoken } from '../parts/spoken';
import { signs } from '../picture/rows';
import { address, go_query } from '../route';
import { state, use_state } from '../state';
import { PauseDialog } from './processors/actions';
import { StoreFailed } from './processors/store_failed';

const ranges = { '1h': 3_600_000, '24h': 86_400_000 } as const;
const heat_steps = [700, 3000, 10_000, 30_000, 300_000, 3_600_000];
const log_low = 100, even_ms = 5000;

function worst_of(model: GroupModel): number | null {
    let worst: number | null = null;
    for (let p = 0; p < model.size; ++p) if (!Number.isNaN(model.behind[p]!) && (worst === null || model.behind[p]! > model.behind[worst]!)) worst = p;
    return worst;
}

function Verdict({ model, range }: { model: GroupModel; range: keyof typeof ranges }) {
    const worst = worst_of(model), keeps = model.retention_ms, [resuming, set_resuming] = useState<number | null>(null);
    const held = worst !== null && ['parked', 'paused'].includes(states[model.state[worst]!]!);
    let head: preact.ComponentChildren = 'Nothing is behind.', sub = 'No checkpoint yet.';
    if (worst !== null) {
        const left = model.loss[worst]! * 1000, kind = states[model.state[worst]!]!, since = moment(model.since[worst] ?? null);
        let second = 0;
        for (let p = 0; p < model.size; ++p) if (p !== worst && model.behind[p]! > second) second = model.behind[p]!;
        const soon = loss_is_soon(model.loss[worst]!, keeps), name = pad(worst, model.size);
        if (model.behind[worst]! < even_ms) head = `Nobody is more than ${duration(model.behind[worst])} behind.`;
        else if (Number.isNaN(left)) head = `Partition ${name} is ${duration(model.behind[worst])} behind.`;
        else head = <>Partition {name} loses events in <span class={soon ? 'bad' : 'warn'}>{duration(left, 'left')}</span>.</>;
        sub = `${kind !== 'ok' ? `It is ${kind}${since === null ? '' : ` since ${short_time(since, server_now())}`}${keeps === null ? '. ' : ' and the'}` : 'The'}${keeps === null ? '' : ` hub keeps ${setting(keeps)}. `}All others are less than ${below(second)} behind.`;
        if (model.behind[worst]! < even_ms) sub = keeps === null ? '' : `The hub keeps ${setting(keeps)}.`;
        else if (kind === 'ok' && keeps === null) sub = `All others are less than ${below(second)} behind.`;
    }
    return <div class="verdict"><div><h1>{head}</h1><p>{sub}</p></div><Spoken text={sub} /><div class="act">
        <Segments label="Range" options={[['1h', '1 h'], ['24h', '24 h']] as const} value={range} choose={value => go_query({ range: value }, true)} />
        {held && state.may('Manage') && state.offline_since === null ? <button type="button" class="btn" onClick={() => set_resuming(worst)}>Resume {pad(worst!, model.size)}…</button>
            : worst !== null && states[model.state[worst]!] !== 'ok' ? <a class="btn" href={address('processors', model.hub, model.group, { p: String(worst) })}>Look at {pad(worst, model.size)}</a> : null}</div>
        {resuming === null ? null : <PauseDialog model={model} partition={resuming} close={() => set_resuming(null)} />}</div>;
}

// At most `columns` points: the largest of each column, so that a short peak is not lost.
function thin(lag: Lag, columns: number): { t: number[]; heat: (number | null)[][]; furthest: (number | null)[]; median: (number | null)[] } {
    const step = Math.max(1, Math.ceil(lag.t.length / columns)), out = { t: [] as number[], heat: [] as (number | null)[][], furthest: [] as (number | null)[], median: [] as (number | null)[] };
    const most = (values: (number | null | undefined)[]) => values.reduce<number | null>((top, value) => value === null || value === undefined ? top : Math.max(top ?? 0, value), null);
    for (let at = 0; at < lag.t.length; at += step) {
        const part = <T,>(list: T[]) => list.slice(at, at + step);
        out.t.push(lag.t[Math.min(at + step, lag.t.length) - 1]!);
        out.heat.push(Array.from({ length: lag.partitions }, (_, p) => most(part(lag.heat).map(column => column[p]))));
        out.furthest.push(most(part(lag.furthest_ms)));
        out.median.push(most(part(lag.median_ms)));
    }
    return out;
}

function HeatMap({ lag, from, to, width }: { lag: Lag; from: number; to: number; width: number }) {
    const box = useRef<HTMLCanvasElement>(null), redraw = use_redraw();
    const columns = Math.min(96, Math.max(12, lag.t.length)), left = 46, row = lag.partitions <= 32 ? 13 : lag.partitions <= 128 ? 5 : 1.5, height = Math.ceil(lag.partitions * row);
    useEffect(() => { addEventListener('themechange', redraw); return () => removeEventListener('themechange', redraw); }, []);
    useEffect(() => {
        const canvas = box.current!, ratio = devicePixelRatio || 1, pen = canvas.getContext('2d')!, style = getComputedStyle(document.documentElement);
        canvas.width = width * ratio; canvas.height = height * ratio;
        canvas.style.width = `${width}px`; canvas.style.height = `${height}px`;
        pen.scale(ratio, ratio);
        const colours = Array.from({ length: 7 }, (_, i) => style.getPropertyValue(`--heat-${i}`).trim()), { t, heat } = thin(lag, columns), room = width - left - 4, cell = room / columns;
        pen.fillStyle = colours[0]!;
        for (let p = 0; p < lag.partitions; ++p) for (let i = 0; i < columns; ++i) pen.fillRect(left + i * cell, p * row, cell - 1, row > 3 ? row - 1.5 : row);
        t.forEach((at, i) => {
            const x = left + Math.min(columns - 1, Math.max(0, Math.floor((at - from) / (to - from) * columns))) * cell;
            heat[i]!.forEach((value, p) => {
                if (value === null) return;
                const step = heat_steps.findIndex(top => value < top);
                pen.fillStyle = colours[step < 0 ? 6 : step]!;
                pen.fillRect(x, p * row, cell - 1, row > 3 ? row - 1.5 : row);
            });
        });
        pen.fillStyle = style.getPropertyValue('--faint').trim();
        pen.font = '10px "JetBrains Mono", monospace';
        pen.textAlign = 'right';
        const every = Math.max(1, Math.ceil(lag.partitions / 4 / 5) * 5);
        for (let p = 0; p < lag.partitions; p += every) pen.fillText(pad(p, lag.partitions), left - 8, p * row + 10);
    }, [lag, chart_step(from), chart_step(to), width, document.documentElement.dataset['theme']]);
    return <canvas ref={box} role="img" aria-label={`How far behind each of ${lag.partitions} partitions was over time. The table below says it for now.`} />;
}

// Since when the partition that is furthest behind stands still, as a note of the chart.
function stop_of(model: GroupModel): { at: number; text: string; above: boolean }[] {
    const p = worst_of(model), kind = p === null ? 'ok' : states[model.state[p]!]!, at = p === null ? null : moment(model.since[p] ?? null);
    return p === null || kind === 'ok' || at === null ? [] : [{ at, text: `${pad(p, model.size)} ${kind} at ${short_time(at, server_now())}`, above: true }];
}

function History({ model, lag, range }: { model: GroupModel; lag: Lag; range: keyof typeof ranges }) {
    const [box, width] = use_width();
    const now = server_now(), from = now - ranges[range], keeps = lag.retention_ms, top = Math.max(3_600_000, keeps ?? 86_400_000), since = moment(lag.since);
    const log = (ms: number) => Math.log10(Math.max(ms, log_low) / log_low), drawn = useMemo(() => thin(lag, 1440), [lag]);
    const ticks = [[1000, '1 s'], [60_000, '1 min'], [3_600_000, '1 h']].filter(([ms]) => (ms as number) <= top).map(([value, text]) => ({ value: value as number, text: text as string }));
    const minutes = Math.round(ranges[range] / 96 / 60_000);
    return <div ref={box}>
        <div class="legend"><h2>Behind</h2><span><i class="line accent" /> furthest</span><span><i class="line dashed" /> median of {lag.partitions}</span>{since !== null && since > from ? <span class="faint">since the server started {time(since, now)}</span> : null}</div>
        {width ? <Chart t={drawn.t} from={from} to={now} width={width} height={200} low={log_low} high={top * 1.4} place={log} ticks={ticks} label="Furthest and median behind over time" marks={stop_of(model)}
            lines={[{ values: drawn.furthest, colour: '--accent', width: 2 }, { values: drawn.median, colour: '--muted', dash: [4, 3] }]}
            {...(keeps === null ? {} : { bound: { value: log(keeps), colour: '--bad', text: `${setting(keeps)}: what is older is gone`, label: setting(keeps) } })} /> : null}
        <div class="legend heatlegend"><h2>Every partition, every {minutes > 1 ? `${minutes} min` : 'minute'}</h2><span class="sp" /><span class="faint heatkey">0.5 s {[0, 1, 2, 3, 4, 5, 6].map(i => <i class={`heat${i}`} />)} 1 h and more</span></div>
        {width ? <HeatMap lag={lag} from={from} to={now} width={width} /> : null}</div>;
}

function caught_up(model: GroupModel, p: number): string {
    const lag = model.lag[p]!, gain = model.out_per_s[p]! - model.in_per_s[p]!;
    if (Number.isNaN(lag)) return unknown;
    if (model.behind[p]! < even_ms || lag === 0) return 'now';
    return Number.isNaN(gain) ? unknown : gain <= 0 ? 'never' : duration(lag / gain * 1000);
}

function Table({ model }: { model: GroupModel }) {
    const worst = Array.from({ length: model.size }, (_, p) => p).sort((a, b) => (model.behind[b]! || 0) - (model.behind[a]! || 0)).slice(0, 50), keeps = model.retention_ms, bar = 320;
    // Rows keep their places for a while, so that none jumps under the pointer.
    const kept = useRef<{ order: number[]; at: number }>({ order: [], at: 0 });
    if (kept.current.order.length !== worst.length || server_now() - kept.current.at > 15_000) kept.current = { order: worst, at: server_now() };
    return <div class="scrollx"><table class="gap"><thead><tr><th scope="col">Partition</th><th scope="col">Owner</th><th scope="col" class="r">Behind, events</th><th scope="col" class="r">Behind</th><th scope="col" class="r">In</th><th scope="col" class="r">Handled</th><th scope="col" class="r">Caught up in</th><th scope="col" class="losshead">From now to loss{keeps === null ? '' : `, ${setting(keeps)}`}</th><th scope="col" class="r">Loss in</th></tr></thead><tbody>
        {kept.current.order.slice(0, 12).map(p => {
            const kind = states[model.state[p]!]!, tone = kind === 'stalled' ? 'bad' : kind === 'ok' ? '' : 'warn', id = model.owner_of(p), used = keeps === null ? 0 : Math.min(1, (model.behind[p]! || 0) / keeps);
            return <tr><th scope="row" class="mono"><a href={address('processors', model.hub, model.group, { p: String(p) })}>{pad(p, model.size)}</a></th><td>{id === null ? <span class="faint">nobody</span> : <Badge mark={model.marks.of(id)} id={id} gone={model.orphaned(p)} />}{kind === 'ok' ? null : <span class={`${tone} medium beside`}>{signs[kind]} {kind}</span>}</td>
                <td class="r">{count(model.lag[p])}</td><td class={`r ${tone}`}>{duration(model.behind[p])}</td><td class="r muted">{rate(model.in_per_s[p])}</td><td class="r muted">{rate(model.out_per_s[p])}</td><td class="r muted">{caught_up(model, p)}</td>
                <td class="losscell"><svg width={bar} height={10} aria-hidden="true"><rect class="track" width={bar} height={10} rx={2} /><rect class={`used ${used > 0.1 ? 'warn' : ''}`} width={Math.max(2, used * bar)} height={10} rx={2} /><rect class="end" x={bar - 2} width={2} height={10} /></svg></td>
                <td class="r medium">{duration(model.loss[p]! * 1000, 'left')}</td></tr>;
        })}</tbody></table></div>;
}

export function LagPage({ hub, group, query }: { hub: string; group: string; query: URLSearchParams }) {
    const model = state.group(hub, group);
    use_state();
    use_model(model);
    use_title(`Lag · ${hub} / ${group}`);
    const range = query.get('range') === '1h' ? '1h' : '24h', loaded = use_get<Lag>(`${group_path(hub, group)}/lag?range=${range}`, 15_000);
    if (model.ready && model.store_state === 'failed') return <StoreFailed model={model} />;
    const missing = loaded.error?.status === 404;
    if (loaded.error && !loaded.value && !missing) return <Failed error={loaded.error} again={loaded.again} />;
    if ((!loaded.value && !missing) || !model.ready) return <Waiting>Reading the history…</Waiting>;
    return <section class="page"><Verdict model={model} range={range} />
        {loaded.value ? <History model={model} lag={loaded.value} range={range} /> : <p class="muted">This server keeps no history of the lag. What follows is now.</p>}
        <Table model={model} /></section>;
}

